"""Individual predictions: any row of the page, its parts, and what-if."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood.explanation import Shapley
from clearwood.reporting.browser.columns import carried_values, limits
from clearwood.reporting.collect.findings import Findings, PageModel, PartsKind
from clearwood.reporting.page.blocks import Block, Note, Prose, Section, Widget
from clearwood.reporting.page.pack import packed, plain_number, plain_numbers
from clearwood.table import Column, Kind

__all__ = ["rows_in_page", "section"]

TITLE = "Individual predictions"

_KINDS = {Kind.NUMBER: "number", Kind.WHOLE: "whole", Kind.DATE: "date", Kind.TEXT: "text"}
_HELD_OUT = ", from a fit that had not seen the row"


def section(findings: Findings) -> Section:
    """Write the section about single rows."""
    if not findings.options.has_rows:
        text = "Individual predictions are left out, and with them the rows they belong to."
        note = Note("This page contains no rows of the data", text)
        return Section("individual", TITLE, (note,))
    blocks: list[Block] = [Prose(_opening(findings), lead=True)]
    if findings.page_model.data is None:
        blocks.append(_no_what_if(findings))
    if findings.sample_outputs is None:
        blocks.append(Note("Rows are not shown", "The model could not predict them."))
    else:
        text = (
            f"This page carries {findings.sample.n_rows:,} rows. Choosing one shows how each "
            "column changed its prediction; that needs JavaScript."
        )
        blocks.append(Widget("rows", "rows", text, rows_in_page(findings)))
    return Section("individual", TITLE, tuple(blocks))


def _opening(findings: Findings) -> tuple[str, ...]:
    n_sample, n_rows = findings.sample.n_rows, findings.n_all
    which = (
        f"all {n_rows:,} rows of the table"
        if n_sample == n_rows
        else f"{n_sample:,} of the {n_rows:,} rows of the table, drawn with seed "
        f"{findings.options.seed}"
    )
    first = (
        f"Choose a row to see how its prediction comes about. The page carries {which}; rows are "
        "counted from 0, as in Python and on the command line. Each row is compared with all rows "
        "on the page."
    )
    is_live = findings.page_model.data is not None
    if not is_live and findings.shapley is None:
        return (first,)
    second = (
        "Each part is a Shapley value: how far a column moves the prediction away from the mean, "
        "averaged over all orders in which columns can be added (interventional: columns not yet "
        "added take the values of the rows on this page). The mean and the parts add up to the "
        "prediction."
    )
    if is_live:
        second += (
            " Below, every value can be changed: the page runs the model and recomputes the "
            "prediction and its parts. This describes the model. What would happen if somebody's "
            "values changed in reality is a different question."
        )
    elif findings.shapley is not None and findings.shapley.standard_errors is not None:
        second += " For this model they are estimated by sampling."
    return first, second


def _no_what_if(findings: Findings) -> Note:
    column = findings.features[0] if findings.features else "column"
    return Note(
        "Values cannot be changed on this page",
        f"The page cannot run this model: {findings.page_model.reason}. In Python: "
        f"cw.what_if(model, data, data[0], {{{column!r}: ...}}).",
    )


def rows_in_page(findings: Findings) -> dict[str, Any]:
    """Return what the page's script needs about rows, ready for JSON."""
    sample, carried = findings.sample, findings.page_model
    predicted = findings.sample_outputs
    assert predicted is not None
    names = carried.columns or tuple(n for n in findings.features if n in sample.names)
    columns = [sample.column(name) for name in names]
    data: dict[str, Any] = {
        "target": findings.target,
        "task": None if findings.task is None else str(findings.task),
        "classes": list(map(str, findings.classes)),
        "n_rows": findings.table.n_rows,
        "labels": findings.sample_rows.tolist(),
        "columns": [
            _column(column, findings.table.column(column.name), carried, k)
            for k, column in enumerate(columns)
        ],
        "values": [carried_values(column) for column in columns],
        "order": _order(findings, names),
        "outputs": list(findings.outputs),
        "prediction": plain_numbers(predicted.T),
        "response": _response(findings),
        "model": carried.data,
        "parts": None if carried.data is not None else _parts(findings.shapley, names),
    }
    data |= _outcomes(findings, predicted)
    if findings.page_tree is not None:
        data["ways"] = list(findings.page_tree.ways)
    return data


