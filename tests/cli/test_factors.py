"""A model as a table of factors, from the shell."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

import clearwood as cw


@pytest.fixture
def model(cli, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 300), "town": rng.choice(["a", "b"], 300)})
    frame["claims"] = rng.poisson(np.where((frame["age"] > 40) & (frame["town"] == "a"), 2, 0.5))
    frame.to_csv(tmp_path / "data.csv", index=False)
    settings = ("--set", "max_depth=2", "--set", "max_iter=10")
    assert cli("fit", "data.csv", "-t", "claims", "-l", "gbm", *settings).code == 0
    return "model.cw"


def test_a_file_of_factors_multiplies_to_the_prediction(cli, model, tmp_path):
    words = ("export", model, "data.csv", "--to", "factors", "--base", "town=b")
    made = cli(*words, "-o", "rating.csv")
    assert made.code == 0
    assert "relativities of claims" in made.out
    lines = pd.read_csv(tmp_path / "rating.csv")
    data = pd.read_csv(tmp_path / "data.csv")
    product = np.full(len(data), lines["relativity"][0])
    for _, line in lines[lines["kind"].isin(["column", "pair"])].iterrows():
        lies = np.ones(len(data), bool)
        for end in ("", "_2"):
            if pd.isna(line["column" + end]):
                continue
            values = data[line["column" + end]]
            if line["missing" + end] in (True, "True", "true"):
                lies &= values.isna()
            elif line["other" + end] in (True, "True", "true"):
                lies &= ~values.isin(["a", "b"])
            elif pd.notna(line["level" + end]):
                lies &= values == line["level" + end]
            else:
                low, high = line["low" + end], line["high" + end]
                lies &= (values > (-np.inf if pd.isna(low) else low)) & (
                    values <= (np.inf if pd.isna(high) else high)
                )
        product[lies] *= line["relativity"]
    expected = cw.load(tmp_path / model).predict(data)
    np.testing.assert_allclose(product, expected, rtol=1e-12)


def test_predictions_are_recomputed_from_the_file(cli, model, tmp_path):
    assert cli("export", model, "data.csv", "--to", "factors", "-o", "rating.csv").code == 0
    assert cw.inspect(tmp_path / model).sha256 in (tmp_path / "rating.csv").read_text()
    assert cli("predict", "rating.csv", "data.csv", "-o", "made.csv").code == 0
    assert cli("predict", model, "data.csv", "-o", "own.csv").code == 0
    made, own = (pd.read_csv(tmp_path / f"{name}.csv")["prediction"] for name in ("made", "own"))
    np.testing.assert_allclose(made, own, rtol=1e-12)
    refused = cli("predict", "data.csv", "data.csv")
    assert refused.code == 2
    assert "not a table of factors" in refused.err


def test_models_are_multiplied(cli, model, tmp_path):
    data = pd.read_csv(tmp_path / "data.csv")
    rng = np.random.default_rng(1)
    paid = data.assign(paid=rng.gamma(2, 50 + data["age"])).drop(columns="claims")
    paid.to_csv(tmp_path / "paid.csv", index=False)
    words = ("-t", "paid", "--task", "amount", "-l", "glm", "--set", "alpha=0", "-o", "paid.cw")
    assert cli("fit", "paid.csv", *words).code == 0
    made = cli("export", model, "paid.cw", "data.csv", "--to", "factors", "-o", "rating.csv")
    assert made.code == 0
    assert "gbm × glm" in made.out
    models = [cw.load(tmp_path / name) for name in (model, "paid.cw")]
    product = np.prod([one.predict(data[["age", "town"]]) for one in models], axis=0)
    table = cw.explanation.read_factors(tmp_path / "rating.csv")
    np.testing.assert_allclose(table.predict(data[["age", "town"]]), product, rtol=1e-12)


def test_standard_errors_by_refits_from_the_shell(cli, model, tmp_path):
    words = ("export", model, "data.csv", "--to", "factors", "-o", "rating.csv")
    assert cli(*words, "--errors", "20").code == 0
    lines = pd.read_csv(tmp_path / "rating.csv")
    assert lines["standard_error"].notna().sum() > 3
    assert (
        "standard errors of the kind 'robust'" in cli(*words, "--errors", "robust", "--force").err
    )


def test_sql_of_factors_predicts_what_the_model_does(cli, model, tmp_path):
    made = cli("export", model, "data.csv", "--to", "sql", "--table", "policies")
    assert made.code == 0
    data = pd.read_csv(tmp_path / "data.csv")
    database = sqlite3.connect(":memory:")
    data.to_sql("policies", database)
    predicted = pd.read_sql(made.out, database)["prediction"]
    database.close()
    np.testing.assert_allclose(predicted, cw.load(tmp_path / model).predict(data), rtol=1e-12)


def test_json_of_factors_has_the_check(cli, model, tmp_path):
    assert cli("export", model, "data.csv", "--to", "factors", "-o", "rating.json").code == 0
    written = json.loads((tmp_path / "rating.json").read_text())
    assert written["check"]["exact"] is True
    assert written["check"]["largest_difference"] < 1e-12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "factors"), "factors need rows"),
        (("data.csv", "--to", "python"), "sql or nomogram, not as python"),
        (("data.csv", "--to", "factors", "--base", "town=z"), "no row has the level 'z'"),
        (("data.csv", "--to", "factors", "-o", "rating.txt"), ".csv"),
        (("data.csv", "--to", "sql", "--table", " "), "the name of a table"),
        (("data.csv", "--to", "factors", "--cutoff", "500"), "--cutoff has no meaning"),
        (("data.csv", "--to", "sql", "--points", "500,20,40"), "points are for two classes"),
        (("data.csv", "--to", "factors", "--points", "500,20,40"), "--points has no meaning"),
        (("--to", "sql", "--points", "500,20,40"), "a tree has no factors"),
        (("data.csv", "--to", "scorecard", "--base", "town=a"), "--base has no meaning"),
        (("data.csv", "--to", "scorecard", "--errors", "robust"), "--errors has no meaning"),
    ],
)
def test_bad_exports_of_factors_are_refused(cli, model, arguments, message):
    refused = cli("export", model, *arguments)
    assert refused.code == 2
    assert message in refused.err


def test_a_scorecard_is_written_as_points(cli, refused, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.gamma(4, 800, 300), "town": rng.choice(["a", "b"], 300)})
    frame["default"] = np.where(rng.random(300) < 900 / (frame["income"] + 900), "yes", "no")
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert cli("fit", "data.csv", "-t", "default", "-l", "scorecard").code == 0
    words = ("export", "model.cw", "data.csv", "--to", "scorecard")
    made = cli(*words, "--points", "500,20,40", "--cutoff", 450, "-o", "card.csv")
    assert made.code == 0, made.err
    assert "500 at 20 to 1, 40 double the odds" in " ".join(made.out.split())
    assert "cross the cut-off 450" in " ".join(made.out.split())
    model = cw.load(tmp_path / "model.cw")
    points = cw.factors(model, pd.read_csv("data.csv"), points=(500, 20, 40)).points
    assert pd.read_csv("card.csv")["points"].tolist() == [line["points"] for line in points.lines()]
    assert "SCORE,ODDS,DOUBLE" in refused(*words, "--points", "much")
    assert "points are of one model, and need rows" in refused(
        "export", "model.cw", "--to", "scorecard"
    )


def test_columns_that_a_card_leaves_out_are_said_by_every_verb(cli, tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"income": rng.gamma(4, 800, 300), "rare": [1.0] * 5 + [0.0] * 295})
    frame["default"] = np.where(rng.random(300) < 900 / (frame["income"] + 900), "yes", "no")
    frame.to_csv(tmp_path / "data.csv", index=False)
    words = ("fit", "data.csv", "-t", "default", "-l", "scorecard", "--force")
    made = cli(*words)
    said = "1 column left out of the model (no two bands can have 5 % of the rows each"
    assert made.code == 0, made.err
    assert said in " ".join(made.out.split())
    assert "'rare'" not in made.err
    document = json.loads(cli(*words, "--json").out)
    assert list(document["left_out"]) == ["rare"]
    assert any(said in note for note in document["notes"])
    assert "column 'rare', which has a constraint" in " ".join(
        cli(*words, "--monotone", "rare=up").err.split()
    )
    assert "rare: no two bands" in " ".join(cli("inspect", "model.cw").out.split())
    made = cli("export", "model.cw", "data.csv", "--to", "scorecard", "-o", "card.csv")
    assert said in " ".join(made.out.split())


def test_sql_of_a_scorecard_has_the_total_of_points_and_the_probability(cli, tmp_path):
    frame = pd.DataFrame({"income": np.arange(300.0) % 97, "town": ["a", "b", "c"] * 100})
    frame["default"] = np.where(np.arange(300) * 7 % 97 > frame["income"], "yes", "no")
    frame.to_csv(tmp_path / "data.csv", index=False)
    assert cli("fit", "data.csv", "-t", "default", "-l", "scorecard").code == 0
    model = cw.load(tmp_path / "model.cw")
    for options, scaling in (
        ((), (600, 50, 20)),
        (("--points", "500,20,40"), (500, 20, 40)),
    ):
        made = cli("export", "model.cw", "data.csv", "--to", "sql", *options)
        assert made.code == 0, made.err
        database = sqlite3.connect(":memory:")
        frame.to_sql("data", database)
        found = pd.read_sql(made.out, database)
        database.close()
        points = cw.factors(model, frame, points=scaling).points
        assert found["points"].tolist() == points.of(frame).tolist()
        np.testing.assert_allclose(found["prediction"], model.predict_proba(frame)[:, 1])


def test_factors_and_nomograms_are_drawn(cli, model, tmp_path):
    assert cli("export", model, "data.csv", "--to", "factors", "-o", "rating.svg").code == 0
    assert "relativity" in (tmp_path / "rating.svg").read_text()
    refused = cli("export", model, "data.csv", "--to", "nomogram", "-o", "sums.svg")
    assert refused.code == 2
    assert "one axis for each column" in refused.err
    assert not (tmp_path / "sums.svg").exists()
    assert cli("fit", "data.csv", "-t", "claims", "-l", "glm", "-o", "glm.cw").code == 0
    made = cli("export", "glm.cw", "data.csv", "--to", "nomogram", "-o", "sums.svg")
    assert made.code == 0
    assert "Wrote sums.svg" in made.out
    assert "total points" in (tmp_path / "sums.svg").read_text()
    assert "a nomogram is a picture" in cli("export", "glm.cw", "data.csv", "--to", "nomogram").err


def test_sql_of_a_fair_model_does_without_the_protected_column(cli, tmp_path):
    policies = cw.datasets.insurance(600, seed=1)
    fair = cw.fair(cw.learner("glm", alpha=0).fit(policies), policies)
    cw.save(fair, tmp_path / "fair.cw")
    rows = policies.to_frame()
    rows.to_csv(tmp_path / "policies.csv", index=False)
    words = ("export", "fair.cw", "policies.csv", "--to", "sql", "--table", "p", "-o", "fair.sql")
    made = cli(*words)
    assert made.code == 0, made.err
    query = (tmp_path / "fair.sql").read_text(encoding="utf-8")
    assert "gender averaged out" in query
    assert '"gender"' not in query
    base = sqlite3.connect(":memory:")
    rows.to_sql("p", base, index=False)
    found = np.array([line[-1] for line in base.execute(query)])
    base.close()
    np.testing.assert_allclose(found, fair.predict(policies), rtol=1e-9)
