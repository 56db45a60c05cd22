"""Where relations come from, as a command line says it: checked, read, and remembered by the map."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import Any

from relscape import progress
from relscape.data import RelationalData
from relscape.errors import ParameterError, UnknownNameError
from relscape.sources.references import again, database_of, public_name, shown, with_query

__all__ = ["Reading", "as_arguments", "load_dataset", "named"]

_REMEMBERED = (
    *("rows", "columns", "weight", "text", "id", "stop_words", "ngrams", "encoding", "sheet"),
    *("layer", "size_factors", "log1p"),
)
_OF_SEVERAL = {"publications"}  # forms whose files hold several relations
_OF_OTHER_PROGRAMS = {"layer", "size_factors", "log1p", "row_names", "column_names"}


@dataclass(frozen=True)
class Reading:
    """Where relations come from, as the command line says it."""

    files: tuple[str, ...] = ()
    rows: str | None = None
    columns: str | None = None
    weight: str | None = None
    text: str | None = None
    id: str | None = None
    min_df: int = 1
    max_df: float = 1.0
    stop_words: str | None = None
    ngrams: str = "1"
    dataset: str | None = None
    relation: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    layer: str | None = None
    size_factors: float | None = None
    log1p: bool = False
    row_names: str | None = None
    column_names: str | None = None

    def check(self) -> None:
        """Refuse options that contradict each other or would have no effect."""
        if self.dataset is None and not self.files:
            raise ParameterError("name at least one file, or a data set with --dataset.")
        if self.dataset is not None and self.files:
            raise ParameterError(f"give files or --dataset {self.dataset}, not both.")
        self._refuse_maps()
        nothing = Reading()
        changed = {name for name in asdict(self) if getattr(self, name) != getattr(nothing, name)}
        if self.form is not None:
            self._check_form(self.form, changed)
            return
        if self.rows is not None and self.rows == self.columns:
            raise ParameterError(
                f"--rows and --columns both name {self.rows!r}; give the two columns of things that relate. "
                "Links within one kind are for 'relscape network'."
            )
        if self.dataset is None and self.relation is not None:
            raise ParameterError("--relation chooses among the relations of a --dataset.")
        if changed & _OF_OTHER_PROGRAMS:
            idle = _options(changed & _OF_OTHER_PROGRAMS)
            raise ParameterError(f"{idle}: for matrices, AnnData and folders of 10x Genomics.")
        for_text = {"id", "min_df", "max_df", "stop_words", "ngrams"} & changed
        if for_text and not self.is_text:
            raise ParameterError(f"{_options(for_text)}: only for texts; name their column with --text.")
        if self.is_text and self.weight is not None:
            raise ParameterError(
                f"--weight {self.weight} has no meaning for texts, whose words are counted ({self.shown})."
            )
        if self.text is not None and {"rows", "columns"} & changed:
            raise ParameterError("--rows and --columns are for tables of pairs; with --text name the --id.")
        if self.dataset is not None and {"rows", "columns", "weight", "encoding"} & changed:
            raise ParameterError("--rows, --columns, --weight and --encoding are for files.")

    def _refuse_maps(self) -> None:
        """Say of a map that it is one: what relscape made where tables, texts or graphs are read."""
        for file in self.files:
            if (Path(file) / "map.json").is_file():
                raise ParameterError(
                    f"{file} is a map, not a table. To look at it: relscape plot {file}, or relscape explore "
                    f"{file}."
                )

    def _check_form(self, form: str, changed: set[str]) -> None:
        from relscape.sources.interop import FORMS

        several = {"relation"} if form in _OF_SEVERAL else set()
        idle = changed - FORMS[form].uses - several - {"files"}
        if idle:
            raise ParameterError(
                f"{_options(idle)} has no meaning for {shown(self.files[0])}, which is {FORMS[form].title}."
            )

    @cached_property
    def form(self) -> str | None:
        """Which form of another program the files have; None for tables, texts and data sets."""
        from relscape.sources.interop import ALSO_TABLES, form_of

        if self.dataset is not None or self.text is not None or not self.files:
            return None
        found = form_of(list(self.files))
        named = self.rows is not None or self.columns is not None
        return None if named and found in ALSO_TABLES else found

    @property
    def is_text(self) -> bool:
        """Tell whether words are to be counted: a text column is named, or plain texts are given."""
        from relscape.sources.text import is_text_source

        if self.text is not None or self.dataset is not None or not self.files:
            return self.text is not None
        return self.form is None and is_text_source(list(self.files))

    def read(self, vocabulary: Any = None) -> RelationalData:
        """Read the relation; with a vocabulary, count only its words."""
        from relscape.sources.tables import read
        from relscape.sources.text import read_text

        self.check()
        with progress.task("reading"):
            if self.dataset is not None:
                return self._one_of(load_dataset(self.dataset))
            if self.form is not None:
                return self._one_of(self._read_form(self.form))
            if self.is_text:
                return read_text(
                    list(self.files),
                    self.text,
                    self.id,
                    min_df=1 if vocabulary is not None else self.min_df,
                    max_df=1.0 if vocabulary is not None else self.max_df,
                    stop_words=self.stop_words,
                    ngrams=parse_ngrams(self.ngrams),
                    vocabulary=vocabulary,
                    encoding=self.encoding,
                    rows=self.rows or "doc",
                    columns=self.columns or "word",
                )
            if self.weight is not None and self.rows is None and self.columns is None:
                raise ParameterError(
                    f"--weight {self.weight} is for tables of pairs: say with --rows and --columns, too, "
                    "which two columns hold the things that relate."
                )
            return read(
                list(self.files),
                self.rows,
                self.columns,
                self.weight,
                encoding=self.encoding,
                sheet=self.sheet,
            )

    def _read_form(self, form: str) -> RelationalData:
        from relscape.sources.interop import HowToRead, read_form

        how = HowToRead(
            self.rows,
            self.columns,
            self.weight,
            self.layer,
            self.size_factors,
            self.log1p,
            self.row_names,
            self.column_names,
            self.min_df,
            self.max_df,
            self.stop_words,
            parse_ngrams(self.ngrams),
            self.encoding,
        )
        return read_form(list(self.files), form, how)

    def _one_of(self, data: RelationalData) -> RelationalData:
        if self.relation is not None and "," in self.relation:
            raise ParameterError(
                f"--relation {self.relation}: this method maps one relation; --method multicode maps several."
            )
        return data.only(self.relation or next(iter(data.relations)))

    @property
    def several(self) -> bool:
        """Tell whether files relate more than two kinds, by the first two columns of each or their form."""
        from relscape.sources.several import pair_files, relate_the_same

        if self.form is not None:
            return self.form in _OF_SEVERAL and (self.relation is None or "," in self.relation)
        named = self.rows is not None or self.columns is not None
        if self.dataset is not None or named or len(self.files) < 2 or self.is_text:
            return False
        files = pair_files(list(self.files), self.weight, self.encoding, self.sheet)
        pairs = self.weight is not None or all(file.width <= 3 for file in files)
        return pairs and not relate_the_same(files)

    def read_all(self) -> RelationalData:
        """Read all relations of a data set (those named, or those between different kinds) or of files.

        Files without --rows and --columns relate what their first two columns name.
        """
        from relscape.sources.several import read_several

        named = self.rows is not None or self.columns is not None
        if self.dataset is None and self.form is None and (self.is_text or named):
            return self.read()
        self.check()
        with progress.task("reading"):
            if self.dataset is None and self.form is None:
                return read_several(list(self.files), self.weight, encoding=self.encoding, sheet=self.sheet)
            data = load_dataset(self.dataset) if self.dataset else self._read_form(str(self.form))
            names = [name.strip() for name in (self.relation or "").split(",") if name.strip()]
            joining = [name for name, r in data.relations.items() if r.rows != r.columns]
            relations = [data.relation(name) for name in names or joining or data.relations]
            kinds = dict.fromkeys(kind for r in relations for kind in (r.rows, r.columns))
            return RelationalData([data.entities[kind] for kind in kinds], relations)

    @property
    def shown(self) -> str:
        """The files, for messages."""
        return ", ".join(map(shown, self.files))

    @property
    def name(self) -> str:
        """A short name for what is read, for a result's default place."""
        if self.dataset is not None:
            return self.dataset
        if not self.files:
            return "map"
        table = database_of(self.files[0])
        name = Path(self.files[0]).name if table is None else table.name
        return re.split(r"[.*?\[/]", name)[0] or "map"

    def describe(self) -> dict[str, Any]:
        """Give what a map remembers of its source: how to read more of the same, no folders."""
        nothing = asdict(Reading())
        described = {key: value for key, value in asdict(self).items() if value != nothing[key]}
        if self.files:
            described["files"] = [public_name(file) for file in self.files]
        for names in ("row_names", "column_names"):
            if names in described:
                described[names] = Path(described[names]).name
        return described

    def filled_from(self, remembered: Mapping[str, Any]) -> Reading:
        """Take from a map's memory what the command line leaves open, except files and data set."""
        merged = {key: getattr(self, key) for key in asdict(self)}
        open_keys = _REMEMBERED if self.files else ()
        if not self.files or self.form in _OF_SEVERAL:
            open_keys = (*open_keys, "relation")
        for key in open_keys:
            if merged[key] == getattr(Reading(), key) and key in remembered:
                merged[key] = remembered[key]
        filled = Reading(**merged)
        # New texts need no ids: without their column they are numbered.
        return replace(filled, id=None) if self.id is None and filled._lacks_ids() else filled

    def _lacks_ids(self) -> bool:
        """Tell whether a table of texts has no column of the name that ids should have."""
        from relscape.sources.sessions import opened

        if self.text is None or self.id is None or not self.files:
            return False
        with opened(list(self.files), self.encoding) as session:
            return self.id not in session.scans[0].columns


