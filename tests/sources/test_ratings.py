"""Ratings as MovieLens has them, in its three layouts, and files that only look like it."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relscape as rs
from relscape.errors import DataError, FormatError, RelscapeWarning
from relscape.sources.tables import read_fields

RATINGS = [(1, 1193, 5), (1, 661, 3), (2, 1193, 4.5), (10, 9, 0.5)]
USERS, ITEMS = ["1", "2", "10"], ["9", "661", "1193"]


def lines(separator: str, head: str = "") -> str:
    return head + "".join(f"{u}{separator}{i}{separator}{r}{separator}97830076{u}\n" for u, i, r in RATINGS)


def expected() -> np.ndarray:
    table = np.zeros((3, 3))
    for user, item, rating in RATINGS:
        table[USERS.index(str(user)), ITEMS.index(str(item))] = rating
    return table


FILES = {
    "ratings.dat": lines("::"),
    "ratings.csv": lines(",", "userId,movieId,rating,timestamp\n"),
    "ratings.tsv": lines("\t", "user_id\titem_id\tRating\ttime\n"),
    "u.data": lines("\t"),
}


@pytest.mark.parametrize("name", [*FILES, "ratings.dat.gz"])
@pytest.mark.parametrize("reader", [rs.read_ratings, rs.read])
def test_every_layout_gives_the_same_relation(tmp_path: Path, name: str, reader: Any) -> None:
    text = FILES[name.removesuffix(".gz")].encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    data = reader(tmp_path / name)
    assert data.kinds == ("user", "item")
    assert data.entities["user"].ids.tolist() == USERS
    assert data.entities["item"].ids.tolist() == ITEMS
    np.testing.assert_array_equal(data.matrix().toarray(), expected())


def test_columns_can_still_be_named(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text(FILES["ratings.csv"])
    data = rs.read(tmp_path / "ratings.csv", rows="userId", columns="movieId")
    assert data.kinds == ("userId", "movieId")
    assert data.matrix().sum() == 4
    (tmp_path / "ratings.dat").write_text(FILES["ratings.dat"])
    data = rs.read(tmp_path / "ratings.dat", rows="item", columns="user", weight="rating")
    np.testing.assert_array_equal(data.matrix().toarray(), expected().T)


def test_titles_come_as_fields(tmp_path: Path) -> None:
    (tmp_path / "movies.dat").write_text('1193::A "quoted", title: yes (1975)::Drama\n661::James::Fun\n')
    ids, fields = read_fields(tmp_path / "movies.dat")
    assert ids.tolist() == ["1193", "661"]
    assert fields["title"].tolist() == ['A "quoted", title: yes (1975)', "James"]
    assert list(fields) == ["title", "genres"]


def test_a_wide_table_of_that_name_stays_a_table(tmp_path: Path) -> None:
    (tmp_path / "ratings.csv").write_text("brand,cheap,good\nA,1,2\nB,3,4\n")
    assert rs.read(tmp_path / "ratings.csv").kinds == ("brand", "column")


def test_repeated_ratings_are_told(tmp_path: Path) -> None:
    (tmp_path / "ratings.dat").write_text(FILES["ratings.dat"] + "1::661::4::978300999\n")
    with pytest.warns(RelscapeWarning, match="1 pairs are rated more than once"):
        data = rs.read_ratings(tmp_path / "ratings.dat")
    assert data.matrix().toarray()[0, 1] == 7


def test_several_files_are_one(tmp_path: Path) -> None:
    for number, (user, item, rating) in enumerate(RATINGS):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "ratings.dat").write_text(f"{user}::{item}::{rating}::1\n")
    data = rs.read(tmp_path / "*" / "ratings.dat")
    np.testing.assert_array_equal(data.matrix().toarray(), expected())


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ("1::2::x::3\n", "'x' is not a number"),
        ("1::2::-1::3\n", "'-1' is negative"),
        ("1::2::3::4\n1::5\n", "2 fields|cannot be read|line 2"),
        ("1::::3::4\n", "missing ids"),
        ("", "is empty"),
        ("1,2,3,4\n", "expected fields between '::' or tabs"),
    ],
)
def test_bad_files_are_refused_by_name(tmp_path: Path, contents: str, message: str) -> None:
    (tmp_path / "ratings.dat").write_text(contents)
    with pytest.raises((DataError, FormatError), match=message) as found:
        rs.read_ratings(tmp_path / "ratings.dat")
    assert "ratings.dat" in str(found.value)


def test_a_table_without_the_columns(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("user,thing,rating\n1,2,3\n")
    with pytest.raises(DataError, match="no column of items among 'user', 'thing', 'rating'"):
        rs.read_ratings(tmp_path / "t.csv")
