"""A real server on a free port: it serves many, stops when asked, and writes nothing."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from relscape.errors import ParameterError, StorageError
from relscape.explorer import explore, launch
from relscape.explorer.exhibit import Exhibit
from relscape.explorer.launch import open_explorer


@pytest.fixture
def opened(page_folder):
    """Open explorers that are stopped when the test ends."""
    running = []

    def start(*exhibits, **options):
        explorer = open_explorer(exhibits, browser=False, page=page_folder, **{"port": 0, **options})
        running.append(explorer)
        return explorer

    yield start
    for explorer in running:
        explorer.stop()


def get(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as answer:
        return answer.read()


def sent(port, request):
    """Send raw bytes and give what comes back until the other side ends it."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line, suppress(ConnectionError):
        line.sendall(request)
        while part := line.recv(65_536):
            answer += part
    return answer


def port_of(explorer):
    return int(explorer.url.split(":")[2].split("/")[0])


def files_below(folder):
    return {str(p): p.stat().st_mtime_ns for p in Path(folder).rglob("*")}


def test_two_hundred_at_once_and_nothing_written(opened, words, tmp_path, monkeypatch):
    saved = words.save(tmp_path / "map")
    monkeypatch.chdir(tmp_path)
    explorer = opened(Exhibit(words.load(saved), "words"))
    before = files_below(tmp_path)
    paths = ["", "api/manifest", "api/columns/x", "api/neighbors?point=3", "assets/explorer.js"] * 40
    with ThreadPoolExecutor(200) as pool:
        answers = [*pool.map(lambda path: get(explorer.url + path), paths)]
    assert len(answers) == 200
    assert {json.loads(a)["title"] for a in answers[1::5]} == {"words"}
    assert {len(a) for a in answers[2::5]} == {4 * 65}
    assert files_below(tmp_path) == before


def test_raw_requests_are_refused_cleanly(opened, words):
    port = port_of(opened(Exhibit(words, "words")))
    host = f"Host: 127.0.0.1:{port}\r\nConnection: close\r\n".encode()
    assert sent(port, b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400")
    assert (
        b" 421 "
        in sent(port, b"GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n").split(b"\r\n")[0]
    )
    assert sent(port, b"GET / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 4")
    huge = b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n" + host + b"\r\n"
    assert sent(port, huge)[:10] in (b"", b"HTTP/1.1 4")  # it need not read all before it hangs up
    both = b"GET / HTTP/1.1\r\n" + host + b"Host: 127.0.0.1\r\n\r\n"
    assert sent(port, both).startswith(b"HTTP/1.1 4")
    tricks = b"GET /../../../../etc/passwd HTTP/1.1\r\n" + host + b"\r\n"
    assert sent(port, tricks).startswith(b"HTTP/1.1 404")
    assert get(f"http://127.0.0.1:{port}/api/columns/x")  # and it still serves


def test_an_address_for_all_has_a_token(opened, words):
    explorer = opened(Exhibit(words, "words"), host="0.0.0.0")
    assert "?token=" in explorer.url
    port, token = port_of(explorer), explorer.url.split("=")[1]
    with pytest.raises(urllib.error.HTTPError, match="401"):
        get(f"http://127.0.0.1:{port}/")
    assert get(f"http://127.0.0.1:{port}/api/manifest", Authorization=f"Bearer {token}")


def test_a_taken_port_is_told_and_the_usual_one_avoided(opened, words, monkeypatch):
    first = opened(Exhibit(words, "words"))
    with pytest.raises(StorageError, match=f"port {port_of(first)}: .*another port"):
        opened(Exhibit(words, "words"), port=port_of(first))
    monkeypatch.setattr(launch, "USUAL_PORT", port_of(first))
    other = opened(Exhibit(words, "words"), port=None)
    assert port_of(other) != port_of(first)


@pytest.mark.parametrize(
    ("options", "message"), [({"port": 70_000}, "from 0 to 65535"), ({"host": "no such host"}, "no address")]
)
def test_addresses_that_cannot_be(opened, words, options, message):
    with pytest.raises(ParameterError, match=message):
        opened(Exhibit(words, "words"), **options)


def test_it_stops(opened, words):
    explorer = opened(Exhibit(words, "words"))
    assert get(explorer.url)
    assert repr(explorer).startswith("<Explorer at http://127.0.0.1:")
    explorer.stop()
    explorer.wait()
    assert repr(explorer) == "<Explorer, stopped>"
    with pytest.raises(urllib.error.URLError):
        get(explorer.url)


def test_maps_open_themselves(built, words, cohort_map, monkeypatch):
    looked_at = []
    monkeypatch.setattr(launch.webbrowser, "open", looked_at.append)
    monkeypatch.setattr(launch, "_has_screen", lambda: True)
    with words.explore(cohort_map, port=0, title="Words", block=False) as explorer:
        assert looked_at == [explorer.url]
        assert json.loads(get(explorer.url + "api/manifest"))["title"] == "Words"
        assert json.loads(get(explorer.url + "api/2/manifest"))["title"] == "sample and cohort, by COVA"
    with pytest.raises(ParameterError, match="another Map"):
        explore(words, compare="maps/other")
    with pytest.raises(ParameterError, match="KGEmbedding"):
        explore(words, knowledge=3)


def test_no_browser_without_a_screen(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert not launch._has_screen()
    monkeypatch.setenv("DISPLAY", ":0")
    assert launch._has_screen()


SCRIPT = """
import signal, sys
from pathlib import Path
from relscape.cli import main
from relscape.explorer import page
page.FOLDER = Path(sys.argv[1])
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored
main.run(sys.argv[2:])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends an interrupt as a terminal does")
def test_ctrl_c_ends_the_command_well(words, page_folder, tmp_path):
    saved = words.save(tmp_path / "map")
    command = [sys.executable, "-c", SCRIPT, str(page_folder), "explore", str(saved), "--port", "0", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        url = json.loads(process.stdout.readline())["url"]
        assert b"<title>relscape</title>" in get(url)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert errors == ""
