from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix

from relscape.data import EntitySet, Relation, RelationalData
from relscape.data.labels import as_text
from relscape.errors import DataError, ParameterError, UnknownNameError

PAIRS = {"doc": ["d2", "d1", "d1", "d2"], "word": ["dog", "cat", "dog", "dog"], "n": [1, 2, 1, 2]}


@pytest.mark.parametrize(
    "frame",
    [
        PAIRS,
        pd.DataFrame(PAIRS),
        pd.DataFrame(PAIRS).set_index("doc"),
        pd.DataFrame(PAIRS).astype({"doc": "category", "word": "string"}),
        pl.DataFrame(PAIRS),
        pl.DataFrame(PAIRS).with_columns(pl.col("doc").cast(pl.Categorical)),
        pa.table(PAIRS),
        pa.table(PAIRS).slice(0, 4).to_reader(1).read_all(),
    ],
    ids=["dict", "pandas", "index", "categorical", "polars", "polars-categorical", "pyarrow", "chunks"],
)
def test_from_frame_takes_every_frame(frame: Any) -> None:
    data = RelationalData.from_frame(frame, "doc", "word", "n")
    assert data.kinds == ("doc", "word")
    assert data.entities["doc"].ids.tolist() == ["d1", "d2"]
    assert data.entities["word"].ids.tolist() == ["cat", "dog"]
    assert data.matrix("doc-word").toarray().tolist() == [[2, 1], [0, 3]]


def test_without_weights_pairs_are_counted() -> None:
    data = RelationalData.from_frame(PAIRS, "doc", "word")
    assert data.matrix().toarray().tolist() == [[1, 1], [0, 2]]


def test_from_frame_refuses_what_it_cannot_mean() -> None:
    with pytest.raises(UnknownNameError, match=r"no column 'wrod' in the frame. Did you mean 'word'"):
        RelationalData.from_frame(PAIRS, "doc", "wrod")
    with pytest.raises(ParameterError, match="give both rows and columns"):
        RelationalData.from_frame(PAIRS, "doc")
    with pytest.raises(ParameterError, match="belongs to a table of pairs"):
        RelationalData.from_frame(PAIRS, weight="n")
    with pytest.raises(ParameterError, match="both 'doc'"):
        RelationalData.from_frame(PAIRS, "doc", "doc")
    with pytest.raises(DataError, match=r"weight column 'n' .* the first at row 3"):
        RelationalData.from_frame({**PAIRS, "n": [1.0, 2.0, 1.0, None]}, "doc", "word", "n")
    with pytest.raises(DataError, match="column 'word': 1 entries are missing, the first at row 1"):
        RelationalData.from_frame({**PAIRS, "word": ["a", None, "b", "c"]}, "doc", "word")


def test_a_wide_frame_is_a_contingency_table() -> None:
    frame = pd.DataFrame({"none": [4, 4], "heavy": [2, 4]}, index=["SM", "JM"])
    data = RelationalData.from_frame(frame)
    assert data.entities["row"].ids.tolist() == ["SM", "JM"]
    assert data.entities["column"].ids.tolist() == ["none", "heavy"]
    assert data.matrix().toarray().tolist() == [[4, 2], [4, 4]]


_edges = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from("abcd"), st.floats(0.001, 1000.0)), min_size=1, max_size=40
)


@given(_edges, st.randoms())
def test_repeated_pairs_are_summed_and_the_order_of_rows_does_not_matter(edges: Any, random: Any) -> None:
    data = RelationalData.from_edges(edges, "doc", "word")
    slow: dict[tuple[str, str], float] = {}
    for row, column, weight in edges:
        slow[str(row), column] = slow.get((str(row), column), 0.0) + weight
    docs, words = data.entities["doc"].ids.tolist(), data.entities["word"].ids.tolist()
    assert data.matrix().nnz == len(slow)
    for (row, column), weight in slow.items():
        assert data.matrix()[docs.index(row), words.index(column)] == pytest.approx(weight, rel=1e-12)
    shuffled = RelationalData.from_edges(random.sample(edges, len(edges)), "doc", "word")
    assert shuffled.fingerprint() == data.fingerprint()


