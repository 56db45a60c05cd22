from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from relscape.data import RelationalData
from relscape.sources.classic import load_caithness, load_hair_eye, load_smoking


@pytest.mark.parametrize(
    ("data", "total", "shape", "kinds"),
    [
        (load_smoking(), 193, (5, 4), ("staff", "smoking")),
        (load_hair_eye(), 592, (4, 4), ("hair", "eye")),
        (load_caithness(), 5387, (4, 5), ("eye", "hair")),
    ],
)
def test_published_totals(
    data: RelationalData, total: int, shape: tuple[int, int], kinds: tuple[str, str]
) -> None:
    assert data.matrix("counts").sum() == total
    assert data.matrix().shape == shape
    assert data.kinds == kinds


def test_smoking_has_the_published_chi_square() -> None:
    counts = load_smoking().matrix().toarray()
    assert chi2_contingency(counts).statistic == pytest.approx(16.4416, abs=5e-5)


def test_published_margins() -> None:
    # published margins: smoke (Greenacre), hair 108/286/71/127 and eye 220/215/93/64 (Snee)
    assert load_smoking().matrix().sum(axis=1).tolist() == [11, 18, 51, 88, 25]
    assert load_smoking().matrix().sum(axis=0).tolist() == [61, 45, 62, 25]
    assert load_hair_eye().matrix().sum(axis=1).tolist() == [108, 286, 71, 127]
    assert load_hair_eye().matrix().sum(axis=0).tolist() == [220, 215, 93, 64]
    assert load_caithness().matrix().sum(axis=1).tolist() == [718, 1580, 1774, 1315]
    assert load_caithness().matrix().sum(axis=0).tolist() == [1455, 286, 2137, 1391, 118]


def test_labels_say_what_short_ids_mean() -> None:
    staff = load_smoking().entities["staff"]
    assert staff.ids.tolist() == ["SM", "JM", "SE", "JE", "SC"]
    assert staff.shown[0] == "senior managers"
    assert np.all(load_hair_eye().entities["hair"].shown == ["black", "brown", "red", "blond"])
