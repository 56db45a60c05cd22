"""``relscape network``: map linked documents by contents and links, and tell which links are missing."""

from __future__ import annotations

import time
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import numpy as np
import typer
from typer.core import TyperGroup

from relscape import progress
from relscape.cli import network_queries, read_options
from relscape.cli.coembed import Json, Output, Parameters, Strict, model_parameters
from relscape.cli.console import next_step, print_json, print_table, say, telling_warnings
from relscape.cli.network_queries import HEADER
from relscape.cli.network_source import LinkTable, NetworkSource, parted, tables_named
from relscape.cli.reading import Reading
from relscape.errors import ParameterError, UnknownNameError, listing
from relscape.maps import Map
from relscape.maps.captions import dimensions_told
from relscape.maps.layout import METHODS as LAYOUTS
from relscape.maps.store import check_target
from relscape.models.network_baselines import rank_simply
from relscape.models.registry import Method, method, methods
from relscape.project.costs import network_seconds, time_told
from relscape.project.given_samples import links_for
from relscape.scores.links import LinkReport

__all__ = ["app"]

_METHODS = methods("network")
_LINKS_ALONE = "links"


class _FitUnlessNamed(TyperGroup):
    """A group whose first command needs no name: ``relscape network DOCS LINKS`` fits."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command's name before files and options of its own."""
        if args and args[0] not in (*self.commands, *self.get_help_option_names(ctx)):
            args = ["fit", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_FitUnlessNamed,
    help="Linked documents: a map of them (fit, the default), and which links are missing.",
    add_completion=False,
    no_args_is_help=True,
)


@app.command()
def fit(
    documents: Annotated[
        str | None,
        typer.Argument(metavar="DOCS", help="Table or texts of the documents.", show_default=False),
    ] = None,
    links: Annotated[
        str | None, typer.Argument(metavar="LINKS", help="Table of links: from, to.", show_default=False)
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="DATABASE", help="The same as DOCS, for a database: postgresql://host/db#table."
        ),
    ] = None,
    query: Annotated[
        str | None, typer.Option(help="What to ask the database for documents, 'select …'.")
    ] = None,
    link_query: Annotated[
        str | None, typer.Option(help="What to ask it for links, instead of LINKS.", show_default=False)
    ] = None,
    words: Annotated[
        str | None, typer.Option(help="Table of contents beside DOCS: document, word, count.")
    ] = None,
    text: read_options.Text = None,
    id: Annotated[str | None, typer.Option(help="Column of DOCS with the ids.", show_default="found")] = None,
    rows: Annotated[str | None, typer.Option(help="Column with documents, where contents are pairs.")] = None,
    columns: Annotated[str | None, typer.Option(help="Column with words, where contents are pairs.")] = None,
    weight: read_options.Weight = None,
    features: Annotated[
        list[str] | None,
        typer.Option(help="Columns of features, or patterns such as 'f_*'.", show_default="all numbers"),
    ] = None,
    standardize: Annotated[
        bool, typer.Option("--standardize", help="Let all features count alike: mean 0, spread 1.")
    ] = False,
    min_df: read_options.MinDf = 1,
    max_df: read_options.MaxDf = 1.0,
    stop_words: read_options.StopWords = None,
    ngrams: read_options.Ngrams = "1",
    row_info: Annotated[
        str | None, typer.Option(help="Table of what else is known of documents, id first.")
    ] = None,
    dataset: read_options.Dataset = None,
    relation: Annotated[str | None, typer.Option(help="Which relation of the data set is contents.")] = None,
    encoding: read_options.Encoding = None,
    sheet: read_options.Sheet = None,
    source: Annotated[
        str | None, typer.Option("--source", help="Column of LINKS with who links.", show_default="the first")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", help="Column with what is linked to.", show_default="the second")
    ] = None,
    undirected: Annotated[bool, typer.Option("--undirected", help="Every link goes both ways.")] = False,
    direction: Annotated[
        str, typer.Option(help="Rank what a document links to (out), or what links to it (in).")
    ] = "out",
    method_name: Annotated[
        str, typer.Option("--method", "-m", help=f"One of {', '.join(_METHODS)}.")
    ] = "network",
    components: Annotated[
        int | None,
        typer.Option(
            "--components", "--dimensions", "-k", help="Axes or topics.", show_default="the method's"
        ),
    ] = None,
    content_weight: Annotated[
        float | None, typer.Option(help="Weight of contents against links.", show_default="1")
    ] = None,
    perplexity: Annotated[
        float | None, typer.Option(help="About how many neighbours by contents.", show_default="20")
    ] = None,
    row_normalize: Annotated[
        bool | None,
        typer.Option(help="Bring contents to length 1.", show_default="for texts, pairs and data sets"),
    ] = None,
    hold_out: Annotated[
        float | None,
        typer.Option(help="Share of links to keep aside for a test.", show_default="none"),
    ] = None,
    layout: Annotated[str | None, typer.Option(help="How to draw it: axes, pca or tsne.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of all that is drawn at random.")] = 0,
    param: Parameters = None,
    output: Output = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """Map documents such that linked ones, and ones of like contents, are near.

    DOCS is a table of features, one with a column of texts (--text) or of pairs (--rows, --columns), or any
    table of documents whose words are in another (--words). With --method links, LINKS alone will do. Where
    --from names a database for the documents, LINKS is the only file.
    """
    started = time.perf_counter()
    chosen = method(method_name, _METHODS)
    options = {
        "content_weight": content_weight,
        "perplexity": perplexity,
        "row_normalize": row_normalize,
    }
    documents, links = tables_named(
        (documents, links), database, query, link_query, chosen.name == _LINKS_ALONE
    )
    contents = Reading(
        () if documents is None else (documents,),
        rows, columns, weight, text, id, min_df, max_df, stop_words, ngrams,
        encoding=encoding, sheet=sheet,
    )  # fmt: skip
    table = LinkTable(links or "", source, target, undirected, encoding)
    given = NetworkSource(contents, table, words, features or (), standardize, row_info, relation)
    place = output or Path("maps") / Reading(tuple(filter(None, (documents or links,))), dataset=dataset).name
    with telling_warnings(strict):
        model = _model(chosen, components, direction, seed, options, param or [])
        if layout is not None and layout not in LAYOUTS:
            raise UnknownNameError("layout", layout, LAYOUTS)
        check_target(place)
        replaced = place.exists()
        samples, pairs = given.read(dataset, undirected)
        if row_normalize is None and samples.sparse and "row_normalize" in model.get_params():
            model.set_params(row_normalize=True)  # how long a text is says little
        kept, held_out = parted(pairs, hold_out, undirected, seed)
        n = len(samples.things)
        expected = time_told(network_seconds(model, n))
        progress.note(f"{chosen.title} of {n:,} × {samples.things.kind}: {expected}")
        with progress.task(chosen.title):
            samples.name(model.fit(samples.X, links_for(samples, kept)))
        report = None if held_out is None else model.rank(held_out)
        simple = {} if held_out is None else rank_simply(model, held_out)
        joint = model.to_map()
        if layout is not None:
            joint = joint.layout(layout)
        joint.provenance["source"] = samples.source
        if report is not None:
            beside = {name: other.to_dict() for name, other in simple.items()}
            joint.scores["held_out"] = {"share": hold_out, "seed": seed, **report.to_dict(), **beside}
        joint.save(place)
    if replaced:
        progress.note(f"replaced what was at {place}")
    reports = {} if report is None else {"": report, **simple}
    _tell(joint, len(kept), reports, place, time.perf_counter() - started, as_json)


