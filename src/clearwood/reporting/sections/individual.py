"""Why, one by one: any row of the page, its parts, and what if it were different."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.errors import InputError
from clearwood.explanation import Explained, Shapley
from clearwood.reporting.collect.findings import Findings
from clearwood.reporting.model.columns import carried_values, limits
from clearwood.reporting.model.model import PageModel, carried_model
from clearwood.reporting.model.tree_places import directions
from clearwood.reporting.page.blocks import Block, Note, Prose, Section, Widget
from clearwood.reporting.page.pack import packed, plain_number, plain_numbers
from clearwood.table import Column, Kind

__all__ = ["rows_in_page", "section"]

Floats = NDArray[np.float64]

_KINDS = {Kind.NUMBER: "number", Kind.WHOLE: "whole", Kind.DATE: "date", Kind.TEXT: "text"}


def section(findings: Findings) -> Section:
    """Write the chapter about single rows."""
    carried = carried_model(findings)
    blocks: list[Block] = [Prose(_opening(findings, carried), lead=True)]
    if carried.data is None:
        blocks.append(_no_what_if(findings, carried))
    data = rows_in_page(findings, carried)
    text = (
        f"{findings.sample.n_rows:,} rows are carried on this page. Choosing one shows how each "
        "column moved its prediction; that needs the page's script."
    )
    blocks.append(Widget("rows", "rows", text, data))
    return Section("one-by-one", "Why, one by one", tuple(blocks))


def _opening(findings: Findings, carried: PageModel) -> tuple[str, ...]:
    n_sample, n_rows = findings.sample.n_rows, findings.table.n_rows
    which = (
        f"all {n_rows:,} rows of the table"
        if n_sample == n_rows
        else f"{n_sample:,} of the {n_rows:,} rows of the table, drawn with seed "
        f"{findings.options.seed}"
    )
    first = (
        f"Choose a row to see how its prediction came about. The page carries {which}, counted "
        "from one; they are also what a row is compared with."
    )
    if carried.data is None and findings.shapley is None:
        return (first,)
    second = (
        "Each part is a Shapley value: what knowing the value of one column moves the prediction "
        "away from the mean, averaged over the orders in which the columns can become known "
        "(interventional: columns that are not known take the values of the rows on this page). "
        "The parts and the mean add up to the prediction."
    )
    if carried.data is not None:
        second += (
            " Below, every value can be changed: prediction and parts are computed anew in this "
            "page, by the model itself. It is a statement about the model: what would happen in "
            "the world if somebody's values were different is another question."
        )
    elif findings.shapley is not None and findings.shapley.standard_errors is not None:
        second += " For this model they are estimated by sampling."
    return first, second


def _no_what_if(findings: Findings, carried: PageModel) -> Note:
    column = findings.features[0] if findings.features else "column"
    return Note(
        "Values cannot be changed on this page",
        f"The page cannot compute with this model: {carried.reason}. The library can: "
        f"cw.what_if(model, data[0], {{{column!r}: ...}}).",
    )


def rows_in_page(findings: Findings, carried: PageModel) -> dict[str, Any]:
    """Give what the page's script needs about rows, ready for JSON."""
    sample = findings.sample
    names = carried.columns or tuple(n for n in findings.features if n in sample.names)
    columns = [sample.column(name) for name in names]
    outputs, predicted = _predictions(findings, carried)
    data: dict[str, Any] = {
        "target": findings.target,
        "task": None if findings.task is None else str(findings.task),
        "classes": list(map(str, findings.classes)),
        "n_rows": findings.table.n_rows,
        "labels": (findings.sample_rows + 1).tolist(),
        "columns": [
            _column(column, findings.table.column(column.name), carried, k)
            for k, column in enumerate(columns)
        ],
        "values": [carried_values(column) for column in columns],
        "order": _order(findings, names),
        "outputs": outputs,
        "prediction": plain_numbers(predicted.T),
        "response": _response(findings),
        "model": carried.data,
        "reason": carried.reason,
        "parts": None if carried.data is not None else _parts(findings.shapley, names),
    }
    data |= _outcomes(findings, predicted)
    if findings.condensed is not None:
        data["ways"] = directions(findings.condensed, findings.condensed.matrix(sample))
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
    """Give the columns from the most important on."""
    size = np.zeros(len(names))
    if findings.shapley is not None:
        values = np.abs(findings.shapley.values)
        mean = values.mean(axis=0) if values.ndim == 2 else values.mean(axis=(0, 2))
        known = dict(zip(findings.shapley.columns, mean.tolist(), strict=True))
        size = np.array([known.get(name, 0.0) for name in names])
    order: list[int] = np.argsort(-size, kind="stable").tolist()
    return order


def _response(findings: Findings) -> str:
    if not findings.classes:
        return "prediction"
    two = findings.predictions is None or findings.predictions.ndim == 2
    return "probability" if two else "score"


def _predictions(findings: Findings, carried: PageModel) -> tuple[list[str], Floats]:
    """Give what is predicted for the page's rows, one column an output."""
    rows = np.arange(findings.sample.n_rows)
    if carried.data is not None or findings.predictions is None:
        try:
            predictor = Explained(findings.model, findings.sample).predictor()
            return list(predictor.outputs), predictor.predict(rows)
        except InputError:
            if findings.predictions is None:
                raise
    known = findings.predictions[findings.sample_rows]
    if known.ndim == 1:
        return ["prediction"], known[:, None]
    names = list(map(str, findings.classes))
    return ([names[1]], known[:, 1:]) if known.shape[1] == 2 else (names, known)


def _parts(shapley: Shapley | None, names: Sequence[str]) -> dict[str, Any] | None:
    """Give Shapley values that were computed beforehand, for models that the page cannot ask."""
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
        "unit": str(shapley.about.unit),
    }


def _outcomes(findings: Findings, predicted: Floats) -> dict[str, Any]:
    """Give what happened, how far the prediction was from it, and in which words."""
    sample = findings.sample
    if sample.target is None:
        return {"outcome": None, "error": None, "error_words": ""}
    truth = sample.y
    out_of_fold = None
    if findings.out_of_fold is not None:
        out_of_fold = np.asarray(findings.out_of_fold)[findings.sample_rows]
    if not findings.classes:
        if sample.column(sample.target).is_coded:
            return {"outcome": list(map(str, truth)), "error": None, "error_words": ""}
        numbers = np.asarray(truth, np.float64)
        judged, how = predicted[:, 0], ""
        if out_of_fold is not None and out_of_fold.ndim == 1:
            judged, how = out_of_fold, " by a model that had not seen the row"
        return {
            "outcome": plain_numbers(numbers),
            "error": plain_numbers(numbers - judged),
            "error_words": f"what happened less what was predicted{how}",
        }
    labels = list(map(str, truth))
    position = {name: k for k, name in enumerate(map(str, findings.classes))}
    codes = np.array([position.get(label, -1) for label in labels])
    probabilities = out_of_fold if out_of_fold is not None and out_of_fold.ndim == 2 else None
    how = " by a model that had not seen the row" if probabilities is not None else ""
    if (
        probabilities is None
        and findings.predictions is not None
        and findings.predictions.ndim == 2
    ):
        probabilities = findings.predictions[findings.sample_rows]
    if probabilities is None or probabilities.shape[1] != len(position):
        return {"outcome": labels, "error": None, "error_words": ""}
    given = np.where(codes >= 0, probabilities[np.arange(len(codes)), codes], np.nan)
    return {
        "outcome": labels,
        "error": plain_numbers(1 - given),
        "error_words": f"one less the probability given to what happened{how}",
    }
