"""Learners that choose their columns: every method, task and kind of column, files, bad input."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import clearwood as cw
from clearwood import ClearwoodWarning, InputError
from clearwood.models import SELECTIONS
from clearwood.table import Role

QUICK = {"boruta": "boruta:rounds=10", "knockoffs": "knockoffs:fdr=0.5"}
LEARNERS = {"regression": "ridge", "count": "glm", "amount": "glm", "multiclass": "lda"}


def _table(task="regression", n=120, *, weight=False, exposure=False):
    """A table with numbers, gaps, a category, a date and noise; x and town matter.

    One column does not vary over these rows, as happens in a fold.
    """
    rng = np.random.default_rng(0)
    n += 1
    x, noise, more = rng.normal(size=(3, n))
    town = rng.choice(["Lund", "Ystad", "Malmö"], n)
    score = 1.5 * x + 1.5 * (town == "Lund")
    rows = {
        "x": np.where(rng.random(n) < 0.1, np.nan, x),
        "town": town,
        "noise": noise,
        "more=noise, really": more,
        "day": np.datetime64("2024-01-01") + rng.integers(0, 300, n),
        "same": np.append(np.ones(n - 1), 2.0),
    }
    options = {}
    if weight:
        rows["w"] = rng.integers(0, 3, n).astype(float)
        options["weight"] = "w"
    if exposure:
        rows["years"] = rng.uniform(0.5, 2, n)
        options["exposure"] = "years"
    rows["y"] = {
        "regression": lambda: score + rng.normal(size=n),
        "binary": lambda: np.where(score + rng.normal(size=n) > 0.5, "yes", "no"),
        "multiclass": lambda: np.array(["a", "b", "c"])[np.digitize(score, [-0.5, 1])],
        "count": lambda: rng.poisson(np.exp(0.5 * score) * rows.get("years", 1.0)),
        "amount": lambda: rng.gamma(2.0, np.exp(0.5 * score)),
    }[task]()
    return cw.read(rows, target="y", task=task, **options).take(slice(0, n - 1))


@pytest.mark.parametrize("task", ["regression", "count", "amount", "binary", "multiclass"])
@pytest.mark.parametrize("method", SELECTIONS)
def test_every_method_chooses_for_every_task(method, task):
    method = QUICK.get(method, f"{method}:2" if SELECTIONS[method].ranks else method)
    data = _table(task)
    model = cw.learner(LEARNERS.get(task, "logistic"), select=method).fit(data)
    assert set(model.selected_) <= set(data.features) - {"same"}
    assert model.encoder_.used_ == model.selected_
    assert "x" in model.selected_
    assert np.isnan(model.selection_.scores[data.features.index("same")])
    assert len(model.predict(data)) == data.n_rows


@pytest.mark.parametrize("method", ["anova:2", "mutual-information:2", "relief:2", "forward:2"])
@pytest.mark.parametrize("roles", [{"weight": True}, {"exposure": True}])
def test_weights_and_exposure_count(method, roles):
    data = _table("count", **roles)
    model = cw.learner("glm", select=method).fit(data)
    assert "x" in model.selected_
    assert model.selection_.n_rows == (data.weights > 0).sum()


def test_columns_that_are_not_chosen_have_no_importance():
    data = _table()
    model = cw.learner("tree", select="anova:2").fit(data)
    importance = cw.importance(model, data)
    by_name = dict(zip(importance.columns, importance.total, strict=True))
    assert {name for name, share in by_name.items() if share} == {"x", "town"}
    assert all(by_name[name] == 0 for name in set(data.features) - {"x", "town"})
    assert model.encoder_.left_out_["noise"] == "not selected"


def test_the_same_seed_makes_the_same_choice():
    data = _table()
    one, other = (cw.learner("ridge", select="stability", seed=4).fit(data) for _ in range(2))
    np.testing.assert_array_equal(one.selection_.scores, other.selection_.scores)


def test_groups_are_not_forgotten_where_the_same_rows_were_seen_without_them():
    rng = np.random.default_rng(4)
    rows = {f"x{j}": rng.normal(size=60).repeat(3) for j in range(6)}
    rows["y"] = (rows["x0"] + rows["x1"] + rng.normal(size=180).round(2)) / 2
    single = cw.read(rows, target="y")
    grouped = cw.read({**rows, "who": np.arange(60).repeat(3)}, target="y", group="who")
    one, other = (
        cw.learner("ridge", select="stability").fit(data).selection_ for data in (single, grouped)
    )
    assert one.columns == other.columns
    assert not np.array_equal(one.scores, other.scores)


def test_scikit_learn_sees_an_ordinary_parameter():
    data = _table()
    learner = cw.learner("ridge", select="anova:2")
    assert learner.get_params()["select"] == "anova:2"
    assert clone(learner).select == "anova:2"
    assert repr(learner) == "Learner('ridge', select='anova:2')"
    X, y = data.select(["x", "town", "noise"]).to_frame("pandas"), data.y
    search = GridSearchCV(learner, {"select": ["anova:1", "anova:2", None]}, cv=3).fit(X, y)
    assert search.best_params_["select"] in ("anova:2", None)


@pytest.mark.parametrize("select", ["anova:2", "knockoffs:fdr=0.5", "boruta:rounds=10"])
def test_a_saved_model_has_its_selection(select, tmp_path):
    data = _table()
    model = cw.learner("tree", select=select).fit(data)
    cw.save(model, tmp_path / "m.cw")
    again = cw.load(tmp_path / "m.cw")
    np.testing.assert_array_equal(again.predict(data), model.predict(data))
    assert again.selected_ == model.selected_
    assert repr(again.selection_) == repr(model.selection_)
    file = cw.inspect(tmp_path / "m.cw")
    assert (file.select, file.selected) == (select, model.selected_)
    assert "selected" in repr(file)


@pytest.mark.parametrize("task", ["regression", "binary"])
def test_without_a_chosen_column_the_model_is_the_baseline(task, tmp_path):
    rng = np.random.default_rng(1)
    noise = {f"x{j}": rng.normal(size=100) for j in range(12)}
    y = rng.normal(size=100) if task == "regression" else rng.integers(0, 2, 100)
    data = cw.read({**noise, "y": y}, target="y", task=task)
    with pytest.warns(ClearwoodWarning, match="no column is selected"):
        model = cw.learner("gbm", select="knockoffs").fit(data)
    assert model.selected_ == ()
    response = model.predict(data) if task == "regression" else model.predict_proba(data)[:, 1]
    np.testing.assert_allclose(response, y.mean())
    assert not cw.importance(model, data).total.any()
    cw.save(model, tmp_path / "m.cw")
    np.testing.assert_array_equal(cw.load(tmp_path / "m.cw").predict(data), model.predict(data))


def test_directions_of_columns_hold_whether_they_are_chosen_or_not():
    data = _table()
    ways = {"x": "up", "noise": "down"}
    for select in ("anova:2", "forward:2"):
        model = cw.learner("tree", select=select, monotone=ways).fit(data)
        assert set(model.selected_) == {"x", "town"}
        assert cw.monotone(model, data, ways).holds


def test_a_protected_column_is_a_candidate_like_any_other():
    data = _table()
    data = replace(data, roles={**data.roles, "town": Role.PROTECTED})
    assert data.protected == ("town",)
    assert "town" in cw.learner("ridge", select="anova:2").fit(data).selected_
    assert "town" not in cw.learner("ridge", select="anova:1").fit(data).selected_


def test_rows_of_weight_zero_have_no_say():
    data = _table(weight=True)
    counting = data.take(data.weights > 0)
    one, other = (cw.learner("ridge", select="lasso").fit(each) for each in (data, counting))
    np.testing.assert_array_equal(one.selection_.scores, other.selection_.scores)


def test_a_category_of_many_levels_is_one_column():
    rng = np.random.default_rng(2)
    town = rng.integers(0, 60, 400)
    rows = {"town": [f"t{k}" for k in town], "x": rng.normal(size=400)}
    data = cw.read({**rows, "y": (town % 2) + 0.1 * rng.normal(size=400)}, target="y")
    assert cw.learner("ridge", select="anova:1").fit(data).selected_ == ("town",)


def test_a_constant_target_needs_no_column():
    rng = np.random.default_rng(3)
    rows = {"x": rng.normal(size=31), "z": rng.normal(size=31), "y": [*np.full(30, 2.5), 3]}
    data = cw.read(rows, target="y", task="regression").take(slice(0, 30))
    with pytest.warns(ClearwoodWarning, match="no column is selected"):
        model = cw.learner("ridge", select="lasso").fit(data)
    np.testing.assert_array_equal(model.predict(data), 2.5)


def test_the_result_has_a_frame_json_and_text():
    selection = cw.learner("ridge", select="anova:2").fit(_table()).selection_
    frame = selection.to_frame("dict")
    assert frame["column"] == list(selection.order)
    assert sum(frame["selected"]) == 2
    assert frame["score"] == [*sorted(frame["score"][:5], reverse=True), None]
    assert type(selection).from_json(selection.to_json()).selected == selection.selected
    text = repr(selection)
    assert "2 of 6 columns selected by anova:2 from 120 rows" in text
    assert "constant in the training rows" in text
    assert all(len(line) <= 110 for line in text.splitlines())
    assert "more=noise, really" in selection._repr_html_()


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ("stabillity:2", "did you mean 'stability'"),
        ("anova:7", "it is to choose 7 columns, and the table has 6.*anova:6"),
        ("knockoffs:fdr=0.05", "for 20 or more columns at a time, and there are 5"),
    ],
)
def test_bad_requests_are_refused(select, message):
    with pytest.raises(InputError, match=message) as error:
        cw.learner("ridge", select=select).fit(_table())
    assert error.value.parameter == "select"


def test_one_class_and_columns_that_do_not_vary_are_refused():
    data = cw.read({"a": [1.0, 2, 3, 4, 5], "b": [1.0, 1, 1, 1, 2]}).take(slice(0, 4))
    with pytest.raises(InputError, match="all rows have the same class"):
        cw.learner("tree", task="binary", select="anova:1").fit(data, [1, 1, 1, 1])
    with pytest.raises(InputError, match=r"no column can be selected: 'b' \(constant"):
        cw.learner("ridge", task="regression", select="anova:1").fit(
            data.select(["b"]), [1.0, 2, 3, 4]
        )


def test_more_columns_than_vary_are_all_that_vary():
    model = cw.learner("ridge", select="anova:6").fit(_table())
    assert len(model.selected_) == 5


def test_a_learner_without_selection_has_all_columns():
    data = _table()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = cw.learner("ridge").fit(data)
    assert model.selection_ is None
    assert model.selected_ == data.features


def test_a_learner_that_cannot_be_fitted_ends_a_search_with_its_own_error():
    with pytest.raises(InputError, match="max_depth"):
        cw.learner("tree", max_depth=-3, select="forward:2").fit(_table())
