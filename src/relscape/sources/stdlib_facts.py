"""Facts that one source file of the standard library states: defines, inherits, raises, imports."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = ["Definition", "Fact", "facts_of", "imported_modules", "public_definitions"]

Fact: TypeAlias = tuple[str, str, str]
Definition: TypeAlias = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

_BUILTIN_CLASSES = frozenset(name for name, value in vars(builtins).items() if isinstance(value, type))


@dataclass
class _Place:
    """What the names in a file mean.

    ``names`` gives the full name of each name that the file imports or defines, ``modules`` the top-level
    module behind each imported module's name.
    """

    names: dict[str, str] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)

    def resolve(self, node: ast.expr | None) -> str | None:
        """Give the full name that a class expression stands for, None when that is not plain or private."""
        if isinstance(node, ast.Call):
            node = node.func
        if isinstance(node, ast.Name):
            full = self.names.get(node.id) or (node.id if node.id in _BUILTIN_CLASSES else None)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = self.modules.get(node.value.id)
            full = f"{module}.{node.attr}" if module else None
        else:
            full = None
        return full if full and _is_public(full) else None


def public_definitions(node: ast.Module | ast.ClassDef) -> Iterator[Definition]:
    """Give the classes and functions that stand directly in a module or class and are not private."""
    for child in node.body:
        if isinstance(child, Definition) and not child.name.startswith("_"):
            yield child


def imported_modules(tree: ast.Module) -> Iterator[str]:
    """Give the public top-level modules that a file imports anywhere, its own package's parts aside."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module]
        yield from (_top(name) for name in names if not name.startswith("_"))


def facts_of(tree: ast.Module, module: str) -> Iterator[Fact]:
    """Give the defines, inherits and raises facts of the public classes and functions of a file."""
    place = _place(tree, module)
    for node in public_definitions(tree):
        thing = f"{module}.{node.name}"
        yield module, "defines", thing
        if isinstance(node, ast.ClassDef):
            for base in node.bases:
                parent = place.resolve(base)
                if parent is not None and parent not in (thing, "object"):
                    yield thing, "inherits", parent
        for part in ast.walk(node):
            error = place.resolve(part.exc) if isinstance(part, ast.Raise) else None
            if error is not None:
                yield thing, "raises", error


def _place(tree: ast.Module, module: str) -> _Place:
    """Collect what the names of a file mean, from its imports and definitions."""
    place = _Place()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                place.modules[alias.asname or _top(alias.name)] = _top(alias.name)
        elif isinstance(node, ast.ImportFrom):
            source = module if node.level else _top(node.module or "")
            for alias in node.names:
                place.names[alias.asname or alias.name] = f"{source}.{alias.name}"
                place.modules[alias.asname or alias.name] = source
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            place.names[node.name] = f"{module}.{node.name}"
    return place


def _top(name: str) -> str:
    """Give the public top-level module of a dotted name; ``_pydatetime`` belongs to ``datetime``."""
    return name.partition(".")[0].removeprefix("_py")


def _is_public(full: str) -> bool:
    return not any(part.startswith("_") for part in full.split("."))
