from __future__ import annotations

import builtins
import gzip
from pathlib import Path
from typing import Any

import pytest

from relscape.data.triples import KnowledgeGraph
from relscape.errors import DataError, FormatError, MissingExtraError, RelscapeWarning, StorageError

TURTLE = """
@prefix ex: <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:paris ex:in ex:france ; rdfs:label "Paris", "Parigi"@it .
ex:lyon ex:in ex:france ; rdfs:label "Lione"@it, "Lyon (US)"@en-US, "Lyons"@en .
ex:france a ex:Country ; rdfs:label "Frankreich"@de .
"""
FACTS = {
    ("ex:paris", "ex:in", "ex:france"),
    ("ex:lyon", "ex:in", "ex:france"),
    ("ex:france", "rdf:type", "ex:Country"),
}


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def names(graph: KnowledgeGraph) -> set[tuple[str, ...]]:
    return set(map(tuple, graph.named(graph.train)))


def shown(graph: KnowledgeGraph, name: str) -> str:
    return str(graph.shown[graph.entity(name)])


def test_turtle_with_prefixes_and_labels(tmp_path: Path) -> None:
    graph = KnowledgeGraph.from_rdf(write(tmp_path / "a.ttl", TURTLE))
    assert names(graph) == FACTS
    assert shown(graph, "ex:paris") == "Paris"
    assert shown(graph, "ex:lyon") == "Lyons"
    assert shown(graph, "ex:france") == "ex:france"


@pytest.mark.parametrize(
    ("language", "expected"), [("it", "Lione"), ("EN-us", "Lyon (US)"), ("en", "Lyons"), ("fr", "ex:lyon")]
)
def test_labels_by_language(language: str, expected: str, tmp_path: Path) -> None:
    graph = KnowledgeGraph.from_rdf(write(tmp_path / "a.ttl", TURTLE), language=language)
    assert shown(graph, "ex:lyon") == expected


def test_a_regional_label_comes_before_one_of_no_language(tmp_path: Path) -> None:
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    facts = f'<x:a> <x:p> <x:b> .\n<x:a> {label} "plain" .\n<x:a> {label} "regional"@en-GB .\n'
    graph = KnowledgeGraph.from_rdf(write(tmp_path / "a.nt", facts))
    assert shown(graph, "x:a") == "regional"


def test_n_triples_several_files_and_given_prefixes(tmp_path: Path) -> None:
    lines = [
        f"<http://example.org/{s}> <http://example.org/in> <http://example.org/france> .\n"
        for s in ("paris", "lyon")
    ]
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    lines.append(f"<http://example.org/france> {kind} <http://example.org/Country> .\n")
    write(tmp_path / "1.nt", "".join(lines[:2]))
    write(tmp_path / "2.nt.gz", gzip.compress("".join(lines[1:]).encode()))  # the middle one is in both
    files = [tmp_path / "1.nt", tmp_path / "2.nt.gz"]
    assert names(KnowledgeGraph.from_rdf(files, prefixes={"ex": "http://example.org/"})) == FACTS
    plain = KnowledgeGraph.from_rdf(str(tmp_path / "*.nt*"))
    assert plain.relations.tolist() == ["http://example.org/in", "rdf:type"]
    assert plain.entity_labels is None


def test_other_forms(tmp_path: Path) -> None:
    quads = "<x:a> <x:p> <x:b> <x:g1> .\n<x:a> <x:p> <x:b> <x:g2> .\n"
    assert names(KnowledgeGraph.from_rdf(write(tmp_path / "a.nq", quads))) == {("x:a", "x:p", "x:b")}
    xml = (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
        '<rdf:Description rdf:about="http://e/a"><e:p rdf:resource="http://e/b"/></rdf:Description></rdf:RDF>'
    )
    graph = KnowledgeGraph.from_rdf(write(tmp_path / "a.owl", xml), prefixes={"e": "http://e/"})
    assert names(graph) == {("e:a", "e:p", "e:b")}


def test_literals_are_left_out_and_counted(tmp_path: Path) -> None:
    more = TURTLE + 'ex:paris ex:people 2100000 ; ex:motto "Fluctuat"@la ; ex:founded ex:long_ago .\n'
    with pytest.warns(
        RelscapeWarning, match=r"a\.ttl: 2 facts are about a literal .*'http://example.org/motto'"
    ):
        graph = KnowledgeGraph.from_rdf(write(tmp_path / "a.ttl", more))
    assert len(graph.train) == 4
    only = "PREFIX ex: <http://e/> ex:a ex:age 3 ."
    with (
        pytest.warns(RelscapeWarning, match="1 fact is about a literal"),
        pytest.raises(DataError, match=r"a\.ttl: there are no facts between two things"),
    ):
        KnowledgeGraph.from_rdf(write(tmp_path / "a.ttl", only))


def test_nameless_nodes_get_the_same_names_every_time(tmp_path: Path) -> None:
    one = write(tmp_path / "1.ttl", "@prefix e: <http://e/> . e:a e:at [ e:in e:c ] , _:x . _:x e:in e:d .")
    two = write(tmp_path / "2.ttl", "@prefix e: <http://e/> . _:x e:in e:a .")
    graphs = [KnowledgeGraph.from_rdf([one, two]) for _ in range(2)]
    assert graphs[0].fingerprint() == graphs[1].fingerprint()
    blank = [name for name in graphs[0].entities if name.startswith("_:")]
    assert blank == ["_:b1", "_:b2", "_:b3"]  # _:x of the second file is another node


def test_the_longest_prefix_wins_and_no_two_names_become_alike(tmp_path: Path) -> None:
    text = (
        "@prefix e: <http://e/> . @prefix s: <http://e/sub/> .\n"
        "e:a e:p s:b , s:c . e:a e:p <http://e/> . <s:b> e:p e:a ."
    )
    graph = KnowledgeGraph.from_rdf(write(tmp_path / "a.ttl", text))
    # s:b is an address of its own here, so http://e/sub/b is written in full
    assert graph.entities.tolist() == ["e:a", "http://e/", "http://e/sub/b", "s:b", "s:c"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.nt", "<x:a> <x:p> <x:b> .\n<x:a> <x:p>\n", r"a\.nt, line \d: this is not N-TRIPLES"),
        ("a.ttl", "e:a e:p e:b .", r"a\.ttl, line 1: this is not TURTLE"),
        ("a.txt", "", r"a\.txt: the ending does not tell which kind of RDF.*'\.nt', '\.ttl'"),
        ("a.nt.gz", "not compressed", r"a\.nt\.gz"),
    ],
)
def test_what_is_no_rdf_is_refused(name: str, text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=message):
        KnowledgeGraph.from_rdf(write(tmp_path / name, text))


def test_a_folder_or_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="the ending does not tell"):
        KnowledgeGraph.from_rdf(tmp_path)
    with pytest.raises(StorageError, match="there is no file"):
        KnowledgeGraph.from_rdf(tmp_path / "a.nt")


def test_without_the_extra_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def fake(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "pyoxigraph":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", fake)
    with pytest.raises(MissingExtraError, match=r"pip install 'relscape\[rdf\]'"):
        KnowledgeGraph.from_rdf(write(tmp_path / "a.ttl", TURTLE))
