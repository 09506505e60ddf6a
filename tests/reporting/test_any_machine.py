"""The same call gives the same page on a busy and an idle machine."""

import dataclasses
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import clearwood as cw
from clearwood._shared.frames import plain
from clearwood.reporting.collect.collector import collect
from clearwood.reporting.collect.findings import Options
from clearwood.reporting.collect.inputs import report_input

pytestmark = pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")

SECTIONS = ["summary", "performance", "importance", "individual", "tree", "cautions"]


def table():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 240))
    level = rng.choice(["a", "b", "c"], 240)
    y = np.sin(x) + 0.5 * x * (z > 0) + 0.2 * rng.normal(size=240)
    return {"x": x.tolist(), "z": z.tolist(), "level": level.tolist(), "y": y.tolist()}


def numbers(page):
    """Everything on a page but the seconds that its steps took."""
    sections = [dataclasses.asdict(section) for section in page.sections]
    kept = [section for section in sections if section["name"] != "reproduction"]
    return json.dumps(plain(kept)), json.dumps(plain(page.to_json()))


@pytest.fixture
def slow_machine(monkeypatch):
    """Let every look at the clock find that another ten minutes are over."""

    def begin():
        now = [0.0]

        def later():
            now[0] += 600.0
            return now[0]

        clock = SimpleNamespace(monotonic=later, perf_counter=later, time=later)
        for name, module in list(sys.modules.items()):
            if (
                name.startswith("clearwood.")
                and getattr(module, "time", None) is sys.modules["time"]
            ):
                monkeypatch.setattr(module, "time", clock)
        return now

    return begin


def black_box(frame):
    return frame["x"].to_numpy() ** 2 + frame["z"].to_numpy()


MODELS = {
    "trees": lambda data: cw.learner("gbm", max_iter=15, max_depth=3).fit(data),
    "sum": lambda data: cw.learner("gam").fit(data),
    "function": lambda data: black_box,
}


@pytest.mark.parametrize("kind", list(MODELS))
def test_a_page_does_not_depend_on_how_slow_the_machine_is(kind, slow_machine):
    data = cw.read(table(), target="y")
    model = MODELS[kind](data)
    options = {"sections": SECTIONS, "sample": 20, "test": cw.read(table(), target="y").head(60)}
    idle = numbers(cw.report(model, data, **options))
    now = slow_machine()
    assert numbers(cw.report(model, data, **options)) == idle
    assert now[0] > 600  # the clock was looked at, and nothing followed from it


def test_a_benchmark_and_its_page_do_not_depend_on_how_slow_the_machine_is(slow_machine):
    data = cw.read(table(), target="y")

    def made():
        bench = cw.benchmark(data, ["ols", "tree"], tune=2, inner=2, interval="hold-out")
        page = cw.report(bench.best().fit(data), data, benchmark=bench, sample=20, quick=True)
        kept = [part for part in page.sections if part.name in ("importance", "individual")]
        standings = [(one.learner, one.risk, one.low, one.high) for one in bench.standings]
        return standings, json.dumps(plain([dataclasses.asdict(part) for part in kept]))

    idle = made()
    slow_machine()
    assert made() == idle


def test_explanations_and_trees_do_not_depend_on_how_slow_the_machine_is(slow_machine):
    data = cw.read(table(), target="y")
    model = cw.learner("gbm", max_iter=15, max_depth=3).fit(data)

    def made():
        return [
            cw.effect(black_box, data, "x", seed=1).to_json(),
            cw.effect(model, data, "x", kind="ale").to_json(),
            cw.importance(model, data, kind="permutation", repeats=2).to_json(),
            cw.importance(black_box, data, kind="variance").to_json(),
            cw.shapley(black_box, data, data.head(3), seed=1).to_json(),
            cw.agreement(model, data).to_json(),
            cw.explain(black_box, data).importance().to_json(),
            cw.condense(model, data, nodes=400).certificate.to_json(),
        ]

    idle = made()
    slow_machine()
    assert made() == idle


def test_a_time_limit_says_what_it_cut(slow_machine):
    data = cw.read(table(), target="y")
    slow_machine()
    page = cw.report(black_box, data, sections=["importance", "reproduction"], time_limit=30)
    [done] = [
        block.blocks[0]
        for block in page.sections[-1].blocks
        if getattr(block, "title", "").startswith("What was done")
    ]
    results = {step: result for step, _, result in done.rows}
    assert "time limit was reached" in results["effects"]
    assert results["decomposition"].startswith("done, over ")


def test_effects_of_the_page_are_those_of_the_call():
    data = cw.read(table(), target="y")
    for kind in ("trees", "sum", "function"):
        model = MODELS[kind](data)
        found = collect(
            report_input(model, data), title="", options=Options(sections=("importance",))
        )
        for name, views in found.effects.items():
            again = cw.effect(model, data, name, points=40)
            np.testing.assert_allclose(views.pdp.values, again.values, rtol=1e-9, atol=1e-12)
            assert views.pdp.n_rows == 240
