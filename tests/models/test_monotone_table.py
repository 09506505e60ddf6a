"""Tables that are read with columns that predictions rise or fall with."""

import json

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import clearwood as cw
from clearwood import ClearwoodWarning, InputError
from clearwood.benchmarking.options import usual_learners
from clearwood.table import Schema, read_as

QUICK = {"tune": 0, "interval": "hold-out"}


def _rows(n=120):
    rng = np.random.default_rng(0)
    age, power = rng.uniform(20, 60, n), rng.uniform(0, 9, n)
    town = np.array(list("abc"))[rng.integers(0, 3, n)]
    return {"age": age, "power": power, "town": town, "cost": np.sin(age) + rng.normal(size=n)}


def _table(**options):
    return cw.read(_rows(), target="cost", monotone={"age": "up"}, **options)


def test_parts_of_a_table_and_its_schema_keep_the_directions():
    table = _table()
    for part in (table.take([0, 3]), table.head(), table.select(["age", "cost"]), table.X):
        assert part.schema.monotone == {"age": "up"}
    assert table.select(["power", "cost"]).schema.monotone == {}
    assert Schema.from_json(json.loads(json.dumps(table.schema.to_json()))) == table.schema
    assert read_as(_rows(), table.schema).monotone == {"age": "up"}
    assert cw.read(table, target="cost").monotone == {}


def test_every_learner_fitted_to_the_table_keeps_to_it(tmp_path):
    table = _table()
    settings = {"max_iter": 10}
    model = cw.learner("gbm", **settings).fit(table)
    assert model.monotone is None
    assert model.monotone_ == {"age": "up"}
    stated = cw.learner("gbm", monotone={"age": "up"}, **settings).fit(
        cw.read(table, target="cost")
    )
    assert np.array_equal(model.predict(table), stated.predict(table))
    by_parts = cw.learner("gbm", **settings).fit(table.X, table.y)
    assert np.array_equal(model.predict(table), by_parts.predict(table))
    cw.save(model, tmp_path / "model.cw")
    assert cw.load(tmp_path / "model.cw").monotone_ == {"age": "up"}
    assert cw.monotone(model, table, {"age": "up"})["age"].holds
    free = cw.learner("gbm", **settings).fit(cw.read(table, target="cost"))
    assert not cw.monotone(free, table, {"age": "up"})["age"].holds


def test_a_learner_adds_columns_but_does_not_contradict_the_table():
    table = _table()
    model = cw.learner("tree", monotone={"power": "down"}).fit(table)
    assert model.monotone_ == {"age": "up", "power": "down"}
    with pytest.raises(InputError, match="is against the table, which was read with 'age' 'up'"):
        cw.learner("tree", monotone={"age": "down"}).fit(table)


def test_a_column_with_a_label_is_found_by_either_name():
    labels = {"age": {"name": "Age of driver"}}
    for name in ("age", "Age of driver"):
        table = cw.read(_rows(), target="cost", labels=labels, monotone={name: "up"})
        assert table.monotone == {"Age of driver": "up"}
        assert table.by_header().monotone == {"age": "up"}
        model = cw.learner("gbm", monotone={"age": "up"}, max_iter=5).fit(table)
        assert model.monotone_ == {"Age of driver": "up"}
    with pytest.raises(InputError, match="two directions"):
        cw.read(
            _rows(), target="cost", labels=labels, monotone={"age": "up", "Age of driver": "down"}
        )


def test_learners_that_cannot_are_refused_by_name():
    table = _table()
    for attempt in (
        lambda: cw.learner("ridge").fit(table),
        lambda: cw.benchmark(table, ["ridge", "tree"], **QUICK),
    ):
        with pytest.raises(InputError, match="learner 'ridge' cannot keep"):
            attempt()
    with pytest.raises(InputError, match="Ridge is not a learner of the catalogue"):
        cw.benchmark(table, [Ridge()], **QUICK)


def test_a_benchmark_keeps_to_it_and_leaves_out_usual_learners_that_cannot():
    table = _table()
    bench = cw.benchmark(table, ["tree"], **QUICK)
    assert bench.best().fit(table).monotone_ == {"age": "up"}
    with pytest.warns(ClearwoodWarning, match="left out: they cannot keep to the directions"):
        able = usual_learners(table)
    assert "gbm" in able
    assert "ridge" not in able
    assert "ridge" in usual_learners(cw.read(table, target="cost"))


@pytest.mark.parametrize(
    ("monotone", "message"),
    [
        ("age", "must be a dict"),
        ({"age": "rising"}, "must be 'up' or 'down'"),
        ({"age": ["up"]}, "must be 'up' or 'down'"),
        ({"agee": "up"}, "did you mean 'age'"),
        ({"cost": "up"}, "not a feature"),
        ({"town": "up"}, "holds categories"),
    ],
)
def test_mistakes_are_named(monotone, message):
    with pytest.raises(InputError, match=message) as caught:
        cw.read(_rows(), target="cost", monotone=monotone)
    assert caught.value.parameter == "monotone"


def test_it_needs_a_target_of_numbers_or_two_classes():
    with pytest.raises(InputError, match="needs a target"):
        cw.read(_rows(), monotone={"age": "up"})
    with pytest.raises(InputError, match="more than two classes"):
        cw.read(_rows(), target="town", monotone={"age": "up"})
