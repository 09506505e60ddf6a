"""The page does not contradict itself: all sections speak from one set of findings."""

import re
from dataclasses import replace

import numpy as np
import pytest

import clearwood as cw
from clearwood.reporting import Chart, Choice, Facts, More, Note, Prose, Sheet
from clearwood.reporting.build import section_module
from clearwood.reporting.collect.collector import collect
from clearwood.reporting.collect.findings import LEAST_INTERACTION, Options
from clearwood.reporting.collect.inputs import report_input
from clearwood.reporting.sections.cautions import cautions

N = 300
LEARNERS = {
    "regression": ("ridge", "gbm", "knn"),
    "count": ("glm", "gbm"),
    "binary": ("logistic", "forest"),
    "multiclass": ("lda", "tree"),
}
PAGES = [
    *((task, learner, False) for task, learners in LEARNERS.items() for learner in learners),
    ("regression", "tree", True),
    ("binary", "tree", True),
]
SMALL = {"gbm": {"max_iter": 8}, "forest": {"n_estimators": 5, "max_depth": 4}}


def table(task, *, is_weighted):
    rng = np.random.default_rng(len(task))
    a, b, c = rng.normal(size=(3, N))
    twin = a + 0.1 * rng.normal(size=N)
    group = rng.integers(0, 3, N)
    score = a + a * b * (group == 1) + 0.5 * np.abs(c)
    y = {
        "regression": score,
        "count": rng.poisson(np.exp(np.clip(score, -2, 1.5))),
        "binary": np.where(score + 0.5 * rng.normal(size=N) > 0.4, "yes", "no"),
        "multiclass": np.array(["low", "mid", "high"])[np.digitize(score, [0.0, 1.0])],
    }[task]
    columns = {"a": a, "b": b, "c": c, "twin": twin, "group": np.array(list("xyz"))[group], "y": y}
    weight = {}
    if is_weighted:
        columns["w"] = rng.integers(0, 4, N)
        weight = {"weight": "w"}
    return cw.read(columns, target="y", task=task, **weight)


#: Pages of models that are sampled, or of many trees, take several times as long.
LONG = {"knn", "forest"}


@pytest.fixture(
    scope="module",
    params=[pytest.param(p, marks=[pytest.mark.long] if p[1] in LONG else []) for p in PAGES],
    ids=lambda page: "-".join(map(str, page)),
)
def findings(request):
    task, learner, is_weighted = request.param
    data = table(task, is_weighted=is_weighted)
    model = cw.learner(learner, **SMALL.get(learner, {})).fit(data)
    given = report_input(model, data)
    sections = ("summary", "data", "performance", "importance", "cautions")
    found = collect(given, title="", options=Options(quick=True, sections=sections))
    return replace(found, cautions=cautions(found))


@pytest.fixture(scope="module")
def sections(findings):
    names = ("summary", "data", "performance", "importance", "cautions")
    return {name: section_module(name).section(findings) for name in names}


def flat(blocks):
    for block in blocks:
        yield block
        if isinstance(block, More):
            yield from flat(block.blocks)
        if isinstance(block, Choice):
            for _, inner in block.options:
                yield from flat(inner)


def texts(section):
    for block in flat(section.blocks):
        if isinstance(block, Prose):
            yield from block.paragraphs
        elif isinstance(block, Note):
            yield from (block.title, block.text, *block.items)
        elif isinstance(block, Facts):
            yield from (text for _, text in block.items)


def summary(sections):
    return dict(next(b for b in sections["summary"].blocks if isinstance(b, Facts)).items)


def test_pairs_interact_in_all_sections_or_in_none(findings, sections):
    strong = set(map(frozenset, findings.interacting))
    by_share = {n for n, s in findings.component_shares.items() if len(n) == 2}
    assert strong == {n for n in by_share if findings.component_shares[n] >= LEAST_INTERACTION}
    drawn = [b for b in sections["importance"].blocks if isinstance(b, Choice)]
    drawn = [b for b in drawn if b.name == "interactions"]
    said = summary(sections)["Interactions"]
    assert bool(drawn) == bool(strong)
    if said.startswith("None"):
        assert not strong
    spoken = [text for section in sections.values() for text in texts(section)]
    for text in spoken:
        for name, others in re.findall(r"^(\w+): .* interacts with ([^.;]+)", text):
            for other in re.split(r", | and ", others):
                if other in findings.features:
                    assert frozenset({name, other}) in strong


def test_the_most_important_columns_are_not_called_unimportant(findings, sections):
    said = summary(sections)["Most important columns"]
    for name in findings.top:
        assert name not in findings.unused
        assert f"{name} (" in said
    order = [name for name in findings.ranked if name in findings.top]
    assert list(findings.top) == order
    for text in said.split(". "):
        if "hardly changes" in text:
            assert "importance is due to" in text


def test_shares_are_the_same_in_every_table(findings, sections):
    sheets = {b.name: b for s in sections.values() for b in flat(s.blocks) if isinstance(b, Sheet)}
    in_data = {row[0]: row[-1] for row in sheets["columns"].rows if row[-1] is not None}
    by_column = {row[0]: row[-1] for row in sheets["importance-by-column"].rows}
    assert in_data.keys() == by_column.keys() != set()
    for name, share in by_column.items():
        assert in_data[name] == pytest.approx(100 * share, abs=0.06)


def test_a_green_tick_is_given_only_when_everything_was_compared(findings, sections):
    titles = [b.title for b in flat(sections["importance"].blocks) if isinstance(b, Note)]
    assert any(title.startswith("Partial dependence and ALE") for title in titles)
    for block in flat(sections["importance"].blocks):
        if isinstance(block, Note) and block.title.startswith("Partial dependence and ALE"):
            n = len(findings.agreement.columns)
            assert f"{n} of {len(findings.features)} columns were compared" in block.text
            if block.tone == "good":
                assert not findings.uncompared
                assert not findings.shape_conflicts
        if isinstance(block, Note) and block.title == "No interactions of two columns":
            assert block.tone != "good" or findings.all_pairs_examined


def test_the_summary_has_the_sentences_of_its_sections(findings, sections):
    said = summary(sections)
    assert said["Performance"] in set(texts(sections["performance"]))
    points = cautions(findings)
    shown = [b for b in sections["cautions"].blocks if isinstance(b, Note) and b.tone == "caution"]
    assert [point.title for point in points] == [block.title for block in shown]
    assert said["Cautions"].startswith(f"{len(points)} point") or not points
    sentences = set(texts(sections["importance"]))
    for name in findings.top:
        if name in findings.effects:
            said_here = said["Most important columns"]
            assert any(name in text and text in said_here for text in sentences if text)


def test_ale_is_not_recommended_without_a_word_where_it_leaves_the_data(findings, sections):
    leaving = [
        name
        for name, views in findings.effects.items()
        if views.ale is not None
        and views.ale.extrapolates.any()
        and views.pdp is not None
        and views.pdp.extrapolates.any()
    ]
    for point in cautions(findings):
        if "compare with ALE" in point.advice:
            assert ("leaves the data, too" in point.advice) == bool(leaving)


def test_charts_are_of_columns_that_matter(findings, sections):
    charts = [b.name for b in flat(sections["importance"].blocks) if isinstance(b, Chart)]
    assert not set(findings.effects) & set(findings.unused)
    assert len(charts) == len(set(charts))
