"""Identical rows kept together or not, in a benchmark."""

import json

import numpy as np
import pytest

import clearwood as cw
from clearwood.benchmarking import compare
from clearwood.table import read_as


def data(*, is_people):
    rng = np.random.default_rng(0)
    n_rows, n_people = 900, 150
    person = rng.integers(0, n_people, n_rows)
    if is_people:
        x = rng.normal(size=(n_people, 4))
        mean = (x[:, 0] + rng.normal(size=n_people))[person]
        columns = {f"x{j}": x[person, j] for j in range(4)}
    else:
        codes = rng.integers(0, 3, (n_rows, 3))
        mean = rng.normal(size=(3, 3, 3))[tuple(codes.T)]
        columns = {f"x{j}": np.array(list("abc"))[codes[:, j]] for j in range(3)}
    return {**columns, "y": mean + rng.normal(size=n_rows)}


def run(table):
    return cw.benchmark(table, ["baseline", "knn"], tune=0, interval="naive", outer=3)


@pytest.fixture(scope="module")
def repeated():
    with pytest.warns(cw.ClearwoodWarning, match="same features as another row"):
        return run(cw.read(data(is_people=True), target="y"))


def test_rows_of_the_same_people_are_pointed_out_with_both_gains(repeated):
    both = repeated.identical_rows
    assert both.learner == "knn"
    assert both.matters
    assert both.gain > both.gain_together + 0.1
    (finding,) = [one for one in repeated.warnings if one.kind == "identical rows"]
    assert (finding.gain, finding.gain_together) == (both.gain, both.gain_together)
    assert (finding.count, finding.total) == (repeated.twins.n_twins, 900)


def test_the_numbers_are_those_of_the_two_benchmarks(repeated):
    both = repeated.identical_rows
    together = run(cw.read(data(is_people=True), target="y", group="identical rows"))
    assert both.risk == pytest.approx(repeated["knn"].risk, rel=0.1)
    assert both.risk_together == pytest.approx(together["knn"].risk, rel=0.1)
    assert both.baseline_together == pytest.approx(together["baseline"].risk, rel=0.02)


def test_rows_that_are_kept_together_need_no_comparison():
    together = run(cw.read(data(is_people=True), target="y", group="identical rows"))
    assert together.identical_rows is None
    assert not together.warnings


def test_a_model_file_keeps_identical_rows_together(tmp_path):
    table = cw.read(data(is_people=True), target="y", group="identical rows")
    cw.save(cw.learner("ols").fit(table), tmp_path / "model.cw")
    schema = cw.load(tmp_path / "model.cw").schema_
    assert schema.keeps_identical
    again = read_as(data(is_people=True), schema)
    assert again.group == "identical rows"
    np.testing.assert_array_equal(again.groups, table.groups)


def test_ctrl_c_stops_the_comparison_of_identical_rows(monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(compare, "gain_of_identical_rows", stop)
    with pytest.raises(KeyboardInterrupt):
        run(cw.read(data(is_people=True), target="y"))


def test_few_categories_raise_no_alarm():
    bench = run(cw.read(data(is_people=False), target="y"))
    assert bench.twins.n_twins == 900
    assert bench.identical_rows is None
    assert not bench.warnings


def test_both_numbers_are_in_the_json(repeated):
    document = json.loads(json.dumps(repeated.to_json()))
    assert document["twins"]["n_rows"] == 900
    assert document["identical_rows"]["gain_together"] == repeated.identical_rows.gain_together
    assert document["identical_rows"]["matters"]


def test_both_numbers_are_in_the_text(repeated):
    assert "if identical rows are" in repr(repeated)
    assert "with identical rows in one fold" in repr(repeated.identical_rows)