def test_within_one_kind_both_columns_share_the_ids() -> None:
    data = RelationalData.from_pairs(["b", "a"], ["c", "b"], rows="page", columns="page", name="links")
    assert data.kinds == ("page",)
    assert data.entities["page"].ids.tolist() == ["a", "b", "c"]
    assert data.matrix("links").toarray().tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_edges_are_refused_by_their_position() -> None:
    with pytest.raises(DataError, match="edge 1 has 1 parts"):
        RelationalData.from_edges([("a", "b"), ("a",)])
    with pytest.raises(DataError, match="edge 1 has the weight 'x'"):
        RelationalData.from_edges([("a", "b", 1), ("a", "c", "x")])
    with pytest.raises(DataError, match="between doc 'a' and word 'c'"):
        RelationalData.from_edges([("a", "b", 1), ("a", "c", float("nan"))], "doc", "word")
    with pytest.raises(DataError, match="the relation is empty"):
        RelationalData.from_edges([])
    with pytest.raises(DataError, match="2 row ids, 1 column ids and 2 weights"):
        RelationalData.from_pairs(["a", "b"], ["c"])


@pytest.mark.parametrize(
    "matrix",
    [
        [[1, 0], [2, 3]],
        np.array([[1.0, 0], [2, 3]], dtype=np.float16),
        np.array([[True, False], [True, True]]) * np.array([[1, 1], [2, 3]]),
        csr_array([[1, 0], [2, 3]]),
        csr_matrix([[1, 0], [2, 3]]),
        csc_array([[1, 0], [2, 3]]),
        coo_array(([1, 1, 1, 3], ([0, 1, 1, 1], [0, 0, 0, 1])), shape=(2, 2)),
    ],
)
def test_from_matrix_takes_dense_and_sparse(matrix: Any) -> None:
    data = RelationalData.from_matrix(matrix, "doc", "word", column_ids=["x", "y"])
    assert data.matrix().toarray().tolist() == [[1, 0], [2, 3]]
    assert data.matrix().has_canonical_format
    assert data.entities["doc"].ids.tolist() == ["0", "1"]


def test_from_matrix_keeps_single_precision_and_leaves_its_input_alone() -> None:
    matrix = csr_array((np.array([1, 2], np.float32), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    data = RelationalData.from_matrix(matrix)
    assert data.matrix().dtype == np.float32
    assert matrix.indices.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([1, 2], "two dimensions, this array has 1"),
        ([["a"]], "real numbers, this one holds"),
        (np.array([[1j]]), "real numbers"),
        ([[1.0, np.nan]], "1 weights that are not finite, the first between row '0' and column '1'"),
    ],
)
def test_from_matrix_refuses_what_is_no_matrix_of_numbers(matrix: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        RelationalData.from_matrix(matrix)


def test_from_matrix_within_a_kind_takes_one_set_of_ids() -> None:
    data = RelationalData.from_matrix(np.eye(2), "a", "a", ["x", "y"], ["x", "y"])
    assert data.kinds == ("a",)
    with pytest.raises(ParameterError, match="must be alike"):
        RelationalData.from_matrix(np.eye(2), "a", "a", ["x", "y"], ["y", "x"])
    with pytest.raises(DataError, match="must be square"):
        RelationalData.from_matrix(np.ones((2, 3)), "a", "a")
    with pytest.raises(DataError, match="has 2 entries for kind 'row', which has 3 things"):
        RelationalData.from_matrix(np.eye(2), row_ids=["a", "b", "c"])


def test_an_undirected_relation_is_symmetric_and_within_one_kind() -> None:
    symmetric = csr_array([[0, 1], [1, 0]])
    assert not Relation("r", "a", "a", symmetric, directed=False).directed
    with pytest.raises(DataError, match="not symmetric"):
        Relation("r", "a", "a", csr_array([[0, 1], [0, 0]]), directed=False)
    with pytest.raises(DataError, match="only a relation within one kind"):
        Relation("r", "a", "b", symmetric, directed=False)


def test_kinds_and_relations_are_distinct_and_known() -> None:
    a, b = EntitySet("a", ["1"]), EntitySet("b", ["1"])
    with pytest.raises(DataError, match="kind 'a' is given twice"):
        RelationalData([a, a], [])
    relation = Relation("r", "a", "b", csr_array([[1]]))
    with pytest.raises(DataError, match="relation 'r' is given twice"):
        RelationalData([a, b], [relation, relation])
    with pytest.raises(UnknownNameError, match="no kind 'b' in relation 'r'"):
        RelationalData([a], [relation])


def test_relations_are_found_by_name_or_pair() -> None:
    a, b = EntitySet("a", ["1"]), EntitySet("b", ["1"])
    one, two = Relation("one", "a", "b", csr_array([[1]])), Relation("two", "b", "b", csr_array([[2]]))
    data = RelationalData([a, b], [one, two])
    assert data.relation("two") is two
    assert data.relation(("a", "b")) is one
    with pytest.raises(ParameterError, match="there are 2 relations"):
        data.relation()
    with pytest.raises(UnknownNameError, match="Did you mean 'two'"):
        data.matrix("tow")
    with pytest.raises(UnknownNameError, match="single relation between 'b-a'"):
        data.relation(("b", "a"))


def test_entities_carry_fields_and_features() -> None:
    docs = EntitySet(
        "doc", [1, 2, 3], ["A", "", "C"], {"year": [5, 6, 7]}, [[1, 0], [0, 1], [1, 1]], ["f", "g"]
    )
    assert docs.shown.tolist() == ["A", "2", "C"]
    some = docs.select(np.array([True, False, True]))
    assert some.ids.tolist() == ["1", "3"]
    assert some.fields["year"].tolist() == [5, 7]
    assert some.features.tolist() == [[1, 0], [1, 1]]
    sparse = EntitySet("doc", [1, 2], features=coo_array(np.eye(2)))
    assert sparse.select([1]).features.toarray().tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": ["A"]}, "has 2 ids but 1 labels"),
        ({"fields": {"f": [1]}}, "has 2 ids but 1 rows of field 'f'"),
        ({"features": [[1], [2], [3]]}, "has 2 ids but 3 rows of features"),
        ({"features": [1, 2]}, "have 1 dimensions"),
        ({"features": [[1], [2]], "feature_names": ["a", "b"]}, "1 columns of features but 2 names"),
    ],
)
def test_entities_check_their_lengths(options: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        EntitySet("doc", ["a", "b"], **options)


def test_ids_do_not_repeat() -> None:
    with pytest.raises(DataError, match="kind 'doc': 1 ids repeat"):
        EntitySet("doc", [1, "1"])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([5, 6], [6.0, np.nan, 5.0]),
        (np.array([5, 6], dtype=np.uint8), [6.0, np.nan, 5.0]),
        (["x", "y"], ["y", None, "x"]),
        ([True, False], [False, None, True]),
    ],
)
def test_fields_may_come_in_any_order_and_for_some(values: Any, expected: list[Any]) -> None:
    docs = EntitySet("doc", ["a", "b", "c"]).with_fields(["c", "a", "stranger"][:2], {"f": values})
    np.testing.assert_array_equal(docs.fields["f"], np.array(expected, dtype=docs.fields["f"].dtype))


