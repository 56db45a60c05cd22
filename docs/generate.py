"""Write the API pages, one for every name of ``relscape.__all__``; ``make docs`` runs this before Sphinx."""

from __future__ import annotations

import inspect
import shutil
from pathlib import Path
from types import ModuleType

import relscape

API = Path(__file__).parent / "api"

GROUPS = {
    "Data": (
        "EntitySet",
        "Relation",
        "RelationalData",
        "KnowledgeGraph",
        "Guidance",
        "read",
        "read_text",
        "read_matrix",
        "read_anndata",
        "read_10x",
        "read_graph",
        "read_ratings",
        "read_publications",
        "datasets",
        "read_links",
        "hold_out_links",
        "hold_out_documents",
    ),
    "Models": (
        "CorrespondenceAnalysis",
        "BipartiteSpectral",
        "LatentSemanticIndexing",
        "CFRM",
        "CORT",
        "CoEmbedding",
        "ACAS",
        "CODE",
        "PSDCODE",
        "MKPE",
        "MultiCODE",
        "ParametricEmbedding",
        "SDR",
        "COVA",
        "SNE",
        "TSNE",
        "SupervisedSNE",
        "SupervisedTSNE",
        "HeterogeneousProjection",
        "LPP",
        "MultiViewLPP",
        "RidgeCCA",
        "KGEmbedding",
        "DocumentNetwork",
        "ContentOnly",
        "LinkOnly",
        "RTM",
        "CESNA",
        "SPML",
        "load_model",
    ),
    "Settings of cohort models": (
        "GaussianAffinity",
        "CosineAffinity",
        "DistanceAffinity",
        "GaussianConfidence",
        "StudentConfidence",
        "KernelConfidence",
        "RangeConfidence",
        "SNEPrototypes",
        "TSNEPrototypes",
        "MDSPrototypes",
        "LaplacianPrototypes",
        "MeanPrototypes",
        "RelationFeatures",
    ),
    "Choosing": ("choose_weights", "keep_neighbourhoods", "tuning"),
    "Maps": ("Map", "place", "cluster_map", "Clustering"),
    "Scores": (
        "gamma_loss",
        "mean_rank",
        "one_nn_error",
        "class_word_error",
        "doc_doc",
        "doc_word",
        "authorship",
        "normalized_purity",
        "cohort_separation",
        "cohort_position",
        "cohort_neighbors",
        "neighbor_preservation",
        "guidance_satisfaction",
        "ndcg",
        "guess_ndcg",
        "rand_index",
        "RankingReport",
        "LinkReport",
        "scores",
    ),
}
BESIDE = (
    "relscape.tuning",
    "relscape.tuning.knowledge",
    "relscape.tuning.projection",
    "relscape.plot",
    "relscape.explorer",
    "relscape.maps.publishing",
    "relscape.distributed",
    "relscape.errors",
)


def write_pages(folder: Path) -> list[Path]:
    """Write a page for every public name, one for each module beside them, and the index of all."""
    grouped = [name for names in GROUPS.values() for name in names]
    others = sorted(set(relscape.__all__) - set(grouped))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pages = [_write(folder, name, _page(name, getattr(relscape, name))) for name in relscape.__all__]
    pages += [_write(folder, name.partition(".")[2], _module_page(name)) for name in BESIDE]
    sections = {**GROUPS, "Others": tuple(others)} if others else dict(GROUPS)
    beside = (name.partition(".")[2] for name in BESIDE)
    sections["Beside them"] = tuple(name for name in beside if name not in grouped)
    return [*pages, _write(folder, "index", _index(sections))]


def _page(name: str, thing: object) -> str:
    if isinstance(thing, ModuleType):
        return _module_page(thing.__name__)
    home = f"{thing.__module__}.{name}"
    title = f"relscape.{name}"
    if inspect.isclass(thing):
        body = f".. autoclass:: {home}\n   :members:\n   :inherited-members: BaseEstimator\n"
        body += f"   :exclude-members: {', '.join(_left_out(thing))}\n"
    else:
        body = f".. autofunction:: {home}\n"
    return f"{title}\n{'=' * len(title)}\n\n{body}"


def _left_out(model: type) -> list[str]:
    """List members that are scikit-learn's machinery, or learned things, which the class itself tells of."""
    requests = [name for name in dir(model) if name.startswith("set_") and name.endswith("_request")]
    learned = [name for name, value in inspect.getmembers(model) if _is_learned(name, value)]
    return ["get_metadata_routing", "set_output", "get_feature_names_out", *requests, *learned]


def _is_learned(name: str, value: object) -> bool:
    return isinstance(value, property) and name.endswith("_") and not name.startswith("_")


def _module_page(name: str) -> str:
    return f"{name}\n{'=' * len(name)}\n\n.. automodule:: {name}\n   :members:\n   :show-inheritance:\n"


def _index(sections: dict[str, tuple[str, ...]]) -> str:
    parts = ["API\n===\n\nEvery public name, ``import relscape as rs``.\n"]
    for section, names in sections.items():
        listed = "\n".join(f"   {name}" for name in names)
        parts.append(f"{section}\n{'-' * len(section)}\n\n.. toctree::\n   :maxdepth: 1\n\n{listed}\n")
    return "\n".join(parts)


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.rst"
    path.write_text(text, encoding="utf-8")
    return path


if __name__ == "__main__":
    print(f"{len(write_pages(API))} API pages written")
