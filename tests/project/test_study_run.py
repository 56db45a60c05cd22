"""Runs of a study: every family, only what changed, and nothing half done."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import relscape as rs
from relscape.errors import InputError, ParameterError, StorageError, UnknownNameError
from relscape.maps.files import claimed
from relscape.models.registry import METHODS
from relscape.project import study_fitting, study_run
from relscape.project.study import parse_study, read_study
from relscape.project.study_models import _KEYS
from relscape.project.study_run import run_study

TABLES = """
[kinds.page]
table = "pages.csv"
features = ["f*"]
label = "topic"

[kinds.word]

[relations.words]
table = "words.csv"
from = "page"
to = "word"
weight = "n"

[relations.links]
table = "links.csv"
from = "page"
to = "page"

[guidance]
words = 1.0
"""
FAMILIES = """
[models.ca]
method = "ca"
relation = "words"
score = true
keep_relations = true

[models.all]
method = "multicode"
max_iterations = 20

[models.topics]
method = "cohorts"
n_neighbors = 5

[models.guided]
method = "projection"
regularization = 0.1

[models.net]
method = "network"
n_components = 2
max_iterations = 20
hold_out = 0.2

[models.facts]
method = "kg"
relations = ["words", "links"]
model = "TransE"
n_components = 4
n_epochs = 12
hold_out = [0.1, 0.1]
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    rng = np.random.default_rng(0)
    pages = [f"p{i:02d},{'ab'[i % 2]},{i % 2 + rng.normal() / 4:.4f},{rng.normal():.4f}" for i in range(30)]
    (tmp_path / "pages.csv").write_text("\n".join(["page,topic,f1,f2", *pages]) + "\n")
    words = [f"p{i:02d},w{(i % 2) * 4 + j},{1 + (i + j) % 3}" for i in range(30) for j in range(4)]
    words += [f"p{i:02d},w{i % 8},1" for i in range(30)]
    (tmp_path / "words.csv").write_text("\n".join(["page,word,n", *words]) + "\n")
    links = [f"p{i:02d},p{(i + step) % 30:02d}" for i in range(30) for step in (2, 4)]
    (tmp_path / "links.csv").write_text("\n".join(["page,page_2", *links]) + "\n")
    return tmp_path


def studied(folder: Path, text: str):
    (folder / "relscape.toml").write_text(TABLES + text)
    return read_study(folder)


def statuses(run) -> dict[str, str]:
    return {step.name: step.status for step in run.steps}


def reasons(run) -> dict[str, str]:
    return {step.name: step.why for step in run.steps if step.why}


CA = '[models.ca]\nmethod = "ca"\nrelation = "words"\n'


@pytest.mark.filterwarnings("ignore::relscape.errors.RelscapeWarning")
def test_every_family_is_made_and_kept(folder):
    done = run_study(studied(folder, FAMILIES))
    assert statuses(done) == dict.fromkeys(("ca", "all", "topics", "guided", "net", "facts"), "built"), [
        step.why for step in done.steps
    ]
    maps = {step.name: rs.Map.load(step.path) for step in done.steps}
    assert {name: joint.model for name, joint in maps.items()} == {
        "ca": "CorrespondenceAnalysis",
        "all": "MultiCODE",
        "topics": "COVA",
        "guided": "HeterogeneousProjection",
        "net": "DocumentNetwork",
        "facts": "KGEmbedding",
    }
    assert {step.path.name for step in done.steps} == set(maps)
    scores = {step.name: set(step.scores) for step in done.steps}
    assert scores["ca"] >= {"inertia_shown", "gamma_ratio", "mean_rank"}
    assert scores["topics"] >= {"cohort_separation", "neighbor_preservation"}
    assert scores["guided"] >= {"words"}
    assert maps["net"].scores["held_out"]["share"] == 0.2
    assert scores["facts"] >= {"test mrr", "test hits@10"}
    assert "words" in maps["ca"].relations
    assert rs.KGEmbedding.load(folder / "kg" / "facts").rank("test").mrr == maps["facts"].scores["test mrr"]
    assert not list((folder / ".relscape").rglob("checkpoint"))

    # the same as fitting by hand
    data = rs.read(folder / "words.csv", "page", "word", "n")
    by_hand = rs.CorrespondenceAnalysis(2).fit(data)
    np.testing.assert_array_equal(maps["ca"].coordinates("page"), by_hand.row_embedding_)
    again = run_study(read_study(folder))
    assert set(statuses(again).values()) == {"up to date"}
    assert again.steps[0].scores == done.steps[0].scores


