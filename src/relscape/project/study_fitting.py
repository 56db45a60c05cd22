"""The map of a model that a project file describes, whatever its family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scipy.sparse import issparse

from relscape import progress
from relscape.data import EntitySet, Relation, RelationalData
from relscape.data.labels import as_text
from relscape.data.link_splits import hold_out_links
from relscape.data.links import read_links
from relscape.data.triples import KnowledgeGraph
from relscape.errors import ParameterError, UnknownNameError
from relscape.maps import Map
from relscape.models.knowledge_state import CHECKPOINT, check_run_directory
from relscape.models.state import is_saved_model
from relscape.project.costs import (
    cohort_seconds,
    knowledge_seconds,
    network_seconds,
    projection_seconds,
    time_told,
)
from relscape.project.given_samples import (
    COHORT,
    LEARNED,
    Samples,
    check_cohorts,
    cohort_labels,
    compared_by,
    links_for,
)
from relscape.project.guidance_scores import guidance_scores
from relscape.project.relation_fitting import fitted_maps, on_map, with_degree
from relscape.project.relation_scores import relation_scores
from relscape.project.study import Study
from relscape.project.study_data import LoadedStudy
from relscape.project.study_models import Model
from relscape.project.study_projection import guided, source_told
from relscape.project.study_projection import to_map as projection_map
from relscape.project.study_uses import Uses

__all__ = ["Job", "fitted_map", "is_kept"]

_EVERY = 10  # epochs between checkpoints


@dataclass(frozen=True, eq=False)
class Job:
    """One model to fit: what it takes, its data as read, and a folder for what has to outlive a stop."""

    model: Model
    uses: Uses
    loaded: LoadedStudy
    unfinished: Path

    @property
    def data(self) -> RelationalData:
        """The relations that the model asks for, with the kinds they join, without features."""
        whole = self.loaded.data
        relations = [whole.relation(name) for name in self.uses.relations]
        kinds = {kind for relation in relations for kind in (relation.rows, relation.columns)}
        things = [
            replace(entities, features=None, feature_names=None)
            for kind, entities in whole.entities.items()
            if kind in kinds
        ]
        return RelationalData(things, relations)

    def option(self, key: str, usual: Any = None) -> Any:
        """Give what the file says of the model's data under a key."""
        return self.model.data.get(key, usual)


def fitted_map(job: Job) -> Map:
    """Fit a model and give its map, drawn as asked, with its scores."""
    joint = _FITTERS[job.model.entry.family](job)
    layout = job.option("layout")
    return joint if layout is None else joint.layout(layout)


# ---------------------------------------------------------------------- relations


def _relation_map(job: Job) -> Map:
    data = job.data
    least = job.option("min_degree", 0.0)
    if least > 0:
        data = with_degree(data, least, f"min_degree = {least:g}")
    maps = fitted_maps(job.model.estimator(), job.model.entry.title, data)
    if len(maps) != 1:
        raise ParameterError(
            f'components = "each" gives {len(maps)} maps, and a model of a project file is one; write '
            '"largest" or "joint".'
        )
    joint = maps[0]
    carried = on_map(data, joint)
    if job.option("score", False):
        joint.scores |= relation_scores(joint, carried[0])
    joint.provenance["source"] = _pairs_told(job)
    return joint.with_relations(carried) if job.option("keep_relations", False) else joint


def _pairs_told(job: Job) -> dict[str, Any]:
    """Say how the pairs were read, so that more of the same can be."""
    tables = [job.uses.study.relations[name] for name in job.uses.relations]
    told: dict[str, Any] = {"files": [Path(path).name for table in tables for path in table.tables]}
    if len(tables) == 1:
        told |= {"rows": tables[0].source_column, "columns": tables[0].target_column}
        told |= {} if tables[0].weight is None else {"weight": tables[0].weight}
    return told


# ---------------------------------------------------------------------- samples


def _samples(job: Job) -> Samples:
    """Give the things of the model's kind with their features, as models of samples take them."""
    kind = str(job.uses.kind)
    whole = job.loaded.data.entities[kind]
    if kind == COHORT:
        raise ParameterError(
            f"the samples are of kind {COHORT!r}, as what they belong to will be; rename it."
        )
    fields = {name: values for name, values in whole.fields.items() if name not in LEARNED}
    things = EntitySet(kind, whole.ids, whole.labels, fields)
    if whole.features is None:
        return Samples(None, things, None, None)
    if not issparse(whole.features):
        return Samples(whole.features, things, whole.feature_names, None)
    described = job.uses.study.kinds[kind]
    name = "word"
    if described.features_from is not None:
        relation = job.uses.study.relations[described.features_from]
        name = relation.target if relation.source == kind else relation.source
    features, names = whole.features, whole.feature_names
    names = as_text(range(features.shape[1])) if names is None else names
    counts = Relation("contents", kind, name, features)
    data = RelationalData([things, EntitySet(name, names)], [counts])
    return Samples(data, things, None, None)


