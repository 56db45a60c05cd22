"""Laws of how like its own cohort a member is: fitted to a cohort's members, asked about any sample.

A law is kept as arrays with one entry a cohort, so that a model can store it. It answers with a density,
either as it is or as a share of the density at its mode. A cohort of one member, or of members that do
not differ, has no law: everyone in it has the value 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
from scipy.special import gammaln

from relscape.protocols import AnyArray, BoolArray, FloatArray, IntArray

__all__ = [
    "Laws",
    "fit_curves",
    "fit_moments",
    "kernel_density",
    "normal_density",
    "student_density",
]

Laws: TypeAlias = Mapping[str, AnyArray]

# Members that differ by less than this share of their size differ only by rounding.
SAME = 1e-9
# A curve has this many points a bandwidth, and reaches this many bandwidths beyond the members.
POINTS_PER_BANDWIDTH = 16
REACH = 6


def fit_moments(values: FloatArray, codes: IntArray, c: int) -> dict[str, AnyArray]:
    """Find the mean, the sample standard deviation (0 if there is none) and the size of every cohort."""
    known = codes >= 0
    values, codes = values[known], codes[known]
    sizes = np.bincount(codes, minlength=c)
    centres = np.bincount(codes, values, c) / np.maximum(sizes, 1)
    squares = np.bincount(codes, (values - centres[codes]) ** 2, c)
    spreads = np.sqrt(squares / np.maximum(sizes - 1, 1))
    largest = np.zeros(c)
    np.maximum.at(largest, codes, np.abs(values))
    spreads[spreads <= SAME * largest] = 0.0
    return {"centres": centres, "spreads": spreads, "sizes": sizes}


def fit_curves(values: FloatArray, codes: IntArray, c: int) -> dict[str, AnyArray]:
    """Fit a Gaussian kernel density to every cohort, as a curve on an even grid.

    The bandwidth is Scott's, the spread times size^(−1/5). Members are shared between the two grid points
    beside them, so the cost grows with their number and not with its square.
    """
    moments = fit_moments(values, codes, c)
    bandwidths = moments["spreads"] * np.maximum(moments["sizes"], 1) ** -0.2
    curves, firsts = [], np.zeros(c)
    for j in range(c):
        curve, firsts[j] = _curve(values[codes == j], bandwidths[j])
        curves.append(curve)
    ends = np.cumsum([0, *map(len, curves)])
    steps = bandwidths / POINTS_PER_BANDWIDTH
    return {**moments, "steps": steps, "firsts": firsts, "ends": ends, "curves": np.concatenate(curves)}


def normal_density(laws: Laws, values: FloatArray, codes: IntArray, relative: bool) -> FloatArray:
    """Ask the normal law of every sample's cohort for the density at its value."""
    z, spread, lawless = _standardised(laws, values, codes)
    found = np.exp(-0.5 * z**2)
    if not relative:
        found = found / (np.sqrt(2.0 * np.pi) * spread)
    return np.where(lawless, 1.0, found)


def student_density(laws: Laws, values: FloatArray, codes: IntArray, relative: bool) -> FloatArray:
    """Ask Student's law with size − 1 degrees of freedom, shifted and stretched to the cohort."""
    z, spread, lawless = _standardised(laws, values, codes)
    freedom = np.maximum(laws["sizes"][codes] - 1.0, 1.0)
    logs = -(freedom + 1.0) / 2.0 * np.log1p(z**2 / freedom)
    if not relative:
        logs += gammaln((freedom + 1.0) / 2.0) - gammaln(freedom / 2.0)
        logs -= 0.5 * np.log(freedom * np.pi) + np.log(spread)
    return np.where(lawless, 1.0, np.exp(logs))


def kernel_density(laws: Laws, values: FloatArray, codes: IntArray, relative: bool) -> FloatArray:
    """Ask the kernel density of every sample's cohort; beyond the ends of its curve it is 0."""
    found = np.ones(len(values))
    for j in np.unique(codes[(codes >= 0) & (laws["spreads"][codes] > 0)]):
        curve = laws["curves"][laws["ends"][j] : laws["ends"][j + 1]]
        whose = codes == j
        at = (values[whose] - laws["firsts"][j]) / laws["steps"][j]
        heights = np.interp(at, np.arange(len(curve)), curve, left=0.0, right=0.0)
        found[whose] = heights / curve.max() if relative else heights
    return found


def _standardised(
    laws: Laws, values: FloatArray, codes: IntArray
) -> tuple[FloatArray, FloatArray, BoolArray]:
    spread = laws["spreads"][codes]
    lawless = spread == 0
    spread = np.where(lawless, 1.0, spread)
    return (values - laws["centres"][codes]) / spread, spread, lawless


def _curve(members: FloatArray, bandwidth: float) -> tuple[FloatArray, float]:
    """Give the density on a grid and where the grid begins."""
    if bandwidth == 0:
        return np.zeros(0), 0.0
    step = bandwidth / POINTS_PER_BANDWIDTH
    first = members.min() - REACH * bandwidth
    at = (members - first) / step
    left = np.floor(at).astype(np.int64)
    share = at - left
    points = int(left.max()) + 2 + REACH * POINTS_PER_BANDWIDTH
    mass = np.bincount(left, 1.0 - share, points) + np.bincount(left + 1, share, points)
    offsets = np.arange(-REACH * POINTS_PER_BANDWIDTH, REACH * POINTS_PER_BANDWIDTH + 1)
    kernel = np.exp(-0.5 * (offsets / POINTS_PER_BANDWIDTH) ** 2) / (np.sqrt(2.0 * np.pi) * bandwidth)
    return np.convolve(mass, kernel, mode="same") / len(members), first
