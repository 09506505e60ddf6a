"""The page of a rate: what is predicted is per unit of exposure, in every sentence and figure."""

import pytest

import clearwood as cw
from clearwood._shared import numbers


@pytest.fixture(scope="module")
def page(policies):
    whole, _ = policies
    model = cw.learner("tree", max_depth=2).fit(whole)
    bench = cw.benchmark(whole, ["glm", "tree"], tune=0, repeats=1, outer=3)
    return cw.report(model, whole, benchmark=bench).to_html()


def test_the_page_is_of_the_rate(page):
    assert "<title>claims per year: tree" in page
    assert "predicts claims per year, a rate, from 2 columns" in page
    assert "The average predicted number of claims per year" in page


def test_the_data_section_explains_the_exposure(page, policies):
    total = numbers.number(policies[0].exposures.sum(), numbers.IN_TABLES)
    assert "The outcome is claims per year: claims divided by the exposure years" in page
    assert f"{total} in all" in page
    assert "Rows count by their exposure times weight" in page


def test_figures_compare_rates(page):
    assert "predicted claims per year" in page
    assert "prediction, claims per year" in page
    assert "mean claims per year" in page
