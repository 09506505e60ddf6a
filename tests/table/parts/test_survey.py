"""A survey over parts finds what reading the one table finds, to the bit."""

import itertools
import warnings
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clearwood as cw
from clearwood.table.kinds import evidence
from clearwood.table.parts import tally

#: One column each: what real tables hold, and what decides kinds.
COLUMNS = {
    "number": lambda rng, n: rng.normal(size=n),
    "gaps": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
    "whole": lambda rng, n: rng.integers(-3, 40, n),
    "yes": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "row_id": lambda rng, n: rng.permutation(n) + 7,
    "customer id": lambda rng, n: rng.permutation(10 * n)[:n],
    "constant": lambda rng, n: np.full(n, 3.5),
    "empty": lambda rng, n: np.full(n, np.nan),
    "town": lambda rng, n: rng.choice(["Lund", "Bern", "Chur ", None], n),
    "smokes": lambda rng, n: rng.choice(["yes", "No"], n),
    "price": lambda rng, n: rng.choice(["1.234,50", "k.A.", "12,5", "7"], n),
    "grouped": lambda rng, n: rng.choice(["1,234", "2,345"], n),
    "amount": lambda rng, n: rng.choice(["12", "13", "x"], n, p=[0.6, 0.395, 0.005]),
    "text": lambda rng, n: np.array([f"remark {k} on this" for k in rng.permutation(n)]),
    "zip": lambda rng, n: rng.choice(["01234", "8000"], n),
    "day": lambda rng, n: rng.choice(["2024-02-03", "2023-12-24", "unknown"], n),
    "when": lambda rng, n: np.datetime64("2024-01-01") + rng.integers(0, 9, n),
    "flag": lambda rng, n: rng.random(n) < 0.5,
    "built": lambda rng, n: np.where(rng.random(n) < 0.01, 2999, rng.integers(1900, 2020, n)),
    "code": lambda rng, n: np.where(rng.random(n) < 0.1, 999, rng.integers(1, 60, n)),
    "age": lambda rng, n: np.where(rng.random(n) < 0.005, -4, rng.integers(18, 90, n)),
    "far": lambda rng, n: np.where(np.arange(n) == n // 2, 1e9, rng.normal(size=n)),
    "size": lambda rng, n: pd.Categorical(rng.choice(["S", "M"], n), ["S", "M", "L"], ordered=True),
}
TARGETS = {
    "regression": lambda rng, n: rng.normal(size=n),
    "gaps": lambda rng, n: np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
    "count": lambda rng, n: rng.poisson(0.4, n),
    "classes": lambda rng, n: rng.integers(1, 4, n),
    "labels": lambda rng, n: rng.choice(["a", "b", "c", None], n),
    "written": lambda rng, n: rng.choice(["1,5", "2,5", "k.A.", "-7,25"], n),
}


def read_both(frame, pieces, **options):
    """Read one frame, and the same rows in parts; return both results and what they said."""
    results = []
    for verb, source in ((cw.read, frame), (cw.scan, pieces)):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            results.append((verb(source, **options), [str(w.message) for w in said]))
    return results


def error_of(source, **options):
    """Return what is said where a table is refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (cw.scan if isinstance(source, list) else cw.read)(source, **options)
    except cw.InputError as error:
        return str(error)
    return ""


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([12, 40, 300]),
    st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=5, unique=True),
    st.sampled_from([None, *TARGETS]),
    st.lists(st.floats(0, 1), max_size=5),
)
def test_any_partition_of_the_rows_gives_the_same_table(seed, n, names, target, cuts):
    rng = np.random.default_rng(seed)
    columns = {name: COLUMNS[name](rng, n) for name in names}
    if target is not None:
        columns["target"] = TARGETS[target](rng, n)
    frame = pd.DataFrame(columns)
    ends = [0, *sorted(int(cut * n) for cut in cuts), n]
    pieces = [frame.iloc[a:b] for a, b in itertools.pairwise(ends)]
    # small limits, so that few rows reach them
    options = {"target": None if target is None else "target"}
    with patch.object(evidence, "SAMPLE", 32), patch.object(tally, "SAMPLE", 32):
        refused, refused_in_parts = (error_of(source, **options) for source in (frame, pieces))
        assert refused_in_parts == refused
        if refused:
            return
        (table, said), (parts, said_of_parts) = read_both(frame, pieces, **options)
    assert parts.schema == table.schema
    assert list(map(str, parts.notes)) == list(map(str, table.notes))
    assert said_of_parts == said
    assert (parts.n_rows, parts.dropped) == (table.n_rows, table.dropped)
    assert parts.missing == table.missing
    assert repr(parts).split("\n")[1:] == repr(table).split("\n")[1:]
    again = parts.to_table()
    for a, b in zip(again.columns, table.columns, strict=True):
        assert a.__dict__.keys() == b.__dict__.keys()
        for key, value in a.__dict__.items():
            np.testing.assert_array_equal(value, b.__dict__[key], err_msg=f"{a.name}: {key}")


OPTIONS = [
    {"kinds": {"whole": "category", "town": "text"}},
    {"kinds": {"town": ["Lund", "Chur", "Bern"]}, "labels": {"town": {"name": "Place"}}},
    {"missing": ["7", "Lund"]},
    {"missing": {"whole": ["0"]}, "ignore": ["number"], "protected": ["town"]},
    {"weight": "positive", "group": "identical rows"},
    {"exposure": "positive", "task": "amount", "monotone": {"number": "up"}},
]


@pytest.mark.parametrize("options", OPTIONS, ids="-".join)
def test_what_is_stated_about_columns_holds_for_parts(options):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({n: COLUMNS[n](rng, 200) for n in ("number", "whole", "town", "price")})
    frame["positive"] = rng.random(200) + 0.1
    frame["y"] = rng.random(200)
    pieces = [frame[:30], frame[30:30], frame[30:]]
    (table, said), (parts, said_of_parts) = read_both(frame, pieces, target="y", **options)
    assert parts.schema == table.schema
    assert said_of_parts == said
    assert parts.options == table.options
    assert parts.to_table().fingerprint() == table.fingerprint()


def test_more_texts_than_can_be_counted_are_text(monkeypatch):
    monkeypatch.setattr(tally, "MOST_LEVELS", 50)
    words = [f"w{i % 80}" for i in range(1000)]
    pieces = [pd.DataFrame({"w": words, "x": np.arange(1000) % 7 / 2})]
    with pytest.warns(cw.ClearwoodWarning, match=r"is text \(more than 50 different values\)"):
        parts = cw.scan(pieces)
    assert parts.features == ("x",)
    assert parts.head(2)["w"].values.tolist() == ["w0", "w1"]
    with pytest.raises(
        cw.InputError, match=r"column 'w' has more than .* different values, too many for levels"
    ):
        cw.scan(pieces, kinds={"w": "category"})


def test_a_level_of_the_last_part_only_is_a_level_of_all():
    first = pd.DataFrame({"town": ["Bern"] * 9, "x": np.arange(9) / 2})
    last = pd.DataFrame({"town": ["Aarau"] * 9, "x": np.arange(9) / 3})
    parts = cw.scan([first, last])
    assert parts.levels["town"] == ("Aarau", "Bern")
    assert next(parts.batches())["town"].values.tolist() == [1] * 9


def test_identifiers_are_found_across_ranges(monkeypatch):
    from clearwood.table.parts import survey

    monkeypatch.setattr(survey, "_AT_ONCE", 64)
    ids = np.random.default_rng(0).permutation(5000)[:1000] * 3.0
    for values, roles in ((ids, {"customer_id": "ignored"}), (np.append(ids[:-1], ids[0]), {})):
        frame = pd.DataFrame({"customer_id": values, "x": np.arange(1000) % 7 / 2})
        pieces = [frame[:400], frame[400:]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts, table = cw.scan(pieces), cw.read(frame)
        assert parts.roles == table.roles == roles
