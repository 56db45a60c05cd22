"""A model laid down as plain values and arrays: ``model.json`` and ``model.safetensors``, never a pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from relscape.errors import DataError, FormatError, StorageError
from relscape.protocols import AnyArray, TextArray

__all__ = [
    "MODEL_FILES",
    "ModelState",
    "check_regular",
    "plain",
    "read_arrays",
    "read_json",
    "seal",
    "write_arrays",
    "write_json",
]

FORMAT = "relscape-model"
VERSION = 1
MODEL_FILES = ("model.json", "model.safetensors")
_STORABLE = {
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64"),
}


@dataclass(frozen=True, eq=False)
class ModelState:
    """Everything a fitted model needs to work again.

    ``values`` holds what JSON can say, ``arrays`` numbers, ``texts`` arrays of names.
    """

    model: str
    parameters: Mapping[str, Any]
    values: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, AnyArray] = field(default_factory=dict)
    texts: Mapping[str, TextArray] = field(default_factory=dict)

    def write(self, directory: Path) -> None:
        """Write the two files into an existing directory."""
        header = {
            "format": FORMAT,
            "version": VERSION,
            "model": self.model,
            "parameters": self.parameters,
            "values": self.values,
            "texts": sorted(self.texts),
        }
        packed = dict(self.arrays)
        for name, texts in self.texts.items():
            packed[f"{name}.bytes"], packed[f"{name}.ends"] = _pack(texts)
        write_json(directory / "model.json", header | {"seal": seal(header, packed)})
        write_arrays(directory / "model.safetensors", packed)

    @classmethod
    def read(cls, directory: Path) -> ModelState:
        """Read what :meth:`write` wrote; anything else is refused."""
        path = directory / "model.json"
        header = read_json(path, FORMAT, VERSION)
        arrays = read_arrays(directory / "model.safetensors")
        if header.pop("seal", None) != seal(header, arrays):
            raise FormatError(
                f"{path}: this model is damaged, or was changed by hand: its contents are not those that its "
                "seal was made of. Fit it again."
            )
        try:
            texts = {
                name: _unpack(arrays.pop(f"{name}.bytes"), arrays.pop(f"{name}.ends"))
                for name in header["texts"]
            }
            return cls(header["model"], header["parameters"], header["values"], arrays, texts)
        except (KeyError, TypeError, AttributeError, UnicodeDecodeError) as error:
            raise FormatError(f"{path}: this model is damaged ({error!r}); fit it again.") from error


def seal(header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> str:
    """Digest a header and its arrays, names, shapes and types with them, so that no damage goes unnoticed."""
    try:
        said = json.dumps(header, sort_keys=True, default=plain)
    except (TypeError, ValueError) as error:
        raise DataError(f"{_unwritable(header)} cannot be stored with the model ({error}).") from error
    digest = hashlib.sha256(said.encode("utf-8", "surrogatepass"))
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        digest.update(f"\0{name}\0{array.dtype}\0{array.shape}\0".encode())
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write readable JSON; NaN is refused because other tools cannot read it."""
    try:
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False, default=plain)
        encoded = (text + "\n").encode()
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{path.name} can hold texts, finite numbers, lists and dicts with text keys, "
            f"but {_unwritable(content)} has something else ({error})."
        ) from error
    path.write_bytes(encoded)


def _unwritable(content: Mapping[str, Any]) -> str:
    """Name the first entry of a header that JSON cannot hold."""
    for name, value in content.items():
        try:
            json.dumps(value, ensure_ascii=False, allow_nan=False, default=plain).encode()
        except (TypeError, ValueError):
            return f"{name}.{_unwritable(value)}" if isinstance(value, Mapping) else str(name)
    return "a key"


def plain(value: Any) -> Any:
    """Turn numpy scalars and small arrays into what JSON knows."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def check_regular(path: Path) -> None:
    """Refuse what is there but no file: a pipe would be waited for, a device read without end."""
    if path.exists() and not path.is_file():
        raise FormatError(f"{path} is not a file; what it belongs to was damaged.")


def read_json(path: Path, form: str, version: int) -> dict[str, Any]:
    """Read a header and check that it is of the expected form and of a version we know."""
    try:
        check_regular(path)
        content = json.loads(path.read_text(encoding="utf-8"))
        json.dumps(content, ensure_ascii=False, allow_nan=False).encode()  # or it could not be saved again
    except FileNotFoundError as error:
        raise FormatError(f"{path} is missing: {path.parent} is not a {form}, or was damaged.") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} is not readable JSON ({error}); it was damaged or is not ours.") from error
    if not isinstance(content, dict) or content.get("format") != form:
        raise FormatError(f"{path} is not a {form}.")
    if content.get("version") != version:
        raise FormatError(
            f"{path} has format version {content.get('version')!r}; this relscape reads version {version}. "
            "Install a matching relscape or make it again."
        )
    return content


def write_arrays(path: Path, arrays: Mapping[str, AnyArray]) -> None:
    """Write named arrays as safetensors."""
    laid_out = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    for name, array in laid_out.items():
        if array.dtype.name not in _STORABLE:
            raise DataError(
                f"the array {name!r} is of type {array.dtype}, which cannot be stored; "
                "numbers and truth values can: turn it into float64, for example."
            )
    try:
        save_file(laid_out, str(path))
    except SafetensorError as error:
        raise StorageError(
            f"cannot write {path.name}: {error}. Free some space or choose another place."
        ) from error


def read_arrays(path: Path) -> dict[str, AnyArray]:
    """Read named arrays; a damaged file is refused."""
    try:
        check_regular(path)
        return dict(load_file(str(path)))
    except FileNotFoundError as error:
        raise FormatError(f"{path} is missing: the directory was damaged.") from error
    except (SafetensorError, ValueError, KeyError, OverflowError) as error:
        raise FormatError(f"{path} is damaged ({error}).") from error


def _pack(texts: TextArray) -> tuple[AnyArray, AnyArray]:
    """Lay texts end to end as bytes, with the end of each."""
    encoded = [str(text).encode() for text in texts]
    ends = np.cumsum([len(e) for e in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), ends


def _unpack(packed: AnyArray, ends: AnyArray) -> TextArray:
    content = packed.tobytes()
    starts = np.concatenate([[0], ends[:-1]]) if ends.size else ends
    return np.array(
        [content[a:b].decode() for a, b in zip(starts.tolist(), ends.tolist(), strict=True)], dtype=object
    )
