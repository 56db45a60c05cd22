"""Write the API pages, one for every name of ``relscape.__all__``; ``make docs`` runs this before Sphinx."""

from __future__ import annotations

import importlib
import inspect
import re
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
# where the things of a group are explained, and those that have a page of their own
EXPLAINED = {
    "Data": "data",
    "Settings of cohort models": "methods/cova",
    "Choosing": "methods/cova",
    "Maps": "maps",
    "Scores": "scores",
}
PAGES = {
    "methods/correspondence_analysis": ("CorrespondenceAnalysis",),
    "methods/bipartite_spectral": ("BipartiteSpectral",),
    "methods/latent_semantic_indexing": ("LatentSemanticIndexing",),
    "methods/cfrm": ("CFRM",),
    "methods/cort": ("CORT",),
    "methods/coembedding": ("CoEmbedding",),
    "methods/acas": ("ACAS",),
    "methods/code": ("CODE",),
    "methods/psd_code": ("PSDCODE",),
    "methods/mkpe": ("MKPE",),
    "methods/multi_code": ("MultiCODE",),
    "methods/special": ("ParametricEmbedding", "SDR"),
    "methods/cova": ("COVA",),
    "methods/neighbour_embedding": ("SNE", "TSNE", "SupervisedSNE", "SupervisedTSNE"),
    "methods/projection": ("HeterogeneousProjection", "LPP", "MultiViewLPP", "RidgeCCA", "Guidance"),
    "methods/knowledge_graphs": ("KGEmbedding", "KnowledgeGraph", "RankingReport"),
    "methods/document_networks": (
        "DocumentNetwork",
        "ContentOnly",
        "LinkOnly",
        "RTM",
        "CESNA",
        "SPML",
        "LinkReport",
        "read_links",
        "hold_out_links",
        "hold_out_documents",
    ),
    "methods/index": ("load_model",),
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


def explained_at(name: str) -> str | None:
    """Give the page that explains a public name in words, where there is one."""
    for page, names in PAGES.items():
        if name in names:
            return page
    return next((EXPLAINED.get(group) for group, names in GROUPS.items() if name in names), None)


def _page(name: str, thing: object) -> str:
    explained = explained_at(name)
    also = f".. seealso:: :doc:`/{explained}`\n\n" if explained else ""
    if isinstance(thing, ModuleType):
        return _module_page(thing.__name__, also)
    title = f"relscape.{name}"
    if inspect.isclass(thing):
        body = f".. autoclass:: {title}\n   :members:\n   :inherited-members: BaseEstimator\n"
        body += f"   :exclude-members: {', '.join(_left_out(thing))}\n"
    else:
        body = f".. autofunction:: {title}\n"
    return f"{title}\n{'=' * len(title)}\n\n{also}{body}"


def _left_out(model: type) -> list[str]:
    """List members that are scikit-learn's machinery, or learned things, which the class itself tells of."""
    requests = [name for name in dir(model) if name.startswith("set_") and name.endswith("_request")]
    learned = [name for name, value in inspect.getmembers(model) if _is_learned(name, value)]
    return ["get_metadata_routing", "set_output", "get_feature_names_out", *requests, *learned]


def _is_learned(name: str, value: object) -> bool:
    return isinstance(value, property) and name.endswith("_") and not name.startswith("_")


def _module_page(name: str, also: str = "") -> str:
    """Show all of a module but the classes that have pages of their own, which cannot be described twice."""
    offered = getattr(importlib.import_module(name), "__all__", ())
    own = [other for other in offered if inspect.isclass(getattr(relscape, other, None))]
    body = f".. automodule:: {name}\n   :members:\n   :show-inheritance:\n"
    body += f"   :exclude-members: {', '.join(own)}\n" if own else ""
    return f"{name}\n{'=' * len(name)}\n\n{also}{body}"


def _index(sections: dict[str, tuple[str, ...]]) -> str:
    parts = ["API\n===\n\nEvery public name, ``import relscape as rs``.\n"]
    for section, names in sections.items():
        told = "\n".join(f"- :doc:`{name} <{name}>`: {_first_line(name)}" for name in names)
        listed = "\n".join(f"   {name}" for name in names)
        toctree = f".. toctree::\n   :hidden:\n\n{listed}\n"
        parts.append(f"{section}\n{'-' * len(section)}\n\n{told}\n\n{toctree}")
    return "\n".join(parts)


def _first_line(name: str) -> str:
    """Give what a docstring says in its first line, with formulas as code, as on the pages."""
    public = name in relscape.__all__
    thing = getattr(relscape, name) if public else importlib.import_module(f"relscape.{name}")
    return re.sub(r":math:`([^`]*)`", r"``\1``", (inspect.getdoc(thing) or "").partition("\n")[0])


def _write(folder: Path, name: str, text: str) -> Path:
    path = folder / f"{name}.rst"
    path.write_text(text, encoding="utf-8")
    return path


if __name__ == "__main__":
    print(f"{len(write_pages(API))} API pages written")
