"""`clearwood.report` of a table: learners are compared, and the best is fitted and reported on."""

import pytest

import clearwood as cw
from clearwood.reporting import comparison

SHORT = {"learners": ["baseline", "ridge"], "quick": True, "sections": ["summary"]}


@pytest.fixture(scope="module")
def numbers():
    return cw.datasets.load("diabetes")


def test_many_rows_are_compared_in_four_folds_instead_of_five(numbers, monkeypatch):
    options = {"learners": ["baseline", "ridge"], "tune": 0}
    assert comparison.compare(numbers, **options).method.splits == 5
    monkeypatch.setattr(comparison, "_MANY_ROWS", 10)
    assert comparison.compare(numbers, **options).method.splits == 4


def test_the_report_of_a_table_holds_the_comparison_and_its_best_learner(numbers):
    page = cw.report(numbers, **SHORT)
    bench = cw.benchmark(numbers, SHORT["learners"], tune=0, interval="hold-out")
    assert [one.risk for one in page.benchmark.standings] == [one.risk for one in bench.standings]
    assert page.model.name == bench.best().name
    assert page.performance.rows == "out-of-fold"
    assert cw.report(data=numbers, **SHORT).title == page.title


def test_the_best_learner_of_a_given_benchmark_is_fitted(numbers):
    bench = cw.benchmark(numbers, ["baseline", "ols"], tune=0, interval="hold-out")
    page = cw.report(numbers, benchmark=bench, quick=True, sections=["summary"])
    assert page.model.name == "ols"
    assert page.benchmark is bench


def test_options_of_a_comparison_are_refused_where_nothing_is_compared(numbers):
    model = cw.learner("ols").fit(numbers)
    for option in ({"learners": ["ols"]}, {"tune": 3}, {"store": "runs.db"}):
        [name] = option
        with pytest.raises(cw.InputError, match=f"{name} is for a report that compares"):
            cw.report(model, numbers, **option)


def test_what_is_neither_a_table_nor_a_model_with_data_is_refused(numbers):
    model = cw.learner("ols").fit(numbers)
    with pytest.raises(cw.InputError, match=r"not of Learner alone.*report\(model, data\)"):
        cw.report(model)
    with pytest.raises(cw.InputError, match=r"not of nothing.*read\(source, target="):
        cw.report()
    with pytest.raises(cw.InputError, match="not of str alone"):
        cw.report("claims.csv")
    with pytest.raises(cw.InputError, match="no target"):
        cw.report(numbers.select(numbers.features))


def test_test_rows_are_read_before_the_comparison(numbers, monkeypatch):
    def compare(*args, **options):
        raise AssertionError("the comparison began")

    monkeypatch.setattr("clearwood.reporting.build.compare", compare)
    with pytest.raises(cw.InputError, match="age"):
        cw.report(numbers, test={"sex": ["1"], "disease_progression": [1.0]}, **SHORT)


def test_a_stop_of_the_comparison_stops_the_report(numbers, tmp_path):
    from contextlib import nullcontext

    from clearwood._shared import progress

    def stop(snapshot):
        if snapshot.done == 8:
            raise KeyboardInterrupt

    with (
        progress.shown_by(lambda: nullcontext(stop)),
        pytest.warns(cw.ClearwoodWarning, match="stopped: 8 of "),
        pytest.raises(KeyboardInterrupt),
    ):
        cw.report(numbers, store=tmp_path / "runs.db", learners=["ridge"], tune=0)
    assert (tmp_path / "runs.db").exists()
