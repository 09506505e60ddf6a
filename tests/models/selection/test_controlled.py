"""Methods that limit what is chosen by chance: knockoffs, stability selection, Boruta."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearwood.models.selection import forests
from clearwood.models.selection.forests import _importance, boruta, trees
from clearwood.models.selection.lasso import (
    copies,
    design_of,
    entering,
    entries,
    knockoffs,
    leading,
    path_down,
    separations,
    stability,
)
from clearwood.table import Task


def _correlated(rng, n, p, rho=0.5):
    place = np.arange(p)
    return rng.normal(size=(n, p)) @ np.linalg.cholesky(rho ** abs(place[:, None] - place)).T


def _named(X):
    return {f"x{j}": column for j, column in enumerate(X.T)}


def test_separations_have_the_largest_entropy():
    place = np.arange(6)
    covariance = 0.7 ** abs(place[:, None] - place)
    s = separations(covariance)
    rest = 2 * covariance - np.diag(s)
    assert np.linalg.eigvalsh(rest)[0] > 0
    # the gradient of log det S + log det(2 Σ - S) vanishes
    np.testing.assert_allclose(1 / s, np.diag(np.linalg.inv(rest)), rtol=1e-3)


def test_copies_have_the_covariances_that_swapping_needs():
    rng = np.random.default_rng(0)
    parts = _correlated(rng, 20_000, 4)
    parts = (parts - parts.mean(0)) / parts.std(0)
    shadow = copies(parts, np.ones(len(parts)), rng)
    covariance = parts.T @ parts / len(parts)
    np.testing.assert_allclose(shadow.T @ shadow / len(parts), covariance, atol=0.04)
    cross = parts.T @ shadow / len(parts)
    off = ~np.eye(4, dtype=bool)
    np.testing.assert_allclose(cross[off], covariance[off], atol=0.04)
    assert (np.diag(cross) < 0.75).all()


@given(
    st.lists(st.integers(-20, 20), min_size=1, max_size=30),
    st.sampled_from([0.1, 0.2, 0.35, 0.5]),
)
def test_the_threshold_of_knockoffs_is_the_least_that_keeps_the_bound(leads, fdr):
    leads = np.array(leads, float)
    chosen = leading(leads, fdr)
    able = [
        t
        for t in sorted({abs(w) for w in leads if w})
        if (leads >= t).sum() and (1 + (leads <= -t).sum()) / (leads >= t).sum() <= fdr
    ]
    np.testing.assert_array_equal(chosen, leads >= able[0] if able else np.zeros(len(leads), bool))


def test_false_discoveries_of_knockoffs_stay_below_the_rate_asked_for(candidates_of):
    shares, power = [], []
    for repeat in range(16):
        rng = np.random.default_rng((1, repeat))
        X = _correlated(rng, 200, 32)
        y = 0.5 * X[:, ::4].sum(axis=1) + rng.normal(size=200)
        chosen = leading(knockoffs(candidates_of(_named(X), y, seed=repeat)), 0.2)
        is_true = np.arange(32) % 4 == 0
        shares.append((chosen & ~is_true).sum() / max(1, chosen.sum()))
        power.append((chosen & is_true).sum() / 8)
    assert np.mean(shares) < 0.2 + 2 * np.std(shares) / 4
    assert np.mean(power) > 0.7


def test_a_column_of_noise_leads_its_knockoff_half_of_the_time(candidates_of):
    leads = []
    for repeat in range(8):
        rng = np.random.default_rng((2, repeat))
        X = _correlated(rng, 150, 20)
        town = rng.choice(list("abcd"), 150)
        y = np.exp(X[:, 0]) + rng.normal(size=150)
        these = candidates_of({**_named(X), "town": town}, y, seed=repeat)
        leads.append(knockoffs(these)[1:])
    signs = np.sign(np.concatenate(leads))
    assert abs(signs.sum()) < 3 * np.sqrt(np.abs(signs).sum())


@pytest.mark.parametrize("classes", [False, True])
def test_stability_selection_leaves_noise_out_and_finds_what_matters(classes, candidates_of):
    wrong, found = [], []
    for repeat in range(3):
        rng = np.random.default_rng((3, repeat))
        X = rng.normal(size=(200, 30))
        town = rng.choice(list("abcdef"), 200)
        y = X[:, 0] - X[:, 1] + rng.normal(size=200)
        task = Task.REGRESSION
        if classes:
            y, task = np.digitize(2 * y, [-1.5, 1.5]), Task.MULTICLASS
        these = candidates_of({**_named(X), "town": town}, y, task=task, seed=repeat)
        chosen = stability(these, entering(1, 0.9, 31)) >= 0.9
        wrong.append(chosen[2:].sum())
        found.append(chosen[:2].all())
    assert np.mean(wrong) <= 1
    assert all(found)


def test_stability_finds_a_column_that_is_the_only_one(candidates_of):
    rng = np.random.default_rng(9)
    x = rng.normal(size=80)
    assert stability(candidates_of({"x": x}, x + rng.normal(size=80)), 1).tolist() == [1.0]


def test_stability_of_groups_is_judged_on_whole_groups(candidates_of):
    rng = np.random.default_rng(4)
    these = replace(
        candidates_of({"x": rng.normal(size=40)}, rng.normal(size=40)),
        groups=np.repeat(np.arange(8), 5),
    )
    first, second = these.halves(np.random.default_rng(0))
    assert len(first) == len(second) == 20
    assert not set(these.groups[first]) & set(these.groups[second])
    for train, test in these.folds(4):
        assert not set(these.groups[train]) & set(these.groups[test])


def test_a_category_of_noise_enters_a_lasso_about_as_early_as_a_number(candidates_of):
    earlier = 0
    for repeat in range(60):
        rng = np.random.default_rng((5, repeat))
        columns = {"x": rng.normal(size=120), "town": rng.choice(list("abcdefgh"), 120)}
        design = design_of(candidates_of(columns, rng.normal(size=120)))
        entered = entries(design, path_down(design.largest))
        earlier += entered[1] > entered[0]
    # without the correction of its eight levels it does so nearly always
    assert 15 <= earlier <= 51


def test_boruta_finds_an_interaction_and_leaves_noise_out(candidates_of):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(300, 8))
    town = rng.choice(list("abc"), 300)
    y = 2 * X[:, 0] * X[:, 1] + 2 * (town == "a") + 0.5 * rng.normal(size=300)
    shares, chosen = boruta(candidates_of({**_named(X), "town": town}, y), 20, 0.05)
    assert np.flatnonzero(chosen).tolist() == [0, 1, 8]
    assert (shares[chosen] > 0.9).all()


@pytest.mark.parametrize(("scale", "shift"), [(1e200, 0.0), (1.0, 1e9)])
def test_forests_see_columns_that_32_bits_cannot_hold(scale, shift, candidates_of):
    rng = np.random.default_rng(10)
    x, noise = rng.normal(size=(2, 100))
    these = candidates_of({"x": shift + scale * x, "noise": noise}, x)
    assert trees(these)[0] > 0.8
    assert boruta(these, 12, 0.05)[1].tolist() == [True, False]


def test_boruta_draws_some_of_many_rows_for_each_round(candidates_of, monkeypatch):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(400, 4))
    these = candidates_of(_named(X), X[:, 0] + 0.5 * rng.normal(size=400))
    fitted = []

    def importance(these, matrix, rows, *rest):
        fitted.append(rows)
        return _importance(these, matrix, rows, *rest)

    monkeypatch.setattr(forests, "_ROWS_OF_A_ROUND", 150)
    monkeypatch.setattr(forests, "_importance", importance)
    _, chosen = boruta(these, 12, 0.05)
    assert np.flatnonzero(chosen).tolist() == [0]
    assert {len(rows) for rows in fitted} == {150}
    assert not np.array_equal(fitted[0], fitted[1])


def test_boruta_chooses_nothing_of_noise(candidates_of):
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(150, 10)), rng.integers(0, 2, 150)
    _, chosen = boruta(candidates_of(_named(X), y, task=Task.BINARY), 10, 0.05)
    assert not chosen.any()
