"""One by one and one tree, used as a reader does."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import clearwood as cw
from clearwood.reporting.browser.columns import Probe, mixed_rows, page_values

SECTIONS = ["individual", "tree"]


@pytest.fixture(scope="module")
def claims():
    """Claims with an interaction, a column with gaps and a rare level."""
    generator = np.random.default_rng(3)
    n_rows = 260
    age = generator.integers(18, 90, n_rows).astype(float)
    power = np.round(generator.gamma(5, 15, n_rows), 1)
    region = generator.choice(["north", "south", "east"], n_rows, p=[0.5, 0.4, 0.1])
    score = 0.04 * (age - 50) + 0.02 * power * (region == "north")
    power[generator.random(n_rows) < 0.1] = np.nan
    frame = pd.DataFrame({"age": age, "power": power, "region": region})
    frame["claim"] = np.where(score + generator.normal(size=n_rows) > 0.6, "yes", "no")
    return cw.read(frame, target="claim")


@pytest.fixture(scope="module")
def model(claims):
    return cw.learner("gbm", max_iter=8, max_depth=2).fit(claims)


@pytest.fixture(scope="module")
def report(model, claims):
    return cw.report(model, claims, sections=SECTIONS, quick=True, sample=80)


@pytest.fixture
def page(open_page, report):
    opened = open_page(report)
    opened.wait_for_selector(".rows-one h3")
    return opened


def chosen_row(page) -> int:
    """The position in the table of the row that is shown."""
    return int(re.search(r"\d+", page.locator(".rows-one h3").inner_text()).group())


def shown_percent(page) -> float:
    return float(page.locator(".if-result strong").inner_text().removesuffix("%").strip()) / 100


def row_as_dict(claims, at: int) -> dict:
    return {name: claims.X.to_dict()[name][at] for name in claims.features}


def settle(page) -> None:
    """Let the frame pass in which changes are drawn."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def listed(page) -> list[int]:
    return [int(text) for text in page.locator(".rows-scroll .row-pick").all_inner_texts()]


def test_rows_are_sorted_by_what_the_words_say(page, model, claims):
    probability = model.predict_proba(claims)[:, 1]
    page.get_by_label("Sort by").select_option(label="prediction, highest first")
    rows = listed(page)
    assert rows[0] == max(rows, key=lambda r: probability[r])
    found = [probability[row] for row in rows]
    assert found == sorted(found, reverse=True)
    page.get_by_label("Sort by").select_option(label="error")
    given = np.where(claims.y == "yes", probability, 1 - probability)
    errors = [1 - given[row] for row in listed(page)]
    assert errors == sorted(errors, reverse=True)
    assert (
        "predicted probability of the actual outcome"
        in page.locator(".rows-choose .rows-words").inner_text()
    )


def test_rows_without_an_error_come_last(page):
    keys = page.evaluate(
        """() => {
          const data = {outputs: ["y"], response: "prediction", prediction: [[1, 2, 3]],
            labels: [0, 1, 2], error: [0.2, null, -0.9], error_words: ""};
          const byError = clearwood.ordersOf(data, [], [[], [], []], () => 0)[0];
          return data.labels.map((row) => byError.key(row));
        }"""
    )
    assert np.argsort(keys)[::-1].tolist() == [2, 0, 1]


def test_surprise_is_the_distance_from_the_nearest_rows(page, model, claims):
    got = page.evaluate(
        """() => {
          const data = JSON.parse(document.getElementById('data-rows').textContent);
          const rows = clearwood.rowsOf(data);
          return {labels: data.labels, surprise: clearwood.surprises(data, data.columns, rows)};
        }"""
    )
    rows = np.array(got["labels"])
    probability = model.predict_proba(claims)[rows, 1]
    parts = []
    for name in ("age", "power"):
        whole = claims.column(name).values
        values = whole[rows]
        apart = np.abs(values[:, None] - values[None, :]) / (np.nanmax(whole) - np.nanmin(whole))
        gaps = np.isnan(values)
        apart[gaps[:, None] != gaps[None, :]] = 1.0
        apart[gaps[:, None] & gaps[None, :]] = 0.0
        parts.append(apart)
    region = claims.column("region").values[rows]
    parts.append((region[:, None] != region[None, :]).astype(float))
    distance = np.mean(parts, axis=0)
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1, kind="stable")[:, :10]
    expected = np.abs(probability - probability[near].mean(axis=1))
    np.testing.assert_allclose(got["surprise"], expected, atol=1e-9)