def test_dates_may_be_missing_too() -> None:
    docs = EntitySet("doc", ["a", "b"]).with_fields(["b"], {"day": np.array(["2024-01-01"], "datetime64[D]")})
    assert np.isnat(docs.fields["day"]).tolist() == [True, False]


def test_fields_are_given_once_for_an_id() -> None:
    docs = EntitySet("doc", ["a", "b"])
    with pytest.raises(DataError, match="1 ids repeat"):
        docs.with_fields(["a", "a"], {"f": [1, 2]})
    with pytest.raises(DataError, match="field 'f' has 1 values for 2 ids"):
        docs.with_fields(["a", "b"], {"f": [1]})


def test_select_cuts_every_relation_of_the_kind() -> None:
    docs, words = EntitySet("doc", ["a", "b"]), EntitySet("word", ["x", "y"])
    count = Relation("count", "doc", "word", csr_array([[1, 2], [3, 4]]))
    cites = Relation("cites", "doc", "doc", csr_array([[5, 6], [7, 8]]))
    data = RelationalData([docs, words], [count, cites]).select("doc", np.array([False, True]))
    assert data.matrix("count").toarray().tolist() == [[3, 4]]
    assert data.matrix("cites").toarray().tolist() == [[8]]
    assert data.entities["doc"].ids.tolist() == ["b"]
    with pytest.raises(UnknownNameError, match="no kind 'dok'"):
        data.select("dok", [0])


def test_with_entities_replaces_one_kind() -> None:
    data = RelationalData.from_frame(PAIRS, "doc", "word")
    more = data.with_entities(data.entities["doc"].with_fields(["d1", "d2"], {"year": [1, 2]}))
    assert more.entities["doc"].fields["year"].tolist() == [1, 2]
    assert more.fingerprint() == data.fingerprint()
    with pytest.raises(UnknownNameError, match="no kind 'x'"):
        data.with_entities(EntitySet("x", ["1"]))
    with pytest.raises(DataError, match="has 2 entries for kind 'doc', which has 1 things"):
        data.with_entities(EntitySet("doc", ["d1"]))


