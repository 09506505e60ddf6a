"""The section that shows a readable model completely."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, RegressorMixin

import clearwood as cw
from clearwood.models import ProductTerm, ScoreParts, SumOfProducts
from clearwood.reporting import Chart, Choice, Note, Sheet, report
from clearwood.table import as_table


@dataclass(frozen=True)
class Lines:
    """The value itself."""

    def __call__(self, values):
        return values[:, None]


class Products(RegressorMixin, BaseEstimator):
    """3 a + b c + a b c / 10 + d / 1000."""

    n_features_in_ = 4
    feature_names_in_ = np.array(["a", "b", "c", "d"])

    def __init__(self):
        sizes = {(0,): 3.0, (1, 2): 1.0, (0, 1, 2): 0.1, (3,): 0.001}
        terms = tuple(
            ProductTerm(columns, (Lines(),) * len(columns), np.full((1,) * len(columns) + (1,), k))
            for columns, k in sizes.items()
        )
        self.parts_ = ScoreParts(SumOfProducts(np.array([1.0]), terms))

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.parts_(np.asarray(X, float))[:, 0]


def section_of(page):
    return next(section for section in page.sections if section.name == "terms")


@pytest.fixture(scope="module")
def claims():
    return cw.datasets.insurance(400, missing=0.05)


@pytest.fixture(scope="module")
def gam(claims):
    return cw.learner("gam").fit(claims)


@pytest.fixture(scope="module")
def page(gam, claims):
    return report(gam, claims, quick=True, sections=["terms"])


def test_the_term_table_can_be_recomputed_from_the_model(gam, claims, page):
    sheet = next(b for b in section_of(page).blocks if isinstance(b, Sheet))
    matrix = gam.encoder_.transform(claims)
    names = [gam.encoder_.used_[k] for k in gam.encoder_.sources_]
    variance = {
        names[term.columns[0]]: np.cov(np.ravel(term(matrix)), ddof=0, aweights=claims.weights)
        for term in gam.estimator_.parts_.products.terms
    }
    total = sum(variance.values())
    rows = {row[0]: dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows}
    listed = {name for name, own in variance.items() if own / total >= 0.001}
    assert listed == {name for name in rows if not name.startswith("the rest")}
    facts = {names[row["columns"][0]]: row for row in gam.estimator_.term_table_}
    for name in listed:
        assert rows[name]["edf"] == facts[name]["edf"]
        assert rows[name]["p-value"] == facts[name]["p_value"]
        assert_allclose(rows[name]["share"], variance[name] / total, atol=1e-5)
    rest = [row for name, row in rows.items() if name.startswith("the rest")]
    folded = sum(own for name, own in variance.items() if name not in listed) / total
    assert_allclose(sum(row["share"] for row in rest), folded, atol=1e-5)
    ages = claims.column("age").values
    if "age" in listed:
        low, high = np.nanmin(ages), np.nanmax(ages)
        assert rows["age"]["training range"] == f"{low:g} to {high:g}"


def test_every_listed_term_is_drawn_with_its_band(page):
    blocks = section_of(page).blocks
    sheet = next(b for b in blocks if isinstance(b, Sheet))
    charts = [b for b in blocks if isinstance(b, Chart)]
    terms = [row[0] for row in sheet.rows if not row[0].startswith("the rest")]
    assert len(charts) == len(terms)
    for chart in charts:
        assert "pointwise band from the covariance of the coefficients" in chart.alt
        assert "low:Q" in str(chart.spec) or "'low'" in str(chart.spec)


def test_a_posterior_is_shown_with_its_bands_and_beside_the_priors(claims):
    page = report(cw.learner("bayes").fit(claims), claims, quick=True, sections=["terms"])
    blocks = section_of(page).blocks
    assert "posterior of the coefficients: given the data and the priors" in str(blocks[0])
    charts = [b for b in blocks if isinstance(b, Chart)]
    assert charts
    assert all("band from the posterior of the coefficients" in chart.alt for chart in charts)
    sheet = next(b for b in blocks if isinstance(b, Sheet) and b.name == "coefficients")
    assert {"coefficient", "low", "high", "prior, low", "prior, high"} <= set(sheet.columns)
    assert {"coefficient", "prior, low"} <= set(sheet.mixed)


def test_a_model_that_is_no_sum_of_few_terms_is_written_out_line_by_line():
    data = cw.datasets.load("diabetes")
    for name, settings in {"prim": {"boxes": 1}, "hme": {"levels": 1, "restarts": 1}}.items():
        model = cw.learner(name, **settings).fit(data)
        blocks = section_of(report(model, data, quick=True, sections=["terms"])).blocks
        sheet = next(b for b in blocks if isinstance(b, Sheet))
        frame = cw.models.equation(model).to_frame("dict")
        assert [row[0] for row in sheet.rows] == list(next(iter(frame.values())))
        assert any(isinstance(b, Chart) for b in blocks)


def test_rows_outside_the_training_range_are_counted(gam, claims):
    other = cw.datasets.insurance(300, seed=9)
    page = report(gam, claims, test=other, quick=True, sections=["terms"])
    note = next(b for b in section_of(page).blocks if isinstance(b, Note))
    ranges = gam.training_["ranges"]
    beyond = np.any(
        [
            (other.column(name).values < low) | (other.column(name).values > high)
            for name, (low, high) in ranges.items()
        ],
        axis=0,
    )
    assert beyond.any()
    assert f"{beyond.sum()} of the 300 test rows" in note.text
    assert note.tone == "caution"


def test_rows_and_predictions_outside_the_training_range_are_a_caution_for_any_model(claims):
    model = cw.learner("ols").fit(claims)
    far = claims.take(slice(0, 5))
    name = next(iter(model.training_["ranges"]))
    column = far.column(name)
    moved = replace(column, values=column.values + 1000 * np.array([1, -1, 0, 0, 0]))
    far = replace(far, columns=tuple(moved if c.name == name else c for c in far.columns))
    page = report(model, claims, test=far, quick=True, sections=["cautions"])
    cautions = [b for s in page.sections for b in s.blocks if isinstance(b, Note)]
    (own,) = [note for note in cautions if note.title == "2 test rows outside the training range"]
    assert any(f"outside the training range: {name} (2)" in item for item in own.items)


def test_terms_of_two_columns_are_surfaces_and_of_three_are_listed():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 4))
    table = as_table({name: X[:, k] for k, name in enumerate("abcd")})
    page = report(Products(), table, quick=True, sections=["terms"])
    blocks = section_of(page).blocks
    sheet = next(b for b in blocks if isinstance(b, Sheet))
    rows = {row[0]: row for row in sheet.rows}
    assert rows["a × b × c"][1] == 3
    assert any(name.startswith("the rest") for name in rows)
    pairs = next(b for b in blocks if isinstance(b, Choice))
    assert any("b and c" in label for label, _ in pairs.options)
    note = next(b for b in blocks if isinstance(b, Note) and "three columns" in b.title)
    assert "a, b and c" in note.items[0]


def test_a_page_without_rows_has_the_table_but_no_values_that_occur(gam, claims):
    page = report(gam, claims, quick=True, sections=["terms"], rows=0)
    blocks = section_of(page).blocks
    sheet = next(b for b in blocks if isinstance(b, Sheet))
    assert "training range" not in sheet.columns
    assert not any(isinstance(b, Chart) for b in blocks)


def test_models_that_are_no_sum_of_few_terms_have_no_such_section(claims):
    forest = cw.learner("gbm", max_iter=5).fit(claims)
    page = report(forest, claims, quick=True, sections=["terms", "data"])
    assert [section.name for section in page.sections] == ["data"]


@pytest.mark.parametrize("alpha", [0, 0.1])
def test_a_linear_learner_is_shown_as_its_coefficients(policies, alpha):
    whole, _ = policies
    model = cw.learner("glm", alpha=alpha).fit(whole)
    page = report(model, whole, sections=["terms"], quick=True)
    (shown,) = page.sections
    (sheet,) = (block for block in shown.blocks if isinstance(block, Sheet))
    table = cw.coefficients(model, whole)
    assert [row[0] for row in sheet.rows] == list(table.names())
    assert ("p-value" in sheet.columns) == (alpha == 0)
    assert "log of the mean of claims per year" in shown.blocks[0].paragraphs[0]
    at = sheet.columns.index("ratio")
    assert_allclose([row[at] for row in sheet.rows], table.ratios, rtol=1e-5)
    notes = [block.text for block in shown.blocks if isinstance(block, Note)]
    assert len(notes) == len(table.notes)
    assert any("penalty" in text for text in notes) == (alpha > 0)


def test_rows_that_a_linear_learner_was_not_fitted_to_have_no_coefficients(policies):
    whole, _ = policies
    model = cw.learner("glm", alpha=0).fit(whole)
    page = report(model, whole.head(200), sections=["terms"], quick=True)
    assert not [b for one in page.sections for b in one.blocks if isinstance(b, Sheet)]
