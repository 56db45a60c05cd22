"""The project file: what it says is read, and every slip is told by file, table and key."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from relscape.errors import DataError, FormatError, InputError, ParameterError, RelscapeWarning, StorageError
from relscape.models.projection import HeterogeneousProjection
from relscape.models.registry import METHODS
from relscape.project.study import parse_study, read_study
from relscape.project.study_data import load_study
from relscape.project.study_kinds import scaled_counts
from relscape.project.study_projection import guided, projection_model, task_of, to_map

IMAGES = """image,album,f_1,f_2,note
a,sea,1,0,x
b,sea,2,1,y
c,hill,0,3,z
d,hill,1,4,
"""
TAGS = "image,tag,w\na,blue,1\nb,blue,2\nc,green,1\nd,green,4\nd,blue,1\n"
FILE = """
[kinds.image]
table = "images.csv"
id = "image"
features = ["f_*"]
label = "album"

[kinds.tag]              # no features: one-hot

[relations.tagged]
table = "tags.csv"
from = "image"
to = "tag"
weight = "w"

[guidance]
tagged = 0.5

[models.photos]
method = "projection"
n_components = 1
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "images.csv").write_text(IMAGES)
    (tmp_path / "tags.csv").write_text(TAGS)
    (tmp_path / "relscape.toml").write_text(FILE)
    return tmp_path


def parsed(text: str):
    return parse_study(text, Path("relscape.toml"))


# ---------------------------------------------------------------------- what is said


def test_the_file_of_the_design(folder):
    study = read_study(folder)
    assert study == read_study(folder / "relscape.toml")
    assert list(study.kinds) == ["image", "tag"]
    assert study.kinds["image"].features == ("f_*",)
    assert study.kinds["image"].label == "album"
    assert (study.relations["tagged"].source_column, study.relations["tagged"].target_column) == (
        "image",
        "tag",
    )
    assert study.guidance == {"tagged": 0.5}
    assert study.models["photos"].parameters == {"n_components": 1}


def test_every_method_can_be_named_with_its_parameters():
    for name, entry in METHODS.items():
        usual = entry.model_class()().get_params(deep=False)
        parameter = next(key for key, value in usual.items() if type(value) in (int, float))
        text = f'[kinds.a]\n[models.m]\nmethod = "{name}"\n{parameter} = '
        study = parsed(f"{text}3\n")
        assert (study.models["m"].method, study.models["m"].parameters) == (name, {parameter: 3})
        with pytest.raises(
            InputError, match=rf"\[models.m\] {parameter}: 'many' is a text; expected a number"
        ):
            parsed(f'{text}"many"\n')
        with pytest.raises(InputError, match=r"\[models.m\], of method"):
            parsed(f'[kinds.a]\n[models.m]\nmethod = "{name}"\nno_such_thing = 1\n')


def test_guidance_left_out_is_all_relations_but_those_that_are_features():
    text = """
    [kinds.doc]
    features_from = "words"
    [kinds.word]
    [kinds.topic]
    [relations.words]
    table = "w.csv"
    from = "doc"
    to = "word"
    [relations.about]
    table = "t.csv"
    from = "doc"
    to = "topic"
    """
    assert parsed(text).guidance == {"about": 1.0}
    assert parsed(text + "[guidance]\nwords = -1\nabout = 0\n").guidance == {"words": -1.0}


def test_columns_within_one_kind():
    text = '[kinds.page]\n[relations.links]\ntable = "l.csv"\nfrom = "page"\nto = "page"\n'
    assert parsed(text).relations["links"].target_column == "page_2"
    named = parsed(text + 'from_column = "source"\nto_column = "target"\n').relations["links"]
    assert (named.source_column, named.target_column) == ("source", "target")
    with pytest.raises(
        ParameterError, match=r"\[relations.links\]: both ends are read from the column 'page'"
    ):
        parsed(text + 'to_column = "page"\n')


# ---------------------------------------------------------------------- what is wrong with it

