"""Where a document network comes from: contents of documents, and the links between them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from relscape.cli.reading import Reading, load_dataset, named
from relscape.cli.samples import read_samples
from relscape.data import EntitySet, RelationalData
from relscape.data.labels import match
from relscape.data.link_splits import hold_out_links
from relscape.data.links import link_relation, linked_documents, read_links
from relscape.errors import DataError, ParameterError, RelscapeWarning, listing
from relscape.maps import Map
from relscape.models.registry import methods, revive
from relscape.project.given_samples import Samples
from relscape.protocols import IntArray
from relscape.sources.references import is_database, public_name, shown, with_query

__all__ = ["LinkTable", "NetworkSource", "has_network", "model_of", "parted", "tables_named"]

_KIND = "document"
# Data sets whose links run from what is cited to what cites it, as their publishers store them.
_CITED_FIRST = ("cora", "citeseer", "webkb")


def tables_named(
    files: Sequence[str | None],
    database: str | None,
    query: str | None,
    link_query: str | None,
    links_alone: bool,
) -> tuple[str | None, str | None]:
    """Tell where documents and links are; with ``links_alone`` a single table is one of links.

    A database stands for the documents, or with ``link_query`` for the links as well: then what it is asked
    for documents is its table or ``query``, or nothing where links will do alone.
    """
    given = [file for file in files if file is not None]
    if database is not None and not is_database(database):
        raise ParameterError(
            f"--from {database}: expected a database, as in postgresql://host/db#table. The columns of LINKS "
            "are named with --source and --target."
        )
    if link_query is not None:
        if database is None:
            raise ParameterError("--link-query asks the database of --from; name that, or LINKS.")
        if given:
            raise ParameterError(f"--link-query tells where links are, and so does {shown(given[-1])}.")
        place = str(database).partition("#")[0]
        asked = query is not None or place != database
        documents = named((), database, query)[0] if asked or not links_alone else None
        return documents, with_query(place, link_query)
    given = [*named((), database, query), *given]
    if len(given) > 2:
        raise ParameterError(f"--from {shown(given[0])} stands for DOCS: name LINKS besides, and no more.")
    if links_alone and len(given) == 1:
        return None, given[0]
    return given[0] if given else None, given[1] if len(given) > 1 else None


@dataclass(frozen=True)
class LinkTable:
    """Where links are: a table (none where its path is empty), and its two columns (else the first two)."""

    path: str
    source: str | None = None
    target: str | None = None
    undirected: bool = False
    encoding: str | None = None

    def read(self) -> RelationalData:
        """Read them as a relation of documents with each other."""
        from relscape.sources.graphs import read_graph
        from relscape.sources.interop import form_of
        from relscape.sources.several import pair_files
        from relscape.sources.tables import read

        if form_of(self.path) == "graph":
            if self.source or self.target or self.encoding:
                raise ParameterError(
                    f"--source, --target and --encoding are for tables; {self.path} is a graph."
                )
            return read_graph(self.path, _KIND)
        first = pair_files(self.path, encoding=self.encoding)[0]
        source, target = self.source or first.rows, self.target or first.columns
        if source == target:
            raise ParameterError(
                f"{self.path}: links go from one document to another, but both are read from the column "
                f"{source!r}; name two columns with --source and --target."
            )
        return read(self.path, source, target, same_kind=_KIND, encoding=self.encoding)

    def between(self, documents: EntitySet, data: RelationalData) -> IntArray:
        """Give the links of what was read between documents, as positions (L × 2)."""
        relation = link_relation(data)
        named = data.entities[relation.rows].ids
        here = np.isin(named, documents.ids)
        sources, targets = relation.matrix.nonzero()
        known = here[sources] & here[targets]
        if not known.any():
            raise DataError(
                f"{self.path}: none of its {len(known):,} links joins two of the {len(documents):,} "
                f"documents ({listing(documents.ids, 3)}); it names {listing(named, 3)}. The ids in "
                "both have to be the same: say which columns hold them, with --id or --rows, --source and "
                "--target."
            )
        if (sources == targets)[known].all():
            raise DataError(
                f"{self.path}: all links are from a document to itself; a network joins different ones."
            )
        return read_links(data, documents.ids, self.undirected)


@dataclass(frozen=True)
class NetworkSource:
    """Where documents and links come from, as the command line says it.

    ``contents`` has the file of documents and how to read it, ``words`` a table of contents beside it.
    """

    contents: Reading
    links: LinkTable
    words: str | None = None
    features: Sequence[str] = ()
    standardize: bool = False
    row_info: str | None = None
    relation: str | None = None

    def read(self, dataset: str | None, undirected: bool) -> tuple[Samples, IntArray]:
        """Read documents with their contents, and links as pairs of positions."""
        if dataset is not None:
            self._refuse_beside(dataset)
            return _of_dataset(dataset, self.relation, undirected)
        if self.relation is not None:
            raise ParameterError("--relation chooses among the relations of a --dataset.")
        if not self.links.path:
            raise ParameterError(
                "name two files, of documents and of links, or a data set with --dataset; with --method "
                "links the file of links is enough."
            )
        linked = self.links.read()
        if self.contents.files:
            samples = self._documents()
        else:
            self._refuse_contents(f"{self.links.path} is a table of links, and the only file")
            told = {"form": "links", "links": public_name(self.links.path)}
            samples = Samples(None, linked_documents(linked), None, None, told)
        return samples, self.links.between(samples.things, linked)

    def _documents(self) -> Samples:
        if self.words is None:
            samples = read_samples(
                self.contents, None, self.features, None, self.row_info, None, self.standardize
            )
            return samples if self.row_info is not None else _with_other_columns(samples, self.contents)
        given = {"--text": self.contents.text, "--features": self.features, "--row-info": self.row_info}
        options = [name for name, value in given.items() if value] + ["--standardize"] * self.standardize
        if options:
            raise ParameterError(
                f"{', '.join(options)} and --words {self.words}: contents are the words there, and "
                f"{self.contents.files[0]} says which documents there are."
            )
        return _beside_words(self.contents, self.words)

    def _refuse_beside(self, dataset: str) -> None:
        """Refuse files and their options beside a data set."""
        if self.contents.files or self.links.path:
            raise ParameterError(f"give files or --dataset {dataset}, not both.")
        for option, column in (("--source", self.links.source), ("--target", self.links.target)):
            if column is not None:
                raise ParameterError(f"{option} {column}: for files of links; --dataset {dataset} has none.")
        self._refuse_contents(f"--dataset {dataset} has its own contents")

    def _refuse_contents(self, why: str) -> None:
        """Refuse options that would have no effect."""
        given = {"words": self.words, "features": self.features, "row-info": self.row_info}
        options = [name.replace("_", "-") for name in self.contents.describe() if name != "files"]
        options += [name for name, value in given.items() if value] + ["standardize"] * self.standardize
        if options:
            raise ParameterError(f"{', '.join(f'--{name}' for name in options)}: {why}.")


def _with_other_columns(samples: Samples, source: Reading) -> Samples:
    """Keep what else a table says of its texts, so that a map can be coloured by it."""
    from relscape.sources.tables import read_fields

    file = source.files[0]
    if source.text is None or source.id is None or not (is_database(file) or Path(file).is_file()):
        return samples
    ids, fields = read_fields(source.files[0], source.id, encoding=source.encoding, sheet=source.sheet)
    others = {name: values for name, values in fields.items() if name != source.text}
    things = samples.things.with_fields(ids, others)
    return replace(samples, X=samples.X.with_entities(things), things=things)


def _beside_words(source: Reading, words: str) -> Samples:
    """Take contents from a table of pairs (document, word, count), documents and fields from another."""
    from relscape.sources.several import pair_files
    from relscape.sources.tables import read_fields

    first = pair_files(words, source.weight, source.encoding)[0]
    pairs = Reading(
        (words,),
        source.rows or first.rows,
        source.columns or first.columns,
        source.weight or first.weight,
        encoding=source.encoding,
        sheet=source.sheet,
    )
    data = pairs.read()
    relation = data.relation()
    ids, fields = read_fields(source.files[0], source.id, encoding=source.encoding, sheet=source.sheet)
    documents = EntitySet(relation.rows, ids, None, fields)
    there = data.entities[relation.rows].ids
    at = match(ids, there)
    if (at < 0).all():
        raise DataError(
            f"{words} has words of none of the {len(ids):,} documents of {source.files[0]}: it names "
            f"{listing(there, 3)}, not {listing(ids, 3)}. Name the columns of ids, with --id and --rows."
        )
    _tell_of_gaps(ids[at < 0], there[~np.isin(there, ids)], words, source.files[0])
    known = np.flatnonzero(at >= 0)
    picked = csr_array((np.ones(known.size), (known, at[known])), shape=(len(ids), len(there)))
    counts = replace(relation, matrix=csr_array(picked @ relation.matrix))
    joined = RelationalData([documents, data.entities[relation.columns]], [counts])
    return Samples(joined, documents, None, None, {"form": "relation", **pairs.describe()})


def _tell_of_gaps(wordless: Any, unknown: Any, words: str, documents: str) -> None:
    parts = []
    if wordless.size:
        parts.append(f"{wordless.size:,} documents have no words there ({listing(wordless, 3)})")
    if unknown.size:
        parts.append(f"{unknown.size:,} that it names are not in {documents} ({listing(unknown, 3)})")
    if parts:
        warnings.warn(f"{words}: {'; '.join(parts)}.", RelscapeWarning, stacklevel=3)


def _of_dataset(name: str, relation: str | None, undirected: bool) -> tuple[Samples, IntArray]:
    """Take documents, their contents and their links from a data set."""
    data = load_dataset(name)
    links = link_relation(data)
    documents = data.entities[links.rows]
    between = [r.name for r in data.relations.values() if r.rows == links.rows != r.columns]
    if relation is None and len(between) != 1:
        raise ParameterError(
            f"--dataset {name} has {len(between)} relations that could be contents ({', '.join(between)}); "
            "name one with --relation."
        )
    contents = data.only(relation or between[0])
    pairs = read_links(data.only(links.name), documents.ids, undirected)
    told: dict[str, Any] = {"form": "relation", "dataset": name, "relation": relation or between[0]}
    told |= {"rows": contents.relation().rows, "columns": contents.relation().columns}
    if name in _CITED_FIRST and not undirected:
        told |= {"turned": True}
    return Samples(contents, documents, None, None, told), pairs


def parted(
    pairs: IntArray, share: float | None, undirected: bool, seed: int
) -> tuple[IntArray, IntArray | None]:
    """Keep links aside to test with; both ways of an undirected link stay together."""
    if share is None:
        return pairs, None
    if not 0 < share < 1:
        raise ParameterError(f"--hold-out {share:g}: give a share between 0 and 1, such as 0.1.")
    return hold_out_links(pairs, share, seed, undirected)


# ---------------------------------------------------------------------- maps of networks


def has_network(joint: Map) -> bool:
    """Tell whether a map is one of linked documents."""
    return joint.model in {entry.class_name for entry in methods("network").values()}


def model_of(joint: Map, path: Path) -> Any:
    """Give the model of a network that a map carries."""
    if not has_network(joint):
        raise ParameterError(
            f"{path} was made by {joint.model or 'hand'}, not from linked documents; 'relscape network DOCS "
            "LINKS' makes such a map."
        )
    if joint.model_state is None:
        raise ParameterError(f"{path} does not carry its model, without which no links can be told.")
    return revive(joint.model_state)
