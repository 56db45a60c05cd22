"""Small files that promise enormous things: refused with the file's name, before memory is asked for."""

from __future__ import annotations

import gzip
import io
import resource
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import coo_array, csr_array, save_npz

import relscape as rs
from relscape.errors import RelscapeError
from relscape.maps import weighing
from relscape.sources import bounds

COORDINATES = b"%%MatrixMarket matrix coordinate real general\n"


@pytest.fixture(autouse=True)
def memory() -> Iterator[None]:
    """Fail where a refusal needed more than 600 MB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 600_000


def refused(path: Path, *parts: str) -> None:
    with pytest.raises(RelscapeError) as caught:
        rs.read(path)
    for part in (path.name, *parts):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (COORDINATES + b"2 2 999999999999\n1 1 1\n", "cut off"),
        (COORDINATES + b"999999999999 2 1\n1 1 1\n", "999,999,999,999 rows"),
        (COORDINATES + b"2 999999999999 1\n1 1 1\n", "columns"),
        (COORDINATES + b"2 3 3\n1 1 1\n1 3 2\n2 2 3\0\0\0", "no text"),
        (COORDINATES + b"2 3 3\n1 1 1\n1 3 2\n2 2 3\xe5", "not ended"),
        (COORDINATES + b"2 3 3\n1 1 1\n1 3 2\n2 2 3 ", "not ended"),
        (COORDINATES + b"2 2 2\n1 1 1\n99999999999999999999 2 1\n", "out of range"),
        (b"%%MatrixMarket matrix array real general\n999999999 99999\n1\n", "cut off"),
        (b"%%MatrixMarket matrix array real symmetric\n2 3\n1\n2\n3\n4\n", "symmetric"),
        (b"%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 3 1\n", "symmetric"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_matrix_market(tmp_path: Path, content: bytes, part: str, packed: bool) -> None:
    path = tmp_path / ("m.mtx.gz" if packed else "m.mtx")
    path.write_bytes(gzip.compress(content) if packed else content)
    refused(path, part)


def test_symmetric_matrices_are_still_read(tmp_path: Path) -> None:
    path = tmp_path / "m.mtx"
    path.write_bytes(b"%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n")
    assert rs.read(path).relation().matrix.toarray().tolist() == [[1, 2, 3], [2, 4, 5], [3, 5, 6]]


def test_sparse_archives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.npz"
    save_npz(path, coo_array(([1.0], ([0], [0])), shape=(10**11, 2)))
    refused(path, "100,000,000,000 rows")
    monkeypatch.setattr(weighing, "_LARGE", 10_000)
    save_npz(path, csr_array((np.zeros(10**6), (np.zeros(10**6, int), np.arange(10**6))), shape=(1, 10**6)))
    monkeypatch.setattr(weighing, "_MOST_EXPANDED", 2)
    refused(path, "unpacks to more than")


def test_a_matrix_of_a_million_million_entries(tmp_path: Path) -> None:
    """The head of an array in an archive says more than the archive holds."""
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**14,)}
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, header)
    path = tmp_path / "m.npz"
    save_npz(path, csr_array([[1.0]]))
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (parts | {"data.npy": stream.getvalue()}).items():
            archive.writestr(name, content)
    refused(path, "says it holds 100,000,000,000,000 numbers")


def test_too_little_memory_is_not_called_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def short(*args: object, **options: object) -> None:
        raise MemoryError

    save_npz(tmp_path / "m.npz", csr_array([[1.0]]))
    (tmp_path / "m.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2.0\n")
    _workbook(tmp_path / "m.xlsx", 2, 2)
    monkeypatch.setattr("scipy.sparse.load_npz", short)
    monkeypatch.setattr("scipy.io.mmread", short)
    monkeypatch.setattr("python_calamine.load_workbook", short)
    for name in ("m.npz", "m.mtx", "m.xlsx"):
        with pytest.raises(MemoryError):
            rs.read(tmp_path / name)


def _workbook(path: Path, row: int, column: int) -> None:
    from openpyxl import Workbook

    book = Workbook()
    book.active["A1"], book.active["B1"] = "name", "x"
    book.active.cell(row, column).value = 3
    book.save(path)


def test_a_cell_at_the_end_of_the_sheet(tmp_path: Path) -> None:
    _workbook(tmp_path / "far.xlsx", 1_048_576, 16_384)
    refused(tmp_path / "far.xlsx", "17,179,869,184 cells", "CSV")
    _workbook(tmp_path / "near.xlsx", 3, 2)
    bounds.check_workbook(tmp_path / "near.xlsx")


def test_a_workbook_that_unpacks_to_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.xlsx"
    _workbook(path, 2, 2)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/picture.bin", bytes(10**7))
    packed = bytearray(path.read_bytes())
    said = (10**7).to_bytes(4, "little")
    assert packed.count(said) == 2
    path.write_bytes(bytes(packed).replace(said, (10).to_bytes(4, "little")))
    monkeypatch.setattr(weighing, "_LARGE", 10**6)
    refused(path, "picture.bin", "unpacks to more")


CELL = '<table:table-cell{} office:value-type="float" office:value="1"><text:p>1</text:p></table:table-cell>'
EMPTY = '<table:table-cell table:number-columns-repeated="16382"/>'


def _open_document(path: Path, rows: str) -> None:
    names = {"office": "office", "table": "table", "text": "text"}
    spaces = " ".join(f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{s}:1.0"' for n, s in names.items())
    content = (
        f'<?xml version="1.0"?><office:document-content {spaces}><office:body><office:spreadsheet>'
        f'<table:table table:name="S">{rows}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        )
        archive.writestr("content.xml", content)


def test_repeated_cells(tmp_path: Path) -> None:
    path = tmp_path / "s.ods"
    wide = CELL.format(' table:number-columns-repeated="16384"')
    _open_document(path, f'<table:table-row table:number-rows-repeated="1048576">{wide}</table:table-row>')
    refused(path, "cells")
    between = '<table:table-row table:number-rows-repeated="1048570"><table:table-cell/></table:table-row>'
    row = f"<table:table-row>{wide}</table:table-row>"
    _open_document(path, row + between + row)
    refused(path, "cells")


def test_empty_cells_at_the_end_do_not_count(tmp_path: Path) -> None:
    row = f"<table:table-row>{CELL.format('')}{CELL.format('')}{EMPTY}</table:table-row>"
    rest = f'<table:table-row table:number-rows-repeated="1048000">{EMPTY}</table:table-row>'
    path = tmp_path / "s.ods"
    _open_document(path, row * 20_000 + rest)
    bounds.check_workbook(path)


def test_cells_that_are_holes(tmp_path: Path) -> None:
    import anndata
    import h5py
    import pandas as pd

    path = tmp_path / "c.h5ad"
    frame = pd.DataFrame(index=["a", "b"])
    anndata.AnnData(np.ones((2, 2)), frame, frame).write_h5ad(path)
    with h5py.File(path, "a") as file:
        del file["X"]
        file.create_dataset("X", shape=(10**12, 10), dtype="f8", chunks=(1000, 10))
    refused(path, "/X", "80,000,000,000,000")


def test_arrow_whose_texts_end_before_they_begin(tmp_path: Path) -> None:
    offsets = np.array([0, 10**6, 2], dtype=np.int32)
    broken = pa.StringArray.from_buffers(2, pa.py_buffer(offsets), pa.py_buffer(b"ab"))
    table = pa.table({"name": broken, "x": [1, 2]})
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    refused(tmp_path / "t.arrow")


def test_entities_within_entities(tmp_path: Path) -> None:
    """XML that doubles a text with every entity."""
    lines = ['<!DOCTYPE g [<!ENTITY a0 "ha">']
    lines += [f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12)]
    text = "\n".join([*lines, ']><graphml><graph><node id="&a11;"/></graph></graphml>'])
    (tmp_path / "g.graphml").write_text(text)
    refused(tmp_path / "g.graphml")


def test_elements_within_elements(tmp_path: Path) -> None:
    depth = 200_000
    (tmp_path / "g.graphml").write_text("<graphml>" + "<graph>" * depth + "</graph>" * depth + "</graphml>")
    refused(tmp_path / "g.graphml", "no nodes")
