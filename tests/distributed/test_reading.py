"""Tables read part by part against the same tables read whole."""

from __future__ import annotations

import sqlite3
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import vstack

import relscape as rs
from relscape.distributed import DistributedRelation
from relscape.errors import DataError, StorageError


@pytest.fixture
def folder(tmp_path, rng):
    """Five files of pairs in any order, some pairs in several files, ids that are numbers on one side."""
    for part in range(5):
        lines = 120
        table = {
            "doc": [f"d{k}" for k in rng.integers(30, size=lines)],
            "word": rng.integers(2000, size=lines) % 25 * 7,
            "n": rng.integers(1, 5, size=lines) / 2,
        }
        pq.write_table(pa.table(table), tmp_path / f"part-{part}.parquet")
    return tmp_path


def whole(relation):
    return vstack([block for _, block in relation.row_blocks(1000)]).toarray()


@pytest.mark.parametrize("n_blocks", [None, 3])
def test_partitioned_parquet(client, folder, n_blocks):
    spread = DistributedRelation.from_parquet(folder, "doc", "word", "n", n_blocks=n_blocks, client=client)
    data = rs.read(str(folder / "*.parquet"), rows="doc", columns="word", weight="n")
    assert_array_equal(spread.row_entities.ids, data.entities["doc"].ids)
    assert_array_equal(spread.column_entities.ids, data.entities["word"].ids)
    assert spread.column_entities.ids[1] == "7"  # numbers sort as numbers
    assert_allclose(whole(spread), data.matrix().toarray(), rtol=1e-14)
    assert spread.n_blocks == (n_blocks or 8)


def rows_of_database(path, remainder):
    with sqlite3.connect(path) as connection:
        query = "SELECT doc, word, n FROM pairs WHERE rowid % 3 = ?"
        found = connection.execute(query, [remainder]).fetchall()
    docs, words, weights = zip(*found, strict=True)
    return pa.table({"doc": docs, "word": words, "n": weights})


def test_a_database_read_by_several_queries(client, folder, tmp_path):
    table = pa.concat_tables(pq.read_table(file) for file in sorted(folder.glob("*.parquet")))
    with sqlite3.connect(tmp_path / "pairs.db") as connection:
        connection.execute("CREATE TABLE pairs (doc TEXT, word INTEGER, n REAL)")
        lines = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
        connection.executemany("INSERT INTO pairs VALUES (?, ?, ?)", lines)
    readers = [partial(rows_of_database, str(tmp_path / "pairs.db"), k) for k in range(3)]
    spread = DistributedRelation.from_tables(readers, "doc", "word", "n", client=client)
    data = rs.RelationalData.from_frame(table, "doc", "word", "n")
    assert_array_equal(spread.row_entities.ids, data.entities["doc"].ids)
    assert_allclose(whole(spread), data.matrix().toarray(), rtol=1e-14)


def test_what_cannot_be_read_is_named(client, folder):
    with pytest.raises(DataError, match=r"part-0.parquet.*'weight'|no column 'weight'"):
        DistributedRelation.from_parquet(folder, "doc", "word", "weight", client=client)
    bad = pa.table({"doc": ["a", "b"], "word": [1, 2], "n": [1.0, -3.0]})
    pq.write_table(bad, folder / "part-9.parquet")
    with pytest.raises(DataError, match=r"part-9.parquet: column 'n' has 1 weights .* row 2: '-3.0' is neg"):
        DistributedRelation.from_parquet(folder, "doc", "word", "n", client=client)
    (folder / "empty").mkdir()
    with pytest.raises(StorageError, match="no Parquet files in the folder"):
        DistributedRelation.from_parquet(folder / "empty", "doc", "word", client=client)


def test_blocks_hold_about_the_same_number_of_entries():
    from relscape.distributed.reading import _bounds

    counts = np.array([100, 1, 1, 1, 1, 100, 50, 50])
    assert _bounds(counts, 3).tolist() == [0, 3, 6, 8]  # 102, 102 and 100 entries
    assert _bounds(counts, 100).tolist()[-1] == 8
    assert (np.diff(_bounds(counts, 100)) > 0).all()
