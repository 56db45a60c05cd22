"""relscape puts things of different kinds on one map, given only how they relate."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relscape import datasets as datasets
    from relscape.data import EntitySet as EntitySet
    from relscape.data import Relation as Relation
    from relscape.data import RelationalData as RelationalData
    from relscape.maps import Map as Map

_HOMES = {
    "EntitySet": "relscape.data",
    "Map": "relscape.maps",
    "Relation": "relscape.data",
    "RelationalData": "relscape.data",
}

__version__ = "0.1.0"
__all__ = sorted([*_HOMES, "datasets"])


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("relscape.datasets")
    if name not in _HOMES:
        raise AttributeError(f"module 'relscape' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
