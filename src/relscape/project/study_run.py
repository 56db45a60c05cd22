"""Making all that a project file describes: only what changed, each result whole before the next begins."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from relscape import progress
from relscape.errors import RelscapeError, StorageError, UnknownNameError
from relscape.maps import Map
from relscape.maps.files import atomic_file, claimed
from relscape.maps.owned import map_files
from relscape.maps.state import read_json, write_json
from relscape.maps.store import check_target, stored_provenance
from relscape.project.sections import about
from relscape.project.study import Study
from relscape.project.study_data import load_study
from relscape.project.study_fitting import Job, fitted_map, is_kept
from relscape.project.study_models import Model
from relscape.project.study_outputs import Output
from relscape.project.study_prints import (
    Digests,
    Fingerprint,
    code_digest,
    model_fingerprint,
    settings_digest,
)
from relscape.project.study_products import write_output
from relscape.project.study_uses import Uses, models_of, uses_of

__all__ = ["Step", "StudyRun", "run_study"]

FOLDER = ".relscape"
_FORMAT, _VERSION = "relscape-run", 1
_RECORD, _RUN = "run.json", "run"


@dataclass(frozen=True)
class Step:
    """One model or output, and what became of it.

    ``status`` is "built", "up to date", "failed", "skipped" (its model failed) or, of a dry run, "to build".
    ``why`` says what made it necessary, or what went wrong.
    """

    part: str
    name: str
    path: Path
    status: str
    why: str = ""
    seconds: float = 0.0
    scores: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyRun:
    """All steps of a run, in their order."""

    steps: list[Step]

    def count(self, status: str) -> int:
        """Count the steps of a status."""
        return sum(step.status == status for step in self.steps)


def run_study(study: Study, names: Iterable[str] = (), *, force: bool = False, dry: bool = False) -> StudyRun:
    """Make the models and outputs of a study that are not there yet or not up to date.

    A model is up to date when its map was made by a run from the same contents of files, settings and code;
    an output when its file is as it was written, from the same maps, options and code. A model that fails
    does not keep others from being made.

    Parameters
    ----------
    study : Study
        What ``read_study`` gives. All of it is checked before anything is made.
    names : iterable of str
        Models, each with all its outputs, and outputs, each with its models; all unless given.
    force : bool
        Whether to make also what is up to date, of what is named.
    dry : bool
        Whether to say only what would be made.

    Notes
    -----
    Of two runs at once in one folder the second is refused; a dry run always goes.
    """
    if dry:
        return _Run(study, force, dry).run(list(names))
    with claimed(study.path.parent / FOLDER / _RECORD, "running a project"):
        return _Run(study, force, dry).run(list(names))


class _Run:
    """A run under way: digests of files, tables that were read, and the record of outputs."""

    def __init__(self, study: Study, force: bool, dry: bool) -> None:
        self.study, self.force, self.dry = study, force, dry
        self.models = models_of(study)
        self.uses = {name: uses_of(study, model) for name, model in self.models.items()}
        self.digests = Digests()
        self.tables: dict[Any, Any] = {}
        self.folder = study.path.parent / FOLDER
        self.record = self._read_record()

    def run(self, names: list[str]) -> StudyRun:
        models, outputs, forced = self._chosen(names)
        steps: list[Step] = []
        total = len(models) + len(outputs)
        for model in models:
            progress.note(f"{len(steps) + 1} of {total}: model {model.name}")
            steps.append(self._model(model, model.name in forced))
        for output in outputs:
            progress.note(f"{len(steps) + 1} of {total}: output {output.name}")
            steps.append(self._output(output, output.name in forced, steps))
        return StudyRun(steps)

    def _chosen(self, names: list[str]) -> tuple[list[Model], list[Output], set[str]]:
        """Find what is asked for, with what it needs, and what of that is forced: only what is named."""
        outputs = self.study.outputs
        for name in names:
            if name not in self.models and name not in outputs:
                raise UnknownNameError(
                    "model or output", name, [*self.models, *outputs], str(self.study.path)
                )
        wanted = set(names or self.models) & set(self.models)
        written = [
            output
            for output in outputs.values()
            if not names or output.name in names or wanted & set(output.models)
        ]
        forced = ({output.name for output in written} | wanted) if self.force else set()
        needed = wanted | {name for output in written for name in output.models}
        return [model for name, model in self.models.items() if name in needed], written, forced

    # ------------------------------------------------------------------ models

    def _model(self, model: Model, forced: bool) -> Step:
        target, uses = self._place(model.map), self.uses[model.name]
        step = Step("model", model.name, target, "up to date")
        started = time.perf_counter()
        try:
            with about(self.study.where(f"models.{model.name}", "map")):
                check_target(target)
            wanted = model_fingerprint(model, uses, self.digests)
            why = "forced" if forced else _outdated(target, wanted)
            if why is None and not is_kept(model, self.study):
                why = "trained model is missing"
            if why is None:
                return replace(step, scores=Map.load(target).scores)
            if self.dry:
                return replace(step, status="to build", why=why)
            joint = self._made(model, uses, wanted, target)
        except RelscapeError as error:
            return replace(step, status="failed", why=str(error))
        seconds = time.perf_counter() - started
        return replace(step, status="built", why=why, seconds=seconds, scores=joint.scores)

    def _made(self, model: Model, uses: Uses, wanted: Fingerprint, target: Path) -> Map:
        """Read what a model needs, fit it and save its map with the fingerprint of all that made it."""
        stopped = self.folder / "unfinished" / hashlib.sha256(model.name.encode()).hexdigest()[:16]
        loaded = load_study(uses.study, self.tables)
        with about(self.study.where(f"models.{model.name}" if model.name in self.study.models else "")):
            joint = fitted_map(Job(model, uses, loaded, stopped / wanted.short))
        joint.provenance[_RUN] = asdict(wanted)
        joint.save(target)
        shutil.rmtree(stopped, ignore_errors=True)
        self.digests.forget(target)
        return joint

    # ------------------------------------------------------------------ outputs

    def _output(self, output: Output, forced: bool, steps: list[Step]) -> Step:
        target = self._place(output.file)
        step = Step("output", output.name, target, "up to date")
        of = {done.name: done for done in steps if done.part == "model" and done.name in output.models}
        lost = [name for name, done in of.items() if done.status == "failed"]
        if lost:
            return replace(step, status="skipped", why=f"model {lost[0]} failed")
        rebuilt = [name for name, done in of.items() if done.status == "to build"]
        if rebuilt:
            return replace(step, status="to build", why=f"model {rebuilt[0]} is to build")
        started = time.perf_counter()
        try:
            wanted = self._fingerprint(output, of)
            why = "forced" if forced else self._stale(output, wanted, target)
            if why is None or self.dry:
                return step if why is None else replace(step, status="to build", why=why)
            with about(self.study.where(f"outputs.{output.name}")):
                write_output(output, {name: Map.load(done.path) for name, done in of.items()}, target)
            self._remember(output, wanted, target)
        except RelscapeError as error:
            return replace(step, status="failed", why=str(error))
        return replace(step, status="built", why=why, seconds=time.perf_counter() - started)

    def _fingerprint(self, output: Output, of: Mapping[str, Step]) -> Fingerprint:
        files = [file for done in of.values() for file in map_files(done.path) or ()]
        return Fingerprint(self.digests.of(files), settings_digest(output), code_digest())

    def _stale(self, output: Output, wanted: Fingerprint, target: Path) -> str | None:
        """Say why an output has to be written; None where it is there, as it was written."""
        stored = self.record.get(output.name)
        if not target.exists():
            return "new"
        changed = wanted.change_since(stored)
        if changed is not None or stored is None:
            return (changed or "new").replace("data changed", "map changed")
        return None if stored.get("content") == self.digests.of([target]) else "file changed"

    def _remember(self, output: Output, wanted: Fingerprint, target: Path) -> None:
        self.digests.forget(target)
        self.record[output.name] = {**asdict(wanted), "content": self.digests.of([target])}
        content = {"format": _FORMAT, "version": _VERSION, "outputs": self.record}
        with atomic_file(self.folder / _RECORD) as draft:
            write_json(draft, content)

    def _read_record(self) -> dict[str, Any]:
        """Read what was written from what; where the record is damaged, outputs are written again."""
        try:
            outputs = read_json(self.folder / _RECORD, _FORMAT, _VERSION).get("outputs")
        except (StorageError, OSError):
            return {}
        sound = isinstance(outputs, dict) and all(isinstance(entry, dict) for entry in outputs.values())
        return outputs if sound and isinstance(outputs, dict) else {}

    def _place(self, path: str) -> Path:
        return Path(self.study.located((path,))[0])


def _outdated(target: Path, wanted: Fingerprint) -> str | None:
    """Say why a map has to be made; None where it is whole, and made from the same."""
    if map_files(target) is None:
        return "new"
    return wanted.change_since(stored_provenance(target).get(_RUN))