def test_only_what_changed_is_made_again(folder):
    text = (
        CA + '[models.lsi]\nmethod = "lsi"\nrelation = "links"\n[outputs.v]\nmodel = "ca"\nfile = "v.vec"\n'
    )
    text += '[outputs.scores]\nfile = "scores.json"\n'
    assert set(statuses(run_study(studied(folder, text))).values()) == {"built"}
    assert reasons(run_study(studied(folder, text))) == {}

    with (folder / "words.csv").open("a") as file:
        file.write("p00,w7,5\n")
    dry = run_study(read_study(folder), dry=True)
    assert reasons(dry) == {
        "ca": "data changed",
        "v": "model ca is to build",
        "scores": "model ca is to build",
    }
    assert statuses(dry)["ca"] == "to build"
    assert reasons(run_study(read_study(folder))) == {
        "ca": "data changed",
        "v": "map changed",
        "scores": "map changed",
    }
    # settings, of a model and of an output; the order of keys means nothing
    changed = text.replace('relation = "words"', 'n_components = 1\nrelation = "words"')
    assert reasons(run_study(studied(folder, changed)))["ca"] == "settings changed"
    moved = changed.replace('n_components = 1\nrelation = "words"', 'relation = "words"\nn_components = 1')
    assert reasons(run_study(studied(folder, moved))) == {}
    kinds = changed.replace('file = "v.vec"', 'file = "v.vec"\nkinds = ["word"]')
    assert reasons(run_study(studied(folder, kinds))) == {"v": "settings changed"}
    # a table that is written again with the same content is the same
    (folder / "words.csv").write_text((folder / "words.csv").read_text())
    assert reasons(run_study(read_study(folder))) == {}
    # results that were lost or edited
    (folder / "v.vec").write_text("8 1\nedited\n")
    (folder / "maps" / "lsi" / "page-row.parquet").unlink()
    assert reasons(run_study(read_study(folder), dry=True)) == {
        "lsi": "new",
        "v": "file changed",
        "scores": "model lsi is to build",
    }
    assert set(statuses(run_study(read_study(folder))).values()) == {"built", "up to date"}
    assert (folder / "v.vec").read_text().startswith("8 1\nw0 ")


def test_other_code_makes_it_again(folder, monkeypatch):
    run_study(studied(folder, CA + '[outputs.v]\nfile = "v.csv"\n'))
    from relscape.project import study_prints

    for module in (study_prints, study_run):
        monkeypatch.setattr(module, "code_digest", lambda: "another")
    assert reasons(run_study(read_study(folder)))["ca"] == "code changed"


def test_names_and_force(folder):
    text = CA + '[models.lsi]\nmethod = "lsi"\nrelation = "words"\n'
    text += '[outputs.one]\nmodel = "ca"\nfile = "one.csv"\n[outputs.two]\nmodel = "lsi"\nfile = "two.csv"\n'
    study = studied(folder, text)
    assert statuses(run_study(study, ["one"])) == {"ca": "built", "one": "built"}
    assert statuses(run_study(study, ["lsi"])) == {"lsi": "built", "two": "built"}
    assert statuses(run_study(study, ["one"], force=True)) == {"ca": "up to date", "one": "built"}
    forced = run_study(study, ["ca"], force=True)
    assert statuses(forced) == {"ca": "built", "one": "built"}
    with pytest.raises(UnknownNameError, match="Did you mean 'lsi'"):
        run_study(study, ["lis"])


def test_a_run_that_is_stopped_goes_on(folder, monkeypatch):
    text = CA + '[models.lsi]\nmethod = "lsi"\nrelation = "words"\n'
    study = studied(folder, text)
    fitted = study_run.fitted_map

    def stopped(job):
        if job.model.name == "lsi":
            raise KeyboardInterrupt
        return fitted(job)

    monkeypatch.setattr(study_run, "fitted_map", stopped)
    with pytest.raises(KeyboardInterrupt):
        run_study(study)
    monkeypatch.undo()
    assert statuses(run_study(study)) == {"ca": "up to date", "lsi": "built"}


