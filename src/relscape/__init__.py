"""relscape puts things of different kinds on one map, given only how they relate."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relscape import datasets, scores
    from relscape.data import EntitySet, Relation, RelationalData
    from relscape.maps import Map
    from relscape.models.acas import ACAS
    from relscape.models.code import CODE
    from relscape.models.multi_code import MultiCODE
    from relscape.models.mutual import CoEmbedding
    from relscape.models.placing import place
    from relscape.models.psd_code import PSDCODE
    from relscape.models.registry import load_model
    from relscape.models.special import SDR, ParametricEmbedding
    from relscape.models.spectral import (
        CFRM,
        CORT,
        BipartiteSpectral,
        CorrespondenceAnalysis,
        LatentSemanticIndexing,
    )
    from relscape.scores import (
        authorship,
        class_word_error,
        doc_doc,
        doc_word,
        gamma_loss,
        mean_rank,
        normalized_purity,
        one_nn_error,
    )
    from relscape.sources.tables import read
    from relscape.sources.text import read_text

__version__ = "0.1.0"

__all__ = [
    "ACAS",
    "CFRM",
    "CODE",
    "CORT",
    "PSDCODE",
    "SDR",
    "BipartiteSpectral",
    "CoEmbedding",
    "CorrespondenceAnalysis",
    "EntitySet",
    "LatentSemanticIndexing",
    "Map",
    "MultiCODE",
    "ParametricEmbedding",
    "Relation",
    "RelationalData",
    "authorship",
    "class_word_error",
    "datasets",
    "doc_doc",
    "doc_word",
    "gamma_loss",
    "load_model",
    "mean_rank",
    "normalized_purity",
    "one_nn_error",
    "place",
    "read",
    "read_text",
    "scores",
]

_HOMES = {
    "ACAS": "models.acas",
    "CFRM": "models.spectral",
    "CODE": "models.code",
    "CORT": "models.spectral",
    "PSDCODE": "models.psd_code",
    "SDR": "models.special",
    "BipartiteSpectral": "models.spectral",
    "CoEmbedding": "models.mutual",
    "CorrespondenceAnalysis": "models.spectral",
    "EntitySet": "data",
    "LatentSemanticIndexing": "models.spectral",
    "Map": "maps",
    "MultiCODE": "models.multi_code",
    "ParametricEmbedding": "models.special",
    "Relation": "data",
    "RelationalData": "data",
    "authorship": "scores",
    "class_word_error": "scores",
    "doc_doc": "scores",
    "doc_word": "scores",
    "gamma_loss": "scores",
    "load_model": "models.registry",
    "mean_rank": "scores",
    "normalized_purity": "scores",
    "one_nn_error": "scores",
    "place": "models.placing",
    "read": "sources.tables",
    "read_text": "sources.text",
}


def __getattr__(name: str) -> Any:
    if name in ("datasets", "scores"):
        return import_module(f"relscape.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'relscape' has no attribute {name!r}")
    return getattr(import_module(f"relscape.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