TABLE, FEATURES = 'table = "images.csv"', 'features = ["f_*"]'
FIRST, TEXT = 'features = ["f_1"]', 'text = "note"'
IMAGE, PAIRS, GUIDANCE = r"\[kinds.image\]", r"\[relations.tagged\]", r"\[guidance\]"
WITHIN = "in relscape.toml, "

REPLACED = [
    (TABLE, "table = 3", f"{IMAGE} table: 3 is a number; expected a text, or a list"),
    (TABLE, "table = []", rf"{IMAGE} table: \[\] is a list; expected"),
    (TABLE, "tabel = 'a.csv'", f"no key 'tabel' {WITHIN}{IMAGE}. Did you mean 'table'"),
    ('id = "image"', "id = true", f"{IMAGE} id: True is a truth value; expected a text, such as"),
    ('id = "image"', 'id = ""', f"{IMAGE} id: '' is a text; expected a text"),
    ('label = "album"', "label = 1979-05-27", f"{IMAGE} label: .* is a date or time"),
    (FEATURES, "features = [1]", rf'{IMAGE} features: \[1\] is a list; .* features = \["f_\*"\]'),
    (FEATURES, f"{FIRST}\n{TEXT}", f"{IMAGE}: features and text are both given"),
    (FEATURES, 'missing = "drop"', f"{IMAGE} missing: .* together with features only"),
    (FEATURES, f'{FIRST}\nmissing = "mean"', f"no missing 'mean' {WITHIN}{IMAGE}. .*'median'"),
    (FEATURES, "min_df = 2", f"{IMAGE} min_df: .* together with text only"),
    (FEATURES, f"{TEXT}\nmin_df = 0", f"{IMAGE} min_df: 0 is a number; expected how many"),
    (FEATURES, f"{TEXT}\nngrams = [2, 1]", rf"{IMAGE} ngrams: .*as in \[1, 2\]"),
    (FEATURES, f'{TEXT}\nscaling = "idf"', f"no scaling 'idf' {WITHIN}{IMAGE}. .*'log', 'length', 'none'"),
    (FEATURES, 'scaling = "log"', f"{IMAGE} scaling: .* together with features_from only"),
    (
        FEATURES,
        'features_from = "taged"',
        f"no relation 'taged' {WITHIN}{IMAGE} features_from. Did you mean 'tagged'",
    ),
    ("[kinds.tag]", "[kinds.tog]", f"no kind 'tag' {WITHIN}{PAIRS} to. Did you mean 'tog'"),
    ("[kinds.tag]", '[kinds.tag]\nid = "tag"', r"\[kinds.tag\] id: .* together with table only"),
    ("[kinds.tag]", '[kinds."a:b"]', r"\[kinds\]: the name 'a:b' is empty or has a colon"),
    ("[kinds.tag]", "[kindes.tag]", "no key 'kindes' in relscape.toml. Did you mean 'kinds'"),
    ('table = "tags.csv"', "", f"{PAIRS}: table is missing; name a table of pairs"),
    ('from = "image"', "", f'{PAIRS}: from is missing; write one, such as from = "image"'),
    ('to = "tag"', "to = 7", f"{PAIRS} to: 7 is a number; expected a text"),
    ('weight = "w"', "weight = 1.0", f"{PAIRS} weight: 1.0 is a number; expected a text"),
    ('weight = "w"', 'wieght = "w"', f"no key 'wieght' {WITHIN}{PAIRS}. Did you mean 'weight'"),
    ("tagged = 0.5", "taged = 0.5", f"no relation 'taged' {WITHIN}{GUIDANCE}. Did you mean 'tagged'"),
    ("tagged = 0.5", "tagged = 1.5", f"{GUIDANCE} tagged: 1.5 is not a number from -1 to 1; write one"),
    ("tagged = 0.5", "tagged = nan", f"{GUIDANCE} tagged: nan is not a number from -1 to 1; write one"),
    ("tagged = 0.5", "tagged = true", f"{GUIDANCE} tagged: True is a truth value; expected a number"),
    ("tagged = 0.5", 'tagged = "much"', f"{GUIDANCE} tagged: 'much' is a text; expected a number"),
    ('method = "projection"', "", r"\[models.photos\]: method is missing"),
    (
        'method = "projection"',
        'method = "projektion"',
        rf"no method 'projektion' {WITHIN}\[models.photos\] method. Did you mean 'projection'",
    ),
    (
        "n_components = 1",
        "n_component = 1",
        rf"no parameter 'n_component' {WITHIN}\[models.photos\], of method 'projection'. Did you mean 'n_c",
    ),
]


