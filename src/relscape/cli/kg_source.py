"""Reading knowledge graphs and models of them for ``relscape kg``."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from relscape.cli.reading import named
from relscape.cli.values import plain_value
from relscape.data.triples import KnowledgeGraph
from relscape.errors import FormatError, ParameterError, RelscapeWarning, UnknownNameError
from relscape.maps.spelling import meant
from relscape.models.knowledge_state import CHECKPOINT
from relscape.sources.references import shown
from relscape.sources.triples import read_graph_files

__all__ = [
    "Database",
    "Dataset",
    "Encoding",
    "From",
    "HoldOut",
    "InverseSafe",
    "Json",
    "Query",
    "Source",
    "Strict",
    "graph_named",
    "load_model",
    "model_of",
    "named_settings",
    "read_graph",
]

_GRAPHS = ("fb15k", "nations", "stdlib_facts", "umls", "wn18")

Source = Annotated[
    str | None,
    typer.Argument(
        metavar="DIR",
        help="Folder of train, valid and test files, one file of triples, a table of a database, or RDF.",
        show_default=False,
    ),
]
Dataset = Annotated[str | None, typer.Option(help=f"Instead of DIR, a data set: {', '.join(_GRAPHS)}.")]
HoldOut = Annotated[
    str | None,
    typer.Option(
        "--hold-out",
        metavar="VALID,TEST",
        help="Deal the triples anew, holding these shares out, such as 0.05,0.1.",
        show_default="as the files are split",
    ),
]
InverseSafe = Annotated[bool, typer.Option(help="With --hold-out: all triples of two entities in one split.")]
Database = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="DATABASE", help="The same as DIR, for a database: postgresql://host/db#table."
    ),
]
Query = Annotated[
    str | None, typer.Option(help="What to ask a database: head, relation, tail.", show_default=False)
]
Encoding = Annotated[str | None, typer.Option(help="Encoding of the files.", show_default="detected")]
From = Annotated[Path, typer.Option("--from", "-f", metavar="KG", help="Directory of the trained model.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result for machines.")]
Strict = Annotated[bool, typer.Option("--strict", help="Stop at the first warning.")]


def graph_named(source: str | None, database: str | None, query: str | None) -> str | None:
    """Put together where a graph is: a folder or file, or a database and what to ask it."""
    given = named([] if source is None else [source], database, query)
    if len(given) > 1:
        raise ParameterError(f"give either {shown(given[0])} or --from {shown(given[1])}, not both.")
    return given[0] if given else None


def read_graph(
    source: str | None,
    dataset: str | None = None,
    hold_out: str | None = None,
    inverse_safe: bool = False,
    encoding: str | None = None,
    seed: int = 0,
) -> KnowledgeGraph:
    """Read the graph a person names: a folder, a file of triples, RDF, or a data set."""
    if (source is None) == (dataset is None):
        raise ParameterError("give a folder with train, valid and test files, or --dataset NAME.")
    shares = None if hold_out is None else _shares(hold_out)
    if inverse_safe and shares is None:
        raise ParameterError("--inverse-safe says how to deal triples; give --hold-out with it.")
    graph = read_graph_files(source, encoding) if source is not None else _dataset(str(dataset))
    if shares is not None:
        graph = graph.split(shares[0], shares[1], seed, inverse_safe)
    return graph


def _dataset(name: str) -> KnowledgeGraph:
    from relscape import datasets

    if name not in _GRAPHS:
        raise UnknownNameError("knowledge graph", name, _GRAPHS)
    graph: KnowledgeGraph = getattr(datasets, f"load_{name}")()
    return graph


def _shares(text: str) -> tuple[float, float]:
    try:
        valid, test = (float(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(f"--hold-out {text}: write two shares, such as 0.05,0.1.") from None
    return valid, test


def load_model(directory: Path) -> Any:
    """Read a trained model; of a training that was not finished, its last checkpoint, and say so."""
    from relscape.models.knowledge import KGEmbedding

    if not (directory / "model.json").exists() and (directory / CHECKPOINT / "model.json").exists():
        model = KGEmbedding.load(directory / CHECKPOINT)
        warnings.warn(
            f"the training in {directory} was not finished: its checkpoint of epoch {model.n_epochs_} is "
            f"used. 'relscape kg resume {directory}' goes on.",
            RelscapeWarning,
            stacklevel=2,
        )
        return model
    if not (directory / "model.json").exists():
        raise FormatError(
            f"{directory} holds no model; train one with 'relscape kg train DIR -o {directory}', or name "
            f"its directory with --from.{'' if directory.exists() else meant(directory, Path.is_dir)}"
        )
    return KGEmbedding.load(directory)


def named_settings(given: list[str], option: str = "--param") -> dict[str, str]:
    """Take settings written ``name=value`` apart; a name given twice is refused."""
    settings: dict[str, str] = {}
    for setting in given:
        name, equals, value = setting.partition("=")
        if not equals or not name or not value:
            raise ParameterError(f"{option} {setting}: write name=value.")
        if name in settings:
            raise ParameterError(f"{option} {name} is given twice.")
        settings[name] = value
    return settings


def model_of(
    model: str,
    dimensions: int,
    epochs: int,
    preset: str | None,
    jobs: int | None,
    seed: int,
    given: list[str],
) -> Any:
    """Build the estimator from options and ``name=value`` settings, parameters or options of it."""
    from relscape.models.knowledge import KGEmbedding
    from relscape.models.knowledge_settings import OPTION_FLAGS

    own: dict[str, Any] = {
        "model": model,
        "n_components": dimensions,
        "n_epochs": epochs,
        "preset": preset,
        "n_jobs": 1 if jobs is None else jobs,
        "random_state": seed,
    }
    settings = {name: plain_value(text, name in OPTION_FLAGS) for name, text in named_settings(given).items()}
    for name in settings:
        if name in own:
            raise ParameterError(f"--param {name}=...: the command has an option of its own for that.")
        if name == "options":
            raise ParameterError("--param options=...: name each option itself, as in -p optimizer=adagrad.")
    known = KGEmbedding().get_params(deep=False)
    options = {name: value for name, value in settings.items() if name not in known}
    return KGEmbedding(**own, **{n: v for n, v in settings.items() if n in known}, options=options or None)
