"""What holds for every energy: gradients, fast scoring, identities between models, degenerate rows."""

from __future__ import annotations

import numpy as np
import pytest

from relscape.errors import ParameterError, UnknownNameError
from relscape.objectives.energies import ENERGIES, Energy, Params, Settings, Sizes, energy_named
from relscape.objectives.energies.norms import norm_tag

SIZES = Sizes(n_entities=7, n_relations=3, k=4, d=4, rank=3, clusters=2)
UNEVEN = {"TransR": 3, "CTransR": 3, "SMELinear": 3, "SMEBilinear": 3}
COMBINATIONS = [(name, norm) for name, energy in ENERGIES.items() for norm in energy.norms or (None,)]
# Every norm of every model compiles for itself. l2 and l2sq differ by code that all models share: TransE and
# TransPES have all three in CI, the others (but TransM, which is TransE times a weight) l1 and one more.
RARE = [
    *((name, "l2sq") for name in ("Unstructured", "SE", "TransM", "RotatE")),
    *((name, "l2") for name in ("TransM", "TransH", "TransR", "CTransR")),
]
CASES = [
    pytest.param(*case, marks=pytest.mark.long) if case in RARE else pytest.param(*case)
    for case in COMBINATIONS
]
MANY = [case for case in CASES if ENERGIES[case.values[0]].many_tails and case.values != ("TransPES", "l1")]


def drawn(energy: Energy, seed: int = 0) -> Params:
    """Draw parameters that no start or constraint has tidied: all rows of odd lengths."""
    rng = np.random.default_rng(seed)
    params = energy.start(Sizes(7, 3, 4, UNEVEN.get(energy.name, 4), 3, 2), rng)
    for name in ("entities", "relations", "shared"):
        params[name] = params[name] + rng.normal(0, 0.3, params[name].shape)
    if energy.name == "TransM":
        params["fixed"] = rng.uniform(0.5, 2, params["fixed"].shape)
    if energy.name == "CTransR":
        params["fixed"] = np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    return params


def energy_of(
    energy: Energy, params: Params, triple: tuple[int, int, int], settings: Settings, hint: int = -1
) -> float:
    return float(energy.energies(params, np.array([triple]), settings, np.array([hint]))[0])


def gradient_of(
    energy: Energy, params: Params, triple: tuple[int, int, int], settings: Settings, hint: int = -1
) -> Params:
    h, l, t = triple  # noqa: E741
    relations = energy.expand(params, np.arange(3)) if energy.expand else params["relations"]
    sums = {name: np.zeros_like(rows) for name, rows in params.items()}
    to_relations = np.zeros_like(relations)
    energy.add_gradient(
        1.0, params["entities"], relations, params["shared"], params["fixed"], *settings, h, l, t, hint,
        sums["entities"], h, t, to_relations, sums["shared"],
    )  # fmt: skip
    sums["relations"] = to_relations
    if energy.pull_back:
        sums["relations"], shared = energy.pull_back(params, np.arange(3), to_relations)
        sums["shared"] = sums["shared"] + shared
    return sums


def check_gradient(
    energy: Energy, params: Params, triple: tuple[int, int, int], settings: Settings, hint: int = -1
) -> None:
    gradient = gradient_of(energy, params, triple, settings, hint)
    for name in ("entities", "relations", "shared"):
        numeric = np.zeros_like(params[name])
        for place in np.ndindex(*params[name].shape):
            ends = []
            for way in (1e-6, -1e-6):
                moved = {key: rows.copy() for key, rows in params.items()}
                moved[name][place] += way
                ends.append(energy_of(energy, moved, triple, settings, hint))
            numeric[place] = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(gradient[name], numeric, rtol=1e-6, atol=1e-6, err_msg=name)


@pytest.mark.parametrize(("name", "norm"), CASES)
def test_the_gradient_is_that_of_central_differences(name: str, norm: str | None) -> None:
    energy = ENERGIES[name]
    params, settings = drawn(energy), energy.settings(norm)
    for triple in [(0, 1, 5), (6, 2, 3)]:
        check_gradient(energy, params, triple, settings)
    if name == "TransPES":  # with e_t = e_h and a tiny ξ differences of energies have no digits left
        settings = energy.settings(norm, 1e-2)
    if name != "Unstructured":  # whose difference vanishes
        check_gradient(energy, params, (4, 0, 4), settings)


