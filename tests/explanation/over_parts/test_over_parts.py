"""Explanations of rows that stay where they are, beside those of the same rows in memory."""

import errno
import json
from dataclasses import replace
from itertools import pairwise
from unittest.mock import ANY

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_rows import N_ROWS, Broken, Deadly, Made

import clearwood as cw
from clearwood.explanation.games import in_parts as background
from clearwood.table import Parts


def options(made):
    return {"target": "y"} | ({"weight": "w"} if made.weighted else {})


def in_parts(made, n_parts):
    size = -(-N_ROWS // n_parts)
    return Parts.of(made, N_ROWS, part_rows=size, **options(made))


def in_memory(made):
    return cw.read(made(0, N_ROWS), **options(made))


@pytest.fixture(scope="module")
def trees():
    return cw.learner("lightgbm", n_estimators=12, num_leaves=8).fit(in_memory(Made()))


@pytest.fixture(scope="module")
def alone(trees):
    return cw.explain(trees, in_memory(Made()))


def same_bits(one, other):
    return np.asarray(one).tobytes() == np.asarray(other).tobytes()


@pytest.mark.parametrize(
    ("n_parts", "n_jobs"), [(1, 1), (2, 1), (7, 1), pytest.param(7, 2, marks=pytest.mark.long)]
)
def test_unweighted_trees_are_explained_to_the_same_bits(trees, alone, n_parts, n_jobs):
    why = cw.explain(trees, in_parts(Made(), n_parts), n_jobs=n_jobs)
    assert len(why.in_parts.parts.parts) == n_parts
    assert same_bits(why.baseline, alone.baseline)
    for column in ("x0", "x1", "town"):
        for kind in ("component", "pdp"):
            one, other = why.effect(column, kind=kind), alone.effect(column, kind=kind)
            assert same_bits(one.values, other.values)
            assert list(one.grid[0]) == pytest.approx(list(other.grid[0]), nan_ok=True)
            assert same_bits(one.shares, other.shares)
            assert one.n_rows == N_ROWS
    pair = why.effect("x0", "town", kind="component")
    assert same_bits(pair.values, alone.effect("x0", "town", kind="component").values)
    for one, other in zip(why.effects(), alone.effects(), strict=True):
        assert same_bits(one.values, other.values)
    expected = alone.importance().variances
    np.testing.assert_allclose(why.importance().variances.variance, expected.variance, rtol=1e-12)
    assert why.background.n_rows == N_ROWS


@given(st.lists(st.integers(0, N_ROWS), max_size=6))
@settings(max_examples=8, deadline=None)
def test_any_division_of_the_rows_gives_the_same_bits(trees, alone, cuts):
    """Empty parts included."""
    whole = in_parts(Made(), 1)
    (part,) = whole.parts
    edges = [0, *sorted(cuts), N_ROWS]
    divided = tuple(
        replace(part, name=f"{a} to {b}", n_rows=b - a, rows=replace(part.rows, start=a, stop=b))
        for a, b in pairwise(edges)
    )
    why = cw.explain(trees, replace(whole, parts=divided))
    assert same_bits(why.baseline, alone.baseline)
    assert same_bits(why.effect("x0").values, alone.effect("x0").values)


MODELS = {
    "weighted trees": ("lightgbm", {"n_estimators": 8, "num_leaves": 8}, Made(weighted=True)),
    "classes": ("lightgbm", {"n_estimators": 5, "num_leaves": 6}, Made(classes=True)),
    "linear": ("ols", {}, Made()),
    "weighted linear": ("ols", {}, Made(weighted=True)),
    "logistic": ("logistic", {}, Made(classes=True)),
    "spline": ("gam", {}, Made()),
    "curves and trees": ("glass", {"max_trees": 20, "folds": 2}, Made()),
}


@pytest.mark.parametrize("case", MODELS)
def test_other_models_agree_within_rounding(case):
    name, chosen, made = MODELS[case]
    model = cw.learner(name, **chosen).fit(in_memory(made))
    there, here = cw.explain(model, in_memory(made)), cw.explain(model, in_parts(made, 3))
    np.testing.assert_allclose(here.baseline, there.baseline, rtol=1e-12)
    one, other = here.importance(), there.importance()
    scale = other.variances.prediction.max()
    np.testing.assert_allclose(
        one.variances.variance, other.variances.variance, rtol=1e-10, atol=1e-12 * scale
    )
    for mine, theirs in zip(here.effects(), there.effects(), strict=True):
        np.testing.assert_allclose(mine.values, theirs.values, rtol=1e-10, atol=1e-12)
        if theirs.low is not None:
            np.testing.assert_allclose(mine.low, theirs.low, rtol=1e-8, atol=1e-10)
    rows = in_memory(made).head(3)
    np.testing.assert_allclose(
        here.shapley(rows).values, there.shapley(rows).values, rtol=1e-10, atol=1e-12
    )


def test_columns_can_be_taken_out(trees, alone):
    one, other = (
        why.without("x0").importance() for why in (cw.explain(trees, in_parts(Made(), 3)), alone)
    )
    np.testing.assert_allclose(one.variances.variance, other.variances.variance, rtol=1e-11)
    np.testing.assert_allclose(one.variances.remainder, other.variances.remainder, rtol=1e-9)


def test_groups_of_columns_are_counted_over_all_rows(trees, alone, tmp_path):
    groups = {"both": ["x0", "x3"]}
    why = cw.explain(trees, in_parts(Made(), 3))
    rows = in_memory(Made()).head(4)
    assert same_bits(
        why.shapley(rows, groups=groups).values, alone.shapley(rows, groups=groups).values
    )


@pytest.mark.parametrize("value", ["interventional", "path_dependent"])
def test_shapley_values_of_all_rows_are_written(trees, alone, tmp_path, value):
    why = cw.explain(trees, in_parts(Made(), 4))
    written = why.shapley(to=tmp_path / "values", value=value)
    expected = alone.shapley(in_memory(Made()), value=value)
    table = pq.read_table(tmp_path / "values")
    assert written.n_rows == len(table) == N_ROWS
    assert len(written.files) == 4
    for k, column in enumerate(expected.columns):
        assert same_bits(table[column].to_numpy(), expected.values[:, k])
    assert table["row"].to_pylist() == list(range(N_ROWS))
    at = written.columns.index("x0")
    assert written.sums[at] == pytest.approx(expected.values[:, 0].sum())
    assert written.absolute_sums[at] == pytest.approx(np.abs(expected.values[:, 0]).sum())
    assert "1,200 rows" in repr(written)
    assert written.to_json()["work"]["parts"] == 4
    assert not list((tmp_path / "values").glob(".*"))


def test_predictions_of_all_rows_are_written(trees, tmp_path):
    written = trees.predict(in_parts(Made(), 3), to=tmp_path)
    table = pq.read_table(tmp_path)
    assert same_bits(table["prediction"].to_numpy(), trees.predict(in_memory(Made())))
    assert written.n_rows == N_ROWS
    with pytest.raises(cw.InputError, match="3 files of the same name already") as caught:
        trees.predict(in_parts(Made(), 3), to=tmp_path)
    assert caught.value.parameter == "to"
    trees.predict(in_parts(Made(), 3), to=tmp_path, force=True)


def test_probabilities_are_written_beside_the_labels(tmp_path):
    made = Made(classes=True)
    model = cw.learner("logistic").fit(in_memory(made))
    model.predict(in_parts(made, 2), to=tmp_path)
    table = pq.read_table(tmp_path)
    assert table.column_names[:2] == ["prediction", "probability:high"]
    np.testing.assert_array_equal(
        table["probability:low"].to_numpy(), model.predict_proba(in_memory(made))[:, 1]
    )


def test_a_ledger_spares_every_pass(trees, alone, tmp_path):
    data, file = in_parts(Made(), 3), tmp_path / "run.ledger"
    first = cw.explain(trees, data, ledger=file)
    importance = first.importance()
    first.shapley(to=tmp_path / "values")
    again = cw.explain(trees, data, ledger=file)
    assert same_bits(again.importance().values, importance.values)
    assert {run.n_resumed for run in again.in_parts.runs.values()} == {3}
    (tmp_path / "values" / first_file(tmp_path / "values")).unlink()
    assert again.shapley(to=tmp_path / "values").parts.n_resumed == 2
    other = cw.learner("lightgbm", n_estimators=3).fit(in_memory(Made()))
    assert cw.explain(other, data, ledger=file).in_parts.runs["counting rows"].n_resumed == 0
    with pytest.raises(cw.InputError, match="of the same name already"):
        cw.explain(other, data, ledger=file).shapley(to=tmp_path / "values")


def first_file(folder):
    return sorted(file.name for file in folder.iterdir())[0]


@pytest.mark.long
def test_killed_workers_change_nothing(trees, alone, tmp_path, monkeypatch):
    made = Deadly(folder=str(tmp_path))
    data = Parts.of(made, N_ROWS, part_rows=200, target="y")
    for start in (200, 800):
        (tmp_path / f"{start}-0").touch()
    # the driver itself would make rows here, and must live
    monkeypatch.setattr(Parts, "sample", lambda self, n, seed=0: in_memory(Made()))
    why = cw.explain(trees, data, n_jobs=2)
    assert why.in_parts.runs["counting rows"].n_retries >= 2
    assert same_bits(why.baseline, alone.baseline)
    assert same_bits(why.effect("x0").values, alone.effect("x0").values)


def test_a_part_that_cannot_be_read_is_named_or_left_out_aloud(trees, monkeypatch):
    data = Parts.of(Broken(), N_ROWS, part_rows=400, target="y")
    sample = data.sample(500)
    monkeypatch.setattr(Parts, "sample", lambda self, n, seed=0: sample)
    monkeypatch.setenv("BROKEN", "1")
    with pytest.raises(cw.InputError, match=r"part 2 of 3, .* failed 4 times: OSError: the file"):
        cw.explain(trees, data)
    with pytest.warns(cw.ClearwoodWarning, match="was left out"):
        why = cw.explain(trees, data, on_error="skip")
    assert any("was left out" in note for note in why.notes)


def test_what_is_sampled_is_said(trees, monkeypatch):
    monkeypatch.setattr("clearwood.explanation.explanation.SAMPLE", 300)
    why = cw.explain(trees, in_parts(Made(), 2))
    assert any("sample of 300 rows (seed 0)" in note for note in why.notes)
    assert why.importance().n_rows == N_ROWS
    with pytest.warns(cw.ClearwoodWarning, match="averaged over 300 of 1,200 rows"):
        assert why.effect("x0", kind="ale").n_data == N_ROWS


def test_models_without_an_exact_decomposition_use_the_sample():
    made = Made()
    model = cw.learner("knn").fit(in_memory(made))
    why = cw.explain(model, in_parts(made, 2), n_background=50)
    assert why.about.is_sampled
    assert "50 of 1,200 rows" in " ".join(why.notes)


def test_written_values_over_a_drawn_background_have_standard_errors(trees, alone, tmp_path):
    options = {"n_background": 60, "seed": 7}
    file = tmp_path / "run.ledger"
    why = cw.explain(trees, in_parts(Made(), 2), ledger=file)
    written = why.shapley(to=tmp_path / "values", **options)
    expected = alone.shapley(in_memory(Made()), **options)
    table = pq.read_table(tmp_path / "values")
    for k, column in enumerate(expected.columns):
        errors = table[f"{column} standard error"].to_numpy()
        assert same_bits(errors, expected.standard_errors[:, k])
    assert table["x0 standard error"].to_numpy().min() > 0
    assert table.column_names == list(expected.to_frame("dict"))
    for name in written.files:
        about = json.loads(pq.read_schema(tmp_path / "values" / name).metadata[b"clearwood"])
        drawn = about["background"]
        assert (drawn["rows"], drawn["drawn_from"], drawn["seed"]) == (60, N_ROWS, 7)
        assert about["value"] == "interventional"
        assert about["notes"] == list(expected.notes)
    assert written.to_json()["about"]["background"]["seed"] == 7
    assert "60 rows drawn from 1,200 (seed 7)" in repr(written)
    # a ledger does not take the files of another draw for those of this one
    other = why.shapley(to=tmp_path / "values", force=True, n_background=60, seed=8)
    assert other.parts.n_resumed == 0
    assert not same_bits(pq.read_table(tmp_path / "values")["x0"].to_numpy(), expected.values[:, 0])


def test_written_values_over_all_rows_have_no_standard_errors(trees, tmp_path):
    written = cw.explain(trees, in_parts(Made(), 2)).shapley(to=tmp_path)
    assert not any("standard error" in name for name in written.columns)
    about = json.loads(pq.read_schema(tmp_path / written.files[0]).metadata[b"clearwood"])
    assert about["background"] == {"rows": N_ROWS, "weighted": False, "source": ANY}
    assert about["sampled"] is False


@pytest.mark.parametrize("call", ["shapley", "values", "predict", "elsewhere"])
def test_results_of_all_rows_need_a_folder(trees, call):
    data = in_parts(Made(), 2)
    why = cw.explain(trees, data)
    calls = {
        "shapley": why.shapley,
        "values": why.values,
        "predict": lambda: trees.predict(data),
        "elsewhere": lambda: why.shapley(data),
    }
    with pytest.raises(cw.InputError, match="do not fit into memory") as caught:
        calls[call]()
    assert caught.value.parameter == "to"


def test_folders_that_cannot_be_written_are_refused(trees, tmp_path):
    data = in_parts(Made(), 2)
    (tmp_path / "file").touch()
    with pytest.raises(cw.InputError, match="is a file"):
        trees.predict(data, to=tmp_path / "file")
    with pytest.raises(cw.InputError, match="not a folder of this machine"):
        trees.predict(data, to="s3://bucket/folder")
    with pytest.raises(cw.InputError, match="of a table in parts"):
        trees.predict(in_memory(Made()), to=tmp_path)
    with pytest.raises(cw.InputError, match="tables that are read in parts"):
        cw.explain(trees, in_memory(Made()), ledger=tmp_path / "x")
    with pytest.raises(cw.InputError, match="array of weights"):
        cw.explain(trees, data, weights=np.ones(N_ROWS))
    with pytest.raises(cw.InputError, match="on_error"):
        cw.explain(trees, data, on_error="ignore")


def test_a_disk_that_fills_is_reported_and_leaves_no_half_file(trees, tmp_path, monkeypatch):
    def full(*args, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(cw.InputError, match=r"cannot write .*no space left on device") as caught:
        trees.predict(in_parts(Made(), 2), to=tmp_path)
    assert "free some space" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_trees_with_paths_too_long_to_count_are_refused_beyond_some_memory(monkeypatch):
    model = cw.learner("forest", n_estimators=3, max_depth=None, min_samples_leaf=1).fit(
        in_memory(Made())
    )
    assert cw.explain(model, in_memory(Made())).game.trees.kernel.needs_rows
    monkeypatch.setattr(background, "_MOST_KEPT", 1000)
    with pytest.raises(cw.InputError, match="paths too long to count") as caught:
        cw.explain(model, in_parts(Made(), 2))
    assert "n_background=20000" in str(caught.value)
    drawn = cw.explain(model, in_parts(Made(), 2), n_background=60)
    few = in_memory(Made()).head(3)
    same = cw.explain(model, in_memory(Made()), n_background=60).shapley(few)
    values = drawn.shapley(few)
    np.testing.assert_array_equal(values.values, same.values)
    np.testing.assert_array_equal(values.standard_errors, same.standard_errors)
    assert drawn.background.drawn_from == in_memory(Made()).n_rows
