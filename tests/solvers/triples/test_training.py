"""Epochs against a slow obvious version: one batch of plain descent, rules, schedules, exact resumption."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from relscape.errors import DataError, ParameterError
from relscape.objectives.energies import ENERGIES, Params, Sizes
from relscape.solvers.triples.options import Options
from relscape.solvers.triples.sampling import corrupt, sampler, shuffled
from relscape.solvers.triples.training import (
    EpochReport,
    TrainingSet,
    new_state,
    train_epoch,
    training_set,
    with_reciprocals,
)

N, M, K = 12, 3, 4
RNG = np.random.default_rng(0)
TRIPLES = np.unique(
    np.column_stack([RNG.integers(0, N, 40), RNG.integers(0, M, 40), RNG.integers(0, N, 40)]), axis=0
)
LEARNT = ("entities", "relations", "shared")
# The walk over a batch compiles anew for every model. In CI walk those that between them have every rule,
# penalty and kind of parameter; the gradients of the others are tested with their energies all the same.
WALKED = ("TransE", "TransPES", "TransH", "CTransR", "LFM", "SMEBilinear", "ComplEx")
EVERY = [name if name in WALKED else pytest.param(name, marks=pytest.mark.long) for name in ENERGIES]


def start(name: str, dtype: type = np.float64, seed: int = 0) -> Params:
    params = ENERGIES[name].start(Sizes(N, M, K, clusters=2), np.random.default_rng(seed))
    if ENERGIES[name].entity_rule == "soft":  # leave the length 1, where the penalty has its kink
        params["entities"] *= np.random.default_rng(4).uniform(0.8, 1.2, (N, 1))
    return {key: rows if key == "fixed" else rows.astype(dtype) for key, rows in params.items()}


def facts(weights: np.ndarray | None = None, **options: object) -> TrainingSet:
    return training_set(TRIPLES, sampler(TRIPLES, N, M, **options), weights)


def run(
    name: str, options: Options, n: int = 1, data: TrainingSet | None = None, params: Params | None = None
) -> tuple[Params, EpochReport]:
    params = start(name) if params is None else params
    state = new_state(params, options, 7)
    for _ in range(n):
        report = train_epoch(ENERGIES[name], params, state, data or facts(), options)
    return params, report


def naive_batch(name: str, options: Options, data: TrainingSet) -> tuple[Params, float, float]:
    """One epoch of one batch, with gradients by central differences of the whole objective."""
    energy, params = ENERGIES[name], start(name)
    state = new_state(params, options, 7)
    order = shuffled(len(data.triples), state.streams, 0)
    if params["relations"].shape[1] > 4 * K or energy.expand:
        order = order[np.argsort(data.triples[order, 1], kind="stable")]
    triples, weights = data.triples[order], data.weights[order]
    others, sides = corrupt(data.sampler, triples, options.negatives, state.streams, 1)
    settings = energy.settings(options.norm, options.number)
    lambda1 = energy.defaults.get("lambda1", 0.0)
    lambda2 = energy.defaults.get("lambda2", 0.0)
    met = np.unique(np.concatenate([triples[:, 0], triples[:, 2], others[sides >= 0]]))
    links = np.unique(triples[:, 1])
    swapped = np.repeat(triples, options.negatives, axis=0)
    flat, which = others.ravel(), sides.ravel()
    swapped[which == 0, 0] = flat[which == 0]
    swapped[which == 1, 2] = flat[which == 1]

    def hinges(now: Params) -> np.ndarray:
        true = np.repeat(
            energy.energies(now, triples, settings, np.repeat(-1, len(triples))), options.negatives
        )
        found = np.maximum(options.margin + true - energy.energies(now, swapped, settings), 0.0)
        return np.where(which >= 0, np.repeat(weights, options.negatives) * found, 0.0)

    def objective(now: Params) -> float:
        value = float(hinges(now).sum())
        squares = (now["entities"][met] ** 2).sum(axis=1)
        if energy.entity_rule == "soft":
            value += lambda1 * np.maximum(squares - 1, 0).sum()
        if energy.entity_rule == "decay":
            value += lambda1 * squares.sum()
        if energy.relation_rule == "decay":
            value += lambda2 * (now["relations"][links] ** 2).sum()
        if energy.shared_rule == "decay":
            value += lambda2 * (now["shared"] ** 2).sum()
        if energy.penalty:
            r, w = now["relations"][links, :K], now["relations"][links, K:]
            value += lambda1 * np.maximum(((w * r).sum(1)) ** 2 / (r**2).sum(1) - 1e-6, 0).sum()
        return value

    after = {key: rows.copy() for key, rows in params.items()}
    for key in LEARNT:
        for place in np.ndindex(*params[key].shape):
            ends = []
            for way in (1e-6, -1e-6):
                moved = {**params, key: params[key].copy()}
                moved[key][place] += way
                ends.append(objective(moved))
            after[key][place] -= options.learning_rate * (ends[0] - ends[1]) / 2e-6
    lengths = np.linalg.norm(after["entities"], axis=1, keepdims=True)
    if energy.entity_rule == "unit":
        after["entities"] /= lengths
    if energy.entity_rule == "ball":
        after["entities"] /= np.maximum(lengths, 1)
    if energy.tidy:
        from relscape.solvers.triples.batches import Batch

        energy.tidy(after, Batch(triples, np.repeat(-1, len(triples)), weights, others, sides))
    pairs = (which >= 0).sum()
    return after, hinges(params).sum() / pairs, (hinges(params) > 0).sum() / pairs


_PRINTED = """
from hashlib import sha256
from test_training import Options, run
for name, loss, norm, mode in (
    ("RotatE", "self-adversarial", "l1", "minibatch"),
    ("TransPES", "margin", "l2", "minibatch"),
    ("TransE", "margin", "l1", "lock-free"),
):
    params, _ = run(name, Options(loss=loss, norm=norm, learning_rate=0.1, n_batches=3, mode=mode), 20)
    print(sha256(b"".join(rows.tobytes() for rows in params.values())).hexdigest())
