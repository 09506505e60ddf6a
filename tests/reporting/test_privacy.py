"""A page without rows has no value from which a row could be told."""

import html
import re

import numpy as np
import pytest

import clearwood as cw

N = 400


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(11)
    income = (rng.lognormal(10, 1, N) * 1.0001).round(2)
    town = np.array(["Aarau", "Bern", "Chur"], object)[rng.integers(0, 3, N)]
    town[:3] = "Zzyzx-Springs"
    age = rng.integers(18, 90, N).astype(float)
    age[7] = 113.0
    days = rng.integers(0, 4000, N).astype("timedelta64[D]")
    seen = np.datetime64("2010-01-01") + days
    score = 0.002 * income**0.5 + (town == "Bern") + 0.01 * age + rng.normal(size=N)
    return {
        "income": income.tolist(),
        "height": rng.normal(170, 10, N).round(3).tolist(),
        "age": age.tolist(),
        "town": town.tolist(),
        "seen": [str(day) for day in seen],
        "score": (score * 1234.567).round(3).tolist(),
        "ill": np.where(score > np.median(score), "yes", "no").tolist(),
        "stage": np.where(np.arange(N) < 3, "IVq", np.where(score > 2, "II", "I")).tolist(),
    }


def page_of(columns, target, learner, **options):
    targets = {"score", "ill", "stage"}
    data = cw.read(columns, target=target, ignore=sorted(targets - {target}))
    model = cw.learner(learner).fit(data)
    test = data.head(150)
    return cw.report(model, data, test=test, quick=True, **options).to_html()


def readable(page):
    """Give what a reader can see or extract, without our own and Vega's scripts."""
    page = re.sub(r"<script(?! type=.application/json)[^>]*>.*?</script>", "", page, flags=re.S)
    page = re.sub(r"<style>.*?</style>|<meta[^>]*>", "", page, flags=re.S)
    return html.unescape(page)


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
@pytest.mark.parametrize(
    ("target", "learner"),
    [("score", "gbm"), ("score", "ridge"), ("ill", "tree"), ("stage", "forest"), ("score", "knn")],
)
def test_a_page_without_rows_has_no_distinctive_value(columns, target, learner):
    text = readable(page_of(columns, target, learner, rows=0))
    assert "no row of the data can be read from this page" in text
    for rare in ("Zzyzx", "IVq", "113"):
        assert not re.search(rf"(?<![\d.,]){rare}(?![\d])", text), rare
    assert min(columns["seen"]) not in text
    assert max(columns["seen"]) not in text
    numbers = {float(n.replace(",", "")) for n in re.findall(r"(?<![\w.])\d[\d,]*\.\d+", text)}
    for name in ("income", "height", "score"):
        assert not numbers & {value for value in columns[name] if value != round(value, 1)}, name


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_a_page_without_rows_counts_far_rows_and_does_not_show_them():
    rng = np.random.default_rng(4)
    size = rng.uniform(50, 150, 200).round(1)
    price = 10 * size + rng.normal(0, 20, 200)
    size[0], price[0] = 4321.7, 1.0
    data = cw.read({"size": size, "price": price}, target="price")
    model = cw.learner("gam").fit(data)
    shown, hidden = (
        readable(cw.report(model, data, quick=True, sections=["terms"], **options).to_html())
        for options in ({}, {"rows": 0})
    )
    assert "1 training row lies far beyond all others" in shown
    assert "1 training row lies far beyond all others" in hidden
    assert "size 4,320" in shown
    assert "4,320" not in hidden
    assert "4321.7" not in hidden


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_a_page_with_rows_says_so_in_its_head(columns):
    page = readable(page_of(columns, "score", "tree", sample=30))
    assert "30 of 400, with all their values" in page
    assert str(columns["income"][5]) not in page.partition("<main")[0]
