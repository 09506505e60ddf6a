"""Tables: rows, columns, summaries, and the way out."""

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import GroupKFold, cross_val_score

import clearwood as cw
from clearwood.table import Column, Kind, Table, as_table

N = 40


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return cw.read(
        {
            "age": [None, *rng.integers(18, 80, N - 1).tolist()],
            "height": rng.normal(1.7, 0.1, N),
            "town": ["Chur", "Bern", None, "Basel"] * 10,
            "smokes": [True, False] + [True] * 18 + [False] * 20,
            "joined": np.datetime64("2024-01-01") + rng.integers(0, 99, N),
            "cost": rng.normal(size=N),
        },
        target="cost",
        protected=["smokes"],
    )


def test_rows_are_taken_by_position_mask_and_slice(table):
    rows = np.array([3, 1])
    by_position = table[rows]
    by_mask = table[np.isin(np.arange(N), rows)]
    assert by_position.shape == (2, 6)
    np.testing.assert_array_equal(by_position["height"].values, table["height"].values[[3, 1]])
    np.testing.assert_array_equal(by_mask["height"].values, table["height"].values[[1, 3]])
    assert table.head(3).n_rows == 3
    assert by_position.schema == table.schema


def test_a_misspelt_column_error_offers_the_nearest(table):
    with pytest.raises(cw.InputError, match=r"there is no column 'hight'.*did you mean 'height'"):
        table["hight"]


def test_a_table_without_target_is_an_error_with_a_hint(table):
    with pytest.raises(cw.InputError, match=r"the table has no target.*target="):
        _ = table.X.y


class MeanByTown(BaseEstimator, RegressorMixin):
    """Learns from a table alone, as a person who writes a learner would."""

    def fit(self, X, y):
        assert isinstance(X, Table)
        codes = X["town"].values
        self.means_ = {code: float(np.mean(y[codes == code])) for code in np.unique(codes)}
        self.overall_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.array([self.means_.get(code, self.overall_) for code in X["town"].values])


def test_scikit_learn_splits_a_table(table):
    scores = cross_val_score(MeanByTown(), table, table.y, cv=4)
    assert scores.shape == (4,)
    by_hand = MeanByTown().fit(table[10:], table.y[10:]).score(table[:10], table.y[:10])
    assert scores[0] == pytest.approx(by_hand)
    groups = np.arange(N) // 4
    assert len(cross_val_score(MeanByTown(), table, table.y, groups=groups, cv=GroupKFold(5))) == 5


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_table_goes_out_to_every_library_and_comes_back_equal(table, library):
    pytest.importorskip(library)
    frame = table.to_frame(library)
    assert type(frame).__module__.startswith(library)
    assert cw.read(frame, target="cost", protected="smokes").fingerprint() == table.fingerprint()


def test_an_unknown_library_error_lists_the_known(table):
    with pytest.raises(cw.InputError, match=r"library='panda'.*'pandas'"):
        table.to_frame("panda")
    assert table.to_frame("dict") == table.to_dict()


def test_json_holds_everything_in_plain_values(table):
    raw = json.loads(json.dumps(table.to_json()))
    assert raw["rows"] == N
    assert raw["task"] == "regression"
    assert raw["missing"]["town"] == 10
    assert raw["values"]["smokes"][:2] == [True, False]
    assert raw["values"]["age"][0] is None
    assert raw["values"]["joined"][0].startswith("2024-")


def test_fingerprints_tell_any_change_apart(table):
    changed = [
        table[::-1],
        table.head(N - 1),
        table.select(["height", "age", "town", "smokes", "cost"]),
        Table((*table.columns[:-1], Column("costs", Kind.NUMBER, table["cost"].values))),
    ]
    prints = {table.fingerprint(), *(other.fingerprint() for other in changed)}
    assert len(prints) == len(changed) + 1


def test_fingerprints_are_those_of_the_data_whatever_roles_are_given():
    data = {
        "class": [1, 2, 3, 1, 2, 3],
        "label": ["b", "a", None, "b", "a", "b"],
        "flag": [True, False, True, True, False, False],
        "size": [1.5, 2, 3, 4, 5, None],
    }
    options = [
        {},
        {"target": "class", "task": "multiclass"},
        {"target": "flag", "group": "label"},
        {"target": "flag", "weight": "class", "protected": "label"},
        {"kinds": {"class": "category"}, "ignore": "label"},
        {"kinds": {"label": ["b", "a"]}},
    ]
    assert len({cw.read(data, **given).fingerprint() for given in options}) == 1


def test_fingerprints_do_not_see_the_sign_of_zero_or_the_make_of_nan():
    odd_nan = np.array([0x7FF8000000000001], dtype=np.uint64).view(np.float64)[0]
    one = as_table(np.array([[0.0, np.nan]]))
    other = as_table(np.array([[-0.0, odd_nan]]))
    assert one.fingerprint() == other.fingerprint()


def test_fingerprints_are_the_same_in_another_process():
    code = (
        "import clearwood as cw; print(cw.read({'a': ['x', 'y', None], 'b': [1.5, 2, 3]})"
        ".fingerprint())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = cw.read({"a": ["x", "y", None], "b": [1.5, 2, 3]}).fingerprint()
    assert done.stdout.strip() == here


def test_the_text_summary_is_a_line_for_each_column(table):
    assert repr(table) == (
        "Table: 40 rows, 6 columns, regression of 'cost'\n"
        "\n"
        "  column  kind          role       missing  values\n"
        f"  age     whole number  feature          1  {table['age'].values[1:].min():.0f} to "
        f"{table['age'].values[1:].max():.0f}\n"
        f"  height  number        feature          -  {table['height'].values.min():.4g} to "
        f"{table['height'].values.max():.4g}\n"
        "  town    category      feature         10  Basel, Bern, Chur\n"
        "  smokes  yes/no        protected        -  False, True\n"
        f"  joined  date          feature          -  {table['joined'].values.min()!s:.10} to "
        f"{table['joined'].values.max()!s:.10}\n"
        f"  cost    number        target           -  {table['cost'].values.min():.4g} to "
        f"{table['cost'].values.max():.4g}"
    )


def test_wide_tables_and_long_names_stay_within_eighty_columns():
    columns = {f"a column with a very long name, number {i}": [i, 2.5, None] for i in range(32)}
    columns["town\nline"] = ["a level that\ngoes on " * 9, "b", "c"]
    text = repr(as_table(columns))
    assert max(map(len, text.splitlines())) <= 80
    assert text.endswith("… and 13 more")
    assert len(text.splitlines()) == 24


def test_the_html_summary_escapes_names_levels_and_notes():
    bad = "<script>alert(1)</script>"
    with pytest.warns(cw.ClearwoodWarning, match="constant"):
        page = cw.read({f"name{bad}": [bad, "b", "c", "c"], f"same{bad}": ["x"] * 4})._repr_html_()
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 4


def test_an_empty_selection_still_has_a_summary(table):
    assert repr(table.select([])).startswith("Table: 0 rows, 0 columns")
    assert "town" in repr(table.head(0))


def test_the_headline_says_that_rows_are_weighted():
    columns = {"x": [1.0, 2, 3, 4, 5], "w": [0, 1, 2, 1, 0], "y": [1.5, 2, 3, 4, 5]}
    assert "weighted (2 of weight 0)" in repr(cw.read(columns, target="y", weight="w"))
