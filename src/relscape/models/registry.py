"""Every model there is, by name: feeds the command line, the contract tests and the docs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from relscape.errors import UnknownNameError
from relscape.maps.state import ModelState

__all__ = ["METHODS", "Method", "load_model", "method", "methods", "revive"]


@dataclass(frozen=True)
class Method:
    """One model: its name on the command line, its class, its family and what it is in one line."""

    name: str
    class_name: str
    module: str
    family: str
    title: str

    def model_class(self) -> type[Any]:
        """Import the class."""
        model: type[Any] = getattr(import_module(self.module), self.class_name)
        return model


_SPECTRAL = "relscape.models.spectral"
_SPECIAL = "relscape.models.special"
_BASELINES = "relscape.models.baselines"
_NETWORK_BASELINES = "relscape.models.network_baselines"
_PROJECTION_CASES = "relscape.models.projection_cases"

METHODS = {
    entry.name: entry
    for entry in (
        Method("mutual", "CoEmbedding", "relscape.models.mutual", "coembedding", "mutual co-embedding"),
        Method("ca", "CorrespondenceAnalysis", _SPECTRAL, "coembedding", "correspondence analysis"),
        Method(
            "code", "CODE", "relscape.models.code", "coembedding", "Euclidean embedding of co-occurrences"
        ),
        Method("psdcode", "PSDCODE", "relscape.models.psd_code", "coembedding", "CODE's convex form"),
        Method(
            "pe", "ParametricEmbedding", _SPECIAL, "coembedding", "parametric embedding of class posteriors"
        ),
        Method("sdr", "SDR", _SPECIAL, "coembedding", "sufficient dimensionality reduction"),
        Method("acas", "ACAS", "relscape.models.acas", "coembedding", "co-embedding with adaptive shaping"),
        Method("mkpe", "MKPE", "relscape.models.mkpe", "coembedding", "kernels of places near similarities"),
        Method("bgp", "BipartiteSpectral", _SPECTRAL, "coembedding", "bipartite spectral embedding"),
        Method("lsi", "LatentSemanticIndexing", _SPECTRAL, "coembedding", "latent semantic indexing"),
        Method("cfrm", "CFRM", _SPECTRAL, "coembedding", "collective factorisation, plain singular vectors"),
        Method("cort", "CORT", _SPECTRAL, "coembedding", "co-embedding with weights (Σ + Σ²)^½"),
        Method("multicode", "MultiCODE", "relscape.models.multi_code", "multicode", "CODE of all relations"),
        Method("cova", "COVA", "relscape.models.cova", "cohorts", "cohort-controlled embedding"),
        Method("sne", "SNE", _BASELINES, "cohorts", "stochastic neighbour embedding"),
        Method("tsne", "TSNE", _BASELINES, "cohorts", "t-distributed neighbour embedding"),
        Method("ssne", "SupervisedSNE", _BASELINES, "cohorts", "SNE with distances within cohorts shrunk"),
        Method(
            "stsne", "SupervisedTSNE", _BASELINES, "cohorts", "t-SNE with distances within cohorts shrunk"
        ),
        Method("kg", "KGEmbedding", "relscape.models.knowledge", "knowledge", "vectors of a knowledge graph"),
        Method(
            "network", "DocumentNetwork", "relscape.models.network", "network", "links and contents together"
        ),
        Method("links", "LinkOnly", _NETWORK_BASELINES, "network", "a document network's links alone"),
        Method("contents", "ContentOnly", _NETWORK_BASELINES, "network", "cosines of contents"),
        Method("rtm", "RTM", "relscape.models.rtm", "network", "relational topic model"),
        Method("cesna", "CESNA", "relscape.models.cesna", "network", "communities in links and words"),
        Method(
            "projection",
            "HeterogeneousProjection",
            "relscape.models.projection",
            "projection",
            "tables of several kinds, guided by pairs",
        ),
        Method("lpp", "LPP", _PROJECTION_CASES, "projection", "locality preserving projection"),
        Method("mvlpp", "MultiViewLPP", _PROJECTION_CASES, "projection", "the same of several views"),
        Method("cca", "RidgeCCA", _PROJECTION_CASES, "projection", "canonical correlation with a ridge"),
        Method("spml", "SPML", "relscape.models.spml", "network", "a metric that keeps the links' structure"),
    )
}


def methods(*families: str) -> dict[str, Method]:
    """Give the methods of some families, by name."""
    return {name: entry for name, entry in METHODS.items() if entry.family in families}


def method(name: str, among: Mapping[str, Method] = METHODS) -> Method:
    """Find a method by its name, among all or some."""
    if name not in among:
        raise UnknownNameError("method", name, among)
    return among[name]


def revive(state: ModelState) -> Any:
    """Build the fitted model, of whatever class, that a state describes."""
    from relscape.models.state import model_from_state

    by_class = {entry.class_name: entry for entry in METHODS.values()}
    if state.model not in by_class:
        raise UnknownNameError("model", state.model, by_class)
    return model_from_state(by_class[state.model].model_class(), state)


def load_model(path: str | Path) -> Any:
    """Read a saved model of any class."""
    from relscape.models.state import read_state

    return revive(read_state(path))
