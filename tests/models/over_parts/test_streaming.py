"""Fitting to a table in parts: the same model, without all rows in memory."""

import numpy as np
import pytest
from rows_in_parts import both, frame

import clearwood as cw
from clearwood.models import streaming
from clearwood.models.catalogue.boosting import streams
from clearwood.models.over_parts import encoded_rows

LEARNERS = ["lightgbm", "xgboost"]


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("number", {}),
        ("number", {"weight": "weight", "monotone": {"b": "up"}}),
        ("yes", {}),
        ("class", {}),
        ("count", {"kinds": {"town": ["Bern", "Lund", "Chur"]}}),
        ("count", {"task": "amount"}),
    ],
)
def test_with_the_number_of_trees_set_the_model_is_the_one_of_the_table(name, target, options):
    table, parts = both(target, **options)
    one, other = (cw.learner(name, n_estimators=12).fit(data) for data in (table, parts))
    assert one.encoder_.state()[0] == other.encoder_.state()[0]
    predict = "predict_proba" if one.task_.is_classification else "predict"
    np.testing.assert_allclose(
        getattr(other, predict)(table), getattr(one, predict)(table), rtol=1e-5, atol=1e-6
    )
    ranges = {key: pytest.approx(ends) for key, ends in one.training_["ranges"].items()}
    assert other.training_["ranges"] == ranges
    assert other.schema_ == one.schema_


@pytest.mark.parametrize("name", LEARNERS)
def test_the_chosen_number_of_trees_loses_less_than_half_a_per_cent(name):
    table, parts = both("number", n=12_000, group="identical rows")
    new = cw.read(frame(8000, seed=1), target="number", ignore=["yes", "class", "count", "weight"])
    risks = []
    for data in (table, parts):
        model = cw.learner(name, learning_rate=0.2).fit(data)
        risks.append(np.mean((model.predict(new) - new.y) ** 2))
    assert risks[1] <= 1.005 * risks[0]
    assert model.training_["settings"]["n_estimators"] > 10


@pytest.mark.parametrize("name", LEARNERS)
def test_a_model_fitted_in_parts_is_saved_and_explained(name, tmp_path):
    table, parts = both("class")
    model = cw.learner(name, n_estimators=5).fit(parts)
    cw.save(model, tmp_path / "model.cw")
    again = cw.load(tmp_path / "model.cw")
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    number = cw.learner(name, n_estimators=5).fit(both("number")[1])
    why = cw.explain(number, table.head(300))
    assert set(why.importance().to_frame("dict")["column"]) == set(number.schema_.features)


class Interrupted:
    """Ends a fit after its checkpoint was written."""

    def __init__(self, monkeypatch, after):
        self.save, self.after = streaming._Checkpoint.save, after
        monkeypatch.setattr(streaming, "SLICE", 5)

        def saved(checkpoint, rounds, written):
            self.save(checkpoint, rounds, written)
            if rounds == self.after:
                raise KeyboardInterrupt

        monkeypatch.setattr(streaming._Checkpoint, "save", saved)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("target", ["number", "class"])
def test_an_interrupted_fit_goes_on_from_its_checkpoint(name, target, tmp_path, monkeypatch):
    table, parts = both(target)
    path = tmp_path / "fit.json"
    learner = cw.learner(name, n_estimators=23, colsample_bynode=1.0)
    with monkeypatch.context() as patch:
        Interrupted(patch, after=10)
        with pytest.raises(KeyboardInterrupt):
            learner.fit(parts, checkpoint=path)
    assert path.exists()
    grown = []
    original = streaming.Grown

    def seen(rounds, model):
        grown.append(rounds)
        return original(rounds, model)

    monkeypatch.setattr(streaming, "Grown", seen)
    learner.fit(parts, checkpoint=path)
    assert grown == [10]
    assert not path.exists()
    # without random numbers the trees are those of a fit that was not interrupted
    whole = cw.learner(name, n_estimators=23, colsample_bynode=1.0).fit(table)
    predict = "predict_proba" if target == "class" else "predict"
    np.testing.assert_allclose(
        getattr(learner, predict)(table), getattr(whole, predict)(table), rtol=1e-3, atol=1e-3
    )


