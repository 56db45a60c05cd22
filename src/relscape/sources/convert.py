"""Making the stored layout of a public data set from its publisher's original files."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from relscape.errors import ParameterError, RelscapeWarning
from relscape.maps.files import replace_directory
from relscape.sources.catalogue import CATALOGUE, DatasetInfo, dataset_info
from relscape.sources.converters.facts import read_graph
from relscape.sources.converters.lbc import read_network, read_universities
from relscape.sources.converters.messages import fetch_messages, read_messages
from relscape.sources.converters.newswire import read_newswire

__all__ = ["convert"]

_READERS: Mapping[str, Callable[[Path], Mapping[str, pa.Table]]] = {
    "citeseer": partial(read_network, name="citeseer"),
    "cora": partial(read_network, name="cora"),
    "fb15k": partial(read_graph, prefix="freebase_mtr100_mte100-", definitions=""),
    "nations": read_graph,
    "newsgroups20": read_messages,
    "reuters21578": read_newswire,
    "umls": read_graph,
    "webkb": read_universities,
    "wn18": partial(read_graph, prefix="wordnet-mlj12-", definitions="wordnet-mlj12-definitions.txt"),
}


def convert(name: str, source: str | Path | None, output: str | Path) -> dict[str, int]:
    """Make the tables of a public data set from the publisher's original files.

    Parameters
    ----------
    name : str
        The data set: citeseer, cora, fb15k, nations, newsgroups20, reuters21578, umls, webkb or wn18.
    source : path or None
        The folder that holds the original files, also deeper in it. None, for newsgroups20 only, takes the
        messages sorted by date through scikit-learn's ``fetch_20newsgroups``, which keeps
        a copy of its own and needs the network the first time.
    output : path
        The folder for all data sets, which RELSCAPE_DATA then names; the tables go to ``output/name``,
        whole or not at all.

    Returns
    -------
    dict
        The number of rows of every table. A RelscapeWarning says where it is not that of the published
        version.
    """
    info = dataset_info(name)
    if name not in _READERS:
        makeable = ", ".join(_READERS)
        raise ParameterError(f"{name!r} cannot be made from original files; these can: {makeable}.")
    if source is None and name != "newsgroups20":
        raise ParameterError(f"{name!r} needs the folder with {info.originals}; source is None.")
    tables = fetch_messages() if source is None else _READERS[name](Path(source))
    target = Path(output) / name
    replace_directory(target, lambda draft: _write(tables, draft), _owned)
    rows = {table: content.num_rows for table, content in tables.items()}
    _warn_of_differences(info, rows)
    return rows


def _write(tables: Mapping[str, pa.Table], directory: Path) -> None:
    for name, table in tables.items():
        pq.write_table(table, directory / f"{name}.parquet", compression="zstd")


def _owned(path: Path) -> set[str] | None:
    """Name the tables of an earlier conversion; a directory without them all is not one of ours."""
    ours = {f"{table}.parquet" for table in CATALOGUE[path.name].tables}
    return ours if all((path / name).is_file() for name in ours) else None


def _warn_of_differences(info: DatasetInfo, rows: Mapping[str, int]) -> None:
    different = [
        f"{table} has {rows[table]:,} rows instead of {expected.rows:,}"
        for table, expected in info.tables.items()
        if rows[table] != expected.rows
    ]
    if different:
        warnings.warn(
            f"{info.name} differs from the published version: {'; '.join(different)}. It was written all "
            "the same; check that the original files are complete before comparing results.",
            RelscapeWarning,
            stacklevel=3,
        )
