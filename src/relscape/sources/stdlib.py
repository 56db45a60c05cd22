"""The running Python's own standard library as data: a set that is present on every machine.

The source files are parsed, never imported: some modules open a browser or print when imported.
"""

from __future__ import annotations

import ast
import csv
import re
import sys
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array, csr_array

from relscape.data import EntitySet, Relation, RelationalData
from relscape.data.triples import KnowledgeGraph
from relscape.errors import StorageError
from relscape.protocols import SparseArray
from relscape.sources.stdlib_facts import Definition, Fact, facts_of, imported_modules, public_definitions

__all__ = ["load_stdlib", "load_stdlib_facts", "load_stdlib_triples"]

_NOT_LIBRARY = frozenset(
    # jokes, applications, generated texts, and what newer Pythons no longer have
    {"antigravity", "distutils", "idlelib", "lib2to3", "pydoc_data", "test", "this", "turtledemo"}
)
_TEST_FOLDERS = frozenset({"test", "tests", "idle_test"})
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DOCTEST = re.compile(r"^[ \t]*>>>.*(?:\n[ \t]*\S.*)*", re.MULTILINE)

_SHORTEST_WORD = 3
_FEWEST_MODULES = 3  # a word of fewer modules says little about how modules relate
_LARGEST_SHARE = 0.3  # a word of more modules tells none apart
_FEWEST_WORDS = 20  # a module with fewer would be an outlier by chance
_MOST_REPEATS = 8  # beyond this, repeating a word is a habit of its author


@dataclass(frozen=True)
class _Scan:
    """What the source files of one top-level module say."""

    words: Mapping[str, int]
    imports: frozenset[str]
    facts: frozenset[Fact]


def load_stdlib() -> RelationalData:
    """Read the running Python's standard library: modules, the words that document them, imports.

    Kinds: "module" (field "chapter": its chapter of the library reference, "Other" when unknown) and
    "word". Relations: "words" (module × word) and "imports" (module × module, directed: the row module
    imports the column module). A package counts as one module with all its parts; modules written
    in C have no source file and are left out.

    The words are those of the docstrings and names of the module and its public classes, functions and
    methods, without doctests and English stop words. An entry counts the distinct docstrings (each with
    its name) that use the word, up to eight, so that one long manual cannot set an axis of its own. Kept
    are words of at least three letters used by at least three modules but not by more than 30 % of them,
    and modules with at least twenty such words. What is found depends on the Python version.

    Returns
    -------
    RelationalData
        About 160 modules and 2,400 words, in alphabetical order.

    Raises
    ------
    StorageError
        When this Python comes without its source files, as some embedded ones do.
    """
    scans = _scan_library()
    counts = _kept_words({module: scan.words for module, scan in scans.items()})
    modules = sorted(counts)
    words = sorted(set().union(*counts.values()))
    chapter = _chapters()
    chapters = np.array([chapter.get(module, "Other") for module in modules], dtype=object)
    imports = {module: {name: 1 for name in scans[module].imports if name in counts} for module in modules}
    return RelationalData(
        [
            EntitySet("module", np.array(modules, dtype=object), fields={"chapter": chapters}),
            EntitySet("word", np.array(words, dtype=object)),
        ],
        [
            Relation("words", "module", "word", _matrix(counts, modules, words)),
            Relation("imports", "module", "module", _matrix(imports, modules, modules)),
        ],
    )


def load_stdlib_triples() -> list[Fact]:
    """Read facts about the standard library as (head, relation, tail) triples, sorted.

    The relations: a module ``defines`` a public class or function, a class ``inherits`` another, a module
    ``imports`` another, a class or function ``raises`` an exception (a method's are its class's). Things
    are named by the top-level module, as ``json.JSONDecoder``; builtins by their name alone. A
    definition that takes part in no other fact would hang on the graph by one thread and is left out.
    """
    facts = frozenset[Fact]().union(*(scan.facts for scan in _scan_library().values()))
    linked = {name for head, relation, tail in facts if relation != "defines" for name in (head, tail)}
    return sorted(fact for fact in facts if fact[1] != "defines" or fact[2] in linked)


def load_stdlib_facts() -> KnowledgeGraph:
    """Read the facts of :func:`load_stdlib_triples` as a knowledge graph.

    All are training triples; :meth:`KnowledgeGraph.split` holds out some of them.
    """
    return KnowledgeGraph(load_stdlib_triples())


