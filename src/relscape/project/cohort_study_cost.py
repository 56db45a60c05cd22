"""How long COVA and other methods take to map more and more samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from relscape import progress
from relscape.project import pictures
from relscape.project.cohort_fitting import fitted
from relscape.project.cohort_samples import CohortSet
from relscape.project.cohort_study_tools import Settings
from relscape.project.outcome import Findings

__all__ = ["CPU", "SIZE", "cost", "families"]

SIZE, CPU = "samples", "CPU seconds"

_COMPILED = 200  # samples of the fits that only make compiled code


def cost(settings: Settings) -> Findings:
    """Time every method, each from the features on, as the number of samples grows.

    A method whose fit took longer than ``longest`` CPU seconds is not tried on more samples, which is noted.
    """
    findings = Findings(("set", SIZE), (CPU,))
    sizes, methods, seed = settings["sizes"], settings["methods"], settings["random_state"]
    for name in methods:  # compiled code is made before anything is timed
        fitted(name, families(_COMPILED, settings), {**methods[name], "random_state": seed})
    slow: set[str] = set()
    with progress.task("timing", len(sizes) * len(methods)) as task:
        for size in sizes:
            data = families(size, settings)
            for name, options in methods.items():
                if name not in slow:
                    map_ = fitted(name, data, {**options, "random_state": seed})
                    map_ = replace(map_, warnings=())  # of how the map looks, which is not asked here
                    findings.add({"set": data.name, SIZE: size}, map_, {})
                    if map_.cpu_seconds > settings["longest"] and size < max(sizes):
                        slow.add(name)
                        findings.notes.append(f"{name}: not tried on more than {size:,} samples")
                task.advance()
    findings.pictures = pictures.curves(findings, SIZE, (CPU,), logarithmic=True)
    return findings


def families(n: int, settings: Settings) -> CohortSet:
    """Draw cohorts of unequal spread around centres that lie near each other within families."""
    rng = np.random.default_rng(settings["random_state"])
    c, d, f = settings["cohorts"], settings["dimensions"], settings["families"]
    kin = rng.normal(scale=4.0, size=(f, d))
    centres = kin[np.arange(c) % f] + rng.normal(scale=1.5, size=(c, d))
    codes = np.concatenate([np.repeat(np.arange(c), 2), rng.integers(c, size=n - 2 * c)])
    spread = rng.uniform(0.8, 2.0, size=(c, 1))[codes]
    points = centres[codes] + spread * rng.normal(size=(n, d))
    labels = np.array([f"cohort {at + 1:02}" for at in range(c)], dtype=object)
    return CohortSet("cohorts in families", points, labels[codes])