def _cohort_map(job: Job) -> Map:
    samples, model = _samples(job), job.model.estimator()
    labels = _labels(job, samples)
    guides: dict[str, Any] = {}
    if job.uses.relations:
        guides["links"] = job.loaded.data.relation(job.uses.relations[0]).matrix
    compared_by(
        model,
        samples,
        job.option("metric"),
        linked=bool(guides),
        keep_affinity="affinity" in job.model.parameters,
    )
    n = len(samples.things)
    progress.note(
        f"{job.model.entry.title} of {n:,} × {samples.things.kind}: {time_told(cohort_seconds(model, n))}"
    )
    joint: Map = samples.name(model.fit(samples.X, labels, **guides)).to_map()
    joint.provenance["source"] = source_told(job.loaded, joint)
    return joint


def _labels(job: Job, samples: Samples) -> Any:
    kind = job.uses.study.kinds[samples.things.kind]
    label = job.option("label", kind.label)
    if label is None:
        return None
    if label not in samples.things.fields:
        raise UnknownNameError("field", label, samples.things.fields, f"kind {kind.name!r}")
    labels = cohort_labels(samples.things.fields[label], f"label {label!r}")
    check_cohorts(labels, f"label {label!r}", "leave label out")
    return labels


def _network_map(job: Job) -> Map:
    samples, model = _samples(job), job.model.estimator()
    undirected, share = job.option("undirected", False), job.option("hold_out")
    if "row_normalize" in model.get_params() and "row_normalize" not in job.model.parameters:
        model.set_params(row_normalize=samples.sparse)  # how long a text is says little
    pairs = read_links(job.loaded.data.only(job.uses.relations[0]), samples.things.ids, undirected)
    kept, held_out = (pairs, None) if share is None else hold_out_links(pairs, share, _seed(job), undirected)
    n = len(samples.things)
    progress.note(
        f"{job.model.entry.title} of {n:,} × {samples.things.kind}: {time_told(network_seconds(model, n))}"
    )
    with progress.task(job.model.entry.title):
        samples.name(model.fit(samples.X, links_for(samples, kept)))
    joint: Map = model.to_map()
    if held_out is not None:
        joint.scores["held_out"] = {"share": share, "seed": _seed(job), **model.rank(held_out).to_dict()}
    joint.provenance["source"] = source_told(job.loaded, joint)
    return joint


def _seed(job: Job) -> int:
    return int(job.model.parameters.get("random_state", 0))


# ---------------------------------------------------------------------- guidance


def _projection_map(job: Job) -> Map:
    chosen, model = guided(job.loaded), job.model.estimator()
    expected = time_told(projection_seconds(model, chosen.data))
    progress.note(f"{job.model.entry.title}: {expected}")
    with progress.task("guided projection"):
        model.fit(chosen.data, chosen.weights)
    joint = projection_map(model, chosen, job.loaded)
    joint.scores |= guidance_scores(joint)
    return joint


# ---------------------------------------------------------------------- facts


def is_kept(model: Model, study: Study) -> bool:
    """Tell whether what a model keeps beside its map is there: of facts, the trained model."""
    return model.entry.family != "knowledge" or is_saved_model(_trained(model, study))


def _trained(model: Model, study: Study) -> Path:
    """Say where a model of facts is kept, for questions: ``trained``, or kg/NAME beside the project file."""
    return Path(study.located((model.data.get("trained", f"kg/{model.name}"),))[0])


def _knowledge_map(job: Job) -> Map:
    """Train on facts, from the last checkpoint of the same training where it was stopped."""
    from relscape.models.knowledge import KGEmbedding

    target, model = _trained(job.model, job.uses.study), job.model.estimator()
    model.check()
    check_run_directory(target)
    if (job.unfinished / CHECKPOINT).is_dir():
        progress.note(f"{job.model.name} goes on from its last checkpoint")
        model = KGEmbedding.resume(job.unfinished)
    else:
        graph = _graph(job)
        expected = time_told(knowledge_seconds(model, len(graph.train)))
        progress.note(f"{model.model} of {graph!r}: {expected}")
        model.fit(graph, checkpoints=job.unfinished / CHECKPOINT, every=_EVERY)
    model.save(target)
    joint: Map = model.to_map()
    if len(model.test_):
        report = model.rank("test")
        joint.scores |= {"test mean_rank": report.mean_rank, "test mrr": report.mrr}
        joint.scores |= {f"test hits@{k}": value for k, value in report.hits.items()}
    joint.provenance["source"] = {"form": "facts", "trained": target.name}
    return joint


def _graph(job: Job) -> KnowledgeGraph:
    from relscape.sources.triples import read_graph_files

    if job.uses.facts is None:
        graph = KnowledgeGraph.from_data(job.data)
    else:
        graph = read_graph_files(job.uses.study.located((job.uses.facts,))[0])
    shares = job.option("hold_out")
    if shares is None:
        return graph
    return graph.split(shares[0], shares[1], _seed(job), job.option("inverse_safe", False))


_FITTERS: dict[str, Callable[[Job], Map]] = {
    "coembedding": _relation_map,
    "multicode": _relation_map,
    "cohorts": _cohort_map,
    "network": _network_map,
    "projection": _projection_map,
    "knowledge": _knowledge_map,
}