@pytest.mark.parametrize(("name", "norm"), CASES)
def test_scoring_all_at_once_is_scoring_one_by_one(name: str, norm: str | None) -> None:
    energy = ENERGIES[name]
    params, settings = drawn(energy), energy.settings(norm)
    if name == "RotatE":
        angles = np.random.default_rng(3).uniform(-3, 3, (3, 4))
        params["relations"] = np.hstack([np.cos(angles), np.sin(angles)])
    known, relations = np.array([0, 6, 3, 3, 2]), np.array([2, 0, 2, 1, 0])
    tails = energy.tails_of(params, known, relations, settings)
    heads = energy.heads_of(params, relations, known, settings)
    for i, (x, l) in enumerate(zip(known, relations, strict=True)):  # noqa: E741
        # a square root spoils half the digits of an energy near 0, such as that of t = h in Unstructured
        expected = [energy_of(energy, params, (x, l, j), settings) for j in range(7)]
        np.testing.assert_allclose(tails[i], expected, rtol=1e-9, atol=1e-7)
        expected = [energy_of(energy, params, (j, l, x), settings) for j in range(7)]
        np.testing.assert_allclose(heads[i], expected, rtol=1e-9, atol=1e-7)


@pytest.mark.parametrize(("name", "norm"), CASES)
def test_single_precision_scores_like_double(name: str, norm: str | None) -> None:
    energy = ENERGIES[name]
    params, settings = energy.start(SIZES, np.random.default_rng(0)), energy.settings(norm)
    single = {key: rows if key == "fixed" else rows.astype(np.float32) for key, rows in params.items()}
    known, relations = np.array([0, 6, 3]), np.array([2, 0, 2])
    np.testing.assert_allclose(
        energy.tails_of(single, known, relations, settings),
        energy.tails_of(params, known, relations, settings),
        rtol=1e-4, atol=2e-3,
    )  # fmt: skip


@pytest.mark.parametrize(("name", "norm"), MANY)
@pytest.mark.parametrize("side", ["many_tails", "many_heads"])
def test_shared_candidates_have_the_energies_and_gradients_of_single_ones(
    name: str, norm: str | None, side: str
) -> None:
    energy = ENERGIES[name]
    params, settings = drawn(energy), energy.settings(norm)
    if name == "RotatE":
        params["relations"] = energy.start(SIZES, np.random.default_rng(1))["relations"]
    rng = np.random.default_rng(2)
    many = getattr(energy, side)
    rows = [params["entities"][:2], params["relations"][:2], params["entities"][3:]]
    weights = rng.normal(size=(2, 4))
    found, pull = many(*rows, settings)
    for i in range(2):
        for j in range(4):
            triple = (i, i, 3 + j) if side == "many_tails" else (3 + j, i, i)
            assert found[i, j] == pytest.approx(energy_of(energy, params, triple, settings), abs=1e-9)
    for which, gradient in enumerate(pull(weights)):
        numeric = np.zeros_like(rows[which])
        for place in np.ndindex(*numeric.shape):
            ends = []
            for way in (1e-6, -1e-6):
                moved = [part.copy() for part in rows]
                moved[which][place] += way
                ends.append(np.sum(weights * many(*moved, settings)[0]))
            numeric[place] = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-6)


def written_out(name: str, params: Params, h: int, l: int, t: int) -> np.ndarray | float:  # noqa: E741
    """Give what the norm is taken of, or the energy of a product model, in the letters of the formulas."""
    e_h, e_t, row = params["entities"][h], params["entities"][t], params["relations"][l]
    shared, r = params["shared"][0], params["relations"][l, :4]
    if name == "RESCAL":
        return -e_h @ row.reshape(4, 4) @ e_t
    if name == "SE":
        A, B = row.reshape(2, 4, 4)
        return A @ e_h - B @ e_t
    if name == "SMELinear":
        Wh1, Wh2, Wt1, Wt2 = shared[:48].reshape(4, 4, 3)
        bh, bt = shared[48:].reshape(2, 4)
        return -(Wh1 @ e_h + Wh2 @ row + bh) @ (Wt1 @ e_t + Wt2 @ row + bt)
    if name == "DistMult":
        return -np.sum(e_h * row * e_t)
    if name == "TransH":
        w, d = row[4:], e_h - e_t
        return d - (w @ d) * w + r
    if name == "TransR":
        return row[4:].reshape(4, 3) @ (e_h - e_t) + r
    return e_h - e_t if name == "Unstructured" else e_h + r - e_t