def _column(column: Column, whole: Column, carried: PageModel, k: int) -> dict[str, Any]:
    kind = _KINDS.get(column.kind, "level")
    entry: dict[str, Any] = {"name": column.name, "kind": kind, "gaps": whole.n_missing}
    if carried.data is not None:
        model = carried.data["columns"][k]
        entry["may_lack"] = model["missing"] is not None
        if "ends" in model:
            entry["ends"] = model["ends"]
    if kind == "level":
        entry["levels"] = list(column.levels)
        entry["counts"] = [int((whole.values == code).sum()) for code in range(len(whole.levels))]
    elif kind != "text":
        entry["low"], entry["high"] = (plain_number(end) for end in limits(whole))
    return entry


def _order(findings: Findings, names: Sequence[str]) -> list[int]:
    """Return the columns, the most important for the page's rows first."""
    sizes = np.zeros(len(names))
    if findings.shapley is not None:
        values = np.abs(findings.shapley.values)
        mean = values.mean(axis=0) if values.ndim == 2 else values.mean(axis=(0, 2))
        known = dict(zip(findings.shapley.columns, mean.tolist(), strict=True))
        sizes = np.array([known.get(name, 0.0) for name in names])
    order: list[int] = np.argsort(-sizes, kind="stable").tolist()
    return order


def _response(findings: Findings) -> str:
    """Say what is predicted: a number, a probability, or a class by position or score."""
    if not findings.classes:
        return "prediction"
    if findings.is_probability:
        return "probability"
    return "score" if findings.page_model.data is not None else "class"


def _parts(shapley: Shapley | None, names: Sequence[str]) -> dict[str, Any] | None:
    """Return Shapley values computed beforehand, for models that the page cannot run."""
    if shapley is None:
        return None
    values = shapley.values.reshape(len(shapley), len(shapley.columns), -1)
    place = {name: k for k, name in enumerate(shapley.columns)}
    picked = np.zeros((len(values), len(names), values.shape[2]))
    for k, name in enumerate(names):
        if name in place:
            picked[:, k] = values[:, place[name]]
    outputs = list(map(str, shapley.outputs))
    keep = [len(outputs) - 1] if len(outputs) == 2 else list(range(len(outputs)))
    return {
        "values": packed(picked[:, :, keep].astype(np.float32)),
        "baseline": np.reshape(shapley.baseline, -1)[keep].tolist(),
        "outputs": [outputs[k] for k in keep],
        "kind": PartsKind.of(shapley.about.unit),
        "unit": shapley.about.unit,
    }


def _outcomes(findings: Findings, predicted: Floats) -> dict[str, Any]:
    """Return the outcome of each row, its error, and what the error is."""
    sample = findings.sample
    if sample.target is None:
        return {"outcome": None, "error": None, "error_words": ""}
    outcome = sample.y
    held_out = None
    if findings.out_of_fold is not None:
        held_out = np.asarray(findings.out_of_fold)[findings.sample_rows]
    if not findings.classes:
        if sample.column(sample.target).is_coded:
            return {"outcome": list(map(str, outcome)), "error": None, "error_words": ""}
        numbers = np.asarray(outcome, np.float64)
        evaluated, which = predicted[:, 0], ""
        if held_out is not None and held_out.ndim == 1:
            evaluated, which = held_out, _HELD_OUT
        return {
            "outcome": plain_numbers(numbers),
            "error": plain_numbers(numbers - evaluated),
            "error_words": f"outcome − prediction{which}",
        }
    labels = list(map(str, outcome))
    position = {name: k for k, name in enumerate(map(str, findings.classes))}
    codes = np.array([position.get(label, -1) for label in labels])
    probabilities = held_out if held_out is not None and held_out.ndim == 2 else None
    is_held_out = probabilities is not None
    if probabilities is None and findings.is_probability and findings.predictions is not None:
        probabilities = findings.predictions[findings.sample_rows]
    if probabilities is None or probabilities.shape[1] != len(position):
        return {"outcome": labels, "error": None, "error_words": ""}
    likelihood = np.where(codes >= 0, probabilities[np.arange(len(codes)), codes], np.nan)
    return {
        "outcome": labels,
        "error": plain_numbers(1 - likelihood),
        "error_words": "1 − predicted probability of the actual outcome"
        f"{_HELD_OUT if is_held_out else ''}",
    }
