"""The outputs of a project file: pictures, pages, files for other programs and scores, each of a model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from relscape.errors import FormatError, ParameterError, UnknownNameError, listing
from relscape.maps.export import FORMATS, format_for
from relscape.maps.layout import METHODS as LAYOUTS
from relscape.project.sections import Section
from relscape.project.study_models import Model

__all__ = ["PICTURE", "SCORES", "Output", "read_output"]

PICTURE, SCORES = "picture", "scores"
_PICTURES = (".png", ".svg", ".pdf")
_ALL = ("model", "file", "format")
_OF_PICTURES = ("kinds", "color", "labels", "title", "size", "layout", "full", "links")
_OF_EXPORTS = ("kinds", "layout")


@dataclass(frozen=True)
class Output:
    """One file to write: of which models, where, in which form, and the options of that form.

    ``form`` is "picture", "scores" or the name of an export format.
    """

    name: str
    models: tuple[str, ...]
    file: str
    form: str
    options: Mapping[str, Any] = field(default_factory=dict)


def read_output(name: str, section: Section, models: Mapping[str, Model]) -> Output:
    """Read an output; the ending of its file tells the form, unless ``format`` does."""
    file = section.needed("file", f"{name}.png")
    form = _form(section, file)
    section.only((*_ALL, *{PICTURE: _OF_PICTURES, SCORES: ()}.get(form, _OF_EXPORTS)))
    options = {key: _option(section, key, form) for key in section.content if key not in _ALL}
    return Output(name, _models(section, form, models), file, form, options)


def _form(section: Section, file: str) -> str:
    named = section.text("format", "picture")
    ending = Path(file).suffix.lower()
    fits = {PICTURE: _PICTURES, SCORES: (".json",)}
    if named is None:
        own = next((form for form, endings in fits.items() if ending in endings), None)
        if own is not None:
            return own
    if named in fits:
        if ending not in fits[named]:
            raise section.fault("file", f"expected one ending in {', '.join(fits[named])}, for {named}.")
        return named
    if named is not None and named not in FORMATS:
        raise UnknownNameError("format", named, (*fits, *FORMATS), section.where("format"))
    try:
        return format_for(Path(file), named).name
    except FormatError as error:
        known = [*_PICTURES, ".json", *(e for f in FORMATS.values() if not f.named for e in f.endings)]
        told = f"expected one of {', '.join(known)}, or say format." if named is None else str(error)
        raise section.fault("file", told) from error


def _models(section: Section, form: str, models: Mapping[str, Model]) -> tuple[str, ...]:
    """Find the models of an output: those named, the only one, or of scores all."""
    named = section.texts("model", '"overview"')
    for one in named:
        if one not in models:
            raise UnknownNameError("model", one, models, section.where("model"))
    if len(named) > 1 and form != SCORES:
        raise section.fault("model", f"expected one; {form} shows one map. Describe an output for each.")
    if named:
        return named
    if not models:
        raise ParameterError(f"{section.where()}: there is no model to write; describe one as [models.NAME].")
    if len(models) > 1 and form != SCORES:
        raise ParameterError(f"{section.where()}: model is missing; say which of {listing(models)}.")
    return tuple(models)


def _option(section: Section, key: str, form: str) -> Any:
    if key == "kinds":
        return section.texts(key, '["image", "tag"]')
    if key in ("full", "links") or (key == "layout" and form != PICTURE):
        return section.truth(key)
    if key == "layout":
        return section.choice(key, tuple(LAYOUTS))
    if key == "labels":
        value = section.content[key]
        if type(value) is not int or value < 0:
            raise section.fault(key, "expected how many labels at most, such as labels = 50.")
        return value
    if key == "size":
        value = section.content[key]
        numbers = value if isinstance(value, list) else []
        real = all(type(one) in (int, float) and math.isfinite(one) and 0 < one <= 100 for one in numbers)
        if len(numbers) != 2 or not real:
            raise section.fault(key, "expected width and height in inches, such as size = [11, 8].")
        return (float(numbers[0]), float(numbers[1]))
    return section.text(key, "album")