def test_search_finds_values_and_columns(page):
    before = len(listed(page))
    page.get_by_placeholder("Find a row").fill("region=east")
    found = page.locator(".rows-scroll tbody tr").all_inner_texts()
    assert 0 < len(found) < before
    assert all("east" in text for text in found)
    page.get_by_placeholder("Find a row").fill("no such thing")
    assert page.locator(".rows-scroll tbody").inner_text() == "No row matches."


def test_the_sentence_and_the_parts_are_the_librarys(page, model, claims, report):
    at = chosen_row(page)
    probability = model.predict_proba(claims.take([at]))[0, 1]
    assert shown_percent(page) == pytest.approx(probability, rel=5e-3)
    data = next(
        b for s in report.sections for b in s.blocks if getattr(b, "kind", "") == "rows"
    ).data
    sample = claims.take(np.array(data["labels"]))
    shares = cw.shapley(model, sample, claims.take([at]))
    largest = shares.columns[int(np.argmax(np.abs(shares.values[0])))]
    page.locator(".rows-why details summary").click()
    rows = page.locator(".rows-why details tbody tr").all()
    assert rows[1].locator("th").inner_text() == largest
    part = float(rows[1].locator("td.number").first.inner_text().replace("−", "-"))
    assert part == pytest.approx(np.abs(shares.values[0]).max() * np.sign(part), rel=1e-3)
    assert f"{largest} is" in page.locator(".rows-sentence").inner_text()


def test_moving_a_slider_predicts_what_the_library_predicts(page, model, claims):
    at = chosen_row(page)
    slider = page.get_by_label("age", exact=True)
    slider.evaluate(
        "(it) => { it.value = 33; it.dispatchEvent(new Event('input', {bubbles: true})); }"
    )
    page.get_by_label("region", exact=True).select_option(label="north")
    settle(page)
    row = {**row_as_dict(claims, at), "age": 33.0, "region": "north"}
    changed = cw.what_if(model, claims, row_as_dict(claims, at), {"age": 33.0, "region": "north"})
    assert shown_percent(page) == pytest.approx(changed.after[0], rel=5e-3)
    frame = pd.DataFrame([row])
    assert changed.after[0] == pytest.approx(model.predict_proba(frame)[0, 1], abs=1e-9)
    assert "changed" in page.locator(".rows-one h3").inner_text()
    assert "Before the change" in page.locator(".rows-sentence").inner_text()
    assert "33" in page.locator(".rows-changes tr.changed").filter(has_text="age").inner_text()
    call = page.locator(".rows-changes code").inner_text()
    again = eval(call, {"cw": cw, "model": model, "data": claims})
    np.testing.assert_array_equal(again.after, changed.after)
    said = page.locator(".rows-one [role=status]")
    said.filter(has_text="Before the change").wait_for(state="attached")


def test_reset_brings_the_row_back(page):
    before = page.locator(".rows-sentence").inner_text()
    box = page.get_by_label("age, as a number")
    box.fill("200")
    settle(page)
    assert page.get_by_text("outside the range").is_visible()
    assert page.locator(".rows-sentence").inner_text() != before
    page.get_by_role("button", name="Reset all values").click()
    assert page.locator(".rows-sentence").inner_text() == before
    assert page.get_by_role("button", name="Reset all values").is_disabled()


def test_a_value_can_be_taken_away(page, model, claims):
    power = claims.X.to_dict()["power"]
    rows = listed(page)
    at = next(row for row in rows if power[row] is not None and np.isfinite(power[row]))
    page.locator(".rows-scroll .row-pick").nth(rows.index(at)).click()
    line = page.locator(".if-line").filter(has_text="power")
    line.get_by_role("checkbox", name="missing").check()
    settle(page)
    row = pd.DataFrame([{**row_as_dict(claims, at), "power": None}]).astype({"power": float})
    assert shown_percent(page) == pytest.approx(model.predict_proba(row)[0, 1], rel=5e-3)


