"""Knowledge graphs from RDF: N-Triples and Turtle, and the other forms that pyoxigraph reads."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from relscape.data.facts import Facts
from relscape.data.triples import KnowledgeGraph
from relscape.errors import DataError, FormatError, MissingExtraError, RelscapeWarning, StorageError, listing
from relscape.sources.files import COMPRESSIONS, expand, readable

__all__ = ["COMMON_PREFIXES", "RDF_FORMATS", "read_rdf"]

RDF_FORMATS = {
    ".nt": "N_TRIPLES",
    ".ttl": "TURTLE",
    ".turtle": "TURTLE",
    ".nq": "N_QUADS",
    ".trig": "TRIG",
    ".rdf": "RDF_XML",
    ".owl": "RDF_XML",
}
COMMON_PREFIXES = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "schema": "http://schema.org/",
    "dbr": "http://dbpedia.org/resource/",
    "dbo": "http://dbpedia.org/ontology/",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
}
_LABEL = COMMON_PREFIXES["rdfs"] + "label"


@dataclass
class _Found:
    """What has been read so far: distinct facts, the best label of each thing, and what was left out."""

    facts: dict[tuple[str, str, str], None] = field(default_factory=dict)
    labels: dict[str, tuple[int, str]] = field(default_factory=dict)
    prefixes: dict[str, str] = field(default_factory=dict)
    literals: Counter[str] = field(default_factory=Counter)
    blanks: int = 0


def read_rdf(
    path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    language: str = "en",
    prefixes: Mapping[str, str] | None = None,
) -> KnowledgeGraph:
    """Read RDF files as one graph of training triples; see :meth:`KnowledgeGraph.from_rdf`.

    Named graphs are read as one. A nameless (blank) node is called ``_:b1``, ``_:b2``, … in the order of
    the files, so that reading twice gives the same names.
    """
    files = expand(path)
    found = _Found()
    for file in files:
        _read_file(file, language.lower(), found)
    where = readable(files[0]) if len(files) == 1 else f"{readable(files[0])} and {len(files) - 1} more"
    _warn_of_literals(found, where)
    if not found.facts:
        raise DataError(f"{where}: there are no facts between two things, so there is no graph to learn.")
    short = _shortened(found, {**COMMON_PREFIXES, **found.prefixes, **(prefixes or {})})
    columns = zip(*found.facts, strict=True)
    head, relation, tail = (pa.array([short[name] for name in column], pa.string()) for column in columns)
    labels = {short[name]: label for name, (_, label) in found.labels.items() if name in short}
    return KnowledgeGraph(Facts((head, relation, tail), where), entity_labels=labels or None)


def _read_file(path: Path, language: str, found: _Found) -> None:
    """Add what one file says."""
    try:
        import pyoxigraph as ox
    except ImportError as error:
        raise MissingExtraError("pyoxigraph", "rdf", f"reading the RDF file {path.name}") from error
    form, compression = _form_of(path)
    blanks: dict[str, str] = {}

    def named(node: Any) -> str:
        """Give the address of a node, or the name of a nameless one, counted in the order met."""
        if not isinstance(node, ox.BlankNode):
            return str(node.value)
        if node.value not in blanks:
            found.blanks += 1
            blanks[node.value] = f"_:b{found.blanks}"
        return blanks[node.value]

    try:
        with path.open("rb") as file, pa.input_stream(file, compression=compression) as stream:
            statements = ox.parse(stream, format=getattr(ox.RdfFormat, form))
            for statement in statements:
                subject, predicate, value = statement.subject, statement.predicate.value, statement.object
                plain = not isinstance(subject, ox.Triple)
                if plain and predicate == _LABEL and isinstance(value, ox.Literal):
                    _keep_label(found, named(subject), value.value, value.language, language)
                elif plain and not isinstance(value, ox.Literal | ox.Triple):
                    found.facts[named(subject), predicate, named(value)] = None
                else:
                    found.literals[predicate] += 1
            for prefix, namespace in statements.prefixes.items():
                found.prefixes.setdefault(prefix, namespace)
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise FormatError(
            f"{readable(path)}{line}: this is not {form.replace('_', '-')} ({error.msg})."
        ) from error
    except OSError as error:
        raise StorageError(f"{readable(path)} cannot be read: {error.strerror or error}.") from error


def _form_of(path: Path) -> tuple[str, str | None]:
    """Tell the form and the compression of an RDF file from the ending of its name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = COMPRESSIONS.get(suffixes[-1]) if suffixes else None
    if compression:
        suffixes.pop()
    form = RDF_FORMATS.get(suffixes[-1]) if suffixes else None
    if form is None or path.is_dir():
        raise FormatError(
            f"{readable(path)}: the ending does not tell which kind of RDF this is. Known endings: "
            f"{listing(RDF_FORMATS, limit=len(RDF_FORMATS))}, also with {listing(COMPRESSIONS)}."
        )
    return form, compression


def _keep_label(found: _Found, thing: str, label: str, language: str | None, wanted: str) -> None:
    """Keep a label unless there is one of a better language: as wanted, of a region, or of none."""
    given = (language or "").lower()
    if given in ("", wanted) or given.startswith(f"{wanted}-"):
        rank = 2 if not given else int(given != wanted)
        if thing not in found.labels or rank < found.labels[thing][0]:
            found.labels[thing] = rank, label


def _warn_of_literals(found: _Found, where: str) -> None:
    if found.literals:
        count, kinds = found.literals.total(), [name for name, _ in found.literals.most_common()]
        facts = "1 fact is" if count == 1 else f"{count:,} facts are"
        warnings.warn(
            f"{where}: {facts} about a literal (a text, a number, a date) or another fact, not a thing, "
            f"and left out; most are of {listing(kinds, 3)}.",
            RelscapeWarning,
            stacklevel=4,
        )


def _shortened(found: _Found, prefixes: Mapping[str, str]) -> dict[str, str]:
    """Shorten every address to prefix and name, by the longest prefix that fits; no two become alike."""
    spaces = sorted(((space, prefix) for prefix, space in prefixes.items()), key=lambda s: -len(s[0]))
    names = dict.fromkeys(name for fact in found.facts for name in fact)
    short: dict[str, str] = {}
    taken = set(names)
    for name in names:
        fits = (
            f"{p}:{name[len(space) :]}" for space, p in spaces if name.startswith(space) and name != space
        )
        shown = next(fits, name)
        short[name] = name if shown in taken else shown
        taken.add(shown)
    return short
