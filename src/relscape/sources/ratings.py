"""Files of ratings, as MovieLens has them: who rated what, and how."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from relscape.data import RelationalData
from relscape.errors import DataError, RelscapeError, RelscapeWarning, listing
from relscape.sources.files import Origin, Paths
from relscape.sources.pairs import read_pairs
from relscape.sources.sessions import Session, opened

__all__ = ["is_ratings_file", "read_ratings"]

_USERS = ("user", "userid", "user_id", "uid")
_ITEMS = ("item", "itemid", "item_id", "movie", "movieid", "movie_id", "book_id", "product_id", "track_id")
_RATINGS = ("rating", "score", "stars")


def is_ratings_file(path: Path) -> bool:
    """Tell a file of ratings: named ratings or u.data, and a table with the columns of one."""
    name = path.name.lower()
    if not name.startswith("ratings.") and name != "u.data":
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelscapeWarning)  # reading the file will warn again
        try:
            with opened(path) as session:
                _columns(session.scans[0].columns, path)
        except RelscapeError:
            return False
    return True


def read_ratings(
    paths: Paths, *, rows: str = "user", columns: str = "item", encoding: str | None = None
) -> RelationalData:
    """Read who rated what: users × items, weighed by the ratings.

    Parameters
    ----------
    paths : path or sequence of paths
        Files as MovieLens has them: ``ratings.dat`` (fields between ``::``), ``u.data`` (between tabs), or
        any table with columns of users, items and ratings: userId, movieId, rating.
    rows, columns : str
        What to call the two kinds.
    encoding : str, optional
        As in ``read``.

    Returns
    -------
    RelationalData
        With one relation. Who rated something more than once has these ratings summed, with a warning.
    """
    with opened(paths, encoding) as session:
        found = [_columns(scan.columns, scan.path) for scan in session.scans]
        if len(set(found)) > 1:
            raise DataError(
                f"{session.scans[0].path} and other files do not call their columns alike: "
                f"{listing(dict.fromkeys(name for names in found for name in names), 12)}."
            )
        user, item, rating = found[0]
        data = read_pairs(session, user, item, rating, None, False)
        _warn_of_repeats(session, user, item)
    relation = data.relation()
    users = replace(data.entities[relation.rows], kind=rows)
    items = replace(data.entities[relation.columns], kind=columns)
    named = replace(relation, name=f"{rows}-{columns}", rows=rows, columns=columns)
    return RelationalData([users, items], [named])


def _columns(names: Iterable[str], path: Origin) -> tuple[str, str, str]:
    """Find the columns of users, items and ratings by their names."""
    lower = {name.strip().lower(): name for name in names}

    def column(what: str, known: tuple[str, ...]) -> str:
        found = next((lower[name] for name in known if name in lower), None)
        if found is None:
            raise DataError(
                f"{path}: no column of {what} among {listing(lower.values(), 12)}; one is known by a name "
                f"such as {listing(known, 3)}. Name the columns yourself: rows, columns and weight."
            )
        return found

    return column("users", _USERS), column("items", _ITEMS), column("ratings", _RATINGS)


def _warn_of_repeats(session: Session, user: str, item: str) -> None:
    lines = " UNION ALL ".join(
        f"SELECT {scan.text(user)} AS u, {scan.text(item)} AS i FROM {scan.source}" for scan in session.scans
    )
    [(repeated,)] = session.rows(
        f"SELECT count(*) FROM (SELECT 1 FROM ({lines}) GROUP BY u, i HAVING count(*) > 1)"
    )
    if repeated:
        warnings.warn(
            f"{repeated:,} pairs are rated more than once; these ratings are summed.",
            RelscapeWarning,
            stacklevel=3,
        )
