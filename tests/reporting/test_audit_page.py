"""The page of an audit, and the section of the report."""

import numpy as np
import pytest

import clearwood as cw
from clearwood._shared import invocation
from clearwood.reporting import Sheet, audit_page

HOSTILE = ["<b>x</b>", "a'b\"c", "two\nlines", "</script>"]


@pytest.fixture(scope="module")
def audits():
    data = cw.datasets.insurance(1200, seed=4)
    rng = np.random.default_rng(0)
    n = 800
    group = rng.choice(np.array(HOSTILE, dtype=object), n)
    income = rng.normal(size=n)
    paid = np.where(rng.random(n) < 1 / (1 + np.exp(-income)), "yes", "no")
    credit = cw.read(
        {"<i>gr</i>": group, "sex": rng.choice(["f", "m"], n), "income": income, "paid": paid},
        target="paid",
        protected=["<i>gr</i>", "sex"],
    )
    kinds = rng.choice(["a", "b", "c"], n)
    classes = cw.read({"sex": credit["sex"].labels(), "x": income, "kind": kinds}, target="kind")
    return {
        "counts": cw.audit(cw.learner("glm").fit(data), data),
        "decisions": cw.audit(
            cw.learner("logistic").fit(credit), credit, decision="top 30 %", favourable="yes"
        ),
        "classes": cw.audit(cw.learner("lda").fit(classes), classes, protected="sex"),
    }


@pytest.mark.parametrize("name", ["counts", "decisions", "classes"])
def test_sections_are_in_order(audits, name):
    page = audit_page(audits[name])
    titles = [section.title for section in page.sections]
    wanted = [
        "Summary",
        "Who was audited",
        "Groups",
        "Direct and through columns",
        "Proxies",
        "Conditions",
        "Alternatives",
        "Sensitivity",
        "How it was made",
    ]
    assert titles == [title for title in wanted if title in titles]
    assert {"Summary", "Groups", "Conditions", "How it was made"} <= set(titles)
    if name == "counts":
        assert titles == wanted


def test_hostile_names_are_escaped(audits):
    html = audit_page(audits["decisions"]).to_html()
    assert "<b>x</b>" not in html
    assert "<i>gr</i>" not in html
    assert "&lt;b&gt;x&lt;/b&gt;" in html


def test_the_page_does_not_declare_a_model_fair(audits):
    for audit in audits.values():
        html = audit_page(audit).to_html()
        assert "do not show that a model is fair or lawful" in html
        assert "does not give legal advice" in html


def test_errors_on_the_rows_of_the_fit_are_marked(audits):
    section = next(s for s in audit_page(audits["counts"]).sections if s.name == "groups")
    (errors,) = [b for b in section.blocks if isinstance(b, Sheet) and b.name == "errors"]
    assert "too good" in errors.caption
    assert any(heading.endswith("*") for heading in errors.columns)


def test_the_page_opens_in_a_browser_without_network(audits, open_page):
    with invocation.invoked(invocation.Invocation("clearwood audit")):
        page = open_page(audit_page(audits["decisions"]))
    page.locator("#groups").scroll_into_view_if_needed()
    drawn = page.locator("#groups svg.marks:visible")
    drawn.first.wait_for()
    assert drawn.count() >= 1


def test_a_report_has_the_section_where_a_column_is_protected():
    data = cw.datasets.insurance(300)
    model = cw.learner("glm").fit(data)
    wanted = ["summary", "fairness"]
    page = cw.report(model, data, quick=True, sections=wanted)
    assert [section.title for section in page.sections] == ["Summary", "Fairness"]
    assert "could not be written" not in page.to_html()
    plain = cw.datasets.load("diabetes")
    page = cw.report(cw.learner("ols").fit(plain), plain, quick=True, sections=wanted)
    assert [section.title for section in page.sections] == ["Summary"]


def test_groups_that_are_all_too_small_to_judge_have_a_page():
    data = cw.datasets.insurance(300)
    result = cw.audit(cw.learner("glm").fit(data), data, protected="gender", min_rows=1_000)
    assert not result.groups[0].judged.any()
    assert result.groups[0].plot().to_dict()["title"]["text"] == "Mean prediction by gender"
    shown = next(section for section in audit_page(result).sections if section.name == "groups")
    assert any(isinstance(block, Sheet) for block in shown.blocks)


def test_a_report_without_rows_does_not_name_small_groups():
    rng = np.random.default_rng(1)
    town = np.array(["big"] * 200 + ["other"] * 196 + ["tiny"] * 4)
    x = rng.normal(size=400)
    data = cw.read(
        {"town": town, "x": x, "y": x + rng.normal(size=400)}, target="y", protected="town"
    )
    model = cw.learner("ols").fit(data)
    page = cw.report(model, data, quick=True, rows=0, sections=["fairness"])
    assert "tiny" not in page.to_html()
    assert "other" in page.to_html()