@pytest.mark.filterwarnings("ignore::relscape.errors.RelscapeWarning")
def test_a_training_that_is_killed_ends_as_an_unbroken_one(folder, monkeypatch):
    from relscape.models import knowledge_checkpoints

    text = FAMILIES[FAMILIES.index("[models.facts]") :].replace("n_epochs = 12", "n_epochs = 25")
    study = studied(folder, text)
    write, written = knowledge_checkpoints.write_model, []

    def killed(state, directory):
        write(state, directory)
        written.append(directory)
        if len(written) == 3:  # epochs 0, 10, 20
            raise KeyboardInterrupt

    monkeypatch.setattr(knowledge_checkpoints, "write_model", killed)
    with pytest.raises(KeyboardInterrupt):
        run_study(study)
    monkeypatch.undo()
    assert list((folder / ".relscape").rglob("checkpoint"))
    seen = []
    graph = study_fitting._graph
    monkeypatch.setattr(study_fitting, "_graph", lambda job: seen.append(job) or graph(job))
    assert statuses(run_study(study)) == {"facts": "built"}
    assert not seen  # it went on, and did not begin anew
    resumed = rs.Map.load(folder / "maps" / "facts")
    assert statuses(run_study(study, force=True)) == {"facts": "built"}
    unbroken = rs.Map.load(folder / "maps" / "facts")
    np.testing.assert_array_equal(resumed.coordinates("entity"), unbroken.coordinates("entity"))
    for lost in (folder / "kg" / "facts").iterdir():
        lost.unlink()
    assert reasons(run_study(study)) == {"facts": "trained model is missing"}


def test_a_model_that_fails_keeps_no_other_from_being_made(folder):
    text = '[models.bad]\nmethod = "lsi"\nrelation = "words"\nn_components = 99\n' + CA
    text += '[outputs.b]\nmodel = "bad"\nfile = "b.csv"\n[outputs.c]\nmodel = "ca"\nfile = "c.csv"\n'
    done = run_study(studied(folder, text))
    assert statuses(done) == {"bad": "failed", "ca": "built", "b": "skipped", "c": "built"}
    assert "[models.bad]" in done.steps[0].why
    assert "n_components" in done.steps[0].why
    assert not (folder / "maps" / "bad").exists()


def test_outputs_of_every_sort(folder):
    files = ("p.png", "p.svg", "t.csv", "t.parquet", "g.graphml", "g.gexf", "v.vec", "v.bin", "s.json")
    text = CA + "".join(f'[outputs."{file}"]\nmodel = "ca"\nfile = "out/{file}"\n' for file in files)
    text += '[outputs.board]\nmodel = "ca"\nfile = "out/board"\nformat = "tensorboard"\n'
    text += '[outputs.words]\nmodel = "ca"\nfile = "out/words.png"\nkinds = ["word"]\nsize = [7, 5]\n'
    done = run_study(studied(folder, text))
    assert set(statuses(done).values()) == {"built"}, [s for s in done.steps if s.status == "failed"]
    there = {path.name for path in (folder / "out").iterdir()}
    assert there == {*files, "board", "words.png"}
    scores = json.loads((folder / "out" / "s.json").read_text())
    assert scores["ca"]["scores"]["inertia_shown"] == pytest.approx(
        rs.Map.load(folder / "maps" / "ca").scores["inertia_shown"]
    )
    assert set(statuses(run_study(read_study(folder))).values()) == {"up to date"}


def test_other_peoples_files_are_not_replaced(folder):
    (folder / "t.csv").write_text("mine\n")
    (folder / "maps" / "ca").mkdir(parents=True)
    (folder / "maps" / "ca" / "thesis.tex").write_text("mine\n")
    done = run_study(studied(folder, CA + '[models.lsi]\nmethod = "lsi"\nrelation = "words"\n'
                             '[outputs.t]\nmodel = "lsi"\nfile = "t.csv"\n'))  # fmt: skip
    assert statuses(done) == {"ca": "failed", "lsi": "built", "t": "failed"}
    assert "[models.ca] map" in done.steps[0].why
    assert "[outputs.t]" in done.steps[2].why
    assert (folder / "t.csv").read_text() == "mine\n"


