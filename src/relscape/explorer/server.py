"""The server: one page, one or two maps, and answers; nothing else, and nothing is ever written."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from relscape.errors import ParameterError, RelscapeError
from relscape.explorer.bundle import Bundle, make_bundle, sayable
from relscape.explorer.columns import Column
from relscape.explorer.exhibit import Exhibit
from relscape.explorer.jobs import BusyError, Job, Jobs
from relscape.explorer.page import INDEX, Page, media_type
from relscape.explorer.questions import Questions
from relscape.explorer.requests import asked_for, body_of, comes_from_afar, share, whole
from relscape.explorer.security import Address, Guard
from relscape.models.cova_variants import VARIANTS

__all__ = ["make_app"]

MOST_NEIGHBORS = 100
MOST_ANSWERS = 500
_WORTH_PACKING = 65_536  # bytes
_PACKS_WELL = 0.8  # of a sample's bytes


def make_app(exhibits: Sequence[Exhibit], page: Page, address: Address, token: str | None = None) -> Guard:
    """Make the server of one exhibit, or of two to compare, under ``/api`` and ``/api/2``."""
    jobs = Jobs()
    routes: list[Route] = []
    for number, exhibit in reversed([*enumerate(exhibits, 1)]):
        bundle = make_bundle(exhibit)
        if number == 1:
            bundle.manifest["second"] = len(exhibits) > 1
        routes += Gallery(exhibit, bundle, jobs).routes("/api" if number == 1 else f"/api/{number}")
    files = {f"/{name}": (content, media_type(name)) for name, content in page.files.items()}
    files["/"] = files[f"/{INDEX}"]

    def built(request: Request) -> Response:
        found = files.get("/" + request.path_params["path"])
        if found is None:
            raise HTTPException(404, "there is nothing here.")
        content, kind = found
        return Response(content, media_type=kind)

    app = Starlette(
        routes=[*routes, Route("/{path:path}", built)],
        exception_handlers={HTTPException: _told, RelscapeError: _told, Exception: _told},
    )
    return Guard(app, address, token)


def _told(_: Request, error: Exception) -> Response:
    """Answer a mistake with one message and the right status."""
    if isinstance(error, HTTPException):
        return JSONResponse({"error": error.detail}, error.status_code, headers=error.headers)
    if isinstance(error, BusyError):
        return JSONResponse({"error": str(error)}, 409)
    if isinstance(error, RelscapeError):
        return JSONResponse({"error": str(error)}, 400)
    return JSONResponse({"error": f"this is a bug in relscape ({type(error).__name__}: {error})."}, 500)


class Gallery:
    """The answers about one exhibit."""

    def __init__(self, exhibit: Exhibit, bundle: Bundle, jobs: Jobs) -> None:
        self.exhibit, self.bundle, self.jobs = exhibit, bundle, jobs
        self.questions = Questions(exhibit)
        self._manifest = _encoded(bundle.manifest)
        self._packed: dict[str, bytes] = {}

    def routes(self, root: str) -> list[Route]:
        """Give the routes of all answers below a root."""
        return [
            Route(f"{root}/manifest", self.manifest),
            Route(f"{root}/columns/{{name}}", self.column),
            Route(f"{root}/neighbors", self.neighbors),
            Route(f"{root}/knowledge", self.knowledge),
            Route(f"{root}/suggest", self.suggest),
            Route(f"{root}/project", self.project),
            Route(f"{root}/scores", self.scores, methods=["POST"]),
            Route(f"{root}/refit", self.refit, methods=["GET", "POST"]),
            Route(f"{root}/jobs/{{job}}", self.job),
            Route(f"{root}/jobs/{{job}}/columns/{{name}}", self.job_column),
        ]

    # ------------------------------------------------------------------ the map

    def manifest(self, _: Request) -> Response:
        """Give the manifest."""
        return Response(self._manifest, media_type="application/json")

    def column(self, request: Request) -> Response:
        """Give the bytes of a column, packed where that saves the network something."""
        name = request.path_params["name"]
        column = self.bundle.columns.get(name)
        if column is None:
            raise HTTPException(404, f"there is no column {name!r}.")
        if not _is_packed(request, column):
            return Response(column.data, media_type="application/octet-stream")
        if name not in self._packed:
            self._packed[name] = gzip.compress(column.data, 5, mtime=0)
        headers = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        return Response(self._packed[name], headers=headers, media_type="application/octet-stream")

    # ------------------------------------------------------------------ questions

    def neighbors(self, request: Request) -> Response:
        """Give the nearest things of every kind."""
        asked = asked_for(request, "point", "k")
        point, k = whole(asked, "point"), whole(asked, "k", 10, MOST_NEIGHBORS, 1)
        return _answer({"kinds": self.questions.neighbors(point, k)})

    def knowledge(self, request: Request) -> Response:
        """Give ranked tails or heads."""
        asked = asked_for(request, "head", "tail", "relation", "top")
        ends = [whole(asked, side) if side in asked else None for side in ("head", "tail")]
        top = whole(asked, "top", 20, MOST_ANSWERS, 1)
        with self.jobs.turn():
            return _answer(self.questions.facts(ends[0], ends[1], asked.get("relation", ""), top))

    def suggest(self, request: Request) -> Response:
        """Give links that a document lacks."""
        asked = asked_for(request, "point", "top")
        point, top = whole(asked, "point"), whole(asked, "top", 10, MOST_ANSWERS, 1)
        with self.jobs.turn():
            return _answer(self.questions.links(point, top))

    def project(self, request: Request) -> Response:
        """Say where a new thing lands."""
        asked = asked_for(request, "row", "k")
        row, k = whole(asked, "row"), whole(asked, "k", 10, MOST_NEIGHBORS, 1)
        return _answer(self.questions.landing(row, k))

    # ------------------------------------------------------------------ cohorts

    async def scores(self, request: Request) -> Response:
        """Score an arrangement of prototypes, of this map or of a job's."""
        asked = asked_for(request, "job")
        questions = self._of_job(asked["job"])[1] if "job" in asked else self.questions
        body = await body_of(request)

        def compute() -> dict[str, float | None]:
            with self.jobs.turn():
                return questions.scores(questions.prototypes(body))

        return _answer(await run_in_threadpool(compute))

    async def refit(self, request: Request) -> Response:
        """Begin to fit the cohorts again."""
        from relscape.models.refitting import refit_cohorts, why_not_refit

        asked = asked_for(request, "alpha", "variant")
        alpha, variant = share(asked, "alpha"), asked.get("variant")
        if variant is not None and variant not in VARIANTS:
            raise ParameterError(f"variant={variant!r}: expected one of {', '.join(VARIANTS)}.")
        body = await body_of(request)
        map_ = self.exhibit.map
        view = await run_in_threadpool(lambda: self.questions.cohorts)
        reason = why_not_refit(map_)
        if reason:
            raise ParameterError(f"{reason}.")
        places = view.placed(self.questions.prototypes(body)) if body else None

        def work() -> tuple[Bundle, Questions]:
            fresh = refit_cohorts(map_, variant, alpha, places)
            exhibit = Exhibit(fresh, self.exhibit.title, relations=False)
            return make_bundle(exhibit), Questions(exhibit)

        steps = int(map_.parameters.get("max_iterations", 0))
        expected = 0 if (variant or view.variant) in ("E1", "eigen") else steps
        return _answer({"job": self.jobs.start("fitting", expected, work)}, 202)

    def job(self, request: Request) -> Response:
        """Say how far a job is, and what came of it."""
        job = self._job(request.path_params["job"])
        told = {"done": job.done, "failed": job.failed, "progress": job.share, "message": job.message}
        return _answer(told | {"manifest": job.result[0].manifest if job.result else None})

    def job_column(self, request: Request) -> Response:
        """Give a column of the map that a job made."""
        bundle, _ = self._of_job(request.path_params["job"])
        column = bundle.columns.get(request.path_params["name"])
        if column is None:
            raise HTTPException(404, f"there is no column {request.path_params['name']!r}.")
        return Response(column.data, media_type="application/octet-stream")

    def _job(self, name: str) -> Job:
        job = self.jobs.get(name)
        if job is None:
            raise HTTPException(404, f"there is no job {name!r}; the last few are kept.")
        return job

    def _of_job(self, name: str) -> tuple[Bundle, Questions]:
        job = self._job(name)
        if job.result is None:
            raise HTTPException(404, f"job {name} has no result{'' if job.done else ' yet'}.")
        found: tuple[Bundle, Questions] = job.result
        return found


def _answer(content: dict[str, Any], status: int = 200) -> Response:
    """Answer with JSON, which knows no number that is none."""
    return JSONResponse(sayable(content), status)


def _encoded(manifest: dict[str, Any]) -> bytes:
    return json.dumps(manifest, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        errors="replace"
    )


def _is_packed(request: Request, column: Column) -> bool:
    """Tell whether a column is better packed: the browser takes it, a network lies between, and it helps."""
    takes = "gzip" in request.headers.get("accept-encoding", "")
    if not takes or not comes_from_afar(request) or len(column.data) < _WORTH_PACKING:
        return False
    sample = column.data[:_WORTH_PACKING]
    return len(gzip.compress(sample, 5)) < _PACKS_WELL * len(sample)
