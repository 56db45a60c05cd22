"""Training, ranking and keeping knowledge-graph models, on a made-up grid of places and on Nations."""

from __future__ import annotations

import json
import os
import signal
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from relscape.data import RelationalData
from relscape.data.triples import KnowledgeGraph
from relscape.errors import (
    DataError,
    FormatError,
    ParameterError,
    RelscapeWarning,
    StorageError,
    UnknownNameError,
)
from relscape.models import knowledge_training, knowledge_warm
from relscape.models.knowledge import KGEmbedding
from relscape.models.knowledge_checkpoints import TrainingStopped
from relscape.models.knowledge_presets import PRESETS
from relscape.models.knowledge_settings import OPTION_NAMES, plan_of
from relscape.models.knowledge_validation import Validation, better
from relscape.objectives.energies import ENERGIES

COMPILED = {"dtype": "float64"}  # what the tests of energies and solvers have compiled, too


def grid_facts(size=5):
    """Facts of a square of places: what lies east and south of what."""
    place = [[f"p{i}{j}" for j in range(size)] for i in range(size)]
    east = [(place[i][j], "east", place[i][j + 1]) for i in range(size) for j in range(size - 1)]
    south = [(place[i][j], "south", place[i + 1][j]) for i in range(size - 1) for j in range(size)]
    return [*east, *south]


@pytest.fixture
def graph():
    return KnowledgeGraph(grid_facts()).split(0.1, 0.1, random_state=0)


PLAIN = {"optimizer": "sgd", "mode": "minibatch"}


def small(model="TransE", **changes):
    settings = {"n_components": 8, "n_batches": 4, "n_epochs": 12, "random_state": 0} | changes
    return KGEmbedding(model, **settings)


# ---------------------------------------------------------------------- training


def test_a_model_learns_the_grid():
    """With l2 the grid fits a plane exactly, so that every fact can be told from the false ones."""
    graph = KnowledgeGraph(grid_facts())
    model = small(norm="l2", n_epochs=400, n_batches=1, margin=0.3, learning_rate=0.02).fit(graph)
    assert model.rank("train").hits[10] > 0.95
    assert model.rank("train").mean_rank < 5 < small(n_epochs=1).fit(graph).rank("train").mean_rank
    assert model.history_[-1]["loss"] < 0.3 * model.history_[0]["loss"]


def test_the_same_seed_gives_the_same_bits(graph):
    one, two = small().fit(graph), small().fit(graph)
    for name in one.params_:
        assert_array_equal(one.params_[name], two.params_[name])
    assert one.history_ == two.history_
    assert (small(random_state=1).fit(graph).params_["entities"] != one.params_["entities"]).any()


