"""Evaluations of tables in parts: exact over all rows where sums add up, a sample elsewhere."""

from itertools import pairwise

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import clearwood as cw
from clearwood.parallel import Ledger
from clearwood.table import Parts


def frame(n=900, seed=5):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    town = np.array(["Bern", "Chur", "Genf"])[rng.integers(0, 3, n)]
    mean = x[:, 0] - x[:, 1] / 2 + (town == "Chur")
    return pd.DataFrame(
        {
            "a": x[:, 0],
            "b": np.where(rng.random(n) < 0.05, np.nan, x[:, 1]),
            "town": town,
            "y": mean + rng.normal(size=n),
            "yes": np.where(mean + rng.normal(size=n) > 0, "yes", "no"),
            "kind": np.array(["u", "v", "w"])[np.clip(mean + rng.normal(size=n), 0, 2).astype(int)],
            "claims": rng.poisson(np.exp(mean / 3)),
            "cost": np.exp(mean) * rng.gamma(2.0, 0.5, n),
            "weight": rng.integers(0, 3, n).astype(float),
            "years": rng.uniform(0.2, 1, n),
            "person": rng.integers(0, n // 6, n),
        }
    )


TARGETS = ("y", "yes", "kind", "claims", "cost")


def read(data, target, **options):
    return cw.read(selected(data, target, options)[0], target=target, **options)


def scan(data, target, **options):
    return cw.scan(selected(data, target, options), target=target, **options)


def selected(data, target, options):
    roles = {k: v for k, v in options.items() if k != "task"}
    kept = ["a", "b", "town", target, *(v for v in roles.values() if v in data[0].columns)]
    return [one[kept] for one in data]


def pieces_of(data, cuts):
    return [data[start:stop] for start, stop in pairwise([0, *cuts, len(data)])]


CUTS = {1: (), 2: (200,), 7: (1, 100, 100, 350, 600, 899)}


@pytest.mark.parametrize(
    ("learner", "target", "options"),
    [
        ("ols", "y", {}),
        ("ols", "y", {"weight": "weight"}),
        ("ols", "y", {"weight": "weight", "group": "person"}),
        ("ols", "y", {"group": "identical rows"}),
        ("logistic", "yes", {"weight": "weight"}),
        ("lda", "kind", {"group": "person"}),
        ("glm", "claims", {"exposure": "years"}),
        ("glm", "cost", {"task": "amount", "weight": "weight"}),
    ],
)
def test_sums_over_parts_are_those_of_the_table(learner, target, options):
    data = frame()
    model = cw.learner(learner).fit(read([frame(300, seed=1)], target, **options))
    table = read([data], target, **options)
    whole = cw.evaluate(model, table)
    parts = scan(pieces_of(data, CUTS[7]), target, **options)
    result = cw.evaluate(model, parts, sample=300, seed=2)
    one, other = result.risk(), whole.risk()
    assert [one.estimate, one.se, one.low, one.high, one.n] == pytest.approx(
        [other.estimate, other.se, other.low, other.high, other.n], rel=1e-12
    )
    assert result.loss.name == whole.loss.name
    exact = result.in_parts.measures
    assert len(exact.values) >= 3
    for name, value in exact.values.items():
        ends = (*result.measures().interval(name), *whole.measures().interval(name))
        assert result.measures()[name] == pytest.approx(whole.measures()[name], rel=1e-12)
        assert value == result.measures()[name]
        assert ends[:2] == pytest.approx(ends[2:], rel=1e-11, abs=1e-12, nan_ok=True)
    assert result.measures().rows == whole.measures().rows
    assert result.to_json()["weight"] == pytest.approx(whole.to_json()["weight"], rel=1e-12)
    # everything else is that of the sample in memory
    drawn = cw.evaluate(model, parts.sample(300, seed=2))
    for name in result.measures().sampled:
        assert result.measures()[name] == drawn.measures()[name]
    assert set(result.measures()) == {*exact.values, *result.measures().sampled}


def test_numbers_do_not_depend_on_parts_or_workers(tmp_path):
    data = frame()
    model = cw.learner("ols").fit(read([frame(300, seed=1)], "y"))
    results = []
    for cuts in CUTS.values():
        parts = scan([*pieces_of(data, cuts), data[:0]], "y")
        results.append(cw.evaluate(model, parts, sample=300))
    with joblib.parallel_config(backend="threading", n_jobs=2):
        two = cw.evaluate(model, parts, sample=300, ledger=tmp_path / "run")
    assert two.in_parts.run.n_workers == 2
    again = cw.evaluate(model, parts, sample=300, ledger=tmp_path / "run")
    assert again.in_parts.run.n_resumed == len(parts.parts)
    first = {
        k: (v, *results[0].measures().interval(k)) for k, v in results[0].measures().values.items()
    }
    for one in [*results[1:], two, again]:
        here = {k: (v, *one.measures().interval(k)) for k, v in one.measures().values.items()}
        for name, values in first.items():
            assert here[name] == pytest.approx(values, rel=1e-12, abs=1e-14), name
    # the same parts, other workers: the same bits
    assert two.measures().values == results[-1].measures().values == again.measures().values


def test_the_result_states_what_is_exact_and_what_is_sampled():
    data = frame()
    model = cw.learner("logistic").fit(read([frame(300, seed=1)], "yes"))
    result = cw.evaluate(model, scan(pieces_of(data, CUTS[7]), "yes"), sample=300)
    assert set(result.in_parts.measures) == {
        "accuracy",
        "majority",
        "deviance_explained",
        "observed_expected",
    }
    assert "auc" in result.measures().sampled
    text = repr(result)
    assert "900 rows in 7 parts" in text
    assert "from a sample of 300 rows" in text
    assert "a sample of 300 of 900 rows (seed 0)" in str(result.notes[-1])
    document = result.to_json()
    assert document["measures"]["auc"]["is_sampled"]
    assert not document["measures"]["accuracy"]["is_sampled"]
    assert document["in_parts"]["exact"][:2] == ["risk", "accuracy"]
    assert (document["rows"], document["in_parts"]["n_sampled"]) == (900, 300)
    assert result.lift().rows.sum() == 300
    # at another threshold, predictions of all rows would be needed again
    assert "accuracy" in result.measures(threshold=0.3).sampled
    # what pages and data frames have
    meanings = result.measures().meanings
    assert meanings["auc"].endswith("; from a sample of 300 rows")
    assert "sample" not in meanings["accuracy"]
    assert result.to_frame("dict")["sampled"].count(False) == 4


def test_few_rows_are_evaluated_as_a_table():
    model = cw.learner("ols").fit(read([frame(300, seed=1)], "y"))
    parts = scan(pieces_of(frame(), CUTS[2]), "y")
    whole, result = cw.evaluate(model, parts.to_table()), cw.evaluate(model, parts)
    assert result.in_parts is None
    assert result.to_json() == whole.to_json()


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_remarks_are_about_all_rows():
    data = frame()
    first = read([frame(300, seed=1)], "kind")
    model = cw.learner("lda").fit(first)
    data.loc[[3, 5], "town"] = "Lund"
    data.loc[[899], "kind"] = "z"
    result = cw.evaluate(model, scan(pieces_of(data, CUTS[2]), "kind"), sample=100)
    assert result.new_levels == {"town": ("Lund",)}
    notes = " ".join(map(str, result.notes))
    assert "2 rows have levels of 'town' that the model was not fitted with: 'Lund'" in notes
    assert "1 row left out, with classes that the model does not predict: 'z'" in notes
    assert result.n_rows == 899


def test_models_of_other_libraries_and_classes_without_probabilities():
    data = frame().drop(columns=["b", "town"])
    data["c"] = data["a"] ** 2
    data = data[["a", "c", "yes"]]
    parts = cw.scan(pieces_of(data, CUTS[7]), target="yes")
    table = cw.read(data, target="yes")
    for kind in (LogisticRegression, LinearSVC):
        model = kind().fit(data[["a", "c"]], data["yes"])
        whole, result = cw.evaluate(model, table), cw.evaluate(model, parts, sample=200)
        assert result.risk().estimate == pytest.approx(whole.risk().estimate, rel=1e-12)
        assert result.measures()["accuracy"] == pytest.approx(whole.measures()["accuracy"])


def test_a_folder_is_read_with_the_roles_of_the_model(tmp_path):
    data = frame()[["a", "b", "town", "claims", "years", "person"]]
    roles = {"target": "claims", "exposure": "years", "group": "person"}
    model = cw.learner("glm").fit(cw.read(frame(300, seed=1)[list(data)], **roles))
    (tmp_path / "rows").mkdir()
    for k, piece in enumerate(pieces_of(data, CUTS[2])):
        piece.to_parquet(tmp_path / "rows" / f"{k}.parquet")
    result = cw.evaluate(model, cw.scan(tmp_path / "rows"), sample=200)
    whole = cw.evaluate(model, cw.read(data, **roles))
    assert result.in_parts.is_grouped
    assert result.risk().se == pytest.approx(whole.risk().se, rel=1e-12)
    bare = cw.scan(tmp_path / "rows")
    again = cw.evaluate(model, bare, sample=200)
    assert again.risk().estimate == result.risk().estimate
    shifted = cw.evaluate(model, tmp_path / "rows", training=bare, sample=200)
    assert shifted.drift is not None
    for missing in ("claims", "years"):
        lacking = cw.scan([data.drop(columns=missing), data[:0].drop(columns=missing)])
        with pytest.raises(cw.InputError, match=rf"lack the target|no exposure|{missing}"):
            cw.evaluate(model, lacking, sample=200)


def test_the_file_of_predictions_is_gone_and_bad_samples_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    model = cw.learner("ols").fit(read([frame(300, seed=1)], "y"))
    parts = scan(pieces_of(frame(), CUTS[2]), "y")
    cw.evaluate(model, parts, sample=200)
    assert not list(tmp_path.iterdir())

    def full(*_, **__):
        raise Ledger(tmp_path / "x").error("database or disk is full", "free some space.")

    with monkeypatch.context() as patch:
        patch.setattr("clearwood.parallel.ledger.Page.add", full)
        with pytest.raises(cw.InputError, match=r"cannot be kept in .*TMPDIR.*ledger='FILE'"):
            cw.evaluate(model, parts, sample=200)
    assert not list(tmp_path.iterdir())
    for value in (3, 2.5, True):
        with pytest.raises(cw.InputError, match=r"sample=.*of at least 5"):
            cw.evaluate(model, parts, sample=value)


def test_an_interrupted_evaluation_goes_on_from_its_ledger(tmp_path):
    stop = [True]

    def rows(start, stop_at):
        if start >= 600 and stop[0]:
            raise KeyboardInterrupt
        return frame()[["a", "b", "town", "y"]][start:stop_at]

    model = cw.learner("ols").fit(read([frame(300, seed=1)], "y"))
    stop[0] = False
    parts = Parts.of(rows, 900, part_rows=300, target="y")
    drawn = parts.sample(100)
    stop[0] = True
    object.__setattr__(parts, "sample", lambda *_, **__: drawn)  # read before the interruption
    with pytest.raises(KeyboardInterrupt):
        cw.evaluate(model, parts, sample=100, ledger=tmp_path / "run")
    stop[0] = False
    result = cw.evaluate(model, parts, sample=100, ledger=Ledger(tmp_path / "run").path)
    assert result.in_parts.run.n_resumed == 2
