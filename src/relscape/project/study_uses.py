"""Which kinds and relations of a study a model is made from, found and checked before anything is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from relscape.errors import ParameterError, UnknownNameError, listing
from relscape.project.study import Study
from relscape.project.study_models import Model

__all__ = ["Uses", "models_of", "uses_of"]


@dataclass(frozen=True)
class Uses:
    """What a model takes of a study: a study of just that, and the names that the model asks for.

    ``relations`` are what is fitted (links of a network, guidance of a projection), ``kind`` is that of the
    samples or documents, ``facts`` the files of facts, where there are some.
    """

    study: Study
    relations: tuple[str, ...] = ()
    kind: str | None = None
    facts: str | None = None


def models_of(study: Study) -> dict[str, Model]:
    """Give the models of a study; one without any that has guidance is a projection, as usual."""
    if study.models:
        return dict(study.models)
    if not study.guidance:
        raise ParameterError(
            f"{study.path} describes nothing to make: write a table [models.NAME] with a method."
        )
    return {"projection": Model("projection", "projection", map="maps/projection")}


def uses_of(study: Study, model: Model) -> Uses:
    """Find what a model is made from; what is not there, or does not suit its method, is refused by key."""
    where = study.where(f"models.{model.name}")
    family = model.entry.family
    if family == "cohorts":
        return _of_samples(study, model, where)
    if family == "network":
        return _of_network(study, model, where)
    if family == "knowledge" and "facts" in model.data:
        return Uses(replace(study, kinds={}, relations={}, guidance={}), facts=model.data["facts"])
    if family == "projection":
        if model.method != "projection":
            raise ParameterError(
                f"{where} method: {model.method!r} is for views of the same things, which a project file "
                "does not describe; write 'projection', or use it from Python."
            )
        if not study.guidance:
            raise ParameterError(
                f"{where}: nothing guides a projection. Describe a table of pairs as [relations.NAME], and "
                "give it a weight other than 0 under [guidance]."
            )
        names = tuple(study.guidance)
        return Uses(_part(study, _kinds(study, names), names, features=True), names)
    if family == "coembedding":
        names = (_one_relation(study, model, where, "relation"),)
    else:
        names = _several(study, model, where)
    return Uses(_part(study, _kinds(study, names), names, features=False), names)


def _one_relation(study: Study, model: Model, where: str, key: str, among: Iterable[str] = ()) -> str:
    """Find the one relation that a model asks for, by its key or because there is no other."""
    known = list(among) or list(study.relations)
    named = model.data.get(key)
    if named is None and len(known) == 1:
        return known[0]
    if named is None:
        raise ParameterError(
            f"{where}: {key} is missing; say which of {listing(known)}."
            if known
            else f"{where}: there is no relation to map; describe a table of pairs as [relations.NAME]."
        )
    if named not in study.relations:
        raise UnknownNameError("relation", named, known, f"{where} {key}")
    return str(named)


def _several(study: Study, model: Model, where: str) -> tuple[str, ...]:
    named = model.data.get("relations", ())
    for name in named:
        if name not in study.relations:
            raise UnknownNameError("relation", name, study.relations, f"{where} relations")
    every = tuple(study.relations)
    if model.entry.family == "multicode":
        every = tuple(n for n, r in study.relations.items() if r.source != r.target) or every
    if not (named or every):
        raise ParameterError(
            f"{where}: there is no relation to map; describe a table of pairs as [relations.NAME]."
        )
    return tuple(dict.fromkeys(named)) or every


def _of_samples(study: Study, model: Model, where: str) -> Uses:
    described = [name for name, kind in study.kinds.items() if kind.has_features]
    name = model.data.get("kind")
    if name is None:
        if len(described) != 1:
            raise ParameterError(
                f"{where}: kind is missing; say whose samples to map: {listing(described)}."
                if described
                else f"{where}: no kind has features to compare samples by; give one some, with features, "
                "text or features_from."
            )
        name = described[0]
    if name not in study.kinds:
        raise UnknownNameError("kind", name, study.kinds, f"{where} kind")
    if name not in described:
        raise ParameterError(
            f"{where} kind: {name!r} has no features to compare samples by; give it some, with features, "
            "text or features_from."
        )
    links = model.data.get("links")
    if links is not None:
        if model.method != "cova":
            raise ParameterError(f"{where} links: they have a meaning for method 'cova' only.")
        _check_within(study, links, name, f"{where} links")
    relations = () if links is None else (links,)
    return Uses(_part(study, [name], relations, features=True), relations, name)


def _of_network(study: Study, model: Model, where: str) -> Uses:
    within = [name for name, relation in study.relations.items() if relation.source == relation.target]
    if not within:
        raise ParameterError(
            f"{where}: no relation joins things of one kind with each other, which links do; describe one "
            "as [relations.NAME]."
        )
    links = _one_relation(study, model, where, "links", within)
    kind = study.relations[links].source
    _check_within(study, links, kind, f"{where} links")
    if not study.kinds[kind].has_features and model.method != "links":
        raise ParameterError(
            f"{where}: {kind!r} has no contents; give it some, with features, text or features_from, or "
            'write method = "links".'
        )
    features = model.method != "links"
    return Uses(_part(study, [kind], (links,), features=features), (links,), kind)


def _check_within(study: Study, name: str, kind: str, where: str) -> None:
    if name not in study.relations:
        raise UnknownNameError("relation", name, study.relations, where)
    relation = study.relations[name]
    if (relation.source, relation.target) != (kind, kind):
        raise ParameterError(
            f"{where}: {name!r} joins {relation.source!r} and {relation.target!r}; links join {kind!r} with "
            "each other."
        )


def _kinds(study: Study, relations: Iterable[str]) -> list[str]:
    ends = {
        kind for name in relations for kind in (study.relations[name].source, study.relations[name].target)
    }
    return [kind for kind in study.kinds if kind in ends]


def _part(study: Study, kinds: Iterable[str], relations: Iterable[str], *, features: bool) -> Study:
    """Keep of a study some kinds and relations, and where features are wanted, those that give them."""
    chosen = {name: study.kinds[name] for name in kinds}
    needed = set(relations)
    if features:
        for kind in list(chosen.values()):
            if kind.features_from is not None:
                needed.add(kind.features_from)
    else:
        chosen = {name: replace(kind, features_from=None) for name, kind in chosen.items()}
    for name in needed:
        for end in (study.relations[name].source, study.relations[name].target):
            chosen.setdefault(end, replace(study.kinds[end], features_from=None))
    return replace(
        study,
        kinds={name: chosen[name] for name in study.kinds if name in chosen},
        relations={name: relation for name, relation in study.relations.items() if name in needed},
        guidance={name: weight for name, weight in study.guidance.items() if name in needed},
        models={},
        outputs={},
    )