def test_fingerprints_tell_data_apart() -> None:
    def digest(rows: list[str], weight: float = 1.0, name: str = "r") -> str:
        return RelationalData.from_matrix([[weight], [2.0]], "a", "b", rows, name=name).fingerprint()

    assert digest(["x", "y"]) == digest(["x", "y"])
    others = [digest(["x", "z"]), digest(["x", "y"], 3.0), digest(["x", "y"], name="s"), digest(["y", "x"])]
    assert digest(["x", "y"]) not in others
    assert digest(["a\0b", "c"]) != digest(["a", "b\0c"])


def test_describe_entry_names_both_ends() -> None:
    data = RelationalData.from_matrix(
        [[0, 0, 1], [0, 0, 0], [2, 0, 3]], "doc", "word", ["a", "b", "c"], ["x", "y", "z"]
    )
    relation = data.relation()
    named = [data.describe_entry(relation, stored) for stored in range(3)]
    assert named == ["doc 'a' and word 'z'", "doc 'c' and word 'x'", "doc 'c' and word 'z'"]
    assert "3 × doc, 3 × word; doc-word (doc × word, 3 pairs)" in repr(data)


def test_real_table_against_a_slow_count(data_dir: Path) -> None:
    table = pq.read_table(data_dir / "cora" / "words.parquet")
    data = RelationalData.from_frame(table, "doc", "word")
    frame = table.to_pandas().astype(str)
    counts = pd.crosstab(frame["doc"], frame["word"])
    assert data.entities["doc"].ids.tolist() == counts.index.tolist()
    assert data.entities["word"].ids.tolist() == counts.columns.tolist()
    np.testing.assert_array_equal(data.matrix().toarray(), counts.to_numpy())


def test_ids_may_be_of_any_type() -> None:
    data = RelationalData.from_edges([(2**70, (1, "x")), (5, (1, "y")), (2**63 + 1, (1, "x"))])
    assert data.entities["row"].ids.tolist() == ["5", str(2**63 + 1), str(2**70)]
    assert data.entities["column"].ids.tolist() == ["(1, 'x')", "(1, 'y')"]
    assert data.matrix().toarray().tolist() == [[0, 1], [1, 0], [1, 0]]


def test_weights_whose_sum_is_not_finite_are_refused() -> None:
    for matrix, thing in (
        ([[1, 1], [1e308, 1e308]], "row '1'"),
        ([[1, 1e308], [1, 1e308]], "column '1'"),
        ([[1e308, 0], [0, 1.1e308]], "row '1'"),
        ([[1e308, 1], [-1e308, 1]], "column '0'"),
        (np.array([[1, 1], [3e38, 3e38]], dtype=np.float32), "row '1'"),
    ):
        with pytest.raises(DataError, match=rf"too large to be summed, see {thing}: the sum is not finite"):
            RelationalData.from_matrix(matrix)
    with pytest.raises(DataError, match=r"not finite.*row 'a' and column 'x'"):
        RelationalData.from_edges([("a", "x", 1e308), ("a", "x", 1e308)])
    with pytest.raises(DataError, match=r"edge 0 has the weight .* not a finite number"):
        RelationalData.from_edges([("a", "x", 10**400)])
    assert RelationalData.from_matrix([[1e308, 1.0]]).matrix().max() == 1e308


def test_fingerprints_do_not_depend_on_how_numbers_are_stored() -> None:
    wide = csr_array(np.array([[1.5, 0.0, 2.0], [0.0, 3.0, 0.0]]))
    narrow = wide.astype(np.float32)
    large = csr_array((wide.data, wide.indices.astype(np.int64), wide.indptr.astype(np.int64)), shape=(2, 3))
    zeros = csr_array(
        (np.array([1.5, 0, 2.0, 3.0]), np.array([0, 1, 2, 1]), np.array([0, 3, 4])), shape=(2, 3)
    )
    prints = {
        RelationalData.from_matrix(m).fingerprint() for m in (wide, narrow, large, zeros, wide.toarray())
    }
    assert len(prints) == 1
    assert zeros.nnz == 4
    joined, apart = (
        RelationalData.from_matrix([[1], [1]], row_ids=ids) for ids in (["ab", "c"], ["a", "bc"])
    )
    assert joined.fingerprint() != apart.fingerprint()


def test_with_relation_replaces_or_adds() -> None:
    data = RelationalData.from_matrix([[2, 1], [0, 3]], "doc", "word", name="counts")
    binary = data.with_relation(Relation("counts", "doc", "word", data.matrix() > 0))
    assert list(binary.relations) == ["counts"]
    assert binary.matrix().toarray().tolist() == [[1, 1], [0, 1]]
    assert data.matrix().toarray().tolist() == [[2, 1], [0, 3]]
    both = data.with_relation(Relation("links", "doc", "doc", np.eye(2)))
    assert list(both.relations) == ["counts", "links"]
    assert both.entities["word"] is data.entities["word"]
    with pytest.raises(DataError, match="has 3 entries for kind 'doc'"):
        data.with_relation(Relation("links", "doc", "doc", np.eye(3)))
    with pytest.raises(UnknownNameError, match="no kind 'author'"):
        data.with_relation(Relation("wrote", "author", "doc", np.eye(2)))