def test_threads_of_matrix_products_change_nothing(rng):
    """Wide enough for the products to be shared out: sums by two threads end in other digits."""
    changes = {"model": "TransE", "loss": "softmax", "norm": "l2", "negatives": 64}
    ends = rng.integers(0, 150, (2, 3000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)
        graph = KnowledgeGraph([(f"e{h}", f"r{i % 9}", f"e{t}") for i, (h, t) in enumerate(ends.T)])
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            model = small(**changes, n_components=32, n_epochs=2, n_batches=2).fit(graph)
        found.append(model.params_["entities"])
    assert_array_equal(*found)


def test_threads_do_not_change_a_minibatch_training(graph):
    one = small(options={"mode": "minibatch"}).fit(graph)
    two = small(n_jobs=2, options={"mode": "minibatch"}).fit(graph)
    assert_array_equal(one.params_["entities"], two.params_["entities"])


def test_lock_free_training_learns(graph):
    model = small(n_jobs=2, n_epochs=60).fit(graph)
    assert model.check().engine.mode == "lock-free"
    assert model.history_[-1]["loss"] < 0.7 * model.history_[0]["loss"]


def test_the_best_of_the_last_epochs_is_kept(graph):
    """What is kept ranks the validation triples as its figures say, and no later look was better."""
    model = small(n_epochs=30, options={"validate_every": 3, "validate_last": 15}).fit(graph)
    looked = {n + 1: h for n, h in enumerate(model.history_) if "mean_rank" in h}
    assert [*looked] == [18, 21, 24, 27, 30]
    best = min(looked.values(), key=lambda h: (h["mean_rank"], -h["hits@10"]))
    assert looked[model.best_epoch_] == best
    report = model.rank("valid", known=("train", "valid"))
    assert report.mean_rank == model.validation_["mean_rank"] == best["mean_rank"]


def test_validation_may_be_filtered_as_in_the_thesis(graph):
    model = small(options={"validate_filter": "all"}).fit(graph)
    assert model.validation_["mean_rank"] == model.rank("valid").mean_rank


def test_a_training_stops_when_patience_runs_out(graph):
    options = {"patience": 2, "validate_every": 1}
    model = small(n_epochs=200, learning_rate=1e-9, options=options).fit(graph)
    assert model.n_epochs_ == 3
    assert model.best_epoch_ == 1


def test_an_empty_validation_set_keeps_the_last_epoch():
    graph = KnowledgeGraph(grid_facts())
    model = small().fit(graph)
    assert model.best_epoch_ == model.n_epochs_ == 12
    assert model.validation_ == {}
    with pytest.raises(ParameterError, match=r"patience=3: .* the graph has none"):
        small(options={"patience": 3}).fit(graph)


def test_some_validation_triples_are_enough(graph):
    few = small(options={"validate_triples": 2}).fit(graph)
    assert few.validation_ == small(options={"validate_triples": 2}).fit(graph).validation_


def test_weights_count():
    """Losses are summed: three times the weight is three times the step."""
    facts = grid_facts()
    weighted = KnowledgeGraph(facts, weights=np.full(len(facts), 3.0))
    heavy = small(learning_rate=0.01, options=PLAIN).fit(weighted)
    quick = small(learning_rate=0.03, options=PLAIN).fit(KnowledgeGraph(facts))
    for name, rows in heavy.params_.items():
        assert_allclose(rows, quick.params_[name], rtol=1e-4, atol=1e-5)
    slow = small(learning_rate=0.01, options=PLAIN).fit(KnowledgeGraph(facts))
    assert np.abs(heavy.params_["entities"] - slow.params_["entities"]).max() > 0.01


def test_every_fact_has_its_own_weight():
    """What next to nothing is said about does not move."""
    facts = grid_facts()
    weights = [1e-9 if relation == "east" else 1.0 for _, relation, _ in facts]
    graph = KnowledgeGraph(facts, weights=weights)
    ends = [small(learning_rate=rate, options=PLAIN).fit(graph) for rate in (0.01, 1e-9)]
    moved = ends[0].params_["relations"] - ends[1].params_["relations"]
    lengths = dict(zip(graph.relations, np.linalg.norm(moved, axis=1), strict=True))
    assert lengths["east"] < 1e-6 < 0.1 < lengths["south"]


def test_relational_data_and_plain_facts_are_understood():
    facts = grid_facts(3)
    one = small().fit(facts)
    assert len(one.entities_) == 9
    data = RelationalData.from_edges([("a", "x"), ("b", "y")], "doc", "word")
    assert len(small().fit(data).relations_) == 1


def test_reciprocal_relations_ask_for_tails_only(graph):
    model = small(options={"reciprocal": True}).fit(graph)
    assert len(model.params_["relations"]) == 4
    trained = model._trained()
    heads = trained.heads_of(np.array([3]), np.array([1]))
    assert_array_equal(heads, trained.tails_of(np.array([3]), np.array([1 + 2])))
    assert model.rank().n_triples == len(graph.test)
    found = model.predict_relations("p00", "p01", exclude_known=False)
    assert {prediction.name for prediction in found} == {"east", "south"}


@pytest.mark.parametrize("loss", ["self-adversarial", "softmax"])
def test_losses_over_shared_corruptions(graph, loss):
    model = small("ComplEx", loss=loss, negatives=16, n_epochs=60, options=COMPILED).fit(graph)
    assert model.history_[-1]["loss"] < 0.8 * model.history_[0]["loss"]
    assert 0 <= model.history_[-1]["below_share"] <= 1
    assert "active_share" not in model.history_[-1]


def test_double_precision(graph):
    assert small(options={"dtype": "float64"}).fit(graph).params_["entities"].dtype == np.float64


# ---------------------------------------------------------------------- stopping and going on


class _StoppedError(Exception):
    pass


def _stopping_after(monkeypatch, epochs):
    """Let training break in the middle of an epoch: parameters have moved, nothing is written."""
    train_epoch, done = knowledge_training.train_epoch, []

    def breaking(energy, params, state, data, options):
        report = train_epoch(energy, params, state, data, options)
        done.append(1)
        if len(done) > epochs:
            raise _StoppedError
        return report

    monkeypatch.setattr(knowledge_training, "train_epoch", breaking)


@pytest.mark.parametrize("broken_after", [0, 3, 11])
@pytest.mark.parametrize("changes", [{}, {"options": {"optimizer": "adagrad", "schedule": "linear"}}])
def test_a_broken_training_ends_like_an_unbroken_one(graph, tmp_path, monkeypatch, broken_after, changes):
    whole = small(**changes).fit(graph)
    with monkeypatch.context() as patch:
        _stopping_after(patch, broken_after)
        with pytest.raises(_StoppedError):
            small(**changes).fit(graph, checkpoints=tmp_path / "run", every=2)
    resumed = KGEmbedding.resume(tmp_path / "run")
    assert resumed.history_ == whole.history_
    whole.save(tmp_path / "whole")
    resumed.save(tmp_path / "resumed")
    for file in ("model.json", "model.safetensors"):
        assert (tmp_path / "whole" / file).read_bytes() == (tmp_path / "resumed" / file).read_bytes()


@pytest.mark.parametrize(("pressed", "kept"), [(1, 4), (2, 3)])
@pytest.mark.parametrize("changes", [{}, {"model": "TransR", "options": COMPILED | {"warm_epochs": 7}}])
def test_ctrl_c_ends_with_a_checkpoint_that_goes_on_exactly(
    graph, tmp_path, monkeypatch, pressed, kept, changes
):
    """Pressed once, the fourth epoch comes to its end and is kept; pressed twice, the third is the last."""
    name, settings = changes.get("model", "TransE"), {k: v for k, v in changes.items() if k != "model"}
    whole = small(name, **settings).fit(graph)
    train_epoch = knowledge_training.train_epoch

    def pressing(energy, params, state, data, options):
        if state.epoch == 3 and energy.name == name:
            for _ in range(pressed):
                os.kill(os.getpid(), signal.SIGINT)
        return train_epoch(energy, params, state, data, options)

    with monkeypatch.context() as patch:
        patch.setattr(knowledge_training, "train_epoch", pressing)
        with pytest.raises(
            TrainingStopped, match=rf"after epoch {kept} of 12 is in .*run: KGEmbedding\.resume"
        ):
            small(name, **settings).fit(graph, checkpoints=tmp_path / "run", every=3)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert KGEmbedding.load(tmp_path / "run").n_epochs_ == kept
    whole.save(tmp_path / "whole")
    KGEmbedding.resume(tmp_path / "run").save(tmp_path / "resumed")
    for file in ("model.json", "model.safetensors"):
        assert (tmp_path / "whole" / file).read_bytes() == (tmp_path / "resumed" / file).read_bytes()


def test_ctrl_c_in_the_transe_that_a_training_begins_from(graph, tmp_path, monkeypatch):
    settings = {"n_epochs": 3, "options": COMPILED | {"warm_epochs": 7}}
    whole = small("TransR", **settings).fit(graph)
    train_epoch, done = knowledge_warm.Warm.train_epoch, []

    def pressing(*arguments):
        done.append(1)
        if len(done) == 5:
            os.kill(os.getpid(), signal.SIGINT)
        return train_epoch(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(knowledge_warm.Warm, "train_epoch", pressing)
        with pytest.raises(TrainingStopped):
            small("TransR", **settings).fit(graph, checkpoints=tmp_path, every=100)
        resumed = KGEmbedding.resume(tmp_path)
    assert len(done) == 7  # five before Ctrl-C, two after
    assert_array_equal(resumed.params_["entities"], whole.params_["entities"])


def test_ctrl_c_without_checkpoints_stops_at_once(graph, monkeypatch):
    def pressing(*_):
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("the signal was kept back")

    monkeypatch.setattr(knowledge_training, "train_epoch", pressing)
    with pytest.raises(KeyboardInterrupt) as stop:
        small().fit(graph)
    assert not isinstance(stop.value, TrainingStopped)


def test_resuming_to_more_epochs_equals_training_them_at_once(graph, tmp_path):
    small(n_epochs=6).fit(graph, checkpoints=tmp_path, every=5)
    longer = KGEmbedding.resume(tmp_path, n_epochs=12)
    assert_array_equal(longer.params_["entities"], small(n_epochs=12).fit(graph).params_["entities"])
    assert longer.n_epochs == longer.n_epochs_ == 12
    with pytest.raises(ParameterError, match="n_epochs=4: 12 epochs are trained"):
        KGEmbedding.resume(tmp_path, n_epochs=4)


def test_resuming_with_another_learning_rate(graph, tmp_path):
    """What was trained before stays; what is trained from then on takes steps of the new size."""
    settings = {"options": {"validate_last": 1}}
    small(n_epochs=6, learning_rate=0.01, **settings).fit(graph, checkpoints=tmp_path)
    before = small(n_epochs=6, learning_rate=0.01, **settings).fit(graph).params_["entities"]
    still = KGEmbedding.resume(tmp_path, n_epochs=8, learning_rate=1e-9)
    assert_allclose(still.params_["entities"], before, atol=1e-6)
    assert (still.n_epochs, still.learning_rate) == (8, 1e-9)
    assert still.changes_ == [{"epoch": 6, "n_epochs": 8, "learning_rate": 1e-9}]
    quick = KGEmbedding.resume(tmp_path, n_epochs=9, learning_rate=0.5)
    assert np.abs(quick.params_["entities"] - before).max() > 0.05
    assert [change["epoch"] for change in quick.changes_] == [6, 8]
    quick.save(tmp_path / "saved")
    assert KGEmbedding.load(tmp_path / "saved").changes_ == quick.changes_
    with pytest.raises(ParameterError, match=r"learning_rate=0.1: all 9 epochs are trained"):
        KGEmbedding.resume(tmp_path, learning_rate=0.1)
    with pytest.raises(ParameterError, match="learning_rate=-1"):
        KGEmbedding.resume(tmp_path, n_epochs=20, learning_rate=-1)


def test_nothing_changed_leaves_no_record(graph, tmp_path):
    small(n_epochs=4, learning_rate=0.01).fit(graph, checkpoints=tmp_path)
    assert KGEmbedding.resume(tmp_path, n_epochs=4, learning_rate=0.01, n_jobs=1).changes_ == []


def test_patience_begins_anew_with_another_rate(graph, tmp_path):
    options = {"patience": 2, "validate_every": 1}
    stopped = small(n_epochs=50, learning_rate=1e-9, options=options).fit(graph, checkpoints=tmp_path)
    assert stopped.n_epochs_ == 3
    assert KGEmbedding.resume(tmp_path).n_epochs_ == 3
    assert KGEmbedding.resume(tmp_path, learning_rate=0.01).n_epochs_ > 3


@pytest.mark.parametrize("name", ["TransR", "CTransR"])
def test_a_warm_start_that_breaks_goes_on_where_it_was(graph, tmp_path, monkeypatch, name):
    """Killed in the TransE that it begins from, a training trains just what is missing of that."""
    settings = {"n_epochs": 3, "options": COMPILED | {"warm_epochs": 7}}
    whole = small(name, **settings).fit(graph)
    train_epoch, done = knowledge_warm.Warm.train_epoch, []

    def counting(*arguments):
        if len(done) == 5:
            raise _StoppedError
        done.append(1)
        return train_epoch(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(knowledge_warm.Warm, "train_epoch", counting)
        with pytest.raises(_StoppedError):
            small(name, **settings).fit(graph, checkpoints=tmp_path / "run", every=2)
        with pytest.raises(FormatError, match="still at the TransE"):
            KGEmbedding.load(tmp_path / "run")
        done.clear()
        resumed = KGEmbedding.resume(tmp_path / "run")
        assert len(done) == 3  # four of seven were kept
    whole.save(tmp_path / "whole")
    resumed.save(tmp_path / "resumed")
    for file in ("model.json", "model.safetensors"):
        assert (tmp_path / "whole" / file).read_bytes() == (tmp_path / "resumed" / file).read_bytes()


def test_more_threads_in_the_middle_of_a_warm_start(graph, tmp_path, monkeypatch):
    settings = {"n_epochs": 2, "options": COMPILED | {"warm_epochs": 4}}

    def stopping(*_):
        raise _StoppedError

    with monkeypatch.context() as patch:
        patch.setattr(knowledge_warm.Warm, "train_epoch", stopping)
        with pytest.raises(_StoppedError):
            small("TransR", **settings).fit(graph, checkpoints=tmp_path, every=1)
    assert KGEmbedding.resume(tmp_path, n_jobs=2).n_epochs_ == 2


def test_a_finished_checkpoint_resumes_to_the_same_model(graph, tmp_path):
    model = small().fit(graph, checkpoints=tmp_path / "run")
    assert_array_equal(KGEmbedding.resume(tmp_path / "run").params_["entities"], model.params_["entities"])


def test_a_checkpoint_can_be_asked_while_training_goes_on(graph, tmp_path):
    small().fit(graph, checkpoints=tmp_path / "run", every=3)
    loaded = KGEmbedding.load(tmp_path / "run")
    assert len(loaded.predict_tails("p00", "east", top=3)) == 3
    assert not hasattr(loaded, "training_")


def test_more_threads_from_now_on(graph, tmp_path):
    small(n_epochs=4).fit(graph, checkpoints=tmp_path / "run")
    assert KGEmbedding.resume(tmp_path / "run", n_epochs=6, n_jobs=2).n_epochs_ == 6


def test_nan_names_the_epoch_and_keeps_the_last_good_checkpoint(graph, tmp_path, monkeypatch):
    train_epoch = knowledge_training.train_epoch

    def spoiling(energy, params, state, data, options):
        if state.epoch == 5:
            params["entities"][0] = np.nan
        return train_epoch(energy, params, state, data, options)

    with monkeypatch.context() as patch:
        patch.setattr(knowledge_training, "train_epoch", spoiling)
        model = small(options={"entity_rule": "free"})
        with pytest.raises(DataError, match=r"epoch 6: .*NaN.*last good checkpoint, of epoch 4, is in .*run"):
            model.fit(graph, checkpoints=tmp_path / "run", every=2)
        assert not hasattr(model, "params_")
    kept = KGEmbedding.load(tmp_path / "run")
    assert kept.n_epochs_ == 4
    assert np.isfinite(kept.params_["entities"]).all()
    assert KGEmbedding.resume(tmp_path / "run").n_epochs_ == 12


def test_a_finished_model_is_nothing_to_resume(graph, tmp_path):
    small().fit(graph).save(tmp_path / "model")
    with pytest.raises(FormatError, match="finished model"):
        KGEmbedding.resume(tmp_path / "model")
    with pytest.raises(FormatError, match=r"there is no training at .*nowhere"):
        KGEmbedding.resume(tmp_path / "nowhere")


def test_what_a_killed_writer_left_is_cleared_away(graph, tmp_path):
    """A draft beside the checkpoint goes; a checkpoint set aside in the middle of a swap comes back."""
    small(n_epochs=4).fit(graph, checkpoints=tmp_path / "kg" / "checkpoint")
    (tmp_path / "kg" / ".checkpoint-draft-a1b2").mkdir()
    (tmp_path / "kg" / "checkpoint").rename(tmp_path / "kg" / ".checkpoint.previous")
    resumed = KGEmbedding.resume(tmp_path / "kg", n_epochs=5)
    resumed.save(tmp_path / "kg")
    assert sorted(p.name for p in (tmp_path / "kg").iterdir()) == [
        "checkpoint",
        "model.json",
        "model.safetensors",
    ]


def test_checkpoints_never_replace_other_things(graph, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StorageError, match="something else"):
        small().fit(graph, checkpoints=tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"


# ---------------------------------------------------------------------- ranking


def test_ranks_by_splits_names_and_numbers_agree(graph):
    model = small().fit(graph)
    report = model.rank()
    assert_array_equal(report.ranks, model.rank(graph.test).ranks)
    assert_array_equal(report.ranks, model.rank(graph.named(graph.test)).ranks)
    assert_array_equal(report.ranks, model.rank("test", known=graph).ranks)
    assert model.rank("test", ties="pessimistic").mean_rank >= report.mean_rank


def test_ranks_agree_with_energies_one_by_one(graph):
    model = small("TransPES", options={"dtype": "float64"}).fit(graph)
    report = model.rank().raw
    for row, (h, r, t) in enumerate(graph.test):
        energies = model.energy(np.array([(h, r, j) for j in range(graph.n_entities)]))
        below = (energies < energies[t] - 1e-12).sum()
        assert report.tails.ranks[row] == pytest.approx(1 + below, abs=0.5)


def test_ranks_by_another_graph_need_its_numbering(graph):
    model = small().fit(graph)
    with pytest.raises(DataError, match="other entities"):
        model.rank("test", known=KnowledgeGraph(grid_facts(4)))
    with pytest.raises(ParameterError, match="at least one split"):
        model.rank("test", known=())
    with pytest.raises(DataError, match=r"no triples to rank: .* an empty test split"):
        small().fit(KnowledgeGraph(grid_facts())).rank()


def test_unknown_entities_suggest_near_names(graph):
    model = small().fit(graph)
    with pytest.raises(UnknownNameError, match=r"no entity 'p00x'.*Did you mean 'p00'"):
        model.predict_tails("p00x", "east")
    with pytest.raises(UnknownNameError, match=r"no relation 'eastt'.*Did you mean 'east'"):
        model.predict_heads("eastt", "p00")
    with pytest.raises(UnknownNameError, match="row 1"):
        model.energy([("p00", "east", "p01"), ("p00", "east", "nowhere")])


def test_probabilities_fall_with_energy():
    """Of the answers to one question; those to others stand in lists of their own."""
    graph = KnowledgeGraph(grid_facts())
    model = small(norm="l2", n_epochs=100).fit(graph)
    answers = model.predict_tails("p11", "east", top=25, exclude_known=False)
    chances = np.array([answer.probability for answer in answers])
    assert ((chances > 0) & (chances < 1)).all()
    assert (np.diff(chances) <= 0).all()
    assert chances[0] > 2 * chances[-1]
    likely = model.probability("train")
    assert likely.shape == (len(graph.train),)
    assert likely.mean() > 2 * model.probability([("p11", "east", "p40"), ("p40", "south", "p04")]).mean()


def test_a_question_does_not_answer_itself(graph):
    model = small().fit(graph)
    assert "p00" not in [answer.name for answer in model.predict_tails("p00", "east", 25)]
    assert "p11" not in [answer.name for answer in model.predict_heads("south", "p11", 25)]
    for found in (
        model.predict_tails("p11", "east", 25, exclude_self_loops=False),
        model.predict_heads("south", "p11", 25, exclude_self_loops=False),
    ):
        assert "p11" in [answer.name for answer in found]


# ---------------------------------------------------------------------- new entities


def test_a_new_entity_is_placed_by_its_triples():
    """A place taken out and put back by three of its facts comes near where it was; nothing else moves."""
    facts = grid_facts()
    rest = [fact for fact in facts if "p22" not in fact]
    model = small(norm="l2", n_epochs=400, n_batches=1, margin=0.3, learning_rate=0.02, options=PLAIN).fit(
        KnowledgeGraph(rest)
    )
    own = [fact for fact in facts if "p22" in fact]
    grown = model.with_entity("p22", own[:3], label="the middle")
    assert_array_equal(grown.params_["entities"][:-1], model.params_["entities"])
    assert_array_equal(grown.params_["relations"], model.params_["relations"])
    assert grown.entities_.labels[-1] == "the middle"
    assert grown.rank(own).mean_rank < 6
    assert grown.rank([own[3]]).mean_rank < 10
    assert len(model.entities_) == 24
    again = model.with_entity("p22", own[:3])
    assert_array_equal(again.params_["entities"], grown.params_["entities"])


@pytest.mark.parametrize("name", ["CTransR", "ComplEx", "SMEBilinear"])
def test_any_model_places_new_entities(graph, name):
    options = COMPILED | ({"reciprocal": True} if name == "ComplEx" else {})
    grown = (
        small(name, options=options)
        .fit(graph)
        .with_entity("new", [("new", "east", "p00"), ("p11", "south", "new")])
    )
    assert len(grown.predict_tails("new", "south", top=3)) == 3
    assert grown.params_["entities"].shape[0] == 26


def test_bad_new_entities_are_refused(graph):
    model = small().fit(graph)
    with pytest.raises(DataError, match="already"):
        model.with_entity("p00", [("p00", "east", "p11")])
    with pytest.raises(DataError, match="no triples"):
        model.with_entity("new", [])
    with pytest.raises(DataError, match=r"row 1.*neither head nor tail"):
        model.with_entity("new", [("new", "east", "p00"), ("p11", "east", "p00")])
    with pytest.raises(UnknownNameError, match="estt"):
        model.with_entity("new", [("new", "estt", "p00")])


# ---------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"model": "TransX"}, UnknownNameError, "no model 'TransX'.*Did you mean"),
        ({"n_components": 0}, ParameterError, "n_components=0"),
        ({"n_epochs": 2.5}, ParameterError, "n_epochs=2.5"),
        ({"margin": "wide"}, ParameterError, "margin='wide'"),
        ({"learning_rate": -1}, ParameterError, "learning_rate=-1"),
        ({"norm": "l3"}, ParameterError, "norm='l3'"),
        ({"loss": "hinge"}, UnknownNameError, "no loss 'hinge'"),
        ({"preset": "tesis"}, UnknownNameError, "no preset 'tesis'.*Did you mean 'thesis'"),
        ({"options": {"optimiser": "sgd"}}, UnknownNameError, "no option 'optimiser'.*'optimizer'"),
        ({"options": {"xi": 1.0}}, ParameterError, "xi has no meaning for TransE"),
        ({"options": {"sides": "left"}}, ParameterError, "sides='left'"),
        ({"options": {"type_aware": True}, "loss": "softmax"}, ParameterError, "type_aware draws"),
        ({"options": {"dtype": "int8"}}, ParameterError, "dtype='int8'"),
        ({"options": {"validate_by": "luck"}}, ParameterError, "validate_by='luck'"),
        ({"options": {"validate_every": 0}}, ParameterError, "validate_every=0"),
        ({"options": ["sgd"]}, ParameterError, "options="),
    ],
)
def test_bad_settings_are_refused(graph, changes, error, message):
    with pytest.raises(error, match=message):
        small(**{"model": "TransE"} | changes).fit(graph)


def test_the_preset_of_the_thesis():
    plan = small("TransPES", preset="thesis").check()
    assert (plan.engine.margin, plan.engine.learning_rate, plan.engine.optimizer) == (0.4, 0.002, "sgd")
    assert (plan.sides, plan.filter_negatives, plan.validation.filter) == ("both", False, "all")
    assert small("TransPES", preset="thesis", margin=0.7).check().engine.margin == 0.7
    assert small("TransPES", preset="thesis", options={"filter_negatives": True}).check().filter_negatives
    for name in ("TransE", "TransH", "TransR", "CTransR"):
        assert small(name, preset="thesis").check().sides == "uniform"


@pytest.mark.parametrize("loss", ["margin", "self-adversarial", "softmax"])
def test_the_thesis_chooses_the_epoch_alike_whatever_the_loss(loss):
    for name in ("TransE", "TransPES", "ComplEx"):
        validation = small(name, preset="thesis", loss=loss).check().validation
        assert (validation.filter, validation.triples) == ("all", None)
        usual = small(name, loss=loss).check()
        assert (usual.validation.filter, usual.validation.triples) == ("seen", 2_000)
    own = small("TransE", preset="thesis", loss=loss, options={"validate_filter": "seen"}).check()
    assert own.validation.filter == "seen"


def test_every_model_has_presets_and_every_option_is_explained():
    for models in PRESETS.values():
        assert set(models) == set(ENERGIES)
    for name in ENERGIES:
        plan_of(small(name).get_params(deep=False))
    from relscape.models import knowledge_settings

    for option in OPTION_NAMES:
        assert option.removeprefix("validate_") in knowledge_settings.__doc__


def test_when_to_look():
    looks = [epoch for epoch in range(1, 31) if Validation(every=10, last=20).due(epoch, 30)]
    assert looks == [20, 30]
    assert [e for e in range(1, 8) if Validation(every=3, patience=1).due(e, 7)] == [3, 6, 7]
    figures = {"mean_rank": 5.0, "mrr": 0.5, "hits@10": 0.6}
    assert better(figures, None, "mrr")
    assert better(figures | {"hits@10": 0.7}, figures, "mean_rank")
    assert not better(figures, figures, "hits@10")


def test_a_margin_of_zero_is_warned_of(graph):
    with pytest.warns(RelscapeWarning, match="margin=0"):
        small(margin=0, n_epochs=2).fit(graph)


# ---------------------------------------------------------------------- files and real data


def test_saved_models_are_plain_files(graph, tmp_path):
    small().fit(graph).save(tmp_path / "kg")
    assert sorted(file.name for file in (tmp_path / "kg").iterdir()) == ["model.json", "model.safetensors"]
    header = json.loads((tmp_path / "kg" / "model.json").read_text())
    assert header["model"] == "KGEmbedding"
    assert header["parameters"]["model"] == "TransE"


def test_graphs_are_not_warned_of_again(tmp_path):
    with pytest.warns(RelscapeWarning, match="does not occur"):
        graph = KnowledgeGraph(grid_facts(3), test=[("p00", "east", "stranger")])
    model = small().fit(graph)
    model.save(tmp_path / "kg")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_allclose(KGEmbedding.load(tmp_path / "kg").rank().mean_rank, model.rank().mean_rank)


def test_nations(data_dir):
    """A short training ranks the countries far better than chance, which is a mean rank of 7.5."""
    graph = KnowledgeGraph.from_directory(data_dir / "nations")
    model = small("TransPES", n_components=16, n_epochs=60, learning_rate=0.01).fit(graph)
    assert model.rank().mean_rank < 5
    assert len(model.suspicious(5)) == 5
