"""Text as a relation: documents and the words they contain."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.sparse import csr_array

from relscape.data import EntitySet, Relation, RelationalData
from relscape.data.labels import as_text
from relscape.errors import DataError, ParameterError, StorageError
from relscape.progress import task
from relscape.protocols import SparseArray, TextArray
from relscape.sources.checks import refuse_empty, row_ids
from relscape.sources.encodings import check_encoding, decoded, encoding_of, warn_of_guesses
from relscape.sources.files import FORMATS, Paths, expand, origins, readable
from relscape.sources.references import expanded, with_query
from relscape.sources.sessions import opened
from relscape.sources.tables import load

__all__ = ["WordCounting", "is_text_source", "read_text", "stop_list"]

_WORD = r"(?u)\b[^\W\d_]{2,}\b"
_TEXT_ENDINGS = {".txt", ".md", ".rst"}


def read_text(
    paths: Paths,
    text: str | None = None,
    id: str | None = None,
    *,
    min_df: int | float = 1,
    max_df: int | float = 1.0,
    stop_words: str | os.PathLike[str] | Iterable[str] | None = None,
    ngrams: tuple[int, int] = (1, 1),
    vocabulary: Sequence[str] | None = None,
    rows: str = "doc",
    columns: str = "word",
    encoding: str | None = None,
    query: str | None = None,
) -> RelationalData:
    """Count the words of documents: a column of a table, or a folder of text files.

    A word is a run of two letters or more, in lower case. A document without any of the counted
    words stays, as an empty row.

    Parameters
    ----------
    paths : path or sequence of paths
        Tables, of files or databases, when ``text`` is given, otherwise folders, a glob or a list of text
        files, in any common encoding; a document is then named by its path within its folder, without
        ending. Only documents that would share a name keep their ending or take the name of their folder
        before it.
    text : str, optional
        The column that holds the text of each document.
    id : str, optional
        The column that names the documents; without it they are numbered from 0.
    min_df, max_df : int or float
        Words in fewer or more documents are left out; an int is a number of documents, a float a
        share of them.
    stop_words : "english", path or iterable of str, optional
        Words to leave out: the English ones of scikit-learn, a file of them, or your own.
    ngrams : tuple of two ints
        The shortest and longest run of words to count as one.
    vocabulary : sequence of str, optional
        Count exactly these words, in this order.
    rows, columns : str
        What to call the two kinds.
    encoding : str, optional
        How the letters of the documents are written, such as "shift_jis"; found by reading them unless given.
    query : str, optional
        What to ask the database that ``paths`` names, as in ``read``.

    Returns
    -------
    RelationalData
        With one relation of counts; words are sorted unless a vocabulary is given.
    """
    counting = WordCounting(min_df, max_df, stop_list(stop_words), ngrams, vocabulary)
    counting.check(rows, columns)
    paths = paths if query is None else with_query(paths, query)
    if text is None:
        if id is not None:
            raise ParameterError("id names a column of a table; give the column of texts with text too.")
        files, ids = _text_files(paths)
        documents: Iterable[str] = _contents(files, check_encoding(encoding))
    else:
        documents, ids = _column_of_texts(paths, text, id, encoding)
    counts, words = counting.count(documents)
    relation = Relation(f"{rows}-{columns}", rows, columns, counts)
    return RelationalData([EntitySet(rows, ids), EntitySet(columns, words)], [relation])


@dataclass(frozen=True)
class WordCounting:
    """Which words to count, by the parameters of ``read_text``; stop words as ``stop_list`` gives them."""

    min_df: int | float = 1
    max_df: int | float = 1.0
    stop_words: list[str] | None = None
    ngrams: tuple[int, int] = (1, 1)
    vocabulary: Sequence[str] | None = None

    def check(self, rows: str, columns: str) -> None:
        """Refuse parameters that cannot be used, and kinds of one name."""
        _check_parameters(self.min_df, self.max_df, self.ngrams, self.vocabulary, rows, columns)

    def count(self, documents: Iterable[str]) -> tuple[SparseArray, TextArray]:
        """Count the words of documents; gives the counts, one row a document, and the words."""
        counts, words = _count(documents, self.ngrams, self.stop_words, self.vocabulary)
        if self.vocabulary is None:
            counts, words = _within(counts, words, self.min_df, self.max_df)
        return csr_array(counts, dtype=np.float64), words


def is_text_source(paths: Paths) -> bool:
    """Say whether paths are documents rather than tables: folders, or files named .txt, .md or .rst.

    A path that does not exist is refused.
    """
    return all(
        isinstance(path, Path) and (path.is_dir() or path.suffix.lower() in _TEXT_ENDINGS)
        for path in origins(paths)
    )


def _check_parameters(
    min_df: Any, max_df: Any, ngrams: Any, vocabulary: Sequence[str] | None, rows: str, columns: str
) -> None:
    for name, value in (("min_df", min_df), ("max_df", max_df)):
        share = isinstance(value, float) and 0 <= value <= 1
        number = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        if not (share or number):
            raise ParameterError(
                f"{name} is {value!r}; expected a number of documents (an int from 1) or a share of them "
                "(a float from 0 to 1)."
            )
    try:
        shortest, longest = ngrams
        sound = isinstance(shortest, int) and isinstance(longest, int) and 1 <= shortest <= longest
    except (TypeError, ValueError):
        sound = False
    if not sound:
        raise ParameterError(f"ngrams is {ngrams!r}; expected two ints such as (1, 2), shortest and longest.")
    if rows == columns:
        raise ParameterError(
            f"rows and columns are both called {rows!r}; give the two kinds different names."
        )
    if vocabulary is None:
        return
    if isinstance(vocabulary, str) or not len(vocabulary):
        raise ParameterError("vocabulary must be a sequence of at least one word.")
    if (min_df, max_df) != (1, 1.0):
        raise ParameterError(
            "min_df and max_df choose words, but vocabulary fixes them; give one or the other."
        )


def stop_list(given: str | os.PathLike[str] | Iterable[str] | None) -> list[str] | None:
    """Find the stop words and cut them as texts are cut, so that "don't" is left out too."""
    if given is None:
        return None
    if isinstance(given, str) and given == "english":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        words: Iterable[str] = ENGLISH_STOP_WORDS
    elif isinstance(given, str | os.PathLike):
        path = expanded(given)
        if not path.is_file():
            raise ParameterError(
                f"stop_words is {str(given)!r}: neither 'english' nor a file that is there. Give one of "
                "these, or a list of words."
            )
        words = ["".join(_contents([path]))]
    else:
        words = given
    return sorted({token for word in words for token in re.findall(_WORD, word.lower())})


def _text_files(paths: Paths) -> tuple[list[Path], TextArray]:
    """Find the documents of folders, a glob or a list of files, and name each by its path."""
    found = expand(paths)
    files: dict[Path, Path] = {}
    for path in found:
        if path.is_dir():
            inside = [p for p in sorted(path.rglob("*")) if p.is_file() and not _hidden(p.relative_to(path))]
            if not inside:
                raise StorageError(f"the folder {path} has no files; expected one text file a document.")
            if all(file.suffix.lower() in FORMATS for file in inside):
                raise ParameterError(
                    f"the folder {path} holds tables, not texts: name them by a pattern, "
                    f"'{inside[0].parent}/*{inside[0].suffix}', and the columns of ids (--rows, --columns)."
                )
            for file in inside:
                files.setdefault(file, path)
        elif path.suffix.lower() in FORMATS:
            raise ParameterError(
                f"{path} is a table: say with text which of its columns holds the documents."
            )
        else:
            files[path] = path.parent
    above = _common_folder(files)
    within = {file: file.absolute().relative_to(above) for file in files}
    folders = all(path.is_dir() for path in found)
    names = [file.relative_to(folder) if folders else within[file] for file, folder in files.items()]
    return [*files], as_text(_distinct(names, [*within.values()]))


def _distinct(names: list[Path], longer: list[Path]) -> list[str]:
    """Name documents without their ending; those that would share a name get more of their path.

    A name hangs on the others as little as possible, so that a document keeps its own as others come.
    """
    forms = [
        [
            readable(form)
            for form in (name.with_suffix(""), name, long if long == name else long.with_suffix(""), long)
        ]
        for name, long in zip(names, longer, strict=True)
    ]
    chosen = [form[0] for form in forms]
    for k in range(1, 4):
        times = Counter(chosen)
        chosen = [form[k] if times[name] > 1 else name for form, name in zip(forms, chosen, strict=True)]
    return chosen if len(set(chosen)) == len(chosen) else [form[-1] for form in forms]


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _common_folder(files: Iterable[Path]) -> Path:
    return Path(os.path.commonpath([path.absolute().parent for path in files]))


def _contents(files: list[Path], encoding: str | None = None) -> Iterator[str]:
    found: dict[Path, str] = {}
    with task("reading documents", total=len(files)) as progress:
        for path in files:
            found[path] = encoding_of(path, given=encoding)
            yield "".join(decoded(path, None, found[path]))
            progress.advance()
    if encoding is None:
        warn_of_guesses(found)


def _column_of_texts(
    paths: Paths, text: str, id: str | None, encoding: str | None
) -> tuple[list[str], TextArray]:
    """Read the texts of a table and the names of its rows."""
    with opened(paths, encoding, only=(text, id)) as session:
        column = load(session, [text], ()).column(0)
        refuse_empty(session, len(column))
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            raise DataError(
                f"{session.scans[0].path}: column {text!r} holds {column.type}, not text; "
                "name the column of texts."
            )
        ids: Iterable[Any] = range(len(column))
        if id is not None:
            ids = [name for scan in session.scans for name in row_ids(session, scan, id)]
        return [document or "" for document in column.to_pylist()], as_text(ids)


def _count(
    documents: Iterable[str],
    ngrams: tuple[int, int],
    stops: list[str] | None,
    vocabulary: Sequence[str] | None,
) -> tuple[SparseArray, TextArray]:
    """Count words, all of them or those of a vocabulary."""
    from sklearn.feature_extraction.text import CountVectorizer

    if vocabulary is not None:
        words = as_text(vocabulary, "vocabulary")
        if len(set(words)) != len(words):
            raise ParameterError("vocabulary names a word twice; give every word once.")
    counter = CountVectorizer(
        token_pattern=_WORD, stop_words=stops, ngram_range=tuple(ngrams), vocabulary=vocabulary
    )
    try:
        counts = counter.fit_transform(documents)
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        raise DataError(
            "the documents contain no word of two letters or more that is not a stop word; check that "
            "these are the texts you mean."
        ) from error
    return counts, as_text(counter.get_feature_names_out())


def _within(
    counts: SparseArray, words: TextArray, min_df: int | float, max_df: int | float
) -> tuple[SparseArray, TextArray]:
    """Keep the words that occur in enough but not too many documents."""
    documents = counts.shape[0]
    lowest = min_df * documents if isinstance(min_df, float) else min_df
    highest = max_df * documents if isinstance(max_df, float) else max_df
    frequency = np.bincount(counts.indices, minlength=counts.shape[1])
    keep = (frequency >= lowest) & (frequency <= highest)
    if not keep.any():
        raise DataError(
            f"no word remains: min_df={min_df!r} and max_df={max_df!r} ask for words in {lowest:g} to "
            f"{highest:g} of the {documents} documents, but the commonest of {len(words)} words is in "
            f"{frequency.max()} and the rarest in {frequency.min()}. Choose a wider range."
        )
    return counts[:, keep], words[keep]