OF_THEIR_OWN = ("SMEBilinear", "LFM", "CTransR", "TransPES", "ComplEx", "RotatE")  # tests further down


@pytest.mark.parametrize(("name", "norm"), [case for case in CASES if case.values[0] not in OF_THEIR_OWN])
def test_energies_are_their_formulas(name: str, norm: str | None) -> None:
    energy = ENERGIES[name]
    params = drawn(energy)
    for h, l, t in [(0, 1, 5), (6, 2, 3), (4, 0, 4)]:  # noqa: E741
        u = written_out(name, params, h, l, t)
        weight = params["fixed"][l, 0] if name == "TransM" else 1.0
        value = {None: lambda u: u, "l1": lambda u: np.abs(u).sum(), "l2": np.linalg.norm,
                 "l2sq": lambda u: u @ u}[norm](u)  # fmt: skip
        found = energy_of(energy, params, (h, l, t), energy.settings(norm))
        assert found == pytest.approx(weight * value, abs=1e-12)


def pair(name: str, other: str, norm: str, other_norm: str) -> tuple[Params, Params, Settings, Settings]:
    rng = np.random.default_rng(5)
    first, second = ENERGIES[name].start(SIZES, rng), ENERGIES[other].start(SIZES, rng)
    second["entities"] = first["entities"]
    return first, second, ENERGIES[name].settings(norm), ENERGIES[other].settings(other_norm)


def all_tails(name: str, params: Params, settings: Settings) -> np.ndarray:
    return ENERGIES[name].tails_of(params, np.arange(7), np.arange(7) % 3, settings)


def test_transr_with_the_identity_is_transe_squared() -> None:
    first, second, a, b = pair("TransR", "TransE", "l2sq", "l2")
    first["relations"][:, :4] = second["relations"]
    np.testing.assert_allclose(all_tails("TransR", first, a), all_tails("TransE", second, b) ** 2, atol=1e-12)


def test_ctransr_whose_clusters_agree_is_transr() -> None:
    first, second, a, b = pair("CTransR", "TransR", "l2sq", "l2sq")
    second["relations"] = first["relations"][:, :20].copy()
    first["fixed"][:] = 1.0
    np.testing.assert_allclose(all_tails("CTransR", first, a), all_tails("TransR", second, b), atol=1e-12)


def test_transh_with_a_normal_across_is_transe_squared() -> None:
    energy = ENERGIES["TransH"]
    params = energy.start(SIZES, np.random.default_rng(0))
    d = params["entities"][0] - params["entities"][1]
    w = params["relations"][0, 4:]
    w = w - (w @ d) / (d @ d) * d
    params["relations"][0, 4:] = w / np.linalg.norm(w)
    found = energy_of(energy, params, (0, 0, 1), energy.settings("l2sq"))
    assert found == pytest.approx(np.sum((d + params["relations"][0, :4]) ** 2), abs=1e-12)


def test_se_with_identities_is_unstructured() -> None:
    for norm in ("l1", "l2", "l2sq"):
        first, second, a, b = pair("SE", "Unstructured", norm, norm)
        first["relations"][:] = np.tile(np.eye(4).ravel(), 2)
        np.testing.assert_allclose(all_tails("SE", first, a), all_tails("Unstructured", second, b), atol=1e-7)


def test_lfm_is_rescal_with_matrices_of_shared_factors() -> None:
    first = ENERGIES["LFM"].start(SIZES, np.random.default_rng(0))
    second = ENERGIES["RESCAL"].start(SIZES, np.random.default_rng(1))
    U, V = first["shared"].reshape(2, 4, 3)
    second["entities"] = first["entities"]
    second["relations"] = np.array([(U * alpha @ V.T).ravel() for alpha in first["relations"]])
    none = ENERGIES["LFM"].settings()
    np.testing.assert_allclose(all_tails("LFM", first, none), all_tails("RESCAL", second, none), atol=1e-12)


