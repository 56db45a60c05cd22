"""DocumentNetwork, LinkOnly and ContentOnly."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import cosine_similarity, euclidean_distances

from relscape.data import EntitySet, Relation, RelationalData
from relscape.data.labels import as_text
from relscape.data.link_splits import hold_out_documents, hold_out_links
from relscape.datasets import load_webkb
from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.matrix.contents import content_probabilities
from relscape.models import network_base, network_training
from relscape.models.network import DocumentNetwork
from relscape.models.network_baselines import ContentOnly, LinkOnly
from relscape.models.network_training import margin_of, neighbours_of
from relscape.objectives.link_triples import LinkTriples
from relscape.objectives.linkage import Linkage

N = 40


@pytest.fixture
def contents(rng):
    return np.repeat(2.0 * np.eye(4, 8), 10, axis=0) + rng.random((N, 8))


@pytest.fixture
def links(rng):
    pairs = np.argwhere(rng.random((N, N)) < 0.3)
    return pairs[(pairs[:, 0] != pairs[:, 1]) & (pairs[:, 0] // 10 == pairs[:, 1] // 10)]


def small(**settings):
    return DocumentNetwork(3, perplexity=5, random_state=0, **{"max_iterations": 60, **settings})


def log_probabilities(H, kernel):
    """Log p by the definition, with loops over documents."""
    n = len(H)
    logs = np.full((n, n), -np.inf)
    for i in range(n):
        for j in range(n):
            if i != j:
                d = ((H[i] - H[j]) ** 2).sum()
                logs[i, j] = -np.log(1 + d) if kernel == "cauchy" else -d
    return logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("kernel", ["cauchy", "gaussian"])
def test_scores_are_log_probabilities(contents, links, kernel):
    model = small(kernel=kernel).fit(contents, links)
    expected = log_probabilities(model.embedding_, kernel)
    found = np.array(model._scores(np.arange(N)))
    others = ~np.eye(N, dtype=bool)
    assert_allclose(found[others], expected[others], rtol=1e-4, atol=1e-5)
    best = model.predict_links(0, top=1, exclude_known=False)[0]
    assert best.probability == pytest.approx(np.exp(expected[0].max()), rel=1e-4)


def test_the_cost_is_that_of_the_definition(contents, links):
    """Contents: the divergence of all rows. Links: a mean hinge, here in which every triple is active."""
    model = small(margin=2.0).fit(contents, links)
    logs = log_probabilities(model.embedding_, "cauchy")
    q = content_probabilities(contents, 5)
    others = ~np.eye(N, dtype=bool)
    divergence = (q[others] * (np.log(np.maximum(q[others], 1e-300)) - logs[others])).sum()
    assert model.cost_["content"] == pytest.approx(divergence / (N - 1), rel=1e-4)
    assert model.cost_["active_share"] == 1.0
    p = np.exp(logs)
    assert model.cost_["mean_link_probability"] == pytest.approx(p[tuple(links.T)].mean(), rel=1e-4)
    assert model.cost_["total"] == pytest.approx(model.cost_["link"] + model.cost_["content"])


def test_training_lowers_the_cost(contents, links):
    adam = small(max_iterations=2000).fit(contents, links)
    rounds = small(training="adaptive", max_iterations=15).fit(contents, links)
    for model in (adam, rounds):
        assert model.solve_result_.value < 0.7 * model.solve_result_.trace[0]
        assert model.rank(links).auc > 0.8
    assert adam.solve_result_.converged


def test_samples_come_close():
    """Of 600 documents each sees a third; both maps are judged by the exact divergence of the contents."""
    rng = np.random.default_rng(5)
    groups = np.arange(600) // 100
    X = 3.0 * np.eye(6, 10)[groups] + rng.random((600, 10))
    pairs = np.argwhere(
        (rng.random((600, 600)) < 0.03) & (groups[:, None] == groups) & ~np.eye(600, dtype=bool)
    )
    models = {
        name: small(normaliser=name, neighbours=15, max_iterations=100).fit(X, pairs)
        for name in ("exact", "sampled")
    }
    q = content_probabilities(X, 5, neighbours=15)
    judge = Linkage(q, 1.0, 1 / 600)
    found = {
        name: judge.value_and_gradient_of(model.embedding_, LinkTriples(pairs, 600).draw(rng))[0]
        for name, model in models.items()
    }
    assert_allclose(found["sampled"].content, found["exact"].content, rtol=0.05)
    assert_allclose(found["sampled"].total, found["exact"].total, rtol=0.05)
    assert models["sampled"].rank(pairs).auc == pytest.approx(models["exact"].rank(pairs).auc, abs=0.02)
    assert not np.array_equal(models["sampled"].embedding_, models["exact"].embedding_)
    # Probabilities rest on sums over all documents, whatever training saw.
    kernels = 1.0 / (1.0 + euclidean_distances(models["sampled"].embedding_, squared=True))
    assert_allclose(models["sampled"].normalisers_, kernels.sum(axis=1) - 1.0, rtol=1e-4)


@pytest.mark.filterwarnings("ignore::relscape.errors.RelscapeWarning")  # of so many equally near
@pytest.mark.parametrize(
    ("n", "complete"), [(3, False), (3, True), (4, False), (4, True), (7, True)], ids=str
)
def test_documents_that_nothing_tells_apart(n, complete):
    """Every document is as near to every other by its contents: there is still a map."""
    ring = [(i, (i + 1) % n) for i in range(n)]
    everyone = [(i, j) for i in range(n) for j in range(n) if i != j]
    model = DocumentNetwork(2, perplexity=3, max_iterations=50, random_state=0)
    model.fit(np.eye(n), everyone if complete else ring)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.normalisers_).all()
    assert len(model.predict_links(0, exclude_known=False)) == n - 1


def test_links_are_sorted_once(contents, links, monkeypatch):
    made = []

    def counted(pairs, n):
        made.append(LinkTriples(pairs, n))
        return made[-1]

    monkeypatch.setattr(network_training, "LinkTriples", counted)
    small(max_iterations=5).fit(contents, links)
    small(max_iterations=2, training="adaptive").fit(contents, links)
    assert len(made) == 2


def test_few_neighbours_are_enough(contents, links):
    near = small(neighbours=15).fit(contents, links)
    assert near.rank(links).auc > 0.8
    assert near.transform(contents[:3]).shape == (3, 3)


def test_contents_place_documents_without_links(contents, links):
    """Documents whose links are hidden still come to lie with their group."""
    train, test, _ = hold_out_documents(links, N, 0.2, random_state=0)
    model = small(max_iterations=300).fit(contents, train)
    assert model.rank(test).auc > 0.75


def test_new_documents_lie_with_their_like(contents, links):
    model = small(max_iterations=300).fit(contents, links)
    places = model.transform(contents)
    groups = np.array([model.embedding_[10 * g : 10 * g + 10].mean(axis=0) for g in range(4)])
    nearest = ((places[:, None] - groups) ** 2).sum(axis=-1).argmin(axis=1)
    assert (nearest == np.arange(N) // 10).mean() > 0.9


def test_probabilities_of_new_documents(contents, links):
    model = small().fit(contents, links)
    new = contents[[3]] + 0.01
    h, H = model.transform(new)[0], model.embedding_
    w = 1 / (1 + ((h - H) ** 2).sum(axis=1))
    Z = np.array([sum(1 / (1 + ((H[i] - H[j]) ** 2).sum()) for j in range(N) if j != i) for i in range(N)])
    outgoing = {int(s.id): s.probability for s in model.suggest(new, top=N)[0]}
    incoming = {int(s.id): s.probability for s in model.suggest(new, top=N, incoming=True)[0]}
    assert_allclose([outgoing[j] for j in range(N)], w / w.sum(), rtol=1e-6)
    assert_allclose([incoming[j] for j in range(N)], w / (Z + w), rtol=1e-5)


def test_documents_far_from_all_keep_an_order(contents, links):
    """On a map stretched by hand, probabilities of links to a new document are all 0; their logs are not."""
    model = small(kernel="gaussian").fit(contents, links)
    model.embedding_ = 40.0 * model.embedding_
    model.normalisers_ = np.zeros(N)
    answers = model.suggest(contents[:1] + 0.1, top=N, incoming=True)[0]
    squares = ((model.transform(contents[:1] + 0.1) - model.embedding_) ** 2).sum(axis=1)
    assert squares.max() > 800
    assert [int(answer.id) for answer in answers] == np.argsort(squares).tolist()


@pytest.mark.parametrize("model_class", [DocumentNetwork, ContentOnly])
@pytest.mark.parametrize("incoming", [False, True])
def test_new_documents_are_scored_some_at_a_time(contents, links, monkeypatch, model_class, incoming):
    model = model_class(3, random_state=0).fit(contents, links)
    new = contents[::5] + 0.1
    for X in (new, csr_array(new)):
        monkeypatch.setattr(network_base, "BLOCK_ENTRIES", 10**6)
        together = model.suggest(X, top=4, incoming=incoming)
        rows = []
        name = "_score_as_columns" if incoming else "_score_as_rows"
        score = getattr(model_class, name)

        def counted(self, known, score=score, rows=rows):
            rows.append(known.shape[0])
            return score(self, known)

        monkeypatch.setattr(network_base, "BLOCK_ENTRIES", 3 * N)
        with monkeypatch.context() as patch:
            patch.setattr(model_class, name, counted)
            apart = model.suggest(X, top=4, incoming=incoming)
        assert rows == [3, 3, 2]
        for one, other in zip(together, apart, strict=True):
            assert [link.id for link in one] == [link.id for link in other]
            assert_allclose([link.score for link in one], [link.score for link in other])


def test_row_normalize_forgets_lengths(contents, links, rng):
    stretched = contents * rng.uniform(0.5, 3.0, (N, 1))
    one = small(row_normalize=True).fit(contents, links)
    other = small(row_normalize=True).fit(stretched, links)
    assert_allclose(one.embedding_, other.embedding_, atol=1e-3)
    assert_allclose(one.transform(contents[:2]), one.transform(5 * contents[:2]), atol=1e-6)


def test_sparse_contents(contents, links):
    """Distances of both forms differ by rounding, which the steps of a training enlarge."""
    dense, sparse = small().fit(contents, links), small().fit(csr_array(contents), links)
    assert_allclose(sparse.embedding_, dense.embedding_, atol=1e-3)
    assert_allclose(sparse.transform(csr_array(contents[:3])), dense.transform(contents[:3]), atol=1e-3)


def test_link_only_ignores_contents(contents, links, rng):
    settings = {"perplexity": 5, "max_iterations": 40, "random_state": 0}
    with_contents = LinkOnly(3, **settings).fit(contents, links)
    without = LinkOnly(3, **settings).fit(None, links)
    other = LinkOnly(3, **settings).fit(rng.random((N, 2)), links)
    weightless = DocumentNetwork(3, content_weight=0.0, **settings).fit(contents, links)
    for model in (without, other, weightless):
        assert_allclose(model.embedding_, with_contents.embedding_)
    assert with_contents.cost_["content"] == 0.0
    assert len(with_contents.suggest(contents[:1])[0]) == 10
    with pytest.raises(ParameterError, match="fitted without contents"):
        without.suggest(contents)
    assert without.to_map().groups == ("document",)


def test_link_only_tells_of_documents_without_links(links):
    pairs = links[(links != 7).all(axis=1)]
    matrix = csr_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(N, N))
    with pytest.warns(RelscapeWarning, match=r"1 of 40 document things \('7'\) have no links"):
        LinkOnly(3, max_iterations=5).fit(None, matrix)


def test_content_only_is_the_cosine(contents, links):
    for X in (contents, csr_array(contents)):
        model = ContentOnly(3, random_state=0).fit(X, links)
        assert_allclose(model._scores(np.arange(N)), cosine_similarity(contents), atol=1e-12)
        new = model.suggest(X[:1], top=1)[0][0]
        assert (new.id, new.score) == ("0", pytest.approx(1.0))
        units = contents / np.linalg.norm(contents, axis=1, keepdims=True)
        values = np.linalg.svd(units, compute_uv=False)
        assert_allclose(np.linalg.norm(model.embedding_, axis=0), values[:3], rtol=1e-6)
        assert_allclose(model.transform(X), model.embedding_, atol=1e-9)


def test_the_map_of_contents_has_every_direction(contents, links):
    model = ContentOnly(20).fit(contents, links)
    assert model.embedding_.shape == (N, 8)
    assert_allclose(model.embedding_ @ model.embedding_.T, cosine_similarity(contents), atol=1e-9)


def test_a_report_says_which_links_it_ranks(contents, links):
    for direction in ("out", "in"):
        model = small(direction=direction, max_iterations=5).fit(contents, links)
        report = model.rank(links[::7])
        assert {tuple(pair) for pair in report.pairs.tolist()} == {
            tuple(pair) for pair in links[::7].tolist()
        }
        for pair, rank in zip(report.pairs, report.ranks, strict=True):
            assert model.rank([tuple(pair.tolist())]).ranks == [rank]


def test_margins():
    assert margin_of("1/n", 50) == 0.02
    assert margin_of("5/n", 50) == 0.1
    assert margin_of(0.3, 50) == 0.3
    for wrong in ("n", "x/n", "-1/n", -1.0, None):
        with pytest.raises(ParameterError, match="margin="):
            margin_of(wrong, 50)


def test_neighbours():
    assert neighbours_of("auto", 100, 20) is None
    assert neighbours_of("auto", 10**6, 20) == 60
    assert neighbours_of(7, 100, 20) == 7
    assert neighbours_of(None, 10**6, 20) is None


def test_numbers_of_numpy_are_numbers(contents, links):
    plain = small(neighbours=6, max_iterations=9).fit(contents, links)
    other = small(neighbours=np.int64(6), max_iterations=np.int32(9)).fit(contents, links)
    assert_array_equal(other.embedding_, plain.embedding_)
    assert neighbours_of(np.int64(5), 100, 20) == 5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "student"}, "no kernel 'student'"),
        ({"training": "sgd"}, "no training 'sgd'"),
        ({"init": "pca"}, "no init 'pca'"),
        ({"normaliser": "none"}, "no normaliser 'none'"),
        ({"content_weight": -1.0}, "content_weight=-1.0"),
        ({"margin": "half"}, "margin='half'"),
        ({"row_normalize": "yes"}, "row_normalize='yes'"),
        ({"neighbours": 0}, "neighbours=0"),
        ({"max_iterations": 0}, "max_iterations=0"),
        ({"tolerance": -1.0}, "tolerance=-1.0"),
    ],
)
def test_parameters(contents, links, settings, message):
    with pytest.raises((ParameterError, UnknownNameError), match=message):
        small(**settings).fit(contents, links)


def test_what_is_missing(contents, links):
    with pytest.raises(DataError, match="there are no contents"):
        small().fit(None, links)
    with pytest.raises(DataError, match="there are no contents"):
        ContentOnly().fit(None, links)
    words = Relation("use", "word", "doc", contents.T)
    cites = Relation("cites", "doc", "doc", csr_array((np.ones(len(links)), tuple(links.T)), shape=(N, N)))
    documents = [EntitySet("word", as_text(range(8))), EntitySet("doc", as_text(range(N)))]
    with pytest.raises(DataError, match=r"relation 'use' has doc as columns.* data.only\('cites'\)"):
        small().fit(RelationalData(documents, [words, cites]))
    with pytest.raises(DataError, match="no links between these documents"):
        small().fit(contents, csr_array((N, N)))


# ---------------------------------------------------------------------- real data


@pytest.fixture(scope="module")
def webkb(data_dir):
    """Links from the linking to the linked page, and the published direction: rank those that link."""
    data = load_webkb()
    cited, citing = data.matrix("links").nonzero()
    return data.only("words"), np.unique(np.column_stack([citing, cited]), axis=0)


def test_cosines_rank_as_published(webkb):
    """All links of WebKB together: the published 186 and 204 are of nine tenths and one tenth of them."""
    words, links = webkb
    report = ContentOnly(direction="in").fit(words, links).rank(links)
    assert report.n_links == 1516
    assert report.mean_rank == pytest.approx(0.9 * 186.4 + 0.1 * 204.1, abs=0.5)


def test_held_out_links_are_found(webkb):
    """Published: mean rank 93; chance is 438."""
    words, links = webkb
    train, test = hold_out_links(links, random_state=0)
    model = DocumentNetwork(direction="in", max_iterations=150, random_state=0).fit(words, train)
    assert model.rank(test).mean_rank < 110


def test_adam_gets_lower_with_as_many_gradients(webkb):
    """From the same random start, 60 steps against three rounds of 20."""
    words, links = webkb
    settings = {"direction": "in", "init": "random", "random_state": 0}
    adam = DocumentNetwork(max_iterations=60, **settings).fit(words, links)
    rounds = DocumentNetwork(max_iterations=3, training="adaptive", **settings).fit(words, links)
    assert adam.cost_["total"] < 0.8 * rounds.cost_["total"]


@pytest.mark.parametrize("kernel", ["cauchy", "gaussian"])
@pytest.mark.parametrize("direction", ["out", "in"])
def test_the_other_direction_reads_the_same_probabilities_by_column(kernel, direction):
    rng = np.random.default_rng(3)
    X, links = rng.random((12, 5)), [(i, (i + step) % 12) for i in range(12) for step in (1, 3)]
    model = DocumentNetwork(
        2, perplexity=3, kernel=kernel, direction=direction, max_iterations=20, random_state=0
    ).fit(X, links)
    by_row = {
        (i, int(link.id)): link.probability
        for i in range(12)
        for link in model.predict_links(i, top=12, exclude_known=False)
    }
    for j in (0, 7):
        told = model.predict_links(j, top=12, exclude_known=False, incoming=direction == "out")
        assert len(told) == 11
        assert [link.score for link in told] == sorted((link.score for link in told), reverse=True)
        for link in told:
            assert link.probability == pytest.approx(by_row[int(link.id), j], rel=1e-6)
        known = {int(link.id) for link in told if link.known}
        asked = (1, 3) if direction == "in" else (-1, -3)
        assert known == {(j + step) % 12 for step in asked}
