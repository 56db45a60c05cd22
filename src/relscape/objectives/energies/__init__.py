"""The energies of knowledge-graph models, one short file each, by name in :data:`ENERGIES`.

Low energy means a likely triple. A new model is one more file with a start, a value, a gradient, its two
compiled loops and its scoring of all candidates, and one more line here.
"""

from __future__ import annotations

from relscape.errors import UnknownNameError
from relscape.objectives.energies.base import Energy, Params, Settings, Sizes
from relscape.objectives.energies.complex import COMPLEX
from relscape.objectives.energies.ctransr import CTRANSR
from relscape.objectives.energies.distmult import DISTMULT
from relscape.objectives.energies.lfm import LFM
from relscape.objectives.energies.rescal import RESCAL
from relscape.objectives.energies.rotate import ROTATE
from relscape.objectives.energies.se import SE
from relscape.objectives.energies.sme_bilinear import SMEBILINEAR
from relscape.objectives.energies.sme_linear import SMELINEAR
from relscape.objectives.energies.transe import TRANSE
from relscape.objectives.energies.transh import TRANSH
from relscape.objectives.energies.transm import TRANSM
from relscape.objectives.energies.transpes import TRANSPES
from relscape.objectives.energies.transr import TRANSR
from relscape.objectives.energies.unstructured import UNSTRUCTURED

__all__ = ["ENERGIES", "Energy", "Params", "Settings", "Sizes", "energy_named"]

ENERGIES = {
    energy.name: energy
    for energy in (
        UNSTRUCTURED,
        RESCAL,
        SE,
        SMELINEAR,
        SMEBILINEAR,
        LFM,
        TRANSE,
        TRANSM,
        TRANSH,
        TRANSR,
        CTRANSR,
        TRANSPES,
        DISTMULT,
        COMPLEX,
        ROTATE,
    )
}


def energy_named(name: str) -> Energy:
    """Find a model by its name.

    >>> energy_named("TransE").norms
    ('l1', 'l2', 'l2sq')
    """
    if name not in ENERGIES:
        raise UnknownNameError("model", name, ENERGIES)
    return ENERGIES[name]
