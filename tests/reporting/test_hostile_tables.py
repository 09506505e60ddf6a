"""Tables and models that break careless reports: every section is still made."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import clearwood as cw
from clearwood.reporting import Chart, Choice, Facts, More, Note, Prose, Section, Sheet

OURS = ("summary", "data", "performance", "importance", "cautions", "reproduction")


def texts(blocks):
    """Give every text on a page, whatever block it is in."""
    for block in blocks:
        if isinstance(block, Prose):
            yield from block.paragraphs
        elif isinstance(block, Facts):
            for word, text in block.items:
                yield word
                yield text
        elif isinstance(block, Note):
            yield from (block.title, block.text, *block.items)
        elif isinstance(block, Sheet):
            yield block.caption
            yield from (str(cell) for row in block.rows for cell in row)
        elif isinstance(block, Chart):
            yield from (block.title, block.alt)
        elif isinstance(block, Choice):
            yield block.label
            for label, inner in block.options:
                yield label
                yield from texts(inner)
        elif isinstance(block, More):
            yield block.title
            yield from texts(block.blocks)


def made(page):
    """Give the sections by name, sure that none of them failed."""
    found = {section.name: section for section in page.sections}
    for section in found.values():
        assert "This section could not be written" not in words(section), words(section)
    return found


def words(section: Section) -> str:
    return "\n".join(texts(section.blocks))


def report(model, data, **options):
    options = {"quick": True, "time_limit": 12, "sample": 40, "sections": OURS, **options}
    return made(cw.report(model, data, **options))


def rows(n=120, **columns):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    return {"x": x, "z": rng.normal(size=n), **columns, "y": 2 * x + rng.normal(size=n)}


def test_one_feature():
    raw = rows()
    data = cw.read({"x": raw["x"], "y": raw["y"]}, target="y")
    found = report(cw.learner("tree", max_depth=3).fit(data), data)
    assert "from 1 column: x" in words(found["summary"])
    assert "a sum of one function per column" in words(found["summary"])


@pytest.mark.filterwarnings("ignore:there are more features")
def test_a_hundred_features_show_the_top_ones_and_list_the_rest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 100))
    data = cw.read(
        {**{f"x{k}": X[:, k] for k in range(100)}, "y": X[:, 7] + 0.1 * X[:, 3]}, target="y"
    )
    found = report(cw.learner("ridge").fit(data), data)
    effects = [
        b for b in found["importance"].blocks if isinstance(b, Choice) and "Effect" in b.label
    ]
    assert 0 < len(effects) <= 12
    assert effects[0].label == "Effect of x7"
    more = next(b for b in found["importance"].blocks if isinstance(b, More) and "next" in b.title)
    further = next(b for b in more.blocks if isinstance(b, Choice))
    assert len(further.options) == 24
    rest = next(
        b for b in found["importance"].blocks if isinstance(b, Note) and "figure" in b.title
    )
    assert len(rest.items) == 100 - 24 - len(effects)
    sheet = next(b for b in found["data"].blocks if isinstance(b, Sheet))
    assert len(sheet.rows) == 101
    assert [row[0] for row in sheet.rows[:2]] == ["y", "x7"]  # the rest is one click away
    assert "There are few rows" in words(found["cautions"])


def test_a_class_of_two_rows_is_pointed_out():
    raw = rows()
    labels = np.where(raw["x"] > 0, "yes", "no").astype(object)
    labels[:2] = "rare"
    data = cw.read({"x": raw["x"], "z": raw["z"], "label": labels}, target="label")
    found = report(cw.learner("tree", max_depth=3).fit(data), data)
    assert "rare: 2 rows" in words(found["cautions"])


def test_thirty_classes_are_drawn_for_a_few_and_that_is_said():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 30, 300)
    data = cw.read({"x": x, "z": rng.normal(size=300), "k": [f"c{int(v)}" for v in x]}, target="k")
    found = report(cw.learner("tree").fit(data), data)
    assert "the 5 most frequent of 30 classes" in words(found["importance"])
    assert "which of 30 classes k is" in words(found["summary"])


HOSTILE = '</script><script>alert("x")</script><b>&amp;\u2028'
HEBREW = "גיל הנהג"
LONG = "a very long name " * 12


def test_hostile_names_and_cells_come_through_as_text():
    raw = rows()
    levels = [HOSTILE, "plain"] * 60
    data = cw.read({HOSTILE: raw["x"], HEBREW: levels, LONG: raw["z"], "y": raw["y"]}, target="y")
    page = cw.report(
        cw.learner("gbm", max_iter=5, max_depth=2).fit(data),
        data,
        quick=True,
        time_limit=12,
        sample=20,
    )
    found = made(page)
    assert HOSTILE in words(found["data"])
    assert HEBREW in words(found["summary"])
    html = page.to_html()
    assert "<script>alert" not in html
    assert LONG not in words(found["summary"])  # it would drown the sentence


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_all_values_equal():
    found = report(lambda X: np.ones(len(X)), np.ones((30, 2)))
    assert "predicts the same for every row" in words(found["summary"])


def test_a_plain_function_is_sampled():
    data = cw.read(rows(), target="y")
    found = report(lambda frame: 2 * frame["x"].to_numpy(), data)
    assert "a function" in words(found["summary"])
    assert "Explanations are estimates" in words(found["cautions"])


def test_a_pipeline_of_scikit_learn_is_explained():
    raw = rows()
    X = np.column_stack([raw["x"], raw["z"]])
    model = make_pipeline(StandardScaler(), LinearRegression()).fit(X, raw["y"])
    found = report(model, cw.read(raw, target="y"))
    assert "pipeline that ends in LinearRegression" in words(found["summary"])
    assert "rises from" in words(found["summary"])


def test_a_classifier_of_scikit_learn_gets_its_target_from_the_table():
    raw = rows()
    X = np.column_stack([raw["x"], raw["z"]])
    label = np.where(raw["y"] > 0, "high", "low")
    model = LogisticRegression().fit(X, label)
    data = cw.read({"x": raw["x"], "z": raw["z"], "label": label}, target="label")
    found = report(model, data)
    assert "log loss" in words(found["summary"])


def test_data_that_lacks_a_column_is_refused_by_its_name():
    data = cw.read(rows(), target="y")
    model = cw.learner("ridge").fit(data)
    with pytest.raises(cw.InputError, match="lacks the column 'z'"):
        cw.report(model, {"x": [1.0, 2.0, 3.0]})


def test_a_model_that_is_not_fitted_is_refused():
    data = cw.read(rows(), target="y")
    with pytest.raises(cw.InputError, match="not fitted"):
        cw.report(cw.learner("ridge"), data)


def test_without_a_target_explanations_are_made_and_how_well_says_why_not():
    raw = rows()
    model = cw.learner("ridge").fit(cw.read(raw, target="y"))
    found = report(model, {"x": raw["x"], "z": raw["z"]})
    assert "The performance is not known" in words(found["performance"])
    assert "no target" in words(found["performance"])
    assert any(isinstance(block, Choice) for block in found["importance"].blocks)


@pytest.mark.filterwarnings("ignore::clearwood.ClearwoodWarning")
def test_dates_missing_values_and_weights():
    rng = np.random.default_rng(1)
    days = np.datetime64("2024-01-01", "us") + rng.integers(0, 200, 120) * np.timedelta64(1, "D")
    raw = rows(day=days, weight=rng.uniform(0.5, 2, 120))
    raw["z"][:40] = np.nan
    data = cw.read(raw, target="y", weight="weight")
    found = report(cw.learner("gbm", max_iter=5).fit(data), data)
    cautions = words(found["cautions"])
    assert "The model uses dates: day" in cautions
    assert "z: 33" in cautions
    assert "weighted" in words(found["importance"])
    stump = cw.learner("tree", max_depth=1).fit(data)
    assert "uses dates" not in words(
        report(stump, data, sections=["importance", "cautions"])["cautions"]
    )


def test_a_column_that_gives_the_answer_away_is_named():
    raw = rows()
    raw["y_copy"] = raw["y"] * 3
    data = cw.read(raw, target="y")
    found = report(cw.learner("tree").fit(data), data)
    assert "may leak the target\n" in words(found["cautions"])
    assert "y_copy explains" in words(found["cautions"])


def test_two_rows_are_enough_to_look_at_a_model():
    model = cw.learner("ridge").fit(cw.read(rows(), target="y"))
    found = report(model, {"x": [0.0, 1.0], "z": [1.0, 0.0]})
    assert "explains it on 2 rows" in words(found["summary"])


def test_a_classifier_without_probabilities_is_judged_by_its_classes():
    raw = rows()
    label = np.where(raw["y"] > 0, "high", "low")
    model = LinearSVC().fit(np.column_stack([raw["x"], raw["z"]]), label)
    data = cw.read({"x": raw["x"], "z": raw["z"], "label": label}, target="label")
    found = report(model, data)
    assert "error rate" in words(found["performance"])


def test_parts_of_a_sum_that_is_the_target_are_too_good():
    raw = rows()
    raw["y"] = raw["x"] + raw["z"]
    data = cw.read(raw, target="y")
    bench = cw.benchmark(data, ["baseline", "ols"], tune=0, repeats=1)
    found = report(cw.learner("ols").fit(data), data, benchmark=bench)
    assert "It predicts almost perfectly" in words(found["cautions"])


def test_a_model_that_knows_its_rows_by_heart_is_not_called_a_leak():
    rng = np.random.default_rng(0)
    raw = {"x": rng.normal(size=120), "z": rng.normal(size=120), "y": rng.normal(size=120)}
    data = cw.read(raw, target="y")
    found = report(cw.learner("tree", max_depth=None, min_samples_leaf=1).fit(data), data)
    assert "almost perfectly" not in words(found["cautions"])
    assert "The performance on new rows is not known" in words(found["cautions"])


def test_a_gain_that_chance_explains_is_called_uncertain():
    rng = np.random.default_rng(3)
    x = rng.normal(size=60)
    data = cw.read(
        {"x": x, "z": rng.normal(size=60), "y": 0.3 * x + rng.normal(size=60)}, target="y"
    )
    bench = cw.benchmark(data, ["baseline", "ols"], tune=0, repeats=1)
    assert not bench.compare("ols", "baseline").clear
    found = report(cw.learner("ols").fit(data), data, benchmark=bench)
    expected = {"no better than the baseline", "uncertain whether the model beats the baseline"}
    assert any(text in words(found["cautions"]) for text in expected)


def test_a_model_that_fails_on_some_rows_still_gets_a_page(monkeypatch):
    """The model is checked on the first rows; what fails later is a note."""
    monkeypatch.delenv("CLEARWOOD_FAULTS")
    data = cw.read(rows(), target="y")

    def model(frame):
        if len(frame) > 50:
            raise RuntimeError("too many rows at once")
        return frame["x"].to_numpy()

    found = report(model, data)
    assert "too many rows at once" in words(found["cautions"])
    assert "too many rows at once" in words(found["importance"])
