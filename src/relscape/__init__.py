"""relscape puts things of different kinds on one map, given only how they relate."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relscape import datasets, scores
    from relscape.data import EntitySet, Relation, RelationalData
    from relscape.data.guidance import Guidance
    from relscape.data.link_splits import hold_out_documents, hold_out_links
    from relscape.data.links import read_links
    from relscape.data.triples import KnowledgeGraph
    from relscape.maps import Map
    from relscape.matrix.affinity import CosineAffinity, DistanceAffinity, GaussianAffinity
    from relscape.matrix.confidence import (
        GaussianConfidence,
        KernelConfidence,
        RangeConfidence,
        StudentConfidence,
    )
    from relscape.matrix.features import RelationFeatures
    from relscape.models.acas import ACAS
    from relscape.models.baselines import SNE, TSNE, SupervisedSNE, SupervisedTSNE
    from relscape.models.cesna import CESNA
    from relscape.models.clustering import Clustering, cluster_map
    from relscape.models.code import CODE
    from relscape.models.cova import COVA
    from relscape.models.knowledge import KGEmbedding
    from relscape.models.mkpe import MKPE
    from relscape.models.multi_code import MultiCODE
    from relscape.models.mutual import CoEmbedding
    from relscape.models.network import DocumentNetwork
    from relscape.models.network_baselines import ContentOnly, LinkOnly
    from relscape.models.placing import place
    from relscape.models.projection import HeterogeneousProjection
    from relscape.models.projection_cases import LPP, MultiViewLPP, RidgeCCA
    from relscape.models.prototypes import (
        LaplacianPrototypes,
        MDSPrototypes,
        MeanPrototypes,
        SNEPrototypes,
        TSNEPrototypes,
    )
    from relscape.models.psd_code import PSDCODE
    from relscape.models.registry import load_model
    from relscape.models.rtm import RTM
    from relscape.models.special import SDR, ParametricEmbedding
    from relscape.models.spectral import (
        CFRM,
        CORT,
        BipartiteSpectral,
        CorrespondenceAnalysis,
        LatentSemanticIndexing,
    )
    from relscape.models.spml import SPML
    from relscape.scores import (
        authorship,
        class_word_error,
        cohort_neighbors,
        cohort_position,
        cohort_separation,
        doc_doc,
        doc_word,
        gamma_loss,
        guess_ndcg,
        guidance_satisfaction,
        mean_rank,
        ndcg,
        neighbor_preservation,
        normalized_purity,
        one_nn_error,
        rand_index,
    )
    from relscape.scores.links import LinkReport
    from relscape.scores.ranking_report import RankingReport
    from relscape.sources.cells import read_10x, read_anndata
    from relscape.sources.graphs import read_graph
    from relscape.sources.matrices import read_matrix
    from relscape.sources.publications import read_publications
    from relscape.sources.ratings import read_ratings
    from relscape.sources.tables import read
    from relscape.sources.text import read_text
    from relscape.tuning.cohorts import choose_weights, keep_neighbourhoods

__version__ = "0.1.0"

__all__ = [
    "ACAS",
    "CESNA",
    "CFRM",
    "CODE",
    "CORT",
    "COVA",
    "LPP",
    "MKPE",
    "PSDCODE",
    "RTM",
    "SDR",
    "SNE",
    "SPML",
    "TSNE",
    "BipartiteSpectral",
    "Clustering",
    "CoEmbedding",
    "ContentOnly",
    "CorrespondenceAnalysis",
    "CosineAffinity",
    "DistanceAffinity",
    "DocumentNetwork",
    "EntitySet",
    "GaussianAffinity",
    "GaussianConfidence",
    "Guidance",
    "HeterogeneousProjection",
    "KGEmbedding",
    "KernelConfidence",
    "KnowledgeGraph",
    "LaplacianPrototypes",
    "LatentSemanticIndexing",
    "LinkOnly",
    "LinkReport",
    "MDSPrototypes",
    "Map",
    "MeanPrototypes",
    "MultiCODE",
    "MultiViewLPP",
    "ParametricEmbedding",
    "RangeConfidence",
    "RankingReport",
    "Relation",
    "RelationFeatures",
    "RelationalData",
    "RidgeCCA",
    "SNEPrototypes",
    "StudentConfidence",
    "SupervisedSNE",
    "SupervisedTSNE",
    "TSNEPrototypes",
    "authorship",
    "choose_weights",
    "class_word_error",
    "cluster_map",
    "cohort_neighbors",
    "cohort_position",
    "cohort_separation",
    "datasets",
    "doc_doc",
    "doc_word",
    "gamma_loss",
    "guess_ndcg",
    "guidance_satisfaction",
    "hold_out_documents",
    "hold_out_links",
    "keep_neighbourhoods",
    "load_model",
    "mean_rank",
    "ndcg",
    "neighbor_preservation",
    "normalized_purity",
    "one_nn_error",
    "place",
    "rand_index",
    "read",
    "read_10x",
    "read_anndata",
    "read_graph",
    "read_links",
    "read_matrix",
    "read_publications",
    "read_ratings",
    "read_text",
    "scores",
]

_HOMES = {
    "ACAS": "models.acas",
    "CESNA": "models.cesna",
    "CFRM": "models.spectral",
    "CODE": "models.code",
    "CORT": "models.spectral",
    "COVA": "models.cova",
    "LPP": "models.projection_cases",
    "MKPE": "models.mkpe",
    "PSDCODE": "models.psd_code",
    "RTM": "models.rtm",
    "SDR": "models.special",
    "SNE": "models.baselines",
    "SPML": "models.spml",
    "TSNE": "models.baselines",
    "BipartiteSpectral": "models.spectral",
    "Clustering": "models.clustering",
    "CoEmbedding": "models.mutual",
    "ContentOnly": "models.network_baselines",
    "CorrespondenceAnalysis": "models.spectral",
    "CosineAffinity": "matrix.affinity",
    "DistanceAffinity": "matrix.affinity",
    "DocumentNetwork": "models.network",
    "EntitySet": "data",
    "GaussianAffinity": "matrix.affinity",
    "GaussianConfidence": "matrix.confidence",
    "Guidance": "data.guidance",
    "HeterogeneousProjection": "models.projection",
    "KGEmbedding": "models.knowledge",
    "KernelConfidence": "matrix.confidence",
    "KnowledgeGraph": "data.triples",
    "LaplacianPrototypes": "models.prototypes",
    "LatentSemanticIndexing": "models.spectral",
    "LinkOnly": "models.network_baselines",
    "LinkReport": "scores.links",
    "MDSPrototypes": "models.prototypes",
    "Map": "maps",
    "MeanPrototypes": "models.prototypes",
    "MultiCODE": "models.multi_code",
    "MultiViewLPP": "models.projection_cases",
    "ParametricEmbedding": "models.special",
    "RangeConfidence": "matrix.confidence",
    "RankingReport": "scores.ranking_report",
    "Relation": "data",
    "RelationFeatures": "matrix.features",
    "RelationalData": "data",
    "RidgeCCA": "models.projection_cases",
    "SNEPrototypes": "models.prototypes",
    "StudentConfidence": "matrix.confidence",
    "SupervisedSNE": "models.baselines",
    "SupervisedTSNE": "models.baselines",
    "TSNEPrototypes": "models.prototypes",
    "authorship": "scores",
    "choose_weights": "tuning.cohorts",
    "class_word_error": "scores",
    "cluster_map": "models.clustering",
    "cohort_neighbors": "scores",
    "cohort_position": "scores",
    "cohort_separation": "scores",
    "doc_doc": "scores",
    "doc_word": "scores",
    "gamma_loss": "scores",
    "guess_ndcg": "scores",
    "guidance_satisfaction": "scores",
    "hold_out_documents": "data.link_splits",
    "hold_out_links": "data.link_splits",
    "keep_neighbourhoods": "tuning.cohorts",
    "load_model": "models.registry",
    "mean_rank": "scores",
    "ndcg": "scores",
    "neighbor_preservation": "scores",
    "normalized_purity": "scores",
    "one_nn_error": "scores",
    "place": "models.placing",
    "rand_index": "scores",
    "read": "sources.tables",
    "read_10x": "sources.cells",
    "read_anndata": "sources.cells",
    "read_graph": "sources.graphs",
    "read_links": "data.links",
    "read_matrix": "sources.matrices",
    "read_publications": "sources.publications",
    "read_ratings": "sources.ratings",
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
