"""How figures are written."""

import ast
from pathlib import Path

import pytest

import clearwood.plot
from clearwood.plot.style import chart_of

MODULES = sorted(Path(clearwood.plot.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_channels_are_written_with_their_class(module):
    """For a text, as in encode(x="age:Q"), Altair looks through all its classes."""
    calls = [
        node
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "encode"
    ]
    values = [keyword.value for call in calls for keyword in call.keywords]
    parts = [part for value in values for part in getattr(value, "elts", [value])]
    texts = [part.lineno for part in parts if isinstance(part, ast.Constant | ast.JoinedStr)]
    assert texts == []


def test_a_chart_stays_as_it_was_when_it_is_layered_titled_or_encoded():
    import altair as alt

    point = chart_of([{"x": 1.0, "y": 2.0}]).mark_point().encode(x="x:Q")
    before = point.to_dict()
    layered = alt.vconcat(
        alt.layer(point, point.mark_line()).properties(width=7, title="both"), point
    )
    changed = point.encode(y="y:Q").properties(width=5, title="one")
    assert layered.to_dict()["vconcat"][0]["width"] == 7
    assert changed.to_dict()["encoding"]["y"]["field"] == "y"
    assert point.to_dict() == before
    assert isinstance(point, alt.Chart)
