"""The server answers what is asked, refuses what is not meant, and writes nothing."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from starlette.testclient import TestClient

import relscape as rs
from relscape.explorer import jobs as jobs_module
from relscape.explorer.exhibit import Exhibit, land
from relscape.explorer.jobs import BusyError, Jobs
from relscape.explorer.security import LARGEST_BODY, POLICY, Address
from relscape.scores import cohort_position, cohort_separation, neighbor_preservation

TOKEN = "a-token-that-nobody-guesses"
ABROAD = Address("192.0.2.7", "192.0.2.7", 8765)


def refused(answer, status):
    """A refusal has its status and one message, and no part of a traceback."""
    assert answer.status_code == status, answer.text
    assert "Traceback" not in answer.text
    message = answer.json()["error"]
    assert message
    return message


# ---------------------------------------------------------------------- the page and the map


def test_the_page_and_its_files(client_of, words):
    client = client_of(words)
    assert "<title>relscape</title>" in client.get("/").text
    script = client.get("/assets/explorer.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert client.get("/assets/explorer.css").headers["content-type"].startswith("text/css")
    assert client.head("/").status_code == 200


def test_every_answer_has_the_headers(client_of, words):
    client = client_of(words)
    for path in ("/", "/api/manifest", "/api/columns/x", "/nowhere", "/api/neighbors?point=-1"):
        headers = client.get(path).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers
    assert "unsafe" not in POLICY


def test_columns_are_the_map(client_of, words, read_column):
    client = client_of(words)
    manifest = client.get("/api/manifest").json()
    columns = {
        name: read_column(told, client.get(f"/api/columns/{name}").content)
        for name, told in manifest["columns"].items()
    }
    np.testing.assert_allclose(columns["coordinates"][40:], words.coordinates("word"), rtol=1e-6)
    assert columns["ids"][40:] == words.group("word").ids.tolist()
    assert manifest["second"] is False


def test_a_second_map_has_its_own_answers(client_of, words, cohort_map):
    client = client_of(words, cohort_map)
    assert client.get("/api/manifest").json()["second"] is True
    assert [kind["name"] for kind in client.get("/api/2/manifest").json()["kinds"]] == ["sample", "cohort"]
    assert len(client.get("/api/2/columns/x").content) == 4 * len(cohort_map)
    refused(client_of(words).get("/api/2/manifest"), 404)


def test_large_columns_are_packed_for_those_who_take_it(client_of):
    big = rs.maps.Map([rs.maps.Group("a", [f"thing {i}" for i in range(20_000)], np.zeros((20_000, 2)))])
    client = client_of(big)
    packed = client.get("/api/columns/ids", headers={"accept-encoding": "gzip"})
    plain = client.get("/api/columns/ids", headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.content == plain.content
    assert int(packed.headers["content-length"]) < len(plain.content) / 2


# ---------------------------------------------------------------------- questions


def test_neighbours_are_those_of_the_map(client_of, words):
    found = client_of(words).get("/api/neighbors?point=43&k=4").json()["kinds"]
    ids = [*words.group("doc").ids, *words.group("word").ids]
    for kind in words.groups:
        expected = words.neighbors(("word", "w3"), kind, 4)
        assert [ids[index] for index, _ in found[kind]] == [n.id for n in expected]
        np.testing.assert_allclose([d for _, d in found[kind]], [n.distance for n in expected])


def test_facts_are_those_of_the_model(client_of, graph_model):
    joint = graph_model.to_map()
    client = client_of(Exhibit(joint, "facts", knowledge=graph_model))
    entities = joint.group("entity").ids
    told = client.get("/api/knowledge?head=3&relation=r1&top=4").json()
    expected = graph_model.predict_tails(entities[3], "r1", 4, exclude_known=False)
    assert told["side"] == "tail"
    assert [entities[answer[0]] for answer in told["answers"]] == [e.name for e in expected]
    assert [answer[3] for answer in told["answers"]] == [e.known for e in expected]
    told = client.get("/api/knowledge?tail=2&relation=r0&top=3").json()
    expected = graph_model.predict_heads("r0", entities[2], 3, exclude_known=False)
    assert [entities[answer[0]] for answer in told["answers"]] == [e.name for e in expected]
    np.testing.assert_allclose([answer[1] for answer in told["answers"]], [e.energy for e in expected])
    assert "head or tail" in refused(client.get("/api/knowledge?head=1&tail=2&relation=r0"), 400)
    assert "head or tail" in refused(client.get("/api/knowledge?relation=r0"), 400)
    assert "'r1'" in refused(client.get("/api/knowledge?head=1&relation=r7"), 400)
    assert "kind 'relation'" in refused(client.get("/api/knowledge?head=12&relation=r0"), 400)


def test_links_are_those_of_the_model(client_of, network_map):
    from relscape.models.registry import revive

    model = revive(network_map.model_state)
    told = client_of(network_map).get("/api/suggest?point=5&top=4").json()
    expected = model.predict_links(5, 4)
    assert [link[0] for link in told["links"]] == [int(e.id) for e in expected]
    np.testing.assert_allclose([link[2] for link in told["links"]], [e.probability for e in expected])
    assert told["outward"] is True


def test_newcomers_land(client_of, cohort_model, cohort_map):
    new = cohort_model.features_[:2] + 0.02
    data = rs.RelationalData.from_matrix(
        new, "sample", "feature", ["a", "b"], cohort_model.column_entities_.ids
    )
    landed = land(cohort_map, data)
    client = client_of(Exhibit(cohort_map, "new", newcomers=landed))
    told = client.get("/api/project?row=1&k=3").json()
    expected = cohort_map.nearest(cohort_model.transform(new)[1], "sample", 3)
    assert [told["x"], told["y"]] == pytest.approx(landed.drawn[1].tolist())
    assert [index for index, _ in told["nearest"]["sample"]] == [int(n.id) for n in expected]
    assert told["known"] is False
    assert "rows from 0 to 1" in refused(client.get("/api/project?row=2"), 400)


def test_questions_that_a_map_cannot_answer(client_of, words, cohort_map):
    client = client_of(words)
    assert "relscape explore" in refused(client.get("/api/knowledge?head=0&relation=r"), 400)
    assert "does not carry its model" in refused(client.get("/api/suggest?point=0"), 400)
    assert "--new" in refused(client.get("/api/project?row=0"), 400)
    assert "no cohorts" in refused(client.get("/api/refit"), 400)
    assert "no cohorts" in refused(client.post("/api/scores", content=b""), 400)
    assert "does not suggest links" in refused(client_of(cohort_map).get("/api/suggest?point=0"), 400)


# ---------------------------------------------------------------------- cohorts


def test_live_scores_are_those_of_the_moved_map(client_of, cohort_model, cohort_map, rng):
    prototypes = (cohort_model.prototypes_ + rng.normal(scale=0.4, size=(6, 2))).astype("<f4")
    told = client_of(cohort_map).post("/api/scores", content=prototypes.tobytes()).json()
    places, labels = cohort_model.move(prototypes), cohort_model.labels_
    assert told["S_s"] == pytest.approx(cohort_separation(places, labels), abs=0.02)
    assert told["S_c"] == pytest.approx(cohort_position(places, labels, prototypes), abs=0.01)
    expected = neighbor_preservation(cohort_model.features_, places, labels, random_state=0)
    assert told["S_n"] == pytest.approx(expected, abs=0.01)


def test_bodies_that_are_no_prototypes(client_of, cohort_map):
    client = client_of(cohort_map)
    assert "48 bytes" in refused(client.post("/api/scores", content=b"abc"), 400)
    bad = np.full((6, 2), np.nan, dtype="<f4").tobytes()
    assert "finite" in refused(client.post("/api/scores", content=bad), 400)
    assert "finite" in refused(client.post("/api/refit", content=bad), 400)


def test_a_refit_is_the_fit_of_the_model(client_of, cohort_model, cohort_map, finished, read_column, rng):
    client = client_of(cohort_map)
    places = (cohort_model.prototypes_ + rng.normal(scale=0.3, size=(6, 2))).astype("<f4")
    answer = client.post("/api/refit?alpha=0.3", content=places.tobytes())
    told = finished(client, answer)
    assert told["failed"] is None
    columns, job = told["manifest"]["columns"], answer.json()["job"]
    x, y = (read_column(columns[n], client.get(f"/api/jobs/{job}/columns/{n}").content) for n in "xy")
    fresh = rs.COVA("E1", alpha=0.3, prototypes=places.astype(float), random_state=0)
    fresh.fit(cohort_model.features_, cohort_model.labels_)
    np.testing.assert_allclose(np.column_stack([x, y])[:180], fresh.embedding_, atol=1e-5)
    assert told["manifest"]["cohorts"]["alpha"] == 0.3
    assert told["manifest"]["cohorts"]["names"] == cohort_map.group("cohort").ids.tolist()
    scores = client.post(f"/api/scores?job={job}", content=places.tobytes()).json()
    assert scores["S_s"] == pytest.approx(told["manifest"]["cohorts"]["scores"]["S_s"], abs=0.02)
    refused(client.get(f"/api/jobs/{job}/columns/nothing"), 404)


def test_a_refit_to_another_variant_keeps_the_points(client_of, cohort_map, finished):
    client = client_of(cohort_map)
    told = finished(client, client.get("/api/refit?variant=E2"))
    assert told["failed"] is None
    assert told["progress"] == 1.0
    assert told["manifest"]["kinds"] == client.get("/api/manifest").json()["kinds"]
    assert not told["manifest"]["cohorts"]["drag"]


def test_a_refit_that_fails_says_why(client_of, cohort_map, finished):
    client = client_of(cohort_map)
    told = finished(client, client.get("/api/refit?alpha=0"))
    assert "alpha=0 leaves E1" in told["failed"]
    assert told["manifest"] is None
    refused(client.get("/api/jobs/1/columns/x"), 404)
    refused(client.get("/api/jobs/77"), 404)


@pytest.mark.parametrize(
    "query", ["alpha=2", "alpha=nan", "alpha=much", "variant=E9", "beta=1", "alpha=1&alpha=0"]
)
def test_refits_that_are_refused(client_of, cohort_map, query):
    refused(client_of(cohort_map).get(f"/api/refit?{query}"), 400)


def test_one_job_at_a_time_and_only_the_last_are_kept():
    jobs, release = Jobs(), threading.Event()
    name = jobs.start("waiting", 0, release.wait)
    with pytest.raises(BusyError, match="another fit"):
        jobs.start("second", 0, lambda: None)
    with pytest.raises(BusyError, match="under way"), jobs.turn(seconds=0.01):
        pass
    release.set()
    with jobs.turn():
        assert jobs.get(name) is not None
    for _ in range(jobs_module.KEPT + 1):
        last = jobs.start("quick", 0, lambda: 1)
        while not jobs.get(last).done:
            release.wait(0.01)
    assert jobs.get(name) is None
    assert jobs.get(last).result == 1


def test_a_job_counts_what_the_library_announces():
    from relscape import progress

    jobs, half, go = Jobs(), threading.Event(), threading.Event()

    def work():
        with progress.task("fitting", 10) as task:
            task.advance(4)
            half.set()
            go.wait(10)

    job = jobs.get(jobs.start("begin", 0, work))
    assert half.wait(10)
    assert (job.share, job.message, job.done) == (0.4, "fitting", False)
    go.set()


# ---------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "host",
    ["evil.example:8765", "127.0.0.1:9999", "127.0.0.1", "localhost.evil.example:8765", "",
     "127.0.0.1:8765:1", "user@127.0.0.1:8765", "127.0.0.1:8765/x", "[::1", "127.0.0.1:eight"],
)  # fmt: skip
def test_a_wrong_host_is_refused(client_of, words, host):
    assert "no other name" in refused(client_of(words).get("/", headers={"host": host}), 421)


@pytest.mark.parametrize("host", ["localhost:8765", "127.0.0.1:8765", "[::1]:8765", "LocalHost.:8765"])
def test_names_of_this_machine_are_taken(client_of, words, host):
    assert client_of(words).get("/", headers={"host": host}).status_code == 200


def test_an_address_for_all_takes_numbers_and_own_names(monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "Workshop")
    everywhere = Address("0.0.0.0", "0.0.0.0", 8765)
    assert everywhere.is_named("10.1.2.3:9000")
    assert everywhere.is_named("workshop:8765")
    assert not everywhere.is_named("evil.example:8765")
    assert everywhere.url("t") == "http://Workshop:8765/?token=t"
    assert Address("::1", "::1", 80).url() == "http://[::1]:80/"


def test_other_sites_cannot_ask(client_of, cohort_map):
    client = client_of(cohort_map)
    for headers in ({"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"},
                    {"origin": "http://evil.example"}, {"origin": "null"}):  # fmt: skip
        assert "another site" in refused(client.get("/api/manifest", headers=headers), 403)
        refused(client.post("/api/scores", headers=headers), 403)
    own = {"sec-fetch-site": "same-origin", "origin": "http://127.0.0.1:8765"}
    assert client.get("/api/manifest", headers=own).status_code == 200


def test_an_address_abroad_needs_its_token(client_of, words):
    client = client_of(words, address=ABROAD, token=TOKEN)
    for path in ("/", "/api/manifest", "/assets/explorer.js"):
        assert "token" in refused(client.get(path), 401)
    refused(client.get("/?token=wrong"), 401)
    refused(client.get("/api/manifest", headers={"authorization": f"Bearer {TOKEN}x"}), 401)
    refused(client.get("/api/manifest", headers={"cookie": "relscape-8765=wrong"}), 401)
    refused(client.get("/api/manifest", headers={"cookie": 'relscape-8765="\x01'}), 401)
    assert client.get("/api/manifest", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    answer = client.get(f"/?token={TOKEN}&view=1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/?view=1")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert client.get("/api/manifest").status_code == 200  # with the cookie
    assert TOKEN not in client.get("/api/manifest").text


@pytest.mark.parametrize(
    "path",
    ["/../pyproject.toml", "/assets/../.stamp", "/%2e%2e/%2e%2e/etc/passwd", "/assets/..%2f.stamp", "/.stamp",
     "//etc/passwd", "/assets/", "/assets/explorer.js%00", "/assets\\explorer.js", "/api",
     "/api/", "/index.html/", "/api/columns/..%2f..%2fetc%2fpasswd", "/api/columns/",
     "/api/jobs/../manifest2"],
)  # fmt: skip
def test_path_tricks_lead_nowhere(client_of, words, path):
    answer = client_of(words).request("GET", "http://127.0.0.1:8765" + path)
    assert answer.status_code == 404
    assert "error" in answer.json()


@pytest.mark.parametrize(
    "query",
    ["", "point=", "point=-1", "point=65", "point=1.5", "point=1e1", "point=٣", "point=9999999999999999",
     "point=1&k=0", "point=1&k=101", "point=1&k=x", "point=1&point=2", "point=1&unknown=2",
     "point[]=1", "point=%00"],
)  # fmt: skip
def test_malformed_questions(client_of, words, query):
    refused(client_of(words).get(f"/api/neighbors?{query}"), 400)


def test_oversized_requests(client_of, cohort_map):
    client = client_of(cohort_map)
    refused(client.get("/api/neighbors?point=" + "1" * 3_000), 414)
    refused(client.post("/api/scores", content=b"x" * (LARGEST_BODY + 1)), 413)

    def endless():
        for _ in range(20):
            yield b"x" * 100_000

    refused(client.post("/api/scores", content=endless()), 413)  # without a length
    refused(client.post("/api/scores", headers={"content-length": "-5"}, content=b""), 413)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "POST", "OPTIONS"])
def test_only_reading_is_allowed(client_of, words, method):
    client = client_of(words)
    for path in ("/", "/api/manifest", "/api/columns/x", "/api/neighbors?point=1"):
        refused(client.request(method, path), 405)


def test_sockets_are_closed(client_of, words):
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), client_of(words).websocket_connect("/api/manifest"):
        pass


def test_a_bug_is_told_as_one(client_of, words, monkeypatch):
    monkeypatch.setattr("relscape.explorer.questions.Questions.neighbors", lambda *_: 1 / 0)
    client = client_of(words)
    quiet = TestClient(client.app, base_url="http://127.0.0.1:8765", raise_server_exceptions=False)
    answer = quiet.get("/api/neighbors?point=1")
    assert "bug in relscape (ZeroDivisionError" in refused(answer, 500)
    assert answer.headers["content-security-policy"] == POLICY


def test_many_at_once(client_of, words):
    client = client_of(words)
    with ThreadPoolExecutor(16) as pool:
        asked = [f"/api/neighbors?point={i % 65}" for i in range(200)]
        answers = [*pool.map(client.get, asked)]
    assert [answer.status_code for answer in answers] == [200] * 200