"""


@pytest.mark.long
def test_compiled_code_read_from_disk_gives_the_bits_of_the_run_that_compiled_it(tmp_path: Path) -> None:
    where = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(Path(__file__).parent)}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", _PRINTED], env=where, check=True, capture_output=True, text=True
        ).stdout
        for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize(
    ("name", "norm"),
    [
        ("TransE", "l1"),
        ("TransPES", "l2"),
        *(  # each compiled for this test alone
            pytest.param(name, norm, marks=pytest.mark.long)
            for name, norm in (("TransE", "l2"), ("TransE", "l2sq"), ("TransPES", "l1"))
        ),
    ],
)
@pytest.mark.parametrize("negatives", [1, 2])
def test_corruptions_looked_at_together_lose_what_they_lose_alone(
    name: str, norm: str, negatives: int
) -> None:
    # few entities, nearly all linked: some triples have no corrupted head or tail
    full = np.array([(h, 0, t) for h in range(4) for t in range(4) if (h, t) != (0, 1)] + [(1, 1, 2)])
    source, energy = sampler(full, 4, 2, "uniform"), ENERGIES[name]
    options = Options(n_batches=1, learning_rate=1e-12, margin=0.3, negatives=negatives, norm=norm)
    params = energy.start(Sizes(4, 2, 5), np.random.default_rng(0))
    state = new_state(params, options, 7)
    triples = full[shuffled(len(full), state.streams, 0)]
    others, sides = corrupt(source, triples, negatives, state.streams, 1)
    assert set(sides.ravel().tolist()) == {-1, 0, 1}
    losses = []
    for (h, l, t), xs, ways in zip(triples, others, sides, strict=True):  # noqa: E741
        for x, way in zip(xs, ways, strict=True):
            pair = np.array([(h, l, t), (x, l, t) if way == 0 else (h, l, x)])
            true, false = energy.energies(params, pair, energy.settings(norm))
            losses += [max(0.3 + true - false, 0.0)] if way >= 0 else []
    state = new_state(params, options, 7)
    report = train_epoch(energy, params, state, training_set(full, source), options)
    assert 0 < report.active_share < 1
    assert report == pytest.approx((np.mean(losses), np.mean(np.array(losses) > 0)))


@pytest.mark.parametrize("name", EVERY)
def test_a_batch_is_one_step_down_the_objective(name: str) -> None:
    number = 1e-2 if name == "TransPES" else None  # self loops: differences of energies need a larger ξ
    options = Options(n_batches=1, learning_rate=0.003, margin=0.7, negatives=2, number=number)
    weights = np.random.default_rng(3).uniform(0.5, 2, len(TRIPLES))
    data = facts(weights)
    expected, loss, active = naive_batch(name, options, data)
    params, report = run(name, options, data=data)
    for key in LEARNT:
        np.testing.assert_allclose(params[key], expected[key], atol=1e-7, err_msg=key)
    assert report == pytest.approx((loss, active))


@pytest.mark.parametrize("mode", ["minibatch", "lock-free"])
def test_penalties_of_relations_count_where_no_pair_is_active(mode: str) -> None:
    energy, before = ENERGIES["TransH"], start("TransH")
    before["entities"] *= 0.5  # nothing to keep short
    before["relations"][:, :K] *= (
        1e-3  # self loops have the least energy, and all facts of this test are such
    )
    loops = np.column_stack([np.arange(N), np.arange(N) % M, np.arange(N)])
    options = Options(n_batches=1, learning_rate=1e-7, margin=0.0, negatives=1, lambda1=2.0, mode=mode)
    data = training_set(loops, sampler(loops, N, M))
    params, report = run("TransH", options, data=data, params={k: v.copy() for k, v in before.items()})
    assert report.active_share == 0
    expected = before["relations"] - 1e-7 * 2.0 * energy.penalty(before, np.arange(M))
    expected[:, K:] /= np.linalg.norm(expected[:, K:], axis=1, keepdims=True)
    assert np.abs(expected - before["relations"]).max() > 1e-6
    np.testing.assert_allclose(params["relations"], expected, rtol=1e-12)


def naive_walk(name: str, options: Options, data: TrainingSet) -> Params:
    """One epoch of one batch that moves rows triple by triple, by central differences of each hinge."""
    energy, params = ENERGIES[name], start(name)
    state, rate = new_state(params, options, 7), options.learning_rate
    triples = data.triples[shuffled(len(data.triples), state.streams, 0)]
    others, sides = corrupt(data.sampler, triples, 1, state.streams, 1)
    settings = energy.settings(options.norm, options.number)
    met: dict[str, set[int]] = {"entities": set(), "relations": set()}

    def greet(key: str, x: int, rule: str, weight: float) -> None:
        row = params[key][x]
        if x not in met[key] and (rule == "decay" or (rule == "soft" and row @ row > 1)):
            row *= 1 - 2 * rate * weight
        met[key].add(x)

    moved = set()
    for (h, l, t), x, side in zip(triples, others[:, 0], sides[:, 0], strict=True):  # noqa: E741
        pair = np.array([(h, l, t), (x, l, t) if side == 0 else (h, l, x)])
        for e in (h, t, x):
            greet("entities", e, energy.entity_rule, energy.defaults.get("lambda1", 0.0))
        greet("relations", l, energy.relation_rule, energy.defaults.get("lambda2", 0.0))

        def hinge(now: Params, pair: np.ndarray = pair) -> float:
            true, false = energy.energies(now, pair, settings)
            return float(max(options.margin + true - false, 0.0))

        if hinge(params) > 0:
            moved |= {h, t, x}
            steps = {key: np.zeros_like(params[key]) for key in met}
            for key, rows in (("entities", {h, t, x}), ("relations", {l})):
                for place in ((row, i) for row in rows for i in range(K)):
                    ends = []
                    for way in (1e-6, -1e-6):
                        now = {**params, key: params[key].copy()}
                        now[key][place] += way
                        ends.append(hinge(now))
                    steps[key][place] = rate * (ends[0] - ends[1]) / 2e-6
            for key in met:
                params[key] -= steps[key]
    if energy.entity_rule == "unit":
        rows = sorted(moved)
        params["entities"][rows] /= np.linalg.norm(params["entities"][rows], axis=1, keepdims=True)
    return params


@pytest.mark.parametrize("name", ["TransE", "TransPES"])
def test_a_walk_moves_rows_after_every_triple(name: str) -> None:
    number = 1e-2 if name == "TransPES" else None
    options = Options(
        n_batches=1, learning_rate=0.01, margin=0.3, negatives=1, number=number, mode="lock-free", window=1
    )
    data = facts()
    found, report = run(name, options, data=data)
    expected = naive_walk(name, options, data)
    assert 0 < report.active_share < 1
    for key in ("entities", "relations"):
        np.testing.assert_allclose(found[key], expected[key], atol=1e-7, err_msg=key)


def check_learning(name: str, mode: str, optimizer: str) -> None:
    options = Options(mode=mode, optimizer=optimizer, n_batches=5, learning_rate=0.05, negatives=3)
    _, early = run(name, options)
    params, late = run(name, options, 40)
    again, _ = run(name, options, 40)
    assert late.loss < early.loss
    assert all(np.array_equal(params[key], again[key]) for key in LEARNT)
    if ENERGIES[name].entity_rule == "unit":
        np.testing.assert_allclose(np.linalg.norm(params["entities"], axis=1), 1)


@pytest.mark.parametrize("name", EVERY)
def test_every_energy_learns_and_one_thread_repeats_itself(name: str) -> None:
    check_learning(name, "minibatch", "sgd")


@pytest.mark.parametrize("name", ["TransE", "TransPES", "TransH", "LFM"])
@pytest.mark.parametrize(
    ("mode", "optimizer"), [("minibatch", "adagrad"), ("lock-free", "sgd"), ("lock-free", "adagrad")]
)
def test_other_modes_and_steps_learn_and_repeat_themselves(name: str, mode: str, optimizer: str) -> None:
    check_learning(name, mode, optimizer)


def test_the_number_of_threads_changes_no_minibatch() -> None:
    for name in ("TransE", "LFM", "SMEBilinear", "TransH"):
        alone, _ = run(name, Options(n_batches=3), 3)
        both, _ = run(name, Options(n_batches=3, n_jobs=2), 3)
        assert all(np.array_equal(alone[key], both[key]) for key in LEARNT), name


def test_two_lock_free_threads_learn_too() -> None:
    options = Options(mode="lock-free", n_jobs=2, n_batches=6, learning_rate=0.05)
    _, early = run("TransPES", options)
    _, late = run("TransPES", options, 40)
    assert late.loss < early.loss


@pytest.mark.parametrize("mode", ["minibatch", "lock-free"])
def test_a_resumed_run_ends_where_the_unbroken_one_does(mode: str) -> None:
    options = Options(mode=mode, optimizer="adagrad", n_batches=4, schedule="linear", n_epochs=6)
    whole, _ = run("TransPES", options, 6, params=start("TransPES", np.float32))
    params = start("TransPES", np.float32)
    state = new_state(params, options, 7)
    for _ in range(3):
        train_epoch(ENERGIES["TransPES"], params, state, facts(), options)
    kept = {key: rows.copy() for key, rows in params.items()}
    fresh = new_state(kept, options, 99)
    fresh.streams, fresh.epoch = state.streams.copy(), state.epoch
    fresh.squares = {key: rows.copy() for key, rows in state.squares.items()}
    for _ in range(3):
        train_epoch(ENERGIES["TransPES"], kept, fresh, facts(), options)
    assert all(np.array_equal(kept[key], whole[key]) for key in LEARNT)


def test_adagrad_divides_by_the_root_of_all_squares() -> None:
    plain = Options(n_batches=1, learning_rate=1.0, entity_rule="free")
    steps, _ = run("TransE", plain)
    before = start("TransE")
    gradient = {key: before[key] - steps[key] for key in LEARNT}
    options = Options(n_batches=1, learning_rate=0.1, optimizer="adagrad", entity_rule="free")
    found, _ = run("TransE", options)
    for key in ("entities", "relations"):
        expected = before[key] - 0.1 * np.sign(gradient[key]) * (np.abs(gradient[key]) > 1e-12)
        np.testing.assert_allclose(found[key], expected, atol=1e-8)


def test_an_inactive_pair_moves_nothing_and_gradients_are_clipped() -> None:
    before = start("LFM")
    found, report = run(
        "LFM", Options(margin=0.0, n_batches=1, entity_rule="free", lambda2=0.0, learning_rate=1e-300)
    )
    assert 0 < report.active_share < 1
    assert np.array_equal(found["entities"], before["entities"])
    found, _ = run(
        "LFM", Options(n_batches=1, entity_rule="free", lambda2=0.0, learning_rate=1.0, grad_clip=0.01)
    )
    moved = np.linalg.norm(found["entities"] - before["entities"], axis=1)
    assert moved.max() == pytest.approx(0.01)
    settled = {**before, "entities": np.zeros_like(before["entities"])}
    options = Options(margin=0.0, n_batches=2, entity_rule="free", lambda2=0.0)
    same, report = run("LFM", options, params={key: rows.copy() for key, rows in settled.items()})
    assert report == (0.0, 0.0)
    assert all(np.array_equal(same[key], settled[key]) for key in LEARNT)


@pytest.mark.parametrize("name", ["TransE", "TransPES", "DistMult", "ComplEx", "RotatE"])
@pytest.mark.parametrize("loss", ["self-adversarial", "softmax"])
def test_shared_corruptions_teach(name: str, loss: str) -> None:
    norm = "l2" if name in ("TransE", "TransPES") else None
    options = Options(
        loss=loss, negatives=16, n_batches=4, learning_rate=0.2, optimizer="adagrad", margin=2.0, norm=norm,
        entity_rule="free",
    )  # fmt: skip
    _, early = run(name, options)
    _, late = run(name, options, 40)
    assert late.loss < early.loss
    assert late.active_share < early.active_share


def test_shared_corruptions_have_the_gradient_of_their_loss() -> None:
    options = Options(
        loss="softmax", negatives=5, n_batches=1, learning_rate=0.01, norm="l2", entity_rule="free"
    )
    params, _ = run("TransE", options)
    before = start("TransE")
    from relscape.solvers.triples.sampling import new_streams, shared_entities

    streams = new_streams(2, 7)
    drawn = {side: shared_entities(5, N, streams, 1) for side in (0, 1)}
    true = {tuple(triple) for triple in TRIPLES}

    def objective(E: np.ndarray, R: np.ndarray) -> float:
        value = 0.0
        for h, l, t in TRIPLES:  # noqa: E741
            own = np.linalg.norm(E[h] + R[l] - E[t])
            for side in (0, 1):
                swaps = [(x, l, t) if side == 0 else (h, l, x) for x in drawn[side]]
                energies = [np.linalg.norm(E[a] + R[b] - E[c]) for a, b, c in swaps if (a, b, c) not in true]
                value += 0.5 * (own + np.log(np.exp(-own) + np.exp(-np.array(energies)).sum()))
        return value

    for key in ("entities", "relations"):
        gradient = np.zeros_like(before[key])
        for place in np.ndindex(*gradient.shape):
            ends = []
            for way in (1e-6, -1e-6):
                moved = {name: before[name].copy() for name in ("entities", "relations")}
                moved[key][place] += way
                ends.append(objective(moved["entities"], moved["relations"]))
            gradient[place] = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(params[key], before[key] - 0.01 * gradient, atol=1e-7)


def test_reciprocal_relations_ask_for_tails_only() -> None:
    both = with_reciprocals(TRIPLES, M)
    assert len(both) == 2 * len(TRIPLES)
    data = training_set(both, sampler(both, N, 2 * M, sides="tail"))
    params = ENERGIES["TransE"].start(Sizes(N, 2 * M, K), np.random.default_rng(0))
    for options in (Options(n_batches=3), Options(n_batches=3, loss="softmax", negatives=6)):
        report = train_epoch(ENERGIES["TransE"], params, new_state(params, options, 0), data, options)
        assert report.loss > 0


def test_the_learning_rate_falls_as_said() -> None:
    assert [Options(learning_rate=1.0, schedule="linear", n_epochs=4).rate(i) for i in range(5)] == [
        1,
        0.75,
        0.5,
        0.25,
        0,
    ]
    assert [Options(learning_rate=1.0, schedule="step", step_every=2).rate(i) for i in range(5)] == [
        1,
        1,
        0.5,
        0.5,
        0.25,
    ]
    assert Options(learning_rate=0.3).rate(77) == 0.3


def test_trouble_is_named() -> None:
    params = start("TransPES")
    params["entities"][0, 0] = np.nan
    with pytest.raises(DataError, match="epoch 1: the entities"):
        run("TransPES", Options(), params=params)
    for name, loss in (("TransH", "margin"), ("TransE", "softmax")):  # and nothing but the error is heard
        options = Options(
            loss=loss, learning_rate=1e200, entity_rule="free", norm="l2sq" if loss == "margin" else "l2"
        )
        with pytest.raises(DataError, match=r"epoch \d+: the .* became infinite or NaN"):
            run(name, options, 5)
    with pytest.raises(ParameterError, match="SMEBilinear trains in batches only"):
        run("SMEBilinear", Options(mode="lock-free"))
    with pytest.raises(ParameterError, match="SE has no matrix products"):
        run("SE", Options(loss="softmax"))
    with pytest.raises(ParameterError, match="by l2 or l2sq only"):
        run("TransPES", Options(loss="softmax", norm="l1"))
    with pytest.raises(ParameterError, match="shares its corruptions"):
        Options(loss="softmax", mode="lock-free")
    for bad in (
        {"loss": "hinge"},
        {"negatives": 0},
        {"learning_rate": 0.0},
        {"margin": -1.0},
        {"lambda1": np.nan},
    ):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            Options(**bad)
    with pytest.raises(ParameterError, match="entity_rule='round'"):
        run("TransE", Options(entity_rule="round"))
    with pytest.raises(DataError, match="no triples"):
        training_set(TRIPLES[:0], sampler(TRIPLES, N, M))
    with pytest.raises(DataError, match="weights"):
        training_set(TRIPLES, sampler(TRIPLES, N, M), weights=np.ones(3))
