"""How figures are written."""

import ast
from pathlib import Path

import pytest

import clearwood.plot

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
