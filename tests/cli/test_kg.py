"""``relscape kg``: looking a graph over, training, resuming after a kill, ranking, questions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from relscape.maps import Map
from relscape.models import knowledge_training

SETTINGS = ("--model", "TransE", "-k", 6, "--epochs", 8, "-p", "n_batches=4", "--every", 3)


@pytest.fixture
def facts(tmp_path) -> Path:
    """A folder of facts about a five by five grid of places."""
    rows = [(f"p{i}{j}", "east", f"p{i}{j + 1}") for i in range(5) for j in range(4)]
    rows += [(f"p{i}{j}", "south", f"p{i + 1}{j}") for i in range(4) for j in range(5)]
    folder = tmp_path / "facts"
    folder.mkdir()
    held = {"valid": rows[3::10], "test": rows[7::10]}
    held["train"] = [row for row in rows if row not in held["valid"] + held["test"]]
    for split, part in held.items():
        (folder / f"{split}.tsv").write_text("".join("\t".join(row) + "\n" for row in part))
    (folder / "entities.tsv").write_text("entity\tlabel\np00\tthe north-west corner\n")
    return folder


@pytest.fixture
def trained(relscape, facts) -> Path:
    assert relscape("kg", "train", facts, *SETTINGS).code == 0
    return Path("kg")


def test_inspect(relscape, facts):
    done = relscape("kg", "inspect", facts)
    assert done.code == 0
    assert "entities" in done.out
    assert "relscape kg train" in done.out
    told = relscape("kg", "inspect", facts, "--json").json
    assert told["n_entities"] == 25
    assert told["n_triples"] == {"train": 32, "valid": 4, "test": 4}


def test_inspect_hands_on_how_the_graph_was_made(relscape, facts, tmp_path):
    done = relscape("kg", "inspect", facts, "--hold-out", "0.1,0.2", "--seed", 3, "--inverse-safe")
    assert done.code == 0, done.err
    assert "train " in done.out
    last = done.out.rstrip().splitlines()[-1]
    assert last.endswith("--hold-out 0.1,0.2 --inverse-safe --seed 3 -o kg")
    (tmp_path / "my facts").mkdir()
    for split in ("train", "valid", "test"):
        (tmp_path / "my facts" / f"{split}.tsv").write_text((facts / f"{split}.tsv").read_text())
    last = relscape("kg", "inspect", "my facts", "--encoding", "utf-8").out.rstrip().splitlines()[-1]
    assert last.endswith("relscape kg train 'my facts' --encoding utf-8 -o kg")


def test_train_and_rank(relscape, facts):
    done = relscape("kg", "train", facts, *SETTINGS, "-o", "out/kg")
    assert done.code == 0, done.err
    assert "kept epoch" in done.out
    assert done.out.rstrip().endswith("next: relscape kg rank out/kg")
    ranked = relscape("kg", "rank", "out/kg")
    assert "filtered" in ranked.out
    told = relscape("kg", "rank", "out/kg", "--json").json
    assert told["n_triples"] == 4
    assert 1 <= told["mean_rank"] <= told["raw"]["mean_rank"] <= 25
    lucky = relscape("kg", "rank", "out/kg", "--ties", "optimistic", "--json").json
    assert lucky["mean_rank"] <= told["mean_rank"]
    assert (
        relscape("kg", "rank", "out/kg", facts / "test.tsv", "--json").json["mean_rank"] == told["mean_rank"]
    )
    assert "east" in relscape("kg", "rank", "out/kg", "--by-relation").out


def test_train_for_machines(relscape, facts):
    told = relscape("kg", "train", facts, *SETTINGS, "--json").json
    assert told["epochs"] == 8
    assert told["validation"]["mean_rank"] >= 1
    assert 0 <= told["active_share"] <= 1
    assert told["changes"] == []


def test_what_the_share_is_of_is_said(relscape, facts):
    assert "of pairs still active" in relscape("kg", "train", facts, *SETTINGS).out
    done = relscape("kg", "train", facts, *SETTINGS, "-p", "loss=softmax")
    assert "of corruptions below the true triple" in done.out
    assert "active" not in done.out


def test_a_graph_may_be_dealt_anew(relscape, facts):
    done = relscape("kg", "train", facts / "train.tsv", "--hold-out", "0.1,0.1", *SETTINGS, "--json")
    assert done.code == 0, done.err
    assert relscape("kg", "rank", "kg", "--json").json["n_triples"] == 3


_KILLED = """
import os, signal, sys
from relscape.cli import main
from relscape.solvers.triples import training
corrupt, batches = training.corrupt, []

def dying(*args):
    batches.append(1)
    if len(batches) == 4 * 7 + 3:  # the third of four batches of the eighth epoch
        os.kill(os.getpid(), signal.SIGKILL)
    return corrupt(*args)

