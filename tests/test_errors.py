from __future__ import annotations

import difflib
from typing import Any

import pytest

from relscape import errors


@pytest.mark.parametrize(
    ("error", "parents"),
    [
        (errors.DataError("x"), (errors.InputError, ValueError)),
        (errors.ParameterError("x"), (errors.InputError, ValueError)),
        (errors.UnknownNameError("kind", "x", []), (errors.InputError, KeyError)),
        (errors.StorageError("x"), (OSError,)),
        (errors.FormatError("x"), (errors.StorageError, OSError)),
        (errors.ClusterError("x"), (Exception,)),
        (errors.MissingExtraError("p", "e", "reading"), (ImportError,)),
    ],
)
def test_every_error_is_ours_and_also_the_usual_one(error: Exception, parents: tuple[type, ...]) -> None:
    assert isinstance(error, (errors.RelscapeError, *parents))
    for parent in parents:
        assert isinstance(error, parent)


def test_an_unknown_name_suggests_and_lists() -> None:
    error = errors.UnknownNameError("column", "wrod", ["doc", "word"], "links.csv")
    assert str(error) == "no column 'wrod' in links.csv. Did you mean 'word'? There are: 'doc', 'word'."
    assert str(errors.UnknownNameError("kind", "x", [])) == "no kind 'x'. There are none."


def test_an_unknown_name_lists_only_some_of_many() -> None:
    message = str(errors.UnknownNameError("id", "zzz", [f"id{i}" for i in range(100)]))
    assert "and 88 more" in message
    assert "Did you mean" not in message


def test_missing_extra_says_how_to_install() -> None:
    assert "pip install 'relscape[excel]'" in str(
        errors.MissingExtraError("calamine", "excel", "reading xlsx")
    )


@pytest.mark.parametrize(
    ("names", "limit", "expected"),
    [([], 5, ""), (["a"], 5, "'a'"), (["a", "b"], 2, "'a', 'b'"), ([1, 2, 3], 1, "'1' and 2 more")],
)
def test_listing(names: list[object], limit: int, expected: str) -> None:
    assert errors.listing(names, limit) == expected


@pytest.mark.parametrize(
    ("sought", "nearest"),
    [("id0x04321", "id0004321"), ("xd0004321", "id"), ("id000432", "id000"), ("oddity", ""), ("", "")],
)
def test_an_unknown_name_among_many_is_compared_with_few(
    sought: str, nearest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = []

    def counting(word: str, options: list[str], **how: Any) -> list[str]:
        compared.append(len(options))
        return close_matches(word, options, **how)

    close_matches = difflib.get_close_matches
    monkeypatch.setattr(difflib, "get_close_matches", counting)
    message = str(errors.UnknownNameError("id", sought, [f"id{k:07d}" for k in range(60_000)]))
    assert compared[0] <= 5_000
    assert f"Did you mean '{nearest}" in message if nearest else "Did you mean" not in message