def test_the_text_of_two_lightgbm_models_is_joined_as_lightgbm_joins_them():
    """Fails where LightGBM writes its models in another way: `joined_text` must follow."""
    lgb = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = rng.random((300, 3))
    y = rng.integers(0, 3, 300)
    params = {"objective": "multiclass", "num_class": 3, "verbosity": -1, "num_leaves": 5}
    first = lgb.train(params, lgb.Dataset(X, y), 4)
    left = first.predict(X, raw_score=True)
    second = lgb.train(params, lgb.Dataset(X, y, init_score=left), 3)
    known = lgb.train(params, lgb.Dataset(X, y, free_raw_data=False), 3, init_model=first)
    joined = lgb.Booster(
        model_str=streams.joined_text(first.model_to_string(), second.model_to_string())
    )
    assert joined.num_trees() == known.num_trees() == 21
    np.testing.assert_array_equal(joined.predict(X), known.predict(X))
    with pytest.raises(ValueError, match="form that is not known"):
        streams.joined_text("tree\n", "tree\n")


def test_the_checkpoint_of_another_fit_is_refused(tmp_path, monkeypatch):
    _, parts = both("number")
    path = tmp_path / "fit.json"
    with monkeypatch.context() as patch:
        Interrupted(patch, after=5)
        with pytest.raises(KeyboardInterrupt):
            cw.learner("lightgbm", n_estimators=9).fit(parts, checkpoint=path)
    with pytest.raises(cw.InputError, match="checkpoint of another fit"):
        cw.learner("lightgbm", n_estimators=8).fit(parts, checkpoint=path)
    path.write_text("{}")
    with pytest.raises(cw.InputError, match="is not a checkpoint"):
        cw.learner("lightgbm", n_estimators=8).fit(parts, checkpoint=path)


def test_learners_that_need_all_rows_name_those_that_do_not():
    table, parts = both("number")
    match = r"learner 'gam' needs all rows.*'glm'.*'lightgbm', 'xgboost'.*data\.sample"
    with pytest.raises(cw.InputError, match=match):
        cw.learner("gam").fit(parts)
    assert cw.learner("ridge").fit(parts.sample(500)).training_["rows"] == 500
    with pytest.raises(cw.InputError, match="categories='target' needs all rows"):
        cw.learner("lightgbm", categories="target").fit(parts)
    with pytest.raises(cw.InputError, match="y cannot be passed"):
        cw.learner("lightgbm").fit(parts, table.y)
    with pytest.raises(cw.InputError, match="read the table with task='binary'"):
        cw.learner("lightgbm", task="binary").fit(parts)
    with pytest.raises(cw.InputError, match="distributed=True needs a Dask cluster"):
        cw.learner("ridge").fit(parts, distributed=True)
    with pytest.raises(cw.InputError, match="checkpoint is for tables in parts"):
        cw.learner("lightgbm").fit(table, checkpoint="fit.json")


def test_a_disk_that_is_too_small_is_named_before_the_fit(monkeypatch):
    _, parts = both("number")
    usage = encoded_rows.shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(encoded_rows.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(cw.InputError, match=r"the encoded rows take .* TMPDIR"):
        cw.learner("lightgbm").fit(parts)


def test_bins_of_xgboost_go_to_disk_where_they_do_not_fit(monkeypatch):
    table, parts = both("number")
    inside = cw.learner("xgboost", n_estimators=5).fit(parts)
    monkeypatch.setattr(streams, "free_memory", lambda: 1000)
    outside = cw.learner("xgboost", n_estimators=5).fit(parts)
    np.testing.assert_array_equal(outside.predict(table), inside.predict(table))