app.command()(network_queries.suggest)
app.command()(network_queries.score)


# ---------------------------------------------------------------------- what to fit


def _model(
    chosen: Method,
    components: int | None,
    direction: str,
    seed: int,
    options: dict[str, Any],
    given: list[str],
) -> Any:
    """Build the estimator; an option that the method knows nothing of is refused."""
    model_class = chosen.model_class()
    known = model_class().get_params()
    width = next(name for name in ("n_components", "n_topics", "n_communities") if name in known)
    wanted = {name: value for name, value in options.items() if value is not None}
    for name in wanted:
        if name not in known:
            raise ParameterError(f"--{name.replace('_', '-')} has no meaning for --method {chosen.name}.")
    wanted |= {} if components is None else {width: components}
    parameters = model_parameters(model_class, given, (*wanted, "direction", "random_state"))
    return model_class(direction=direction, random_state=seed, **wanted, **parameters)


# ---------------------------------------------------------------------- telling


def _tell(
    joint: Map, n_links: int, reports: dict[str, LinkReport], place: Path, seconds: float, as_json: bool
) -> None:
    kind = joint.groups[0]
    group = joint.group(kind)
    if as_json:
        print_json(
            {
                "map": str(place),
                "model": joint.model,
                "parameters": joint.parameters,
                "sizes": {kind: len(group)},
                "links": n_links,
                "scores": joint.scores,
                "seconds": round(seconds, 3),
            }
        )
        return
    dimensions = dimensions_told(joint)
    say(f"{joint.model}: {len(group):,} × {kind} and {n_links:,} links in {dimensions}: {place}")
    source = joint.provenance["source"]
    if source.get("form") == "table":
        names = source["features"]
        say(f"Contents are the columns {listing(names, 5)}; --text reads a column of texts instead.")
    if source.get("turned"):
        say("Its links run from what is cited to what cites it, as their publishers store them.")
    if reports:
        count = reports[""].n_links
        say(f"Where {count:,} links that were kept aside stand among all {len(group) - 1:,} others:")
        print_table(HEADER, [line for name, report in reports.items() for line in _lines(name, report)])
        say(f"By {' and by '.join(list(reports)[1:])}: filtered, to compare with. Ties are realistic.")
        say("The map is made without them; leave --hold-out away to use all links.")
    say(f"Made in {seconds:.1f} s.")
    linked = np.asarray(group.fields["links out"]) + np.asarray(group.fields["links in"])
    query = quote(f"{kind}:{group.ids[int(linked.argmax())]}")
    next_step(f"relscape network suggest {place} {query}  or  relscape plot {place} --links")


def _lines(name: str, report: LinkReport) -> list[tuple[str, ...]]:
    """Give the lines of the model, raw and filtered, or the filtered one of what it is measured against."""
    if not name:
        return report.rows()
    ((_, *figures),) = report.filtered.rows()
    return [(name, *figures)]
