"""Tables of features: which column is what, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from relscape.errors import DataError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.sources.features import read_feature_table

TABLE = """cell,f_a,f_b,type,year,note
c1,1.5,2,tea,1990,x
c2,-3,0.25,ale,1991,y
c3,4,1e2,tea,1992,x
c4,5,6,,1993,NA
"""


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "cells.csv"
    path.write_text(TABLE)
    return path


def read(path, *arguments, **options):
    return read_feature_table([str(path)], *arguments, **options)


def test_columns_are_told_apart(table):
    found = read(table, label="type")
    assert found.id == "cell"
    assert found.samples.kind == "cell"
    assert found.samples.ids.tolist() == ["c1", "c2", "c3", "c4"]
    assert found.features.tolist() == ["f_a", "f_b", "year"]
    np.testing.assert_array_equal(found.matrix[:, :2], [[1.5, 2], [-3, 0.25], [4, 100], [5, 6]])
    assert found.labels.tolist() == ["tea", "ale", "tea", None]
    assert found.samples.fields["note"].tolist() == ["x", "y", "x", "NA"]
    assert set(found.samples.fields) == {"type", "note"}


def test_features_by_pattern_and_name(table):
    assert read(table, label="type", features=["f_*"]).features.tolist() == ["f_a", "f_b"]
    chosen = read(table, label="type", features=["year, f_b"])
    assert chosen.features.tolist() == ["f_b", "year"]
    assert chosen.samples.fields["f_a"].tolist() == [1.5, -3.0, 4.0, 5.0]


def test_without_ids_samples_are_numbered(tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text("x,y,class\n1,2,1\n3,4,2\n5,6,1\n")
    found = read(path, label="class")
    assert found.id is None
    assert found.samples.kind == "sample"
    assert found.samples.ids.tolist() == ["0", "1", "2"]
    assert found.labels.tolist() == [1, 2, 1]


def test_texts_that_repeat_are_no_ids(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("group,x\na,1\na,2\nb,3\nb,4\n")
    found = read(path)
    assert found.id is None
    assert found.samples.fields["group"].tolist() == ["a", "a", "b", "b"]


def test_texts_that_nearly_name_the_lines_are_told_of(table):
    table.write_text(table.read_text().replace("c3,", "c1,"))
    with pytest.warns(RelscapeWarning, match=r"'cell', does not name the lines, as 1 repeat there"):
        found = read(table, label="type")
    assert found.id is None
    assert found.samples.fields["cell"].tolist() == ["c1", "c2", "c1", "c4"]


def test_ids_keep_their_zeros_and_labels_their_order(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("id,x,group\n007,1,10\n070,2,9\n")
    found = read(path, "id", "group")
    assert found.samples.ids.tolist() == ["007", "070"]
    assert found.samples.kind == "sample"
    assert found.labels.tolist() == [10, 9]


def test_several_files_and_parquet(table, tmp_path):
    more = tmp_path / "more.csv"
    more.write_text("cell,f_a,f_b,type,year,note\nc5,7,8,ale,2000,z\n")
    found = read_feature_table([str(table), str(more)], label="type", features=["f_*"])
    assert found.samples.ids.tolist() == ["c1", "c2", "c3", "c4", "c5"]
    assert found.matrix[-1].tolist() == [7, 8]
    frame = pa.table(
        {"x": [1.0, 2.0, 3.0], "flag": [True, False, True], "y": [1, None, 3], "t": ["a", "b", "c"]}
    )
    pq.write_table(frame, tmp_path / "frame.parquet")
    kept = read(tmp_path / "frame.parquet", features=["x", "flag"])
    assert kept.matrix.tolist() == [[1, 1], [2, 0], [3, 1]]
    assert np.isnan(kept.samples.fields["y"][1])
    with pytest.raises(
        DataError, match=r"missing in 1 of 3 lines, the first at row 2, in 1 column: 'y' \(1\)"
    ):
        read(tmp_path / "frame.parquet")


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("c2,-3,", "c2,,", ("cells.csv", "'f_a'", "missing", "line 3", "--features")),
        ("c2,-3,", "c2,inf,", ("'f_a'", "'inf' is not finite", "line 3")),
        ("c3,4,", "c1,4,", ("'cell'", "'c1' at line 2 and line 4")),
        ("c2,", ",", ("'cell'", "missing ids", "line 3")),
    ],
)
def test_bad_lines_are_named(table, old, new, parts):
    table.write_text(table.read_text().replace(old, new))
    with pytest.raises(DataError) as refused:
        read(table, "cell", "type")
    for part in parts:
        assert part in str(refused.value)


def test_a_slip_among_numbers_is_no_text(tmp_path):
    path = tmp_path / "slip.csv"
    path.write_text("x,y\n" + "".join(f"{i / 2},{i}\n" for i in range(12)) + "12.5,1O\n")
    with pytest.raises(DataError, match=r"'y' holds numbers, but not at line 14: '1O' is not a number"):
        read(path)
    assert read(path, features=["x"]).matrix.shape == (13, 1)
    with pytest.raises(DataError, match=r"'y' cannot be a feature.* line 14: '1O'"):
        read(path, features=["y"])


def test_what_is_not_there(table, tmp_path):
    with pytest.raises(UnknownNameError, match="Did you mean 'type'"):
        read(table, label="typ")
    with pytest.raises(UnknownNameError, match="no column 'cel'"):
        read(table, id="cel")
    with pytest.raises(UnknownNameError, match=r"no column of features 'g_\*'"):
        read(table, features=["g_*"])
    with pytest.raises(ParameterError, match="both name"):
        read(table, id="cell", label="cell")
    texts = tmp_path / "texts.csv"
    texts.write_text("a,b\nx,y\nz,w\n")
    with pytest.raises(DataError, match=r"no column of numbers.*--rows"):
        read(texts)
    empty = tmp_path / "empty.csv"
    empty.write_text("a,b\n")
    with pytest.raises(DataError, match="no rows"):
        read(empty)


# ---------------------------------------------------------------------- ids that are numbers, gaps


def numbered(path, head, first=lambda i: 1000 + i):
    path.write_text(head + "\n" + "".join(f"{first(i)},{i % 3}.5,{'ab'[i % 2]}\n" for i in range(12)))
    return path


def test_whole_numbers_that_all_differ_are_ids(tmp_path):
    named = read(numbered(tmp_path / "a.csv", "bottle nr,x,type"), label="type")
    assert named.id == "bottle nr"
    assert named.samples.kind == "bottle nr"
    assert named.samples.ids[:2].tolist() == ["1000", "1001"]
    assert named.features.tolist() == ["x"]
    path = numbered(tmp_path / "b.csv", "bottle,x,type")
    with pytest.warns(RelscapeWarning, match=r"'bottle', has another whole number in every line .* as ids"):
        assert read(path, label="type").id == "bottle"
    chosen = read(path, label="type", features=["bottle", "x"])
    assert chosen.id is None
    assert chosen.features.tolist() == ["bottle", "x"]


def test_numbers_that_repeat_or_are_no_whole_ones_are_features(tmp_path):
    for first in (lambda i: i // 2, lambda i: i + 0.25, lambda i: i - 5):
        found = read(numbered(tmp_path / "a.csv", "id,x,type", first), label="type")
        assert found.id is None
        assert found.features.tolist() == ["id", "x"]
    alone = tmp_path / "alone.csv"
    alone.write_text("nr,type\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(12)))
    assert read(alone, label="type").features.tolist() == ["nr"]


def test_a_column_called_id_may_stand_anywhere(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("x,sample_id,y\n" + "".join(f"{i % 4},{7 * i},{i % 5}\n" for i in range(12)))
    found = read(path)
    assert found.id == "sample_id"
    assert found.features.tolist() == ["x", "y"]


def test_all_columns_with_gaps_are_told_at_once(table):
    table.write_text(TABLE.replace("c2,-3,0.25", "c2,,").replace("c4,5,6", "c4,,6"))
    with pytest.raises(
        DataError, match=r"in 2 of 4 lines, the first at line 3, in 2 columns: 'f_a' \(2\), 'f_b' \(1\)"
    ):
        read(table, label="type", features=["f_*"])
    kept = read(table, label="type", features=["f_*"], gaps=True)
    np.testing.assert_array_equal(np.isnan(kept.matrix), [[0, 0], [1, 1], [0, 0], [1, 0]])
