"""AnnData and 10x folders: what anndata writes comes back, and bad files are refused."""

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
from relscape.errors import DataError, FormatError, MissingExtraError, UnknownNameError

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

COUNTS = np.array([[0, 2, 0, 1], [3, 0, 0, 0], [0, 0, 4, 7], [0, 0, 0, 0], [1, 1, 1, 1]])


def cells(matrix: Any = None) -> Any:
    obs = pd.DataFrame(
        {
            "type": pd.Categorical(["T", "B", None, "T", "B"]),
            "size": [1.5, 2.5, 3.5, 4.5, np.nan],
            "n": [1, 2, 3, 4, 5],
            "good": [True, False, True, True, False],
            "score": pd.array([1, None, 3, 4, 5], dtype="Int64"),
        },
        index=[f"cell{i}" for i in range(5)],
    )
    var = pd.DataFrame({"feature_name": ["TP53", "MYC", "ACTB", "MYC"]}, index=["g1", "g2", "g3", "g4"])
    X = sp.csr_matrix(COUNTS.astype(np.float32)) if matrix is None else matrix
    return anndata.AnnData(X, obs=obs, var=var, layers={"twice": sp.csr_matrix(2.0 * COUNTS)})


def written(path: Path, data: Any = None) -> Path:
    (cells() if data is None else data).write_h5ad(path)
    return path


@pytest.mark.parametrize("form", ["csr", "csc", "dense", "integers"])
def test_a_file_comes_back(tmp_path: Path, form: str) -> None:
    matrix = {
        "csr": sp.csr_matrix(COUNTS.astype(np.float32)),
        "csc": sp.csc_matrix(COUNTS.astype(np.float32)),
        "dense": COUNTS.astype(np.float64),
        "integers": sp.csr_matrix(COUNTS),
    }[form]
    data = rs.read_anndata(written(tmp_path / "c.h5ad", cells(matrix)))
    assert data.kinds == ("cell", "gene")
    np.testing.assert_array_equal(data.matrix().toarray(), COUNTS)
    found = data.entities["cell"]
    assert found.ids.tolist() == [f"cell{i}" for i in range(5)]
    assert found.fields["type"].tolist() == ["T", "B", None, "T", "B"]
    np.testing.assert_array_equal(found.fields["size"], [1.5, 2.5, 3.5, 4.5, np.nan])
    assert found.fields["n"].tolist() == [1, 2, 3, 4, 5]
    assert found.fields["good"].tolist() == [True, False, True, True, False]
    np.testing.assert_array_equal(found.fields["score"], [1, np.nan, 3, 4, 5])
    assert data.entities["gene"].ids.tolist() == ["g1", "g2", "g3", "g4"]
    assert data.entities["gene"].labels.tolist() == ["TP53", "MYC", "ACTB", "MYC"]


def test_a_dense_file_is_read_by_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "c.h5ad", cells(COUNTS.astype(np.float64)))
    monkeypatch.setattr("relscape.sources.cells._BLOCK", 8)  # two rows at a time
    np.testing.assert_array_equal(rs.read_anndata(path).matrix().toarray(), COUNTS)


@pytest.mark.parametrize("where", ["object", "file", "backed"])
def test_layers_and_raw(tmp_path: Path, where: str) -> None:
    given = cells()
    given.raw = given.copy()
    given = given[:, :3].copy()
    source: Any = given
    if where != "object":
        source = written(tmp_path / "c.h5ad", given)
    if where == "backed":
        source = anndata.read_h5ad(source, backed="r")
    np.testing.assert_array_equal(rs.read_anndata(source).matrix().toarray(), COUNTS[:, :3])
    np.testing.assert_array_equal(rs.read_anndata(source, "twice").matrix().toarray(), 2 * COUNTS[:, :3])
    raw = rs.read_anndata(source, layer="raw", rows="c", columns="g")
    np.testing.assert_array_equal(raw.matrix().toarray(), COUNTS)
    assert raw.kinds == ("c", "g")
    with pytest.raises(UnknownNameError, match=r"no layer 'twize'.*Did you mean 'twice'.*'raw'"):
        rs.read_anndata(source, layer="twize")
    if where == "backed":
        source.file.close()