def test_rows_are_chosen_with_the_keyboard(page):
    first, second, third = listed(page)[:3]
    page.locator(".row-pick[aria-pressed=true]").focus()
    assert chosen_row(page) == first
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert chosen_row(page) == third
    page.keyboard.press("ArrowUp")
    assert chosen_row(page) == second
    assert page.evaluate("document.activeElement.textContent") == str(second)
    slider = page.get_by_label("age", exact=True)
    slider.focus()
    before = float(slider.input_value())
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    settle(page)
    assert float(slider.input_value()) == before + 2


def test_the_way_in_the_tree_holds_for_the_row(page, report, model, claims):
    page.get_by_role("link", name="Show it in the tree").click()
    page.wait_for_selector(".tree .on-way")
    texts = page.locator(".tree .on-way > .tree-line").all_inner_texts()
    at = chosen_row(page)
    label = model.predict(claims.take([at]))[0]
    assert label in texts[-1]
    marked = page.locator(".tree .on-way > .tree-line > .tree-toggle")
    assert marked.count() == len(texts) - 1
    said = page.locator(".rows-path").inner_text()
    assert f"the tree predicts {label}" in said


def test_every_row_follows_the_page_to_the_leaf_that_the_library_finds(page, claims, model):
    data = page.evaluate(
        """() => {
          const tree = JSON.parse(document.getElementById('data-condensed-tree').textContent);
          const rows = JSON.parse(document.getElementById('data-rows').textContent);
          const read = clearwood.readTree(tree);
          const model = clearwood.readModel(rows.model);
          const ends = (steps) => steps.map(({place}) => place).join(' ');
          return clearwood.rowsOf(rows).map((values, row) => [
            ends(clearwood.followWay(read, rows.ways[row])),
            ends(clearwood.followCode(read, model.encode(values))),
          ]);
        }"""
    )
    assert all(way == code for way, code in data)


def test_the_tree_opens_and_closes(page):
    page.locator(".tree-toggle").first.scroll_into_view_if_needed()
    page.wait_for_selector(".tree-toggle")
    everything = page.get_by_role("button", name="Open all")
    everything.click()
    opened = page.locator(".tree-line:visible").count()
    page.get_by_role("button", name="Close all").click()
    assert page.locator(".tree-line:visible").count() < opened
    root = page.locator(".tree-toggle").first
    root.focus()
    page.keyboard.press("Enter")
    assert root.get_attribute("aria-expanded") == "false"


def test_counts_of_the_tree_add_up(page, claims):
    got = page.evaluate(
        """() => {
          const data = JSON.parse(document.getElementById('data-condensed-tree').textContent);
          const {rows, right, question} = clearwood.readTree(data);
          return {rows: [...rows], right: [...right], question: [...question]};
        }"""
    )
    assert got["rows"][0] == claims.n_rows
    for place, question in enumerate(got["question"]):
        if question:
            children = got["rows"][place + 1] + got["rows"][got["right"][place]]
            assert got["rows"][place] == children


def test_a_class_is_picked_where_there_are_several(open_page, keep):
    wine = cw.datasets.load("wine")
    data = wine.select([*wine.features[:4], wine.target])
    model = cw.learner("forest", n_estimators=3, max_depth=3).fit(data)
    page = open_page(cw.report(model, data, sections=SECTIONS, quick=True, sample=60))
    page.wait_for_selector(".rows-one h3")
    found = []
    for k, label in enumerate(map(str, model.classes_)):
        page.get_by_label("Class", exact=True).select_option(label=label)
        at = chosen_row(page)
        found.append(shown_percent(page))
        assert found[-1] == pytest.approx(model.predict_proba(data.take([at]))[0, k], rel=5e-3)
    assert sum(found) == pytest.approx(1, abs=0.01)
    keep(page, "rows-classes")


