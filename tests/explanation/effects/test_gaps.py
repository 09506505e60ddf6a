"""Effects of models whose columns have gaps say so."""

import numpy as np
import pytest

import clearwood as cw


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    z = rng.normal(size=300)
    x, y = rng.uniform(size=300), z + rng.normal(size=300)
    z[:90] = np.nan
    return cw.read({"x": x, "z": z, "same": np.ones(300), "y": y}, target="y", ignore="same")


@pytest.mark.parametrize("learner", ["ols", "gbm", "gam"])
@pytest.mark.parametrize("kind", ["pdp", "ice", "ale", "supported_pdp", "component"])
def test_effects_state_the_share_of_rows_that_is_missing(data, learner, kind):
    effect = cw.effect(cw.learner(learner).fit(data), data, "x", kind=kind)
    assert effect.gap_shares == {"z": 0.3}
    assert "'z' is missing in 30 % of the rows" in repr(effect)
    assert effect._repr_html_().count("is missing in") == 1
    assert effect.to_json()["gap_shares"] == {"z": 0.3}


def test_nothing_is_said_where_nothing_is_missing_or_adjusted_for(data):
    model = cw.learner("ols").fit(data)
    assert not cw.effect(model, data, "x", kind="marginal").gap_note
    whole = data.take(slice(90, None))
    assert not cw.effect(cw.learner("ols").fit(whole), whole, "x").gap_note
    alone = data.select(["z", "y"])
    model = cw.learner("ols").fit(alone)
    with pytest.warns(cw.ClearwoodWarning, match="90 of 300 rows have no value"):
        effect = cw.effect(model, alone, "z")
    assert not effect.gap_note
    # a column that the model does not use
    chosen = cw.learner("ols", select="anova:1").fit(data)
    assert not cw.effect(chosen, data, chosen.selected_[0]).gap_note


def test_parts_count_the_gaps_of_all_rows(data, tmp_path):
    for k, rows in enumerate((slice(0, 150), slice(150, 300))):
        columns = data.take(rows).to_dict()
        lines = [",".join(columns), *map(_line, zip(*columns.values(), strict=True))]
        (tmp_path / f"{k}.csv").write_text("\n".join(lines))
    parts = cw.scan(tmp_path, target="y", ignore="same")
    effect = cw.effect(cw.learner("ols").fit(data), parts, "x")
    assert effect.gap_shares == {"z": 0.3}


def _line(values):
    return ",".join("" if value is None else str(value) for value in values)
