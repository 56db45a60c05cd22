"""The documentation cannot drift: its Python runs, its links lead somewhere, its API pages are complete."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import relscape

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    page
    for page in (*ROOT.glob("*.md"), *DOCS.rglob("*.md"))
    if not {"_build", "api"} & set(page.relative_to(ROOT).parts)
)


def script(name: str) -> ModuleType:
    """Import a script of the docs folder, which is not a package."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    """Give the anchors of a page's headings, the way GitHub and MyST make them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_api_pages_cover_every_public_name(tmp_path):
    pages = script("generate").write_pages(tmp_path / "api")
    names = {page.stem for page in pages}
    assert names >= set(relscape.__all__)
    index = (tmp_path / "api" / "index.rst").read_text(encoding="utf-8")
    for name in names - {"index"}:
        assert f"   {name}\n" in index, f"the API index does not list {name}"


def test_the_page_of_all_experiments_is_that_of_the_records():
    made = script("reproduction").page()
    assert made == (DOCS / "reproduction.md").read_text(encoding="utf-8"), "run python docs/reproduction.py"


def test_api_pages_lead_to_what_explains_them(tmp_path):
    generate = script("generate")
    generate.write_pages(tmp_path / "api")
    index = (tmp_path / "api" / "index.rst").read_text(encoding="utf-8")
    assert "- :doc:`MKPE <MKPE>`: Multiple kernel preserving embedding" in index
    for name in generate.GROUPS["Models"]:
        page = (tmp_path / "api" / f"{name}.rst").read_text(encoding="utf-8")
        assert f" relscape.{name}\n" in page, f"{name} is not shown as people import it"
        explained = DOCS / f"{generate.explained_at(name)}.md"
        assert name in explained.read_text(encoding="utf-8"), f"{explained.name} does not tell of {name}"
    assert not re.findall(r"`: *$", index, re.MULTILINE), "a name without a line about it"


TRIED = [ROOT / "README.md", DOCS / "index.md", DOCS / "start.md", *sorted((DOCS / "howto").glob("[!i]*.md"))]


@pytest.mark.parametrize("page", TRIED, ids=named)
def test_python_in_the_docs_runs(page, tmp_path):
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks
    code = tmp_path / "page.py"
    code.write_text("\n".join(blocks), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", code.name], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_first_commands_of_the_readme_run(tmp_path):
    """All of one chapter, in their order, in one folder; but for the explorer, which would serve on."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    chapter = text.split("## The command line")[1].split("\n## ")[0].replace("\\\n", " ")
    commands = [line.strip() for line in chapter.splitlines() if re.match(r" {4}(printf|relscape) ", line)]
    assert len(commands) > 10
    program = "\n".join(["relscape() { " + f'"{sys.executable}" -m relscape "$@"; }}', *commands])
    done = subprocess.run(
        ["bash", "-e", "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "dinner.png").stat().st_size > 1000
    assert (tmp_path / "maps" / "three" / "map.json").is_file()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        assert other.exists(), f"{named(page)} links to {target}"
        if anchor:
            assert anchor in anchors(other), f"{named(page)} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_docs_show_pictures_of_this_repository_only(page):
    assert not re.findall(r"!\[[^\]]*\]\((?:https?:)?//", page.read_text(encoding="utf-8"))


METHODS = sorted((DOCS / "methods").glob("[!i]*.md"))
METHODS.remove(DOCS / "methods" / "background.md")  # not ours


@pytest.mark.parametrize("page", METHODS, ids=lambda page: page.stem)
def test_pages_of_methods_tell_all_that_is_asked(page):
    text = page.read_text(encoding="utf-8")
    for part in ("Idea", "Equation", "Parameters that matter", "Cost", "When not to use it", "Reference"):
        assert re.search(rf"^##+ {part}", text, re.MULTILINE), f"{named(page)} has no part {part!r}"
    assert "![" in text, f"{named(page)} has no picture"


def test_pictures_stay_small():
    limits = {
        DOCS / "pictures": 300_000,
        DOCS / "pictures" / "gallery": 250_000,
        DOCS / "pictures" / "methods": 100_000,
    }
    for folder, limit in limits.items():
        for picture in folder.glob("*.png"):
            assert picture.stat().st_size <= limit, named(picture)


def test_link_checker_finds_what_is_wrong(tmp_path):
    problems = script("check_links").problems
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">b</a><img src="picture.png"><a href="https://x.org">x</a>'
    )
    (tmp_path / "b.html").write_text('<h1 id="here">b</h1><script src="own.js"></script>')
    assert problems(tmp_path) == []
    (tmp_path / "c.html").write_text(
        '<script src="https://cdn.example/x.js"></script><link href="//fonts.example/f.css">'
        '<a href="gone.html">gone</a><a href="b.html#nowhere">b</a>'
    )
    (tmp_path / "d.css").write_text('@import url("https://fonts.example/f.css");')
    assert problems(tmp_path) == [
        "d.css fetches https://fonts.example/f.css",
        "c.html fetches https://cdn.example/x.js",
        "c.html fetches //fonts.example/f.css",
        "c.html links to gone.html, which is not there",
        "c.html links to b.html#nowhere, which is not there",
    ]


@pytest.mark.parametrize(
    "page",
    [
        '<style>@import "https://x.example/f.css";</style>',
        "<style>p { background: url('//x.example/p.png') }</style>",
        '<p style="background: url(https://x.example/p.png)">a</p>',
        '<script>fetch("https://x.example/data")</script>',
        '<script>const s = document.createElement("script"); s.src = "https://x.example/s.js"</script>',
        '<script>import("https://x.example/m.js")</script>',
        '<img srcset="own.png 1x, https://x.example/p.png 2x">',
        '<video poster="https://x.example/p.png"></video>',
        '<svg><use href="https://x.example/s.svg#a"/><image xlink:href="own.png"/></svg>',
        '<base href="https://x.example/">',
        '<meta http-equiv="refresh" content="0; url=https://x.example/">',
        '<input type="image" src="https://x.example/p.png">',
    ],
)
def test_link_checker_sees_every_way_to_fetch(tmp_path, page):
    problems = script("check_links").problems
    (tmp_path / "a.html").write_text(f'{page}<p>read https://x.example or <a href="https://x.org">x</a></p>')
    (found,) = problems(tmp_path)
    assert "x.example" in found


def test_built_pages_are_whole_and_fetch_nothing(tmp_path):
    pytest.importorskip("sphinx")
    source = tmp_path / "docs"
    copy_docs(source)
    script("generate").write_pages(source / "api")
    site = tmp_path / "html"
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(source), str(site)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert script("check_links").problems(site) == []


def copy_docs(target: Path) -> None:
    """Copy the pages and the files that they include, so that a build writes nothing here."""
    for path in DOCS.rglob("*"):
        inside = path.relative_to(DOCS)
        if path.is_file() and inside.parts[0] not in {"_build", "api"}:
            (target / inside).parent.mkdir(parents=True, exist_ok=True)
            (target / inside).write_bytes(path.read_bytes())
    for name in ("CHANGELOG.md", "CONTRIBUTING.md"):
        (target.parent / name).write_bytes((ROOT / name).read_bytes())