def test_sme_bilinear_is_its_triple_sum() -> None:
    energy = ENERGIES["SMEBilinear"]
    params = drawn(energy)
    Wh, Wt = params["shared"][0, : 2 * 4 * 9].reshape(2, 4, 3, 3)
    bh, bt = params["shared"][0, 2 * 4 * 9 :].reshape(2, 4)
    e_h, r, e_t = params["entities"][1], params["relations"][2], params["entities"][5]
    a = np.einsum("ijm,j,m->i", Wh, e_h, r) + bh
    c = np.einsum("ijm,j,m->i", Wt, e_t, r) + bt
    assert energy_of(energy, params, (1, 2, 5), energy.settings()) == pytest.approx(-a @ c, abs=1e-12)


def test_complex_and_rotate_are_their_complex_formulas() -> None:
    for name in ("ComplEx", "RotatE"):
        energy = ENERGIES[name]
        params = energy.start(SIZES, np.random.default_rng(0))
        e = params["entities"][:, :4] + 1j * params["entities"][:, 4:]
        r = params["relations"][:, :4] + 1j * params["relations"][:, 4:]
        found = energy_of(energy, params, (1, 2, 5), energy.settings())
        if name == "ComplEx":
            assert found == pytest.approx(-np.sum(e[1] * r[2] * e[5].conj()).real, abs=1e-12)
        else:
            assert found == pytest.approx(np.abs(e[1] * r[2] - e[5]).sum(), abs=1e-12)


@pytest.mark.parametrize(("name", "norm"), CASES)
def test_rows_of_zeros_have_a_finite_energy_and_gradient(name: str, norm: str | None) -> None:
    energy = ENERGIES[name]
    params, settings = drawn(energy), energy.settings(norm)
    params["entities"][:2] = 0.0
    params["relations"][0] = 0.0
    for triple in [(0, 0, 1), (0, 0, 0), (0, 1, 3)]:
        assert np.isfinite(energy_of(energy, params, triple, settings))
        assert all(np.isfinite(rows).all() for rows in gradient_of(energy, params, triple, settings).values())


def test_starts_are_of_length_one_and_seeded() -> None:
    for name, energy in ENERGIES.items():
        params = energy.start(SIZES, np.random.default_rng(8))
        np.testing.assert_allclose(np.linalg.norm(params["entities"], axis=1), 1, err_msg=name)
        again = energy.start(SIZES, np.random.default_rng(8))
        assert all(np.array_equal(params[key], again[key]) for key in params)


def test_parameters_are_as_many_as_the_models_have() -> None:
    count = {
        "Unstructured": 7 * 4, "RESCAL": 7 * 4 + 3 * 16, "SE": 7 * 4 + 3 * 32,
        "SMELinear": 10 * 4 + 4 * 16 + 8,
        "SMEBilinear": 10 * 4 + 2 * 64 + 8, "LFM": 7 * 4 + 3 * 3 + 2 * 4 * 3, "TransE": 40, "TransM": 40,
        "TransPES": 40, "TransH": 13 * 4, "TransR": 7 * 4 + 3 * 4 + 3 * 16,
    }  # fmt: skip
    for name, expected in count.items():
        params = ENERGIES[name].start(SIZES, np.random.default_rng(0))
        assert sum(params[key].size for key in ("entities", "relations", "shared")) == expected, name


def test_names_norms_and_numbers_are_checked() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'TransE'"):
        energy_named("transe")
    with pytest.raises(ParameterError, match="norm='l3': expected one of"):
        ENERGIES["TransE"].settings("l3")
    with pytest.raises(ParameterError, match="RESCAL has no norm"):
        ENERGIES["RESCAL"].settings("l1")
    for number in (0.0, -1.0, np.nan):
        with pytest.raises(ParameterError, match="xi="):
            ENERGIES["TransPES"].settings(number=number)
    with pytest.raises(ParameterError, match="k=0"):
        Sizes(3, 2, 0)
    assert len(norm_tag("l2sq")) == 3
