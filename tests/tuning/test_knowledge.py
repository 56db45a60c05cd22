"""Choosing settings on a grid: by validation only, and able to be taken up again."""

from __future__ import annotations

import pytest

from relscape.data.triples import KnowledgeGraph
from relscape.errors import DataError, FormatError, ParameterError, UnknownNameError
from relscape.models import knowledge
from relscape.models.knowledge import KGEmbedding
from relscape.tuning import knowledge as tuning
from relscape.tuning.knowledge import tune_knowledge

FACTS = [(f"p{i}", r, f"p{(i + step) % 12:d}") for i in range(12) for r, step in (("next", 1), ("skip", 2))]
GRID = {"margin": [0.1, 1.0], "lambda2": [0.0, 0.1]}


@pytest.fixture
def graph():
    return KnowledgeGraph(FACTS).split(4, 4, random_state=0)


@pytest.fixture
def model():
    return KGEmbedding("TransE", 4, n_epochs=4, n_batches=2, random_state=0)


def test_the_best_on_validation_is_chosen(model, graph):
    choice = tune_knowledge(model, graph, GRID)
    assert len(choice.records) == 4
    best = min(choice.records, key=lambda trial: (trial.mean_rank, -trial.hits_at_10))
    assert choice.settings == best.settings
    assert choice.model.margin == best.settings["margin"]
    assert choice.model.options == {"lambda2": best.settings["lambda2"]}
    report = choice.model.rank("valid", known=("train", "valid"))
    assert report.mean_rank == best.mean_rank
    assert f"{len(graph.valid)} validation triples" in choice.reason
    assert model.margin == "auto"


def test_test_triples_change_nothing(model, graph):
    without = KnowledgeGraph(graph.train, graph.valid, None, graph.entities, graph.relations)
    one, two = tune_knowledge(model, graph, GRID), tune_knowledge(model, without, GRID)
    assert one.records == two.records


def test_by_other_figures(model, graph):
    choice = tune_knowledge(model, graph, {"margin": [0.1, 1.0, 3.0]}, by="mrr")
    assert choice.model.margin == max(choice.records, key=lambda trial: trial.mrr).settings["margin"]


def test_trials_are_taken_up_again(model, graph, tmp_path, monkeypatch):
    """Stopped in the third of four trials, the same call finds two done and goes on with the third."""
    whole = tune_knowledge(model, graph, GRID)
    look, begun = knowledge.Checkpoints.look, []

    def counting(self, run):
        look(self, run)
        begun.append(run.epoch == 0)
        if sum(begun) == 3 and run.epoch == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(knowledge.Checkpoints, "look", counting)
        with pytest.raises(KeyboardInterrupt):
            tune_knowledge(model, graph, GRID, directory=tmp_path, every=1)
    assert len(list(tmp_path.glob("trial-*.json"))) == 2
    again = tune_knowledge(model, graph, GRID, directory=tmp_path)
    assert again.records == whole.records
    assert not [p for p in tmp_path.iterdir() if p.is_dir() and p.name != "best"]

    def refuse(self, *args, **options):
        raise AssertionError("all trials are done, and the best model is kept")

    with monkeypatch.context() as patch:
        patch.setattr(KGEmbedding, "fit", refuse)
        third = tune_knowledge(model, graph, GRID, directory=tmp_path)
    assert third.records == again.records
    assert third.model.get_params() == again.model.get_params()


def test_a_checkpoint_of_a_trial_is_resumed(model, graph, tmp_path, monkeypatch):
    folder = tuning._Folder(tmp_path, graph)
    point = {"margin": 1.0}
    fresh = tuning._set(model, point)
    fresh.fit(graph, checkpoints=folder.checkpoints(fresh))
    monkeypatch.setattr(KGEmbedding, "fit", None)
    choice = tune_knowledge(model, graph, {"margin": [1.0]}, directory=tmp_path)
    assert choice.records[0].epoch == fresh.best_epoch_


def test_another_graph_is_another_trial(model, graph, tmp_path):
    tune_knowledge(model, graph, {"margin": [1.0]}, directory=tmp_path)
    other = KnowledgeGraph(FACTS).split(4, 4, random_state=1)
    tune_knowledge(model, other, {"margin": [1.0]}, directory=tmp_path)
    assert len(list(tmp_path.glob("trial-*.json"))) == 2


def test_bad_input(model, graph, tmp_path):
    with pytest.raises(DataError, match="no validation triples"):
        tune_knowledge(model, KnowledgeGraph(FACTS), GRID)
    with pytest.raises(ParameterError, match="the grid is empty"):
        tune_knowledge(model, graph, {})
    with pytest.raises(ParameterError, match="margin=\\[\\]"):
        tune_knowledge(model, graph, {"margin": []})
    with pytest.raises(UnknownNameError, match="no option 'margn'"):
        tune_knowledge(model, graph, {"margn": [1.0]})
    with pytest.raises(ParameterError, match="norm='l7'"):
        tune_knowledge(model, graph, {"norm": ["l1", "l7"]})
    with pytest.raises(ParameterError, match="by='luck'"):
        tune_knowledge(model, graph, GRID, by="luck")
    with pytest.raises(ParameterError, match="random_state=None"):
        tune_knowledge(model.set_params(random_state=None), graph, GRID, directory=tmp_path)


def test_damaged_trials_are_refused(model, graph, tmp_path):
    tune_knowledge(model, graph, {"margin": [1.0]}, directory=tmp_path)
    file = next(tmp_path.glob("trial-*.json"))
    file.write_text(file.read_text().replace("mean_rank", "meen_rank"))
    with pytest.raises(FormatError, match="damaged"):
        tune_knowledge(model, graph, {"margin": [1.0]}, directory=tmp_path)
