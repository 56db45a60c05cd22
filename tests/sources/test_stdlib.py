from __future__ import annotations

import ast
import csv
import sys
import sysconfig
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from relscape.data import RelationalData
from relscape.errors import StorageError
from relscape.sources import stdlib
from relscape.sources.stdlib import load_stdlib, load_stdlib_facts, load_stdlib_triples


@pytest.fixture(scope="module")
def library() -> RelationalData:
    return load_stdlib()


def count(data: RelationalData, module: str, word: str) -> float:
    row = data.entities["module"].ids.tolist().index(module)
    column = data.entities["word"].ids.tolist().index(word)
    return float(data.matrix("words")[row, column])


def test_kinds_relations_and_sizes(library: RelationalData) -> None:
    assert library.kinds == ("module", "word")
    assert set(library.relations) == {"words", "imports"}
    modules, words = library.entities["module"], library.entities["word"]
    assert len(modules) > 100
    assert len(words) > 1000
    assert modules.ids.tolist() == sorted(modules.ids)
    assert words.ids.tolist() == sorted(words.ids)
    assert {"json", "asyncio", "socket", "email", "datetime", "decimal"} <= set(modules.ids)
    assert not {"this", "antigravity", "idlelib", "test", "sys"} & set(modules.ids)
    assert not any(name.startswith("_") for name in modules.ids)


def test_words_are_neither_rare_nor_common_and_modules_not_poor(library: RelationalData) -> None:
    matrix = library.matrix("words")
    spread = (matrix > 0).sum(axis=0)
    assert spread.min() >= 3
    assert spread.max() <= 0.3 * len(stdlib._scan_library())
    assert matrix.sum(axis=1).min() >= 20
    assert matrix.data.max() <= 8
    assert np.array_equal(matrix.data, np.round(matrix.data))
    words = library.entities["word"].ids
    assert all(len(word) >= 3 and word == word.lower() and word.isalpha() for word in words)
    assert not {"the", "and", "with"} & set(words)


def test_counts_equal_a_slow_reading_of_one_module(library: RelationalData) -> None:
    path = Path(sysconfig.get_path("stdlib")) / "sched.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = [("", tree)] + [
        (node.name, node)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")
    ]
    texts = {f"{name} {ast.get_docstring(node) or ''}".lower() for name, node in documented}
    for word in ("event", "priority", "queue"):
        if word in library.entities["word"].ids:
            using = [t for t in texts if word in "".join(c if c.isalpha() else " " for c in t).split()]
            assert count(library, "sched", word) == len(using)


def test_names_are_split_and_doctests_left_out() -> None:
    passages = {
        "readFileHTTPSConnection\nOpens it.\n\n>>> hidden()\nresult\n\nShown.",
        "x_twice\nopens opens",
    }
    assert stdlib._word_counts(passages) == {
        "read": 1,
        "file": 1,
        "https": 1,
        "connection": 1,
        "opens": 2,
        "shown": 1,
        "twice": 1,
    }


def test_imports_join_modules(library: RelationalData) -> None:
    ids = library.entities["module"].ids.tolist()
    imports = library.matrix("imports")
    assert imports[ids.index("socketserver"), ids.index("socket")] == 1
    assert imports[ids.index("socket"), ids.index("socketserver")] == 0
    assert imports.diagonal().sum() == 0
    assert library.relations["imports"].directed


def test_every_module_has_a_chapter(library: RelationalData) -> None:
    modules = library.entities["module"]
    chapter = dict(zip(modules.ids, modules.fields["chapter"], strict=True))
    assert chapter["json"] == "Internet Data Handling"
    assert chapter["socket"] == "Networking and Interprocess Communication"
    assert chapter["pickle"] == "Data Persistence"
    assert sum(value == "Other" for value in chapter.values()) <= 0.05 * len(chapter)


def test_chapter_table_is_sorted_and_unique() -> None:
    table = resources.files("relscape.sources").joinpath("stdlib_chapters.csv").read_text(encoding="utf-8")
    names = [row["module"] for row in csv.DictReader(table.splitlines())]
    assert names == sorted(set(names))


def test_neighbours_on_a_plain_correspondence_analysis_make_sense(library: RelationalData) -> None:
    table = library.matrix("words").toarray()
    table /= table.sum()
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    expected = np.outer(rows, columns)
    left, values, _ = np.linalg.svd((table - expected) / np.sqrt(expected), full_matrices=False)
    places = left[:, :10] * values[:10] / np.sqrt(rows)[:, None]
    ids = library.entities["module"].ids

    def near(module: str, k: int) -> set[str]:
        distance = ((places - places[ids.tolist().index(module)]) ** 2).sum(axis=1)
        return set(ids[distance.argsort()[1 : k + 1]])

    assert near("socket", 12) & {"socketserver", "ssl", "selectors"}
    assert near("asyncio", 12) & {"concurrent", "threading", "multiprocessing"}
    assert near("json", 20) & {"csv", "plistlib", "pickle", "xml", "tomllib"}
    assert near("decimal", 12) & {"fractions", "statistics", "numbers"}


def test_facts_are_known_truths() -> None:
    facts = load_stdlib_triples()
    assert facts == sorted(set(facts))
    assert {relation for _, relation, _ in facts} == {"defines", "imports", "inherits", "raises"}
    assert ("json", "defines", "json.JSONDecodeError") in facts
    assert ("json.JSONDecodeError", "inherits", "ValueError") in facts
    assert ("socketserver.TCPServer", "inherits", "socketserver.BaseServer") in facts
    assert ("argparse", "imports", "sys") in facts
    assert ("statistics.mean", "raises", "statistics.StatisticsError") in facts
    assert not any(part.startswith("_") for fact in facts for name in fact for part in name.split("."))


def test_facts_as_a_graph() -> None:
    graph = load_stdlib_facts()
    assert [*map(tuple, graph.named(graph.train))] == load_stdlib_triples()
    dealt = graph.split(random_state=0)
    assert len(dealt.test) == round(0.1 * len(graph.train))


def test_nothing_that_is_scanned_is_imported(library: RelationalData) -> None:
    assert "antigravity" not in sys.modules
    assert "turtle" in library.entities["module"].ids
    assert "turtle" not in sys.modules


def test_reading_twice_gives_the_same(library: RelationalData) -> None:
    stdlib._scan_library.cache_clear()
    assert load_stdlib().fingerprint() == library.fingerprint()


def test_unparsable_file_is_passed_over(tmp_path: Path) -> None:
    good, broken = tmp_path / "good.py", tmp_path / "broken.py"
    good.write_text('"""Words stay."""\nimport json\n', encoding="utf-8")
    broken.write_text("def (:\n", encoding="utf-8")
    scan = stdlib._scan_module("thing", [good, broken, tmp_path / "gone.py"])
    assert scan.words == {"words": 1, "stay": 1}
    assert scan.facts == {("thing", "imports", "json")}


def test_a_python_without_sources_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(stdlib.sysconfig, "get_path", lambda name: str(tmp_path))
    stdlib._scan_library.cache_clear()
    with pytest.raises(StorageError, match="no source files of its standard library"):
        load_stdlib()
    stdlib._scan_library.cache_clear()
