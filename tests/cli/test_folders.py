"""Learners compared, and reports made, from a folder of files of unequal size."""

import os
import re

import numpy as np
import pandas as pd
import pytest

import clearwood as cw

ROLES = ("-t", "y", "--weight", "weight", "--group", "person")
LEARNERS = ("--learners", "baseline,ridge,lightgbm")
QUICK = ("--quick", "--jobs", "1")


def frames():
    """Pieces of a table; one town occurs in the last one only."""
    rng = np.random.default_rng(2)
    for k, n in enumerate((220, 3, 97, 160)):
        x = rng.normal(size=(n, 2)).round(3)
        town = np.array(["Bern", "Chur"], object)[rng.integers(0, 2, n)]
        if k == 3:
            town[:3] = "Basel"
        yield pd.DataFrame(
            {
                "a": x[:, 0],
                "b": x[:, 1],
                "town": town,
                "weight": rng.integers(1, 4, n),
                "person": rng.integers(0, 80, n),
                "y": x[:, 0] * x[:, 1] + (town == "Chur") + 0.3 * rng.normal(size=n),
            }
        )


@pytest.fixture(params=["parquet", "csv"])
def folder(request, tmp_path):
    rows = tmp_path / "rows"
    rows.mkdir()
    for k, frame in enumerate(frames()):
        if request.param == "parquet":
            frame.to_parquet(rows / f"{k}.parquet", index=False)
        else:
            frame.to_csv(rows / f"{k}.csv", index=False)
    return rows


@pytest.fixture
def parquet(tmp_path):
    rows = tmp_path / "rows"
    rows.mkdir()
    for k, frame in enumerate(frames()):
        frame.to_parquet(rows / f"{k}.parquet", index=False)
    return rows


def said(answer):
    return " ".join((answer.out + answer.err).split())


def test_learners_are_compared_over_the_files_of_a_folder(cli, folder):
    answer = cli("benchmark", folder, *ROLES, *LEARNERS, "--scan", "--json")
    assert answer.code == 0, answer.err
    held = answer.json["parts"]
    assert answer.json["rows"] == 480
    assert answer.json["method"]["interval"] == "hold-out"
    assert held["is_grouped"]
    data = cw.scan(folder, target="y", weight="weight", group="person")
    same = cw.benchmark(data, ["baseline", "ridge", "lightgbm"])
    risks = {one["learner"]: one["risk"] for one in answer.json["learners"]}
    for one in same.standings:
        assert risks[one.learner] == pytest.approx(one.risk, rel=1e-12)
    # nothing but the result is left
    assert sorted(path.name for path in folder.parent.iterdir()) == ["benchmark.json", "rows"]


def test_a_report_of_a_folder_says_what_is_exact_and_what_is_sampled(cli, parquet):
    command = ("report", parquet, *ROLES, "--learners", "baseline,ridge", "--scan", *QUICK)
    answer = cli(*command, "--model", "best.cw", "--sections", "performance,reproduction")
    assert answer.code == 0, answer.err
    assert "480 rows in 4 parts" in said(answer)
    page = (parquet.parent / "report.html").read_text(encoding="utf-8")
    assert re.search(r"Exact over all \d+ held-out rows", page)
    assert "Risks, intervals and differences are exact over all" in page
    assert "drawn by a hash" in page
    model = cw.load(parquet.parent / "best.cw")
    assert model.training_["rows"] == 480
    levels = {column.name: column.levels for column in model.schema_.columns}
    assert "Basel" in levels["town"]


def test_a_folder_that_fits_into_memory_is_compared_as_a_table(cli, parquet):
    answer = cli("benchmark", parquet, *ROLES, "--learners", "ridge", "--tune", "0", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["method"]["interval"] == "nested"
    assert answer.json["parts"] is None


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (("--interval", "nested"), "--interval nested needs many fits"),
        (("--repeats", "2"), "--repeats 2 is not for tables in parts"),
        (("--sample", "1"), "--sample 1: it must be a whole number"),
    ],
)
def test_plans_of_many_fits_are_refused_over_parts(refused, parquet, options, match):
    text = refused("benchmark", parquet, *ROLES, *LEARNERS, "--scan", *options)
    assert match in " ".join(text.split())
    assert sorted(path.name for path in parquet.parent.iterdir()) == ["rows"]


def _other_columns(rows):
    next(frames()).drop(columns="b").to_parquet(rows / "9.parquet", index=False)


def _other_kind(rows):
    frame = next(frames())
    frame["y"] = "many"
    frame.to_parquet(rows / "9.parquet", index=False)


def _truncated(rows):
    path = rows / "2.parquet"
    path.write_bytes(path.read_bytes()[:-40])


def _not_readable(rows):
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (rows / "2.parquet").chmod(0)


@pytest.mark.parametrize("verb", ["benchmark", "report"])
@pytest.mark.parametrize(
    ("damage", "match"),
    [
        (_other_columns, "'b'"),
        (_other_kind, "y"),
        (_truncated, "2.parquet cannot be read as Parquet"),
        (_not_readable, "permission"),
    ],
)
def test_files_that_do_not_fit_together_are_named(refused, parquet, verb, damage, match):
    damage(parquet)
    text = " ".join(refused(verb, parquet, *ROLES, *LEARNERS, "--scan").split())
    assert match in text
    assert sorted(path.name for path in parquet.parent.iterdir()) == ["rows"]


def test_an_empty_file_and_another_order_of_columns_change_nothing(cli, parquet):
    command = ("benchmark", parquet, *ROLES, "--learners", "ridge", "--scan", "--json", "--force")
    before = cli(*command)
    first = next(frames())
    first.iloc[:0].to_parquet(parquet / "00.parquet", index=False)
    first[first.columns[::-1]].to_parquet(parquet / "0.parquet", index=False)
    after = cli(*command)
    assert after.code == 0, after.err
    risks = [answer.json["learners"][0]["risk"] for answer in (before, after)]
    assert risks[0] == pytest.approx(risks[1], rel=1e-12)


@pytest.mark.parametrize("stage", ["fit_to_parts", "judge"])
def test_a_stopped_comparison_goes_on_without_the_data_being_named(
    cli, parquet, monkeypatch, stage
):
    from clearwood.benchmarking import parts as comparison

    work = getattr(comparison, stage)
    calls = []

    def stopping(*arguments, **options):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return work(*arguments, **options)

    monkeypatch.setattr(comparison, stage, stopping)
    answer = cli("benchmark", parquet, *ROLES, "--learners", "baseline,ridge", "--scan")
    assert answer.code == 130
    assert "clearwood benchmark --resume" in said(answer)
    assert not (parquet.parent / "benchmark.json").exists()
    again = cli("benchmark", "--resume")
    assert again.code == 0, again.err
    assert len(calls) == 3
    assert (parquet.parent / "benchmark.json").exists()
    assert not (parquet.parent / "benchmark.db").exists()


@pytest.mark.parametrize("stage", ["scan", "benchmark", "fit", "report"])
def test_ctrl_c_in_any_stage_of_a_report_leaves_nothing(cli, parquet, monkeypatch, stage):
    def stop(*_, **__):
        raise KeyboardInterrupt

    places = {
        "benchmark": "clearwood.reporting.comparison.benchmark",
        "fit": "clearwood.benchmarking.Winner.fit",
    }
    monkeypatch.setattr(places.get(stage, f"clearwood.{stage}"), stop)
    answer = cli("report", parquet, *ROLES, "--learners", "ridge", "--scan", *QUICK)
    assert answer.code == 130
    assert sorted(path.name for path in parquet.parent.iterdir()) == ["rows"]
