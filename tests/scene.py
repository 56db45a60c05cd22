"""Small tables on which every command works, for the tests that kill commands and those that abuse them."""

from __future__ import annotations

from pathlib import Path

from relscape.cli import commands

PAIRS = "doc,word,n\n" + "".join(f"d{i},w{j},{1 + (i * j) % 5}\n" for i in range(6) for j in range(5))
SAMPLES = "id,x,y,z,kind\n" + "".join(
    f"s{i},{i % 7},{(i * i) % 5},{i / 3:.2f},{'ab'[i % 2]}\n" for i in range(14)
)
LINKS = "from,to\n" + "".join(f"d{i},d{(i + s) % 6}\n" for i in range(6) for s in (1, 2))
FACTS = "".join(f"e{i}\tr{i % 2}\te{(3 * i + 1) % 8}\n" for i in range(8))
STUDY = """[kinds.doc]
[kinds.word]
[relations.has]
table = "pairs.csv"
from = "doc"
to = "word"
weight = "n"
[guidance]
has = 1.0
[models.m]
method = "projection"
n_components = 2
"""
LONG = ("--rows", "doc", "--columns", "word", "--weight", "n")


def write_tables(folder: Path) -> None:
    """Write the tables of pairs, samples and links, and a folder of facts."""
    for name, text in {"pairs.csv": PAIRS, "samples.csv": SAMPLES, "links.csv": LINKS}.items():
        (folder / name).write_text(text)
    (folder / "facts").mkdir()
    (folder / "facts" / "train.txt").write_text(FACTS)


def every_command() -> set[str]:
    """Name every command there is, those of a group as "kg train"."""
    named = set()
    for name in commands.COMMANDS:
        inner = getattr(commands.load_command(name), "commands", None)
        named |= {f"{name} {part}" for part in inner} if inner else {name}
    return named