def test_a_model_that_the_page_cannot_compute_says_why(open_page, claims):
    model = cw.learner("knn").fit(claims)
    page = open_page(cw.report(model, claims, sections=SECTIONS, quick=True, sample=20))
    page.wait_for_selector(".rows-one h3")
    note = page.locator(".note").first.inner_text()
    assert "neither a sum over trees" in note
    assert "cw.what_if(model, data, data[0]" in note
    assert page.locator(".rows-if").count() == 0
    assert page.locator(".rows-fall rect").count() == 3
    assert "no single tree" in page.locator(".note").nth(1).inner_text()


@pytest.mark.parametrize("width", [360, 1600])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_leaves_the_page_at_any_width(open_page, report, keep, width, theme):
    page = open_page(report, width=width, theme=theme)
    page.wait_for_selector(".rows-one h3")
    page.get_by_role("link", name="Show it in the tree").click()
    page.wait_for_selector(".tree .on-way")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    keep(page, f"rows-{width}-{theme}")


def test_hostile_names_and_levels_stay_text(open_page):
    generator = np.random.default_rng(0)
    name = "</script><img src=x onerror='window.broken = 1'>"
    levels = ["<b>bold</b>", "\" onfocus='window.broken=1'", "عمر", "x" * 200]
    frame = pd.DataFrame({name: generator.choice(levels, 120), "n": generator.normal(size=120)})
    frame["<target>"] = np.where(
        (frame[name] == levels[0]) ^ (frame["n"] > 0), levels[0], levels[1]
    )
    data = cw.read(frame, target="<target>")
    model = cw.learner("gbm", max_iter=5).fit(data)
    page = open_page(cw.report(model, data, sections=SECTIONS, quick=True, sample=40))
    page.wait_for_selector(".rows-one h3")
    page.get_by_label(name, exact=True).select_option(label=levels[2])
    settle(page)
    page.get_by_role("link", name="Show it in the tree").click()
    page.wait_for_selector(".tree .on-way")
    assert page.evaluate("window.broken") is None
    assert name in page.locator(".rows-if").inner_text()


def test_accessibility_of_rows_and_tree_has_no_serious_finding(open_page, report):
    axe_core = pytest.importorskip("axe_core_python.sync_playwright")
    page = open_page(report)
    page.wait_for_selector(".rows-one h3")
    page.get_by_role("link", name="Show it in the tree").click()
    page.wait_for_selector(".tree .on-way")
    # every rule runs; what passes is not written down element by element
    found = axe_core.Axe().run(page, options={"resultTypes": ["violations"]})["violations"]
    serious = [
        (one["id"], one["nodes"][0]["html"][:200])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_new_rows_follow_the_tree_to_the_models_answer(page, model, claims):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of these rows lack everything
        rows = mixed_rows(Probe(cw.Explanation(model, claims).on(claims).game, claims), 300, seed=5)
        expected = model.predict(rows)
    lines = [page_values(rows.column(name)) for name in model.schema_.features]
    got = page.evaluate(
        """(lines) => {
          const data = JSON.parse(document.getElementById('data-rows').textContent);
          const tree = clearwood.readTree(
            JSON.parse(document.getElementById('data-condensed-tree').textContent));
          const model = clearwood.readModel(data.model);
          return lines[0].map((_, row) => {
            const steps = clearwood.followCode(tree, model.encode(lines.map((own) => own[row])));
            const answer = tree.answer[steps[steps.length - 1].place];
            return answer ? tree.data.answers[answer - 1].text : null;
          });
        }""",
        lines,
    )
    answered = [k for k, text in enumerate(got) if text is not None]
    assert len(answered) > 200
    assert [got[k] for k in answered] == expected[answered].tolist()


def test_rows_and_parts_are_saved_as_files(page, claims):
    with page.expect_download() as download:
        page.get_by_role("button", name="Save CSV of the rows").click()
    saved = pd.read_csv(download.value.path())
    assert len(saved) == 80
    at = saved["row"].to_numpy()
    np.testing.assert_array_equal(saved["age"], claims.column("age").values[at])
    np.testing.assert_array_equal(saved["power"], claims.column("power").values[at])
    page.locator(".rows-why details summary").click()
    with page.expect_download() as download:
        page.locator(".rows-why").get_by_role("button", name="Save CSV").click()
    parts = pd.read_csv(download.value.path())
    assert set(parts["column"]) == set(claims.features)
    assert parts["part of yes"].abs().sum() > 0
