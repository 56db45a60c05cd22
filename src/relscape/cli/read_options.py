"""Options that say where relations come from; shared by every command that reads some."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "ColumnNames",
    "Columns",
    "Dataset",
    "Encoding",
    "Files",
    "From",
    "Id",
    "Layer",
    "Log1p",
    "MaxDf",
    "MinDf",
    "Ngrams",
    "Query",
    "RelationName",
    "RowNames",
    "Rows",
    "Sheet",
    "SizeFactors",
    "StopWords",
    "Text",
    "Weight",
]

Files = Annotated[
    list[str] | None,
    typer.Argument(
        help="Tables of files or databases, globs, folders of texts, or a file of another program.",
        show_default=False,
    ),
]
From = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="DATABASE", help="The same as FILES, for a database: postgresql://host/db#table."
    ),
]
Query = Annotated[str | None, typer.Option(help="What to ask the database, 'select …'.", show_default=False)]
Rows = Annotated[
    str | None,
    typer.Option(help="Column with the row things; of a matrix, what they are.", show_default=False),
]
Columns = Annotated[str | None, typer.Option(help="The same of the column things.", show_default=False)]
Weight = Annotated[str | None, typer.Option(help="Column with the weights.", show_default="1 a line")]
Text = Annotated[str | None, typer.Option(help="Column with texts, to be counted word by word.")]
Id = Annotated[str | None, typer.Option(help="Column with the texts' ids.", show_default="line number")]
MaxDf = Annotated[float, typer.Option(help="Leave out words that are in more than this share of texts.")]
MinDf = Annotated[int, typer.Option(help="Keep words that are in at least so many texts.")]
StopWords = Annotated[str | None, typer.Option(help="'english', or a file with one word a line.")]
Ngrams = Annotated[str, typer.Option(help="Words and phrases to count, for example 1-2.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of the files.", show_default="detected")]
Sheet = Annotated[str | None, typer.Option(help="Sheet of a workbook.", show_default="the first")]
Dataset = Annotated[str | None, typer.Option(help="A data set by name: see 'relscape datasets list'.")]
RelationName = Annotated[
    str | None,
    typer.Option("--relation", help="Which relation of the data set; several, with commas, for multicode."),
]
Layer = Annotated[str | None, typer.Option(help="Layer of an AnnData file, or raw.", show_default="X")]
SizeFactors = Annotated[
    float | None,
    typer.Option(help="Of matrices and cells: the total every row is brought to, such as 10000."),
]
Log1p = Annotated[bool, typer.Option("--log1p", help="Of matrices and cells: take log(1 + weight).")]
RowNames = Annotated[str | None, typer.Option(help="File with the names of a matrix's rows, one a line.")]
ColumnNames = Annotated[str | None, typer.Option(help="The same for its columns.")]