@cache
def _scan_library() -> dict[str, _Scan]:
    """Scan every module of the library, once a session."""
    files = _source_files()
    if not files:
        raise StorageError(
            f"this Python has no source files of its standard library in {sysconfig.get_path('stdlib')}, "
            "so load_stdlib has nothing to read; use a Python that was installed with them."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about old spellings in the library itself
        return {module: _scan_module(module, paths) for module, paths in files.items()}


def _source_files() -> dict[str, list[Path]]:
    """Find the source files of every public top-level module; ``_pydatetime`` belongs to ``datetime``."""
    library = Path(sysconfig.get_path("stdlib"))
    found: dict[str, list[Path]] = {}
    for name in sorted(sys.stdlib_module_names - _NOT_LIBRARY):
        public = name.removeprefix("_py")
        if public.startswith("_") or public not in sys.stdlib_module_names:
            continue
        paths = list(_files_of(library, name))
        if paths:
            found.setdefault(public, []).extend(paths)
    return found


def _files_of(library: Path, name: str) -> Iterator[Path]:
    package = library / name
    if (package / "__init__.py").is_file():
        for path in sorted(package.rglob("*.py")):
            if not _TEST_FOLDERS.intersection(path.relative_to(package).parts):
                yield path
    elif (library / f"{name}.py").is_file():
        yield library / f"{name}.py"


def _scan_module(module: str, paths: list[Path]) -> _Scan:
    """Read all files of one module; one that cannot be read or parsed is passed over."""
    passages: set[str] = set()
    imports: set[str] = set()
    facts: set[Fact] = set()
    for path in paths:
        try:
            tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError):
            continue
        passages.update(_passages(tree))
        imports.update(imported_modules(tree))
        facts.update(facts_of(tree, module))
    imports.discard(module)
    facts.update((module, "imports", name) for name in imports)
    return _Scan(_word_counts(passages), frozenset(imports), frozenset(facts))


def _passages(node: ast.Module | Definition, name: str = "") -> Iterator[str]:
    """Give the name and docstring of a module and of every public class, function and method in it."""
    yield f"{name}\n{ast.get_docstring(node) or ''}"
    if isinstance(node, ast.Module | ast.ClassDef):
        for child in public_definitions(node):
            yield from _passages(child, child.name)


def _word_counts(passages: set[str]) -> dict[str, int]:
    """Count in how many passages each word occurs; names are split at case and underscores."""
    counts: Counter[str] = Counter()
    for passage in passages:
        counts.update({part.lower() for part in _PART.findall(_DOCTEST.sub(" ", passage))})
    return {word: min(n, _MOST_REPEATS) for word, n in counts.items() if len(word) >= _SHORTEST_WORD}


def _kept_words(counts: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """Drop words that are too rare or too common, and modules that say too little."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    spread = Counter(word for words in counts.values() for word in words)
    common = _LARGEST_SHARE * len(counts)
    dropped = ENGLISH_STOP_WORDS | {word for word, n in spread.items() if n > common}
    kept = {m: {w: n for w, n in words.items() if w not in dropped} for m, words in counts.items()}
    while True:  # dropping a module can make a word rare, and dropping a word a module poor
        spread = Counter(word for words in kept.values() for word in words)
        kept = {
            m: {w: n for w, n in words.items() if spread[w] >= _FEWEST_MODULES} for m, words in kept.items()
        }
        rich = {module: words for module, words in kept.items() if sum(words.values()) >= _FEWEST_WORDS}
        if len(rich) == len(kept):
            return kept
        kept = rich


def _matrix(counts: Mapping[str, Mapping[str, int]], rows: list[str], columns: list[str]) -> SparseArray:
    place = {name: position for position, name in enumerate(columns)}
    entries = [(i, place[name], n) for i, row in enumerate(rows) for name, n in counts[row].items()]
    i, j, n = np.array(entries, dtype=np.int64).reshape(-1, 3).T
    return csr_array(coo_array((n.astype(np.float64), (i, j)), shape=(len(rows), len(columns))))


def _chapters() -> dict[str, str]:
    """Read the committed table that says where the library reference describes each module."""
    table = resources.files("relscape.sources").joinpath("stdlib_chapters.csv").read_text(encoding="utf-8")
    return {row["module"]: row["chapter"] for row in csv.DictReader(table.splitlines())}
