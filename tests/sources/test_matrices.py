"""Matrix files: what is written by scipy comes back, and bad ones are refused by name."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import relscape as rs
from relscape.errors import DataError, FormatError, ParameterError, StorageError
from relscape.sources.counts import checked_weights, weighed

COUNTS = np.array([[0.0, 2, 0, 1.5], [3, 0, 0, 0], [0, 0, 4, 0.25]])


def market(path: Path, matrix: Any = COUNTS) -> Path:
    text = io.BytesIO()
    scipy.io.mmwrite(text, sp.coo_array(matrix))
    path.write_bytes(gzip.compress(text.getvalue()) if path.suffix == ".gz" else text.getvalue())
    return path


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "bool"])
def test_npz_comes_back(tmp_path: Path, form: str, dtype: str) -> None:
    matrix = sp.coo_array(COUNTS).astype(dtype)
    sp.save_npz(tmp_path / "m.npz", matrix.asformat(form))
    data = rs.read_matrix(tmp_path / "m.npz", rows="doc", columns="word")
    np.testing.assert_array_equal(data.matrix().toarray(), matrix.toarray())
    assert data.kinds == ("doc", "word")
    assert data.relation().name == "doc-word"
    assert data.entities["doc"].ids.tolist() == ["0", "1", "2"]


@pytest.mark.parametrize("name", ["m.mtx", "m.mtx.gz", "M.MTX"])
def test_matrix_market_comes_back(tmp_path: Path, name: str) -> None:
    data = rs.read(market(tmp_path / name))
    np.testing.assert_array_equal(data.matrix().toarray(), COUNTS)
    assert data.kinds == ("row", "column")


def test_a_matrix_stays_sparse(tmp_path: Path) -> None:
    """A dense copy of this one would need 80 GB."""
    matrix = sp.coo_array((np.ones(3), ([0, 5, 99_999], [7, 0, 99_999])), shape=(100_000, 100_000))
    scipy.io.mmwrite(tmp_path / "m.mtx", matrix)
    sp.save_npz(tmp_path / "m.npz", matrix)
    for name in ("m.mtx", "m.npz"):
        assert rs.read_matrix(tmp_path / name, log1p=True, size_factors=10).matrix().nnz == 3


def test_symmetric_pattern_and_dense_files(tmp_path: Path) -> None:
    path = tmp_path / "m.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n% note\n3 3 2\n2 1\n3 3\n")
    data = rs.read_matrix(path, rows="gene", columns="gene")
    assert data.matrix().toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    assert data.kinds == ("gene",)
    path.write_text("%%MatrixMarket matrix array integer general\n2 2\n2\n1\n0\n7\n")
    assert rs.read_matrix(path).matrix().toarray().tolist() == [[2, 0], [1, 7]]


def test_names_from_files_and_lists(tmp_path: Path) -> None:
    (tmp_path / "rows.tsv").write_text("g1\tTP53\ng2\tMYC\ng3\tACTB\n\n")
    (tmp_path / "cells.txt.gz").write_bytes(gzip.compress(b"a\nb\nc\nd\n"))
    data = rs.read_matrix(market(tmp_path / "m.mtx"), tmp_path / "rows.tsv", str(tmp_path / "cells.txt.gz"))
    assert data.entities["row"].ids.tolist() == ["g1", "g2", "g3"]
    assert data.entities["column"].ids.tolist() == ["a", "b", "c", "d"]
    assert rs.read_matrix(tmp_path / "m.mtx", ["x", "y", 3]).entities["row"].ids.tolist() == ["x", "y", "3"]
    (tmp_path / "short.txt").write_text("a\nb\n")
    with pytest.raises(DataError, match=r"short.txt has 2 names, but .*m.mtx has 3 rows"):
        rs.read_matrix(tmp_path / "m.mtx", tmp_path / "short.txt")
    with pytest.raises(DataError, match=r"column_names has 5 names, but .*m.mtx has 4 columns"):
        rs.read_matrix(tmp_path / "m.mtx", column_names=list("abcde"))
    with pytest.raises(DataError, match="ids repeat"):
        rs.read_matrix(tmp_path / "m.mtx", ["x", "x", "y"])


def test_size_factors_and_logarithms_as_the_formula_says(tmp_path: Path) -> None:
    path = market(tmp_path / "m.mtx", np.vstack([COUNTS, np.zeros(4)]))
    table = np.vstack([COUNTS, np.zeros(4)])
    expected = np.zeros_like(table)
    for row in range(3):
        for column in range(4):
            expected[row, column] = np.log(1 + table[row, column] * 100 / sum(table[row]))
    data = rs.read_matrix(path, size_factors=100, log1p=True)
    np.testing.assert_allclose(data.matrix().toarray(), expected, rtol=1e-14)
    scaled = rs.read_matrix(path, size_factors=100).matrix()
    np.testing.assert_allclose(scaled.sum(axis=1), [100, 100, 100, 0])
    logs = rs.read_matrix(path, log1p=True).matrix()
    np.testing.assert_allclose(logs.toarray(), np.log1p(table), rtol=1e-15)


def test_weighing_keeps_single_precision_and_leaves_the_given_matrix_alone() -> None:
    matrix = sp.csr_array(COUNTS.astype(np.float32))
    result = weighed(matrix, 10, True)
    assert result.dtype == np.float32
    np.testing.assert_array_equal(matrix.toarray(), COUNTS.astype(np.float32))
    np.testing.assert_allclose(np.expm1(result.toarray()).sum(axis=1), 10, rtol=1e-5)
    whole = weighed(sp.csr_array(np.array([[1, 3]])), 8)
    assert whole.toarray().tolist() == [[2.0, 6.0]]


@pytest.mark.parametrize("total", [0, -1, np.nan, np.inf, "much", True])
def test_a_total_that_cannot_be(tmp_path: Path, total: Any) -> None:
    with pytest.raises(ParameterError, match=r"size_factors is .*expected the total"):
        rs.read_matrix(market(tmp_path / "m.mtx"), size_factors=total)


def damaged(tmp_path: Path, how: str) -> Path:
    """Make one bad file."""
    text = market(tmp_path / "good.mtx").read_bytes()
    sp.save_npz(tmp_path / "good.npz", sp.csr_array(COUNTS))
    packed = (tmp_path / "good.npz").read_bytes()
    parts = sp.csr_array(COUNTS)
    shape = {"format": b"csr", "shape": parts.shape, "indptr": parts.indptr}
    path = tmp_path / f"bad.{how.split()[0]}"
    if how == "npz far":
        np.savez(path, **shape, data=parts.data, indices=parts.indices + 100)
    elif how == "npz short":
        np.savez(path, **shape, data=parts.data[:-1], indices=parts.indices)
    elif how == "npz lacking":
        np.savez(path, **shape, data=parts.data)
    elif how == "npz dense":
        np.savez(path, COUNTS)
    elif how == "npz pickle":
        np.savez(path, **shape, data=np.array([{"a": 1}], dtype=object), indices=parts.indices)
    else:
        path.write_bytes(
            {
                "mtx cut": text[:-12],
                "mtx head": text[:30],
                "mtx empty": b"",
                "mtx other": b"a,b\n1,2\n",
                "mtx far": b"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n",
                "mtx.gz cut": gzip.compress(text)[:-9],
                "mtx.gz other": text,
                "npz cut": packed[:-40],
                "npz empty": b"",
                "npz other": b"hello",
            }[how]
        )
    return path


@pytest.mark.parametrize(
    "how",
    [
        "mtx cut", "mtx head", "mtx empty", "mtx other", "mtx far", "mtx.gz cut", "mtx.gz other", "npz cut",
        "npz empty", "npz other", "npz short", "npz lacking", "npz dense", "npz far", "npz pickle",
    ],
)  # fmt: skip
def test_damaged_files_are_refused_by_name(tmp_path: Path, how: str) -> None:
    path = damaged(tmp_path, how)
    with pytest.raises((FormatError, DataError), match=str(path.name)):
        rs.read_matrix(path)


def test_entries_that_cannot_be_weights(tmp_path: Path) -> None:
    path = tmp_path / "m.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 5\n3 2 -0.5\n3 3 -1\n")
    with pytest.raises(DataError, match=r"m.mtx: 2 entries are negative, .*\(-0.5\) in row 3, column 2"):
        rs.read_matrix(path)
    path.write_text("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 5 2\n")
    with pytest.raises(DataError, match=r"m.mtx: .*complex"):
        rs.read_matrix(path)
    sp.save_npz(tmp_path / "c.npz", sp.csr_array(COUNTS * 1j))
    with pytest.raises(DataError, match=r"c.npz: .*complex"):
        rs.read_matrix(tmp_path / "c.npz")
    sp.save_npz(tmp_path / "n.npz", sp.csr_array([[1.0, np.nan]]))
    with pytest.raises(DataError, match=r"n.npz: 1 entries are not finite, .*\(nan\) in row 1, column 2"):
        rs.read_matrix(tmp_path / "n.npz")
    with pytest.raises(DataError, match="two dimensions; this has 1"):
        checked_weights(np.ones(3), "here")


def test_other_things_than_one_matrix(tmp_path: Path) -> None:
    market(tmp_path / "a.mtx")
    market(tmp_path / "b.mtx")
    with pytest.raises(ParameterError, match="2 files match; name one"):
        rs.read_matrix(tmp_path / "*.mtx")
    with pytest.raises(ParameterError, match="of which one is read at a time; 2 are named"):
        rs.read([tmp_path / "a.mtx", tmp_path / "b.mtx"])
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ParameterError, match="are of different forms"):
        rs.read([tmp_path / "a.mtx", tmp_path / "t.csv"])
    with pytest.raises(FormatError, match="expected a matrix file"):
        rs.read_matrix(tmp_path / "t.csv")
    with pytest.raises(StorageError, match=r"Did you mean 'a.mtx'|Check the name"):
        rs.read_matrix(tmp_path / "aa.mtx")
    with pytest.raises(ParameterError, match=r"weight has no meaning for .*a.mtx, which is a matrix"):
        rs.read(tmp_path / "a.mtx", weight="n")
    with pytest.raises(ParameterError, match="for tables of pairs"):
        rs.read(tmp_path / "a.mtx", allow_negative=True)


HEAD = "%%MatrixMarket matrix coordinate real general\n% made by hand\n3 3 2\n1 1 1.5\n"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("2 2 6.886E\n", "2 2 6.886E"),
        ("2 2\n", "2 2"),
        ("2 2 1d5\n", "2 2 1d5"),  # read as 1 by scipy
        ("2 2 1 7\n", "2 2 1 7"),
        ("2 x 1\n", "2 x 1"),
    ],
)
def test_lines_that_are_no_entries_are_refused_by_number(tmp_path: Path, line: str, shown: str) -> None:
    path = tmp_path / "a.mtx"
    path.write_text(HEAD + line)
    with pytest.raises(FormatError, match=rf"a\.mtx, line 5: '{shown}' is not an entry"):
        rs.read_matrix(path)
    whole = HEAD.replace(" real ", " integer ").replace("1.5", "1")
    path.write_text(whole + "2 2 1.5\n")
    with pytest.raises(FormatError, match=r"line 5: '2 2 1\.5'"):
        rs.read_matrix(path)


def test_lines_across_pieces_blanks_and_odd_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from relscape.sources import market

    monkeypatch.setattr(market, "_CHUNK", 7)
    path = tmp_path / "a.mtx"
    body = "1 1 1.5\n\n  2\t2   .25e+1 \n3 1 4.\n3 2 1E-2"
    path.write_text(HEAD.replace("3 3 2\n1 1 1.5\n", "3 3 4\n") + body)
    expected = [[1.5, 0, 0], [0, 2.5, 0], [4, 0.01, 0]]
    assert rs.read_matrix(path).matrix().toarray().tolist() == expected
    path.write_text(path.read_text().replace("2\t2", "99999999999999999999 2"))
    with pytest.raises(FormatError, match="out of range"):
        rs.read_matrix(path)