def test_keys_of_the_families_are_no_parameters_of_methods():
    for entry in METHODS.values():
        assert not {*_KEYS[entry.family], "map", "method"} & set(entry.model_class()().get_params(deep=False))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[models.m]\nmethod = "ca"\n', r"\[models.m\]: relation is missing; say which of 'words', 'links'"),
        (
            '[models.m]\nmethod = "ca"\nrelation = "wrds"\n',
            r"'wrds' in .*\[models.m\] relation. Did you mean",
        ),
        (
            '[models.m]\nmethod = "ca"\nrelation = 3\n',
            r"\[models.m\] relation: 3 is a number; expected a text",
        ),
        (
            '[models.m]\nmethod = "ca"\nkind = "page"\n',
            r"no parameter 'kind' in .*\[models.m\], of method 'ca'",
        ),
        (
            '[models.m]\nmethod = "netwrk"\n',
            r"no method 'netwrk' in .*\[models.m\] method. Did you mean 'network'",
        ),
        ('[models.m]\nmethod = "cova"\nkind = "word"\n', r"\[models.m\] kind: 'word' has no features"),
        (
            '[models.m]\nmethod = "cova"\nlinks = "words"\n',
            r"\[models.m\] links: 'words' joins 'page' and 'word'",
        ),
        ('[models.m]\nmethod = "cova"\nmetric = "far"\n', r"no metric 'far' in .*\[models.m\]"),
        ('[models.m]\nmethod = "network"\nhold_out = 2\n', r"\[models.m\] hold_out: 2 is not a number"),
        (
            '[models.m]\nmethod = "network"\nundirected = 1\n',
            r"undirected: 1 is a number; expected true or false",
        ),
        ('[models.m]\nmethod = "kg"\nhold_out = 0.1\n', r"\[models.m\] hold_out: .*expected two shares"),
        ('[models.m]\nmethod = "kg"\nfacts = "f"\nrelations = ["words"]\n', r"relations and facts are both"),
        ('[models.m]\nmethod = "lpp"\n', r"\[models.m\] method: 'lpp' is for views of the same things"),
        (CA + '[outputs.o]\nfile = "a.xyz"\n', r"\[outputs.o\] file: 'a.xyz' is a text; expected one of"),
        (CA + '[outputs.o]\nmodel = "cb"\nfile = "a.png"\n', r"no model 'cb' in .*\[outputs.o\] model"),
        (CA + '[outputs.o]\nfile = "a.png"\ncolour = "x"\n', r"no key 'colour' in .*Did you mean 'color'"),
        (
            CA + '[outputs.o]\nfile = "a.png"\nsize = 3\n',
            r"\[outputs.o\] size: 3 is a number; expected width",
        ),
        (CA + '[outputs.o]\nfile = "a.csv"\nformat = "gexf"\n', r"\[outputs.o\] file: "),
        ('[outputs.o]\nfile = "a.png"\n', r"\[outputs.o\]: there is no model"),
    ],
)
def test_slips_are_told_by_table_and_key_before_anything_is_made(folder, text, message):
    with pytest.raises(InputError, match=message):
        run_study(studied(folder, text))
    assert not (folder / "maps").exists()


def test_a_table_that_is_not_there_is_told_by_key(folder):
    (folder / "words.csv").unlink()
    done = run_study(studied(folder, CA))
    assert statuses(done) == {"ca": "failed"}
    assert "[relations.words] table" in done.steps[0].why


def test_nothing_to_make_and_the_usual_projection(folder):
    with pytest.raises(ParameterError, match="describes nothing to make"):
        run_study(parse_study("[kinds.a]\n", Path("relscape.toml")))
    assert [step.name for step in run_study(studied(folder, ""), dry=True).steps] == ["projection"]


def test_facts_of_their_own_need_no_kinds(folder):
    (folder / "facts").mkdir()
    facts = [f"n{i}\tnext\tn{(i + 1) % 9}" for i in range(9)]
    (folder / "facts" / "train.txt").write_text("\n".join(facts) + "\n")
    text = '[models.ring]\nmethod = "kg"\nfacts = "facts"\nmodel = "TransE"\nn_components = 3\nn_epochs = 2\n'
    (folder / "relscape.toml").write_text(text)
    done = run_study(read_study(folder))
    assert statuses(done) == {"ring": "built"}, reasons(done)
    (folder / "facts" / "train.txt").write_text("\n".join([*facts, "n0\tnext\tn5"]) + "\n")
    assert reasons(run_study(read_study(folder), dry=True)) == {"ring": "data changed"}


def test_of_two_runs_at_once_the_second_is_refused(folder):
    study = studied(folder, CA)
    with claimed(folder / ".relscape" / "run.json", "running a project"):
        assert run_study(study, dry=True).count("to build") == 1
        with pytest.raises(StorageError, match="another process is running a project there; wait"):
            run_study(study)
    assert not (folder / "maps").exists()
    assert run_study(study).count("built") == 1
    assert not list((folder / ".relscape").iterdir())


def test_a_damaged_record_is_begun_anew(folder):
    study = studied(folder, CA + '[outputs.t]\nfile = "t.csv"\n')
    run_study(study)
    (folder / ".relscape" / "run.json").write_text('{"format": "relscape-run", "version": 1, "outputs": [1]}')
    assert reasons(run_study(study)) == {"t": "not made by a run"}
    (folder / "relscape.toml").unlink()
    with pytest.raises(StorageError):
        read_study(folder)
