"""Shares of draws in which columns are chosen: those of the fits, for every way to choose."""

import json

import numpy as np
import pytest

import clearwood as cw
from clearwood import InputError
from clearwood.models import chooses_columns, chosen_columns
from clearwood.resampling import Bootstrap, MonteCarlo


def rows(n=160, seed=0, **roles):
    """Rows with a category, a gap, three columns of noise and a group."""
    rng = np.random.default_rng(seed)
    place = rng.choice(["north", "south", "west"], n)
    x = rng.normal(size=n)
    frame = {
        "place": place,
        "<x>": np.where(rng.random(n) < 0.1, np.nan, x),
        **{f"noise{j}": rng.normal(size=n) for j in range(3)},
        "firm": rng.integers(0, 30, n),
        "y": 3.0 * (place == "south") + 2 * x + rng.normal(size=n),
    }
    ignored = [] if roles else ["firm"]
    return cw.read(frame, target="y", ignore=ignored, **roles)


@pytest.mark.parametrize("resampled", ["half", "bootstrap"])
def test_counts_are_those_of_fits_to_the_draws(resampled):
    data = rows(group="firm")
    result = cw.benchmarking.inclusion("subset", data, draws=12, resampled=resampled, seed=3)
    plan = MonteCarlo(12, 0.5) if resampled == "half" else Bootstrap(12)
    chosen = [
        chosen_columns(cw.learner("subset").fit(data.take(split.train)))
        for split in plan.splits(data.n_rows, groups=data.groups, seed=3)
    ]
    times = {name: sum(name in one for one in chosen) for name in data.features}
    assert dict(zip(result.columns, result.counts.tolist(), strict=True)) == times
    assert result.from_all == chosen_columns(cw.learner("subset").fit(data))
    assert result.same == sum(one == result.from_all for one in chosen)
    assert result.draws == 12


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("lasso", {"alpha": 0.2}),
        ("elastic-net", {"alpha": 0.3}),
        ("lars", {"n_nonzero_coefs": 2}),
        ("omp", {"n_nonzero_coefs": 2}),
        ("subset", {"size": 2}),
        ("stagewise", {"steps": 40}),
        ("ridge", {"select": "anova:2"}),
        ("gam", {"select": "lasso:2"}),
    ],
)
def test_learners_that_choose_find_the_two_columns_that_matter(name, settings):
    shares = cw.benchmarking.inclusion(cw.learner(name, **settings), rows(), draws=4)
    assert set(shares.columns[:2]) == {"place", "<x>"}
    assert shares.shares[:2].tolist() == [1.0, 1.0]


def test_a_penalty_of_classes_chooses_and_every_class_is_in_each_draw():
    data = cw.datasets.load("wine")
    sparse = cw.learner("logistic", penalty="l1", C=0.1)
    assert chooses_columns(sparse)
    assert not chooses_columns(cw.learner("logistic"))
    shares = cw.benchmarking.inclusion(sparse, data, draws=2)
    assert 0 < shares.mean_size < len(data.features)


def test_repeated_rows_look_like_evidence_for_noise():
    """BIC takes each row for a new one: chi-squared of 1 above log n, or above half of it."""
    rng = np.random.default_rng(0)
    noise = {f"x{j}": rng.normal(size=200) for j in range(12)}
    data = cw.read({**noise, "y": rng.normal(size=200)}, target="y")
    half = cw.benchmarking.inclusion("subset", data, draws=30).shares.mean()
    bootstrap = cw.benchmarking.inclusion(
        "subset", data, draws=30, resampled="bootstrap"
    ).shares.mean()
    assert half < 0.08
    assert bootstrap > 2 * half


def test_draws_that_choose_nothing_are_counted_without_a_warning():
    rng = np.random.default_rng(0)
    noise = {f"x{j}": rng.normal(size=60) for j in range(8)}
    data = cw.read({**noise, "y": rng.normal(size=60)}, target="y")
    shares = cw.benchmarking.inclusion(cw.learner("lasso", alpha=1.0), data, draws=3)
    assert shares.sizes == (0, 0, 0)
    assert np.isnan(shares.stability)
    assert "no column is chosen from all rows" in repr(shares)


def test_text_frame_json_and_picture():
    shares = cw.benchmarking.inclusion(
        cw.learner("subset", criterion="aic"), rows(), draws=5, seed=1
    )
    assert repr(shares).startswith("subset with criterion=aic: ")
    assert "exactly this choice in" in repr(shares)
    assert "&lt;x&gt;" in shares._repr_html_()
    assert "<x>" not in shares._repr_html_()
    document = json.loads(json.dumps(shares.to_json()))
    assert document["resampled"] == "half"
    assert document["draws"] == 5
    assert set(shares.to_frame("dict")) == {"column", "halves", "share", "from_all"}
    assert shares.plot().to_dict()["title"]["text"] == "Selected columns over halves"


def test_what_cannot_be_repeated_is_refused():
    data = rows()
    with pytest.raises(InputError, match=r"'ridge' uses all columns.*select='anova:10'"):
        cw.benchmarking.inclusion("ridge", data)
    with pytest.raises(InputError, match="'half'"):
        cw.benchmarking.inclusion("lasso", data, resampled="halve")
    for option in ({"draws": 1}, {"draws": 2.5}, {"seed": -1}):
        with pytest.raises(InputError, match=next(iter(option))):
            cw.benchmarking.inclusion("lasso", data, **option)
    flowers = cw.read({"x": np.arange(6.0), "k": ["a", *"bbbbb"]}, target="k")
    with pytest.raises(InputError, match="class 'a' has a single row"):
        cw.benchmarking.inclusion(cw.learner("logistic", penalty="l1"), flowers)
    with pytest.raises(InputError, match="needs a table with a target"):
        cw.benchmarking.inclusion("lasso", {"x": [1.0, 2.0]})
