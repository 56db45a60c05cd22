"""relscape puts things of different kinds on one map, given only how they relate."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relscape.data import EntitySet, Relation, RelationalData
    from relscape.maps import Map

__version__ = "0.1.0"

_HOMES = {
    "EntitySet": "relscape.data",
    "Map": "relscape.maps",
    "Relation": "relscape.data",
    "RelationalData": "relscape.data",
}

__all__ = ["EntitySet", "Map", "Relation", "RelationalData"]


def __getattr__(name: str) -> Any:
    if name in {"datasets", "scores"}:
        return import_module(f"relscape.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'relscape' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__", "datasets", "scores"]