def named(files: Sequence[str] | None, database: str | None, query: str | None) -> tuple[str, ...]:
    """Put together what is to be read: files, and a database with what to ask it."""
    given = (*(files or ()), *((database,) if database is not None else ()))
    if query is None:
        return given
    if len(given) != 1:
        raise ParameterError("--query is for one database: name it with --from, and nothing else.")
    return (with_query(given[0], query),)


def as_arguments(files: Iterable[str]) -> str:
    """Write files as a command line takes them, for the next useful command; passwords are left out."""
    return " ".join(quote(again(file)) for file in files)


def _options(names: set[str]) -> str:
    return ", ".join(f"--{name.replace('_', '-')}" for name in sorted(names))


def load_dataset(name: str) -> RelationalData:
    """Load a data set by its name; of a knowledge graph, the training facts, one relation a predicate."""
    from relscape import datasets
    from relscape.data.triples import KnowledgeGraph

    loadable = {loader.removeprefix("load_") for loader in datasets.__all__ if loader.startswith("load_")}
    loadable -= {"shapes2d", "stdlib_facts", "stdlib_triples"}
    if name not in loadable:
        raise UnknownNameError("data set", name, sorted(loadable))
    data: RelationalData | KnowledgeGraph = getattr(datasets, f"load_{name}")()
    return data.to_data("train") if isinstance(data, KnowledgeGraph) else data


def parse_ngrams(text: str) -> tuple[int, int]:
    """Read "2" or "1-2" as a range of phrase lengths."""
    found = re.fullmatch(r"(\d+)(?:-(\d+))?", text.strip())
    if not found:
        raise ParameterError(f"--ngrams {text}: write one length or a range, such as 1 or 1-2.")
    low = int(found[1])
    return low, int(found[2] or low)