def test_degrees_against_a_slow_count(rng: np.random.Generator) -> None:
    table = rng.integers(0, 3, (4, 3)) * rng.choice([-1.0, 1.5], (4, 3))
    links = rng.integers(0, 2, (4, 4)) * rng.random((4, 4))
    mutual = links + links.T
    entities = [EntitySet("doc", as_text(range(4))), EntitySet("word", as_text(range(3)))]
    relations = [
        Relation("counts", "doc", "word", table),
        Relation("links", "doc", "doc", links),
        Relation("mutual", "doc", "doc", mutual, directed=False),
    ]
    data = RelationalData(entities, relations)
    np.testing.assert_allclose(data.degrees("doc", "counts"), table.sum(axis=1))
    np.testing.assert_allclose(data.degrees("word", ("doc", "word")), table.sum(axis=0))
    assert data.degrees("word", "counts", counted=True).tolist() == (table != 0).sum(axis=0).tolist()
    np.testing.assert_allclose(data.degrees("doc", "mutual"), mutual.sum(axis=1))
    assert data.degrees("doc", "mutual", counted=True).tolist() == (mutual != 0).sum(axis=1).tolist()
    sums = [sum(links[a, b] for a in range(4) for b in range(4) if i in (a, b)) for i in range(4)]
    partners = [sum(bool(links[i, j] or links[j, i]) for j in range(4)) for i in range(4)]
    np.testing.assert_allclose(data.degrees("doc", "links"), sums)
    assert data.degrees("doc", "links", counted=True).tolist() == partners


def test_degrees_refuse_kinds_that_take_no_part() -> None:
    data = RelationalData.from_matrix([[1, 2]], "doc", "word").with_relation
    more = data(Relation("links", "doc", "doc", [[1.0]]))
    with pytest.raises(ParameterError, match="joins 'doc' and 'doc', not 'word'"):
        more.degrees("word", "links")
    with pytest.raises(UnknownNameError, match="no kind 'wrod'"):
        more.degrees("wrod", "links")
    with pytest.raises(ParameterError, match="say which one"):
        more.degrees("doc")


def test_the_names_of_a_wide_frame_become_kinds() -> None:
    frame = pd.crosstab(pd.Series(["a", "b"], name="kunde"), pd.Series(["x", "y"], name="ware"))
    data = RelationalData.from_frame(frame)
    assert data.kinds == ("kunde", "ware")
    assert data.relation().name == "kunde-ware"


def test_from_matrix_takes_the_names_of_a_frame() -> None:
    frame = pd.DataFrame([[1, 2]], index=["d"], columns=["x", 1990])
    data = RelationalData.from_matrix(frame, "doc", "word")
    assert data.entities["doc"].ids.tolist() == ["d"]
    assert data.entities["word"].ids.tolist() == ["x", "1990"]
    given = RelationalData.from_matrix(frame, "doc", "word", ["e"], ["y", "z"])
    assert given.entities["doc"].ids.tolist() == ["e"]
    assert given.entities["word"].ids.tolist() == ["y", "z"]


def test_weights_of_zero_are_no_pairs_but_their_things_stay() -> None:
    data = RelationalData.from_edges([("a", "x", 0), ("b", "y", 1), ("c", "y", -1), ("c", "y", 1)])
    assert data.matrix().nnz == 1
    assert data.entities["row"].ids.tolist() == ["a", "b", "c"]
    assert data.entities["column"].ids.tolist() == ["x", "y"]


def test_kinds_are_named_by_texts_that_are_not_empty() -> None:
    with pytest.raises(DataError, match="the kind 3 is not a text; name it, as in '3'"):
        RelationalData.from_matrix(np.eye(2), 3, 4)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="a kind has an empty name"):
        RelationalData.from_matrix(np.eye(2), " ", "word")
    with pytest.raises(DataError, match="the relation 3 is not named by a text"):
        RelationalData.from_matrix(np.eye(2), name=3)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="the column 0 is not a text: write '0'"):
        RelationalData.from_frame({"0": ["a"], "1": ["b"]}, rows=0, columns=1)  # type: ignore[arg-type]