def test_size_factors_and_logarithms(tmp_path: Path) -> None:
    data = rs.read_anndata(written(tmp_path / "c.h5ad"), size_factors=1e4, log1p=True)
    expected = np.zeros(COUNTS.shape)
    for i, row in enumerate(COUNTS):
        for j, count in enumerate(row):
            expected[i, j] = np.log(1 + count * 1e4 / row.sum()) if count else 0.0
    np.testing.assert_allclose(data.matrix().toarray(), expected, rtol=1e-6)


def test_scaled_data_is_refused_with_the_layers_there_are(tmp_path: Path) -> None:
    centred = COUNTS - COUNTS.mean(axis=0)
    path = written(tmp_path / "c.h5ad", cells(centred))
    below = sum(value < 0 for value in centred.ravel())
    with pytest.raises(DataError, match=rf"c.h5ad, X: {below} entries are negative.*centred or.*twice"):
        rs.read_anndata(path)
    with pytest.raises(DataError, match=r"the AnnData, X: .*complex"):
        rs.read_anndata(cells(COUNTS * 1j))


def test_names_that_repeat_and_no_matrix(tmp_path: Path) -> None:
    data = cells()
    data.var_names = ["a", "a", "b", "c"]
    with pytest.raises(DataError, match=r"1 var_names repeat, the first is 'a'.*var_names_make_unique"):
        rs.read_anndata(data)
    bare = anndata.AnnData(obs=cells().obs, var=cells().var)
    with pytest.raises(DataError, match="has no matrix X"):
        rs.read_anndata(bare)
    with pytest.raises(DataError, match=r"b.h5ad has no matrix X"):
        rs.read_anndata(written(tmp_path / "b.h5ad", bare))


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    whole = written(tmp_path / "c.h5ad").read_bytes()
    for name, contents in {"cut": whole[: len(whole) // 2], "empty": b"", "text": b"a,b\n1,2\n"}.items():
        (tmp_path / f"{name}.h5ad").write_bytes(contents)
        with pytest.raises(FormatError, match=f"{name}.h5ad is not an AnnData file that can be read"):
            rs.read_anndata(tmp_path / f"{name}.h5ad")
    with h5py.File(tmp_path / "other.h5ad", "w") as file:
        file["X"] = np.eye(3)
    with pytest.raises(FormatError, match="has no obs"):
        rs.read_anndata(tmp_path / "other.h5ad")
    with h5py.File(tmp_path / "c.h5ad", "a") as file:
        indices = file["X/indices"][:]
        indices[0] = 99
        file["X/indices"][:] = indices
    with pytest.raises(DataError, match="do not fit together"):
        rs.read_anndata(tmp_path / "c.h5ad")
    with h5py.File(tmp_path / "odd.h5ad", "w") as file:
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
        for part in ("obs", "var"):
            file.create_group(part).attrs.update({"encoding-type": "strange", "encoding-version": ""})
        file["X"] = np.eye(3)
    with pytest.raises(FormatError, match=r"odd.h5ad: what it says of obs and var cannot be read"):
        rs.read_anndata(tmp_path / "odd.h5ad")
    with h5py.File(tmp_path / "c.h5ad", "a") as file:
        del file["X/data"]
    with pytest.raises(FormatError, match=r"c.h5ad is not an AnnData file that can be read"):
        rs.read_anndata(tmp_path / "c.h5ad")


def test_a_wrong_shape_is_refused(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    path = written(tmp_path / "c.h5ad", cells(COUNTS.astype(float)))
    with h5py.File(path, "a") as file:
        del file["X"]
        file["X"] = np.ones((5, 3))
    with pytest.raises(DataError, match="has 3 entries for var, which has 4 names"):
        rs.read_anndata(path)


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "c.h5ad")
    monkeypatch.setitem(__import__("sys").modules, "anndata", None)
    with pytest.raises(MissingExtraError, match=r"reading c.h5ad needs anndata.*relscape\[anndata\]"):
        rs.read_anndata(path)


def test_a_map_goes_out_and_comes_back(tmp_path: Path) -> None:
    """The relation, the fields and the labels of an exported map are those that were read."""
    data = rs.read_anndata(cells())
    model = rs.CorrespondenceAnalysis().fit(data.select("cell", np.array([0, 1, 2, 4])))
    joint = model.to_map()
    relation = data.select("cell", np.array([0, 1, 2, 4])).relation()
    back = rs.read(joint.with_relations([relation]).export(tmp_path / "m.h5ad"))
    np.testing.assert_array_equal(back.matrix().toarray(), COUNTS[[0, 1, 2, 4]])
    assert back.entities["gene"].labels.tolist() == ["TP53", "MYC", "ACTB", "MYC"]


# ---------------------------------------------------------------------- 10x


def folder(path: Path, compressed: bool = True, old: bool = False, matrix: Any = COUNTS) -> Path:
    text = io.BytesIO()
    scipy.io.mmwrite(text, sp.coo_array(np.asarray(matrix).T))
    genes = [("ENSG1", "TP53"), ("ENSG2", "MYC"), ("ENSG3", "ACTB"), ("ENSG4", "MYC")]
    lines = ["\t".join(gene if old else (*gene, "Gene Expression")) for gene in genes]
    files = {
        "matrix.mtx": text.getvalue(),
        "genes.tsv" if old else "features.tsv": "".join(f"{line}\n" for line in lines).encode(),
        "barcodes.tsv": "".join(f"AAAC{i}-1\n" for i in range(5)).encode(),
    }
    path.mkdir()
    for name, contents in files.items():
        (path / (f"{name}.gz" if compressed else name)).write_bytes(
            gzip.compress(contents) if compressed else contents
        )
    return path


@pytest.mark.parametrize(("compressed", "old"), [(True, False), (False, False), (False, True)])
def test_a_10x_folder_comes_back_turned(tmp_path: Path, compressed: bool, old: bool) -> None:
    data = rs.read_10x(folder(tmp_path / "f", compressed, old))
    assert data.kinds == ("cell", "gene")
    np.testing.assert_array_equal(data.matrix().toarray(), COUNTS)
    genes = data.entities["gene"]
    assert genes.ids.tolist() == ["ENSG1", "ENSG2", "ENSG3", "ENSG4"]
    assert genes.labels.tolist() == ["TP53", "MYC", "ACTB", "MYC"]
    assert data.entities["cell"].ids[0] == "AAAC0-1"
    assert list(genes.fields) == ([] if old else ["type"])
    again = rs.read(tmp_path / "f")
    assert again.fingerprint() == data.fingerprint()


def test_a_10x_folder_is_weighed_by_cells(tmp_path: Path) -> None:
    data = rs.read_10x(folder(tmp_path / "f"), size_factors=10)
    np.testing.assert_allclose(data.matrix().sum(axis=1), [10, 10, 10, 0, 10])


def test_10x_folders_that_do_not_fit(tmp_path: Path) -> None:
    path = folder(tmp_path / "f", compressed=False)
    (path / "barcodes.tsv").write_text("a\nb\n")
    with pytest.raises(DataError, match=r"barcodes.tsv names 2, but matrix.mtx has 5 columns"):
        rs.read_10x(path)
    (path / "barcodes.tsv").unlink()
    with pytest.raises(FormatError, match=r"has no barcodes.tsv.gz; expected one of"):
        rs.read_10x(path)
    with pytest.raises(FormatError, match="is a file; expected the folder"):
        rs.read_10x(path / "matrix.mtx")
    cut = folder(tmp_path / "cut")
    whole = (cut / "features.tsv.gz").read_bytes()
    (cut / "features.tsv.gz").write_bytes(whole[:-10])
    with pytest.raises(FormatError, match=r"features.tsv.gz is named as gzip but cannot be decompressed"):
        rs.read_10x(cut)
    (cut / "features.tsv.gz").write_bytes(whole)
    market = (cut / "matrix.mtx.gz").read_bytes()
    (cut / "matrix.mtx.gz").write_bytes(market[:-10])
    with pytest.raises(FormatError, match=r"matrix.mtx.gz is not a Matrix Market file"):
        rs.read_10x(cut)
    with pytest.raises(DataError, match="negative"):
        rs.read_10x(folder(tmp_path / "neg", matrix=-COUNTS))
