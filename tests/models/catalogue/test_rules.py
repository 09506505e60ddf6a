"""Rule ensembles: rules against their trees, laws, exact decomposition, bad input, files."""

import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood import InputError
from clearwood.models.catalogue.rules.estimators import (
    RulesClassifier,
    RulesPoisson,
    RulesRegressor,
)
from clearwood.models.catalogue.rules.growing import Grower, merged
from clearwood.models.shared.conditions import Among, Between, Rule, chains

SMALL = {"n_trees": 20}


def houses(n=400, seed=0):
    """A rule of two columns, a category, a line, and gaps that matter."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.uniform(40, 200, n),
            "age": rng.uniform(0, 100, n),
            "town": rng.choice(["Lund", "Malmö", "Ystad"], n),
        }
    )
    frame.loc[rng.random(n) < 0.15, "age"] = np.nan
    is_new = (frame["age"] <= 30) & (frame["size"] > 100)
    signal = 2.0 * is_new + 1.0 * (frame["town"] == "Malmö") + frame["size"] / 100
    return frame, np.asarray(signal - 1.5 * frame["age"].isna()), rng


def grown(frame, signal, **options):
    X = frame.assign(town=pd.Categorical(frame["town"]).codes).to_numpy(float)
    grower = Grower(
        **{
            "n_trees": 30, "mean_leaves": 5.0, "shrinkage": 0.1, "share": 0.5, "min_leaf": 5,
            "levels": np.array([0, 0, 3], np.int32), **options,
        }
    )  # fmt: skip
    rng = np.random.default_rng(0)
    return X, list(grower(X, signal[None, :], np.ones(len(X)), "gaussian", rng))


def test_rules_hold_for_the_rows_in_their_node():
    frame, signal, _ = houses()
    X, candidates = grown(frame, signal)
    assert len(candidates) > 100
    for rule, inside in candidates:
        np.testing.assert_array_equal(rule(X), inside)


def test_chains_of_splits_add_up_what_rules_add():
    frame, signal, rng = houses()
    X, candidates = grown(frame, signal)
    rules = [rule for rule, _ in candidates]
    rules += [
        Rule({1: Between(np.inf, np.inf, missing=True)}),
        Rule({1: Between(-np.inf, np.inf, missing=False), 0: Between(50.0, 90.0, missing=True)}),
        Rule({2: Among(np.array([False, True, False, True]))}),
    ]
    beta, weight = rng.normal(size=(len(rules), 2)), rng.uniform(0.5, 2, len(X))
    trees = chains(rules, beta, X, weight)
    X[:5, 2] = np.nan
    expected = np.array([rule(X) for rule in rules]).T @ beta
    np.testing.assert_allclose(trees(X), expected, atol=1e-12)


def test_weights_of_nodes_are_those_of_the_rows_that_reach_them():
    X = np.array([[1.0], [2.0], [3.0], [np.nan]])
    rule = Rule({0: Between(1.5, 2.5, missing=False)})
    trees = chains([rule], np.array([[1.0]]), X, np.array([1.0, 2.0, 4.0, 8.0]))
    # all; not up to 2.5; up to 2.5; up to 1.5; between
    np.testing.assert_array_equal(trees.cover, [15, 12, 3, 1, 2])


def test_one_of_equal_and_opposite_rules_stays_and_it_is_the_shortest():
    inside = np.array([True, True, False, False])
    long = Rule({0: Between(1.0, 3.0, missing=False)})
    short = Rule({1: Between(1.0, np.inf, missing=False)})
    rules, rows = merged(iter([(long, inside), (short, ~inside), (long, inside)]), np.ones(4), 0.25)
    assert rules == [short]
    np.testing.assert_array_equal(rows, [~inside])
    assert merged(iter([(long, inside)]), np.ones(4), 0.51)[0] == []


@pytest.mark.parametrize("task", ["regression", "count", "binary", "multiclass"])
def test_components_and_baseline_add_up_to_the_score(task):
    frame, signal, rng = houses()
    y = {
        "regression": signal,
        "count": rng.poisson(np.exp(signal / 3)),
        "binary": signal + rng.normal(size=len(signal)) > 1.5,
        "multiclass": np.digitize(signal + rng.normal(size=len(signal)), [1, 2.5]),
    }[task]
    model = cw.learner("rules", task=task, **SMALL).fit(frame, y)
    values = cw.explain(model, frame.head(60)).shapley()
    matrix = model.encoder_.transform(cw.table.as_table(frame.head(60)))
    score = model.estimator_.parts_(matrix)
    total = values.baseline + values.values.sum(axis=1)
    np.testing.assert_allclose(total.reshape(score.shape), score, atol=1e-9)


@pytest.mark.parametrize("kind", [RulesRegressor, RulesPoisson, RulesClassifier])
def test_the_list_of_rules_computes_the_score(kind):
    frame, signal, rng = houses()
    X = frame.drop(columns="town").to_numpy()
    y = rng.poisson(np.exp(signal / 3))
    y = np.minimum(y, 2) if kind is RulesClassifier else y
    model = kind(**SMALL).fit(X, y)
    listed = model.rules_
    outputs = list(listed.constant)
    score = np.tile(list(listed.constant.values()), (len(X), 1))
    texts = {}
    for rule in model.kept_rules_:
        gaps = np.isnan(X).any(axis=0)
        text = " and ".join(c.written(f"x{j}", gaps=gaps[j]) for j, c in rule.conditions.items())
        texts[text] = rule(X)
    for row in listed.rows:
        if row.kind == "rule":
            score[:, outputs.index(row.output)] += row.coefficient * texts[row.rule]
            assert row.support == pytest.approx(texts[row.rule].mean())
            spread = np.std(row.coefficient * texts[row.rule])
            assert row.importance == pytest.approx(spread)
    np.testing.assert_allclose(score + _lines(model, X), model.parts_(X), atol=1e-9)
    assert [row.importance for row in listed.rows] == sorted(
        (row.importance for row in listed.rows), reverse=True
    )
    assert list(listed.to_frame("dict"))[:3] == ["rule", "kind", "coefficient"]


def _lines(model, X):
    return sum(term(X) for term in model.parts_.products.terms) + np.zeros((len(X), 1))


def test_the_written_list_names_columns_and_levels():
    frame, signal, rng = houses()
    model = cw.learner("rules", choose="one-se").fit(frame, signal + 0.2 * rng.normal(size=400))
    listed = model.estimator_.equation(
        model.encoder_.get_feature_names_out(), [(), (), ("Lund", "Malmö", "Ystad")]
    )
    text = str(listed)
    assert "town is Malmö" in text or "town is not Malmö" in text
    assert "of rows)" in text
    assert {name for row in listed.rows for name in row.columns} == {"size", "age", "town"}


def test_one_standard_error_gives_a_shorter_list():
    frame, signal, rng = houses()
    y = signal + rng.normal(size=len(signal))
    best, short = (cw.learner("rules", choose=c).fit(frame, y) for c in ("best", "one-se"))
    assert 0 < len(short.estimator_.rules_) < len(best.estimator_.rules_)


def test_the_same_seed_gives_the_same_rules_and_threads_do_not_matter():
    frame, signal, _ = houses()
    one, other = (cw.learner("rules", n_jobs=n, **SMALL).fit(frame, signal) for n in (1, 3))
    np.testing.assert_array_equal(one.predict(frame), other.predict(frame))


def test_only_ratios_of_fractional_weights_matter():
    frame, signal, rng = houses()
    weight = rng.uniform(0.5, 2.0, len(signal))
    one, other = (
        cw.learner("rules", **SMALL).fit(frame, signal, sample_weight=weight * f) for f in (1, 8)
    )
    np.testing.assert_allclose(one.predict(frame), other.predict(frame), rtol=1e-9)
    left_out = cw.learner("rules", **SMALL).fit(frame, signal, sample_weight=np.arange(400) % 2)
    apart = cw.learner("rules", **SMALL).fit(frame[1::2], signal[1::2])
    np.testing.assert_allclose(left_out.predict(frame), apart.predict(frame), rtol=1e-9)


def test_separable_classes_have_finite_scores():
    X = np.linspace(-1, 1, 100)[:, None]
    model = RulesClassifier(**SMALL).fit(X, X[:, 0] > 0)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.mean(model.predict(X) == (X[:, 0] > 0)) > 0.95


def test_nothing_to_learn_gives_the_mean():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(50), np.full(50, np.nan)])
    y = rng.normal(size=50)
    model = RulesRegressor(**SMALL).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y.mean())
    assert len(model.rules_) == 0
    few = RulesRegressor(**SMALL).fit(rng.normal(size=(6, 3)), rng.normal(size=6))
    assert np.isfinite(few.predict(rng.normal(size=(3, 3)))).all()


def test_unseen_levels_and_values_outside_the_range_are_predicted():
    frame, signal, _ = houses()
    model = cw.learner("rules", **SMALL).fit(frame, signal)
    far, edge = frame.head(3).assign(size=1e6), frame.head(3).assign(size=200.0)
    np.testing.assert_array_equal(model.predict(far), model.predict(edge))
    with pytest.warns(UserWarning, match="not fitted with: 'Kiel'"):
        assert np.isfinite(model.predict(frame.head(3).assign(town="Kiel"))).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_trees": 0}, "n_trees=0: it must be a whole number of at least 1"),
        ({"mean_leaves": 1}, "mean_leaves=1: it must be a number of at least 2"),
        ({"share": 0}, "share=0: it must be a number above 0 and at most 1"),
        ({"folds": 1}, "folds=1: it must be a whole number of at least 2"),
        ({"choose": "first"}, "choose='first' is not a known value"),
        ({"min_support": 0.7}, "min_support=0.7: it must be a number of at least 0 and at most"),
    ],
)
def test_settings_that_cannot_be_used_are_named(settings, message):
    frame, signal, _ = houses()
    with pytest.raises(InputError, match=message):
        cw.learner("rules", **settings).fit(frame, signal)


@pytest.mark.parametrize("task", ["regression", "count", "binary", "multiclass"])
def test_a_saved_model_predicts_the_same(task, tmp_path):
    frame, signal, _ = houses()
    y = {
        "regression": signal,
        "count": np.round(np.exp(signal / 3)),
        "binary": signal > 1.5,
        "multiclass": np.digitize(signal, [1, 2.5]),
    }[task]
    model = cw.learner("rules", task=task, **SMALL).fit(frame, y)
    cw.save(model, tmp_path / "model.cw")
    loaded = cw.load(tmp_path / "model.cw")
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    assert str(loaded.estimator_.rules_) == str(model.estimator_.rules_)


# trees are grown on drawn rows, and a row that is repeated is drawn in other ways
DRAWN = {"check_sample_weight_equivalence_on_dense_data": "rows are drawn at random"}


@pytest.mark.estimators(
    RulesRegressor(**SMALL), RulesPoisson(**SMALL), RulesClassifier(**SMALL), expected=DRAWN
)
def test_a_learner_keeps_scikit_learns_conventions(estimator, check):
    check(estimator)


def test_equations_of_learners_are_in_the_words_of_the_table():
    frame, signal, rng = houses()
    y = signal + 0.2 * rng.normal(size=len(signal))
    rules = cw.models.equation(cw.learner("rules").fit(frame, y))
    assert {name for row in rules.rows for name in row.columns} <= {"size", "age", "town"}
    assert any("Malmö" in row.rule for row in rules.rows)
    formula = cw.models.equation(cw.learner("mars").fit(frame, y))
    assert any("[town is Malmö]" in term for term in formula.term)
    with pytest.raises(InputError, match="'ridge' is not a fitted learner whose score"):
        cw.models.equation(cw.learner("ridge").fit(frame, y))


@pytest.mark.parametrize("name", ["mars", "rules"])
def test_amounts_are_predicted_with_a_log_link(name):
    frame, signal, rng = houses()
    y = np.exp(signal) * rng.gamma(2.0, 500.0, len(signal))
    model = cw.learner(name, task="amount").fit(frame, y)
    predicted = model.predict(frame)
    assert predicted.min() > 0
    # the log link with Poisson's loss keeps the total
    assert predicted.mean() == pytest.approx(y.mean(), rel=0.01)
    assert np.corrcoef(np.log(predicted), signal)[0, 1] > 0.8


@pytest.mark.parametrize("name", ["mars", "rules"])
def test_rates_with_exposure_count_by_exposure(name):
    frame, signal, rng = houses()
    exposure = rng.uniform(0.2, 1.0, len(signal))
    rate = rng.poisson(exposure * np.exp(signal / 2)) / exposure
    model = cw.learner(name, task="count").fit(frame, rate, sample_weight=exposure)
    total = np.average(model.predict(frame), weights=exposure)
    assert total == pytest.approx(np.average(rate, weights=exposure), rel=0.01)


@pytest.mark.filterwarnings("error")
def test_columns_of_any_scale_can_be_used():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=200)
    for scale in (1e-200, 1e40, 1e200):
        model = RulesRegressor(n_trees=10).fit(X * [1.0, scale], y)
        assert np.mean((model.predict(X * [1.0, scale]) - y) ** 2) < 0.1