training.corrupt = dying
main.run(sys.argv[1:])
"""


def test_killed_in_the_middle_of_an_epoch_it_ends_with_the_same_bytes(relscape, facts, tmp_path):
    """The training dies in its eighth epoch; the last checkpoint, of the sixth, is enough to end exactly."""
    assert relscape("kg", "train", facts, *SETTINGS, "-o", "whole").code == 0
    arguments = ["kg", "train", str(facts), *map(str, SETTINGS), "-o", "broken"]
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, *arguments], capture_output=True, cwd=tmp_path, env=os.environ
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert not Path("broken/model.json").exists()
    asked = relscape("kg", "predict", "p00", "east", "--from", "broken")
    assert asked.code == 0
    assert "checkpoint of epoch 6 is used" in " ".join(asked.err.split())
    done = relscape("kg", "resume", "broken")
    assert done.code == 0, done.err
    for file in ("model.json", "model.safetensors"):
        assert Path("broken", file).read_bytes() == Path("whole", file).read_bytes()


def test_ctrl_c_says_how_to_go_on(relscape, facts, monkeypatch):
    """Stopped in its fifth epoch, the training keeps that and ends with the same bytes."""
    assert relscape("kg", "train", facts, *SETTINGS, "-o", "whole").code == 0
    train_epoch = knowledge_training.train_epoch

    def pressing(energy, params, state, data, options):
        if state.epoch == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return train_epoch(energy, params, state, data, options)

    with monkeypatch.context() as patch:
        patch.setattr(knowledge_training, "train_epoch", pressing)
        stopped = relscape("kg", "train", facts, *SETTINGS, "-o", "broken")
    assert stopped.code == 130
    assert "5 of 8 epochs are kept. Go on with: relscape kg resume broken" in stopped.err
    assert relscape("kg", "resume", "broken").code == 0
    for file in ("model.json", "model.safetensors"):
        assert Path("broken", file).read_bytes() == Path("whole", file).read_bytes()


def test_ctrl_c_before_the_training_says_that_nothing_was_written(relscape, facts, monkeypatch):
    def pressing(*_):
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("relscape.cli.kg.read_graph", pressing)
    stopped = relscape("kg", "train", facts, *SETTINGS)
    assert stopped.code == 130
    assert "stopped before any training; nothing was written" in stopped.err
    assert not Path("kg").exists()


def test_resume_to_more_epochs(relscape, facts, trained):
    assert relscape("kg", "resume", trained, "--epochs", 11, "--json").json["epochs"] == 11
    assert relscape("kg", "train", facts, *SETTINGS, "--epochs", 11, "-o", "other").code == 0
    assert Path("kg/model.safetensors").read_bytes() == Path("other/model.safetensors").read_bytes()


def test_resume_with_another_learning_rate(relscape, trained):
    done = relscape("kg", "resume", trained, "--epochs", 10, "--learning-rate", 0.001)
    assert done.code == 0, done.err
    assert "resumed after epoch 8 with n_epochs 10, learning_rate 0.001" in done.out
    told = json.loads(Path("kg/model.json").read_text())
    assert told["parameters"]["learning_rate"] == 0.001
    refused = relscape("kg", "resume", trained, "--learning-rate", 0.1)
    assert refused.code == 1
    assert "all 10 epochs are trained" in refused.err


def test_resume_needs_a_checkpoint(relscape):
    done = relscape("kg", "resume", "nowhere")
    assert done.code == 1
    assert "there is no training at nowhere" in done.err


def test_questions(relscape, trained):
    told = relscape("kg", "predict", "p00", "east", "--top", 3, "--json").json["questions"][0]
    assert len(told["answers"]) == 3
    assert not any(answer["known"] for answer in told["answers"])
    assert 0 < told["answers"][0]["probability"] < 1
    assert len(relscape("kg", "predict", "?", "east", "p01", "--json").json["questions"][0]["answers"]) == 10
    relations = relscape("kg", "predict", "p00", "?", "p11", "--json").json["questions"][0]["answers"]
    assert {answer["name"] for answer in relations} == {"east", "south"}
    own = relscape("kg", "predict", "p00", "east", "-n", 25, "--json").json["questions"][0]["answers"]
    assert "p00" not in [answer["name"] for answer in own]
    loops = relscape("kg", "predict", "p00", "east", "-n", 25, "--no-exclude-self-loops", "--json").json
    assert "p00" in [answer["name"] for answer in loops["questions"][0]["answers"]]
    by_label = relscape("kg", "predict", "the north-west corner", "east", "--why")
    assert by_label.code == 0, by_label.err
    assert "most like these known facts" in by_label.out
    assert "relscape kg suspicious" in by_label.out


def test_questions_from_a_file(relscape, trained, tmp_path):
    (tmp_path / "questions.tsv").write_text("p00\teast\t?\n?\tsouth\tp11\n")
    told = relscape("kg", "predict", "--file", "questions.tsv", "--why", "--json").json["questions"]
    assert [entry["question"] for entry in told] == [["p00", "east", "?"], ["?", "south", "p11"]]
    alone = relscape("kg", "predict", "p00", "east", "--json").json["questions"][0]
    assert told[0]["answers"] == alone["answers"]
    assert told[0]["why"]["alike"]


def test_scores_of_whole_triples(relscape, trained, facts):
    assert "probability" in relscape("kg", "predict", "p00", "east", "p01").out
    told = relscape("kg", "predict", "--file", facts / "test.tsv", "--json").json["triples"]
    assert len(told) == 4
    assert all(0 < score["probability"] < 1 for score in told)


def test_suspicious(relscape, trained):
    done = relscape("kg", "suspicious", "--top", 4)
    assert done.code == 0, done.err
    assert "head rank" in done.out
    facts = relscape("kg", "suspicious", "--relation", "south", "--json").json["facts"]
    assert {fact["relation"] for fact in facts} == {"south"}


@pytest.mark.parametrize("name", ["vectors.parquet", "vectors.csv", "vectors.vec", "maps/kg"])
def test_export(relscape, trained, name):
    done = relscape("kg", "export", "-o", name, "--json")
    assert done.code == 0, done.err
    assert done.json["sizes"] == {"entity": 25, "relation": 2}
    if name.endswith(".parquet"):
        assert pq.read_table(name).num_rows == 27
    elif name.endswith(".csv"):
        assert pa_csv.read_csv(name).num_rows == 27
    elif name.endswith(".vec"):
        lines = Path(name).read_text().splitlines()
        assert lines[0] == "27 6"
        assert lines[1].startswith("entity:p00 ")
        assert len(lines[1].split()) == 7
    else:
        assert Map.load(name).groups == ("entity", "relation")


def test_tune(relscape, facts):
    arguments = ("kg", "tune", facts, "-m", "TransE", "-k", 4, "--epochs", 3, "-g", "margin=0.5,1.0")
    done = relscape(*arguments, "-g", "n_components=4,6")
    assert done.code == 0, done.err
    assert "chosen" in done.out
    told = relscape(*arguments, "-g", "n_components=4,6", "--json").json
    assert len(told["trials"]) == 4
    assert told["chosen"].keys() == {"margin", "n_components"}
    assert relscape("kg", "rank", told["model"]).code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "facts", "--model", "TransX"), "no model 'TransX'"),
        (("train", "facts", "-p", "speed=9"), "no option 'speed'"),
        (("train", "facts", "-p", "speed"), "write name=value"),
        (("train", "facts", "-p", "n_epochs=9"), "an option of its own"),
        (("train",), "give a folder"),
        (("train", "facts", "--dataset", "umls"), "give a folder"),
        (("train", "--dataset", "umlz"), "no knowledge graph 'umlz'"),
        (("train", "facts", "--hold-out", "0.1"), "write two shares"),
        (("train", "facts", "--inverse-safe"), "give --hold-out"),
        (("train", "facts", "-o", "facts"), "something else"),
        (("train", "nowhere"), "nowhere"),
        (("rank", "nowhere"), "holds no model"),
        (("predict",), "name a head and a relation"),
        (("predict", "p00", "east"), "holds no model"),
        (("export", "-o", "vectors.docx"), "does not tell the format"),
        (("tune", "facts"), "the grid is empty"),
    ],
)
def test_bad_input(relscape, facts, arguments, message):
    done = relscape("kg", *arguments)
    assert done.code == 1
    assert message in " ".join(done.err.split())


def test_questions_about_unknown_things(relscape, trained):
    done = relscape("kg", "predict", "p0x0", "east")
    assert done.code == 1
    assert "Did you mean 'p00'?" in done.err


@pytest.mark.parametrize(
    ("line", "message"),
    [("p00\teast\n", "line 1"), ("p00\teast\tp01\tp02\n", "line 1"), ("p00\t\tp01\n", "empty")],
)
def test_bad_files(relscape, facts, line, message):
    (facts / "train.tsv").write_text(line)
    done = relscape("kg", "train", facts, *SETTINGS)
    assert done.code == 1
    assert message in done.err
    assert not Path("kg").exists()


def test_strict_stops_at_warnings(relscape, facts):
    (facts / "test.tsv").write_text("p00\teast\tnew\n")
    assert "1 entity does not occur in the training triples" in relscape("kg", "inspect", facts).err
    assert relscape("kg", "train", facts, *SETTINGS, "--strict").code == 1


def test_without_a_test_split_the_next_step_is_a_question(relscape, facts):
    done = relscape("kg", "train", facts / "train.tsv", *SETTINGS)
    last = done.out.rstrip().splitlines()[-1]
    assert last.startswith("next: relscape kg predict p")
    assert relscape(*last.removeprefix("next: relscape ").split()).code == 0
    ranked = relscape("kg", "rank")
    assert ranked.code == 1
    assert "--hold-out 0.05,0.1" in ranked.err