@pytest.mark.parametrize(("old", "new", "message"), REPLACED)
def test_slips_are_told_by_table_and_key(old, new, message):
    assert old in FILE
    with pytest.raises(InputError, match=message):
        parsed(FILE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no kind of things is described; begin with a table"),
        (
            "kinds = 3\n",
            r"relscape.toml kinds: 3 is a number; expected tables, each with a name: \[kinds.NAME\]",
        ),
        ("[kinds]\nimage = 3\n", r"\[kinds\] image: 3 is a number; expected a table, \[kinds.image\]"),
        ("[[kinds.image]]\n", r"\[kinds\] image: .* is a list; expected a table"),
        ("guidance = 1\n[kinds.a]\n", r"relscape.toml guidance: 1 is a number; expected a table"),
    ],
)
def test_files_of_another_shape(text, message):
    with pytest.raises(InputError, match=message):
        parsed(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[kinds.a]\ntable = images.csv\n", r"relscape.toml, line 2 \(table = images.csv\): "),
        ("[kinds.a]\n\n[kinds.a]\n", r"relscape.toml, line 3 \(\[kinds.a\]\): .*twice"),
        ('[kinds.a]\ntable = "a.csv', r'relscape.toml, line 2 \(table = "a.csv\): .*under tables such as'),
        ("[kinds.a\n", r"relscape.toml, line 1 \(\[kinds.a\): "),
    ],
)
def test_syntax_errors_name_the_line(text, message):
    with pytest.raises(FormatError, match=message):
        parsed(text)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(StorageError, match=r"no project file .*relscape.toml.*relscape init FILES"):
        read_study(tmp_path)
    (tmp_path / "latin.toml").write_bytes("# é\n[kinds.a]\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r"latin.toml is not UTF-8 text, at byte 2"):
        read_study(tmp_path / "latin.toml")
    (tmp_path / "marked.toml").write_bytes(b"\xef\xbb\xbf[kinds.a]\n")
    assert list(read_study(tmp_path / "marked.toml").kinds) == ["a"]


def test_features_come_from_a_relation_with_another_kind():
    text = '[kinds.doc]\nfeatures_from = "r"\n[kinds.a]\n[kinds.b]\n[relations.r]\ntable = "r.csv"\n'
    with pytest.raises(
        ParameterError, match=r"\[kinds.doc\] features_from: the relation 'r' joins 'a' and 'b'"
    ):
        parsed(text + 'from = "a"\nto = "b"\n')
    with pytest.raises(ParameterError, match="joins 'doc' and 'doc'"):
        parsed(text + 'from = "doc"\nto = "doc"\n')


# ---------------------------------------------------------------------- the tables


def test_loaded_tables(folder):
    loaded = load_study(read_study(folder))
    images, tags = loaded.data.entities["image"], loaded.data.entities["tag"]
    assert images.ids.tolist() == ["a", "b", "c", "d"]
    assert images.features.tolist() == [[1, 0], [2, 1], [0, 3], [1, 4]]
    assert images.feature_names.tolist() == ["f_1", "f_2"]
    assert images.fields["album"].tolist() == ["sea", "sea", "hill", "hill"]
    assert tags.ids.tolist() == ["blue", "green"]
    assert tags.features is None
    assert loaded.data.matrix("tagged").toarray().tolist() == [[1, 0], [2, 0], [0, 1], [1, 4]]


def test_paths_begin_where_the_file_lies(folder, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert len(load_study(read_study(folder)).data.entities["image"]) == 4


def test_titles_are_shown_instead_of_ids(folder):
    write(folder, 'label = "album"', 'title = "note"')
    assert load_study(read_study(folder)).data.entities["image"].shown.tolist() == ["x", "y", "z", "d"]


def test_several_files_are_one_table(folder):
    (folder / "more.csv").write_text("image,album,f_1,f_2,note\ne,sea,7,8,x\n")
    write(folder, '"images.csv"', '["images.csv", "mo*.csv"]')
    assert load_study(read_study(folder)).data.entities["image"].ids.tolist() == ["a", "b", "c", "d", "e"]
    write(folder, 'features = ["f_*"]\n', "")
    assert load_study(read_study(folder)).data.entities["image"].ids.tolist() == ["a", "b", "c", "d", "e"]


def write(folder: Path, old: str, new: str) -> None:
    text = (folder / "relscape.toml").read_text()
    assert old in text
    (folder / "relscape.toml").write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '"images.csv"',
            '"image.csv"',
            f"{IMAGE} table: there is no file .*image.csv.* Did you mean '.*images",
        ),
        ('"tags.csv"', '"t*.parquet"', r"\[relations.tagged\] table: no file matches"),
        (
            'id = "image"',
            'id = "imag"',
            r"no column 'imag' in .*images.csv .*\[kinds.image\] id\). Did you mean 'image'",
        ),
        ('"album"', '"albun"', r"no column 'albun' in .*\[kinds.image\] label\). Did you mean 'album'"),
        ('["f_*"]', '["g_*"]', r"\[kinds.image\] features: no column of features 'g_\*' in .*images.csv"),
        (
            '["f_*"]',
            '["*"]',
            r"\[kinds.image\]: .*column 'note' cannot be a feature, because it holds more than",
        ),
        (
            'to = "tag"',
            'to = "tag"\nto_column = "tags"',
            r"no column 'tags' .*\[relations.tagged\] to_column\)",
        ),
        ('weight = "w"', 'weight = "n"', r"no column 'n' in .*tags.csv .*\[relations.tagged\] weight\)"),
    ],
)
def test_missing_files_and_columns_are_told_by_key(folder, old, new, message):
    write(folder, old, new)
    with pytest.raises((InputError, StorageError), match=message):
        load_study(read_study(folder))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "images.csv",
            IMAGES + "a,sea,1,1,z\n",
            r"\[kinds.image\]: .*images.csv: column 'image'.* 'a' at line 2 and",
        ),
        ("images.csv", "image,album,f_1,f_2,note\n", r"\[kinds.image\] table: .*images.csv: .*no rows"),
        ("images.csv", "", r"\[kinds.image\] table: .*images.csv"),
        ("images.csv", IMAGES + "e,sea,,1,\n", r"\[kinds.image\]: .*line 6, .*'f_1'.*missing = \"median\""),
        (
            "images.csv",
            IMAGES + ",sea,1,1,\n",
            r"\[kinds.image\]: .*'image' has 1 missing ids, the first at line 6",
        ),
        ("tags.csv", "image,tag,w\n", r"\[relations.tagged\] table: .*tags.csv: .*no rows"),
        (
            "tags.csv",
            "image,tag,w\na,blue,x\n",
            r"\[relations.tagged\] weight: .*'w'.*line 2.*'x' is not a number",
        ),
        (
            "tags.csv",
            "image;tag;w\na;blue;2,5\nb;blue;1.500\n",
            r"\[relations.tagged\] weight: .*'w' has numbers with a comma and with a point",
        ),
        ("tags.csv", TAGS + ",blue,1\n", r"\[relations.tagged\]: .*'image' has 1 missing ids"),
        (
            "tags.csv",
            "image,tag,w\nq,blue,1\n",
            r"\[relations.tagged\]: none of its 1 pairs .*'q' are no 'image'",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:.*ids are not in the table")
def test_bad_tables_are_told_by_table(folder, name, content, message):
    (folder / name).write_text(content)
    with pytest.raises((InputError, StorageError), match=message):
        load_study(read_study(folder))


def test_pairs_of_strangers_are_left_out_and_told(folder):
    (folder / "tags.csv").write_text(TAGS + "q,blue,1\n")
    with pytest.warns(
        RelscapeWarning, match=r"\[relations.tagged\] from: 1 of 5 ids are not .*'image' \('q'\)"
    ):
        loaded = load_study(read_study(folder))
    assert loaded.data.matrix("tagged").sum() == 9


def test_a_kind_that_nothing_names(folder):
    write(folder, "[kinds.tag]", "[kinds.tag]\n[kinds.place]")
    with pytest.raises(DataError, match=r"\[kinds.place\]: it has no table, and no relation names"):
        load_study(read_study(folder))


@pytest.mark.parametrize(("how", "left", "third"), [("median", 5, 1.0), ("drop", 4, None)])
def test_missing_features(folder, how, left, third):
    (folder / "images.csv").write_text(IMAGES + "e,sea,,1,\n")
    write(folder, '["f_*"]', f'["f_*"]\nmissing = "{how}"')
    with pytest.warns(RelscapeWarning, match="1 of 5 image things lack features"):
        loaded = load_study(read_study(folder))
    features = loaded.data.entities["image"].features
    assert len(features) == left
    if third is not None:
        assert features[4, 0] == third  # of 0, 1, 1, 2
        assert loaded.reading["image"]["medians"] == [1.0, 1.0]


def test_words_of_a_column(folder):
    (folder / "images.csv").write_text("image,album,said\na,x,red sun\nb,x,red red moon\nc,y,\nd,y,the sun\n")
    write(folder, 'features = ["f_*"]', 'text = "said"\nstop_words = "english"\nscaling = "none"')
    images = load_study(read_study(folder)).data.entities["image"]
    assert images.feature_names.tolist() == ["moon", "red", "sun"]
    assert images.features.toarray().tolist() == [[0, 1, 1], [1, 2, 0], [0, 0, 0], [0, 0, 1]]
    assert "said" not in images.fields


@pytest.mark.parametrize("turned", [False, True])
def test_features_from_a_relation(folder, turned):
    (folder / "words.csv").write_text("word,image,n\nred,a,1\nsun,a,3\nred,c,2\n")
    ends = ("word", "image") if turned else ("image", "word")
    write(folder, 'features = ["f_*"]', 'features_from = "words"\nscaling = "length"')
    text = f'[relations.words]\ntable = "words.csv"\nfrom = "{ends[0]}"\nto = "{ends[1]}"\nweight = "n"\n'
    write(folder, "[guidance]", f"[kinds.word]\n{text}[guidance]")
    loaded = load_study(read_study(folder))
    images = loaded.data.entities["image"]
    expected = np.array([[1, 3], [0, 0], [2, 0], [0, 0]]) / np.array([[np.sqrt(10)], [1], [2], [1]])
    assert images.feature_names.tolist() == ["red", "sun"]
    np.testing.assert_allclose(images.features.toarray(), expected)
    assert loaded.reading["image"] == {
        "form": "pairs", "rows": "image", "columns": "word", "scaling": "length", "weight": "n",
    }  # fmt: skip


def test_scaled_counts_by_hand():
    counts = np.array([[0.0, 1.0, 3.0], [0.0, 0.0, 0.0]])
    logs = np.log([2.0, 4.0]) / np.linalg.norm(np.log([2.0, 4.0]))
    np.testing.assert_allclose(scaled_counts(counts, "log").toarray(), [[0, *logs], [0, 0, 0]])
    np.testing.assert_allclose(scaled_counts(counts, "length").toarray()[0] * np.sqrt(10), [0, 1, 3])
    assert (scaled_counts(counts, "none").toarray() == counts).all()
    with pytest.raises(DataError, match='no logarithm; write scaling = "length"'):
        scaled_counts(-counts, "log")


# ---------------------------------------------------------------------- the projection


def test_the_map_is_that_of_the_same_data_in_python(folder):
    loaded = load_study(read_study(folder))
    chosen = guided(loaded)
    name, parameters = projection_model(loaded.study)
    assert (name, parameters) == ("photos", {"n_components": 1})
    model = HeterogeneousProjection(**parameters).fit(chosen.data, chosen.weights)
    features = np.array([[1, 0], [2, 1], [0, 3], [1, 4]], dtype=float)
    weights = np.array([[1, 0], [2, 0], [0, 1], [1, 4]]) * 0.5 / 4  # divided by the largest
    plain = HeterogeneousProjection(1).fit({"image": features, "tag": None}, {("image", "tag"): weights})
    joint = to_map(model, chosen, loaded)
    for kind in ("image", "tag"):
        np.testing.assert_allclose(joint.coordinates(kind), plain.embeddings_[kind], atol=1e-10)
    np.testing.assert_allclose(joint.relations["tagged"].matrix.toarray(), weights)
    assert joint.provenance["source"]["labels"] == {"image": "album"}


def test_relations_within_a_kind_are_carried_both_ways(folder):
    (folder / "unlike.csv").write_text("image,image_2\na,c\nd,b\na,a\n")
    text = '[relations.unlike]\ntable = "unlike.csv"\nfrom = "image"\nto = "image"\n[guidance]\nunlike = -1\n'
    write(folder, "[guidance]", text)
    loaded = load_study(read_study(folder))
    carried = {relation.name: relation for relation in guided(loaded).relations}
    expected = np.zeros((4, 4))
    expected[[0, 2, 1, 3], [2, 0, 3, 1]] = -0.5
    assert not carried["unlike"].directed
    np.testing.assert_allclose(carried["unlike"].matrix.toarray(), expected)


def test_things_that_nothing_speaks_of(folder):
    """With features they have a place all the same; without, they are left out and told."""
    (folder / "tags_known.csv").write_text("tag\nblue\ngreen\ngrey\n")
    (folder / "tags.csv").write_text("image,tag,w\na,blue,1\nb,blue,2\nc,green,1\n")
    write(folder, "[kinds.tag]", '[kinds.tag]\ntable = "tags_known.csv"')
    loaded = load_study(read_study(folder))
    with pytest.warns(RelscapeWarning, match=r"1 tag things have neither features nor guidance \('grey'\)"):
        chosen = guided(loaded)
    assert chosen.data.entities["tag"].ids.tolist() == ["blue", "green"]
    assert chosen.data.entities["image"].ids.tolist() == ["a", "b", "c", "d"]


def test_guidance_that_says_nothing(folder):
    write(folder, "tagged = 0.5", "tagged = 0")
    with pytest.raises(DataError, match=r"relscape.toml: nothing guides a projection"):
        guided(load_study(read_study(folder)))


def test_which_model(folder):
    study = read_study(folder)
    assert projection_model(study, "photos")[0] == "photos"
    with pytest.raises(InputError, match=r"no model 'foto' .*relscape.toml"):
        projection_model(study, "foto")
    several = FILE + '[models.wide]\nmethod = "projection"\n[models.ca]\nmethod = "ca"\n'
    with pytest.raises(ParameterError, match="describes 2 projections, 'photos', 'wide'; say which"):
        projection_model(parsed(several))
    with pytest.raises(ParameterError, match=r"\[models.ca\] method: 'ca' is no guided projection"):
        projection_model(parsed(several), "ca")
    assert projection_model(parsed("[kinds.a]\n")) == ("projection", {})


def test_what_settings_are_judged_by(folder):
    loaded = load_study(read_study(folder))
    assert task_of(guided(loaded)) == ("image", "tag")
    write(folder, "tagged = 0.5", "tagged = -0.5")
    with pytest.raises(DataError, match="nothing to judge settings by"):
        task_of(guided(load_study(read_study(folder))))
