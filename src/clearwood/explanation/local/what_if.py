"""What would be predicted if some columns of a row had other values, and why."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.errors import InputError, Option, did_you_mean, words
from clearwood._shared.numbers import cell, number
from clearwood._shared.results import Result, html_table
from clearwood.explanation.rows.compose import chosen_row
from clearwood.explanation.sampling.coalitions import all_coalitions, shapley_weights
from clearwood.explanation.sampling.value_functions import Interventional
from clearwood.fitted import Unit
from clearwood.models import TableModel
from clearwood.table import Kind, Table, as_table

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["WhatIf", "what_if"]

#: With more changes at once there are too many subsets.
_MOST_CHANGES = 16


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class WhatIf(Result):
    """A prediction before and after some columns of a row were changed. Made by `what_if`.

    Its frame has one row per change and output.

    Parameters
    ----------
    columns
        The columns that were changed.
    was, now
        Their values before and after, in words.
    before, after
        The predictions, one per output.
    shares
        What each change contributes to the difference, (columns, outputs): its Shapley value among
        the changes, which add up to the difference.
    alone
        What the prediction moves if that change is made and no other, (columns, outputs).
    outputs
        Names of the outputs.
    unit
        What is predicted.
    model
        The kind of model, in words.
    """

    columns: tuple[str, ...]
    was: tuple[str, ...]
    now: tuple[str, ...]
    before: Floats
    after: Floats
    shares: Floats
    alone: Floats
    outputs: tuple[str, ...]
    unit: Unit
    model: str

    @property
    def difference(self) -> Floats:
        """What the prediction moves, one number per output."""
        return self.after - self.before

    def __repr__(self) -> str:
        lines = [self._headline(), *(f"  {move}" for move in self._moves())]
        for at, column in enumerate(self.columns):
            moved = ", ".join(f"{share:+.4g}" for share in self.shares[at])
            lines.append(f"  {column}: {self.was[at]} → {self.now[at]}  {moved}")
        return "\n".join(lines)

    def _headline(self) -> str:
        return f"What if, by {self.model} ({self.unit})"

    def _moves(self) -> list[str]:
        """Write the prediction before and after, one line per output."""
        several = len(self.outputs) > 1
        return [
            f"prediction{f' of {output}' if several else ''} {number(self.before[k])} → "
            f"{number(self.after[k])} ({self.difference[k]:+.4g})"
            for k, output in enumerate(self.outputs)
        ]

    def _repr_html_(self) -> str:
        head, moves = self._headline(), self._moves()
        rows = [
            (
                column,
                self.was[at],
                self.now[at],
                ", ".join(f"{share:+.4g}" for share in self.shares[at]),
                ", ".join(f"{share:+.4g}" for share in self.alone[at]),
            )
            for at, column in enumerate(self.columns)
        ]
        return html_table(head, ("column", "was", "now", "contributes", "alone"), rows, moves)

    def _columns(self) -> dict[str, Any]:
        n_outputs = len(self.outputs)
        return {
            "column": np.repeat(self.columns, n_outputs).tolist(),
            "was": np.repeat(self.was, n_outputs).tolist(),
            "now": np.repeat(self.now, n_outputs).tolist(),
            "output": list(self.outputs) * len(self.columns),
            "contributes": self.shares.ravel(),
            "alone": self.alone.ravel(),
        }

    def plot(self, **options: Any) -> Any:
        """Draw what each change contributes, and what it does alone (Altair)."""
        from clearwood.plot import plot_what_if

        return plot_what_if(self, **options)


def what_if(
    self: "Explanation",
    row: Any,
    changes: Mapping[str, Any] | None = None,
    *,
    output: Any = None,
    scale: str | None = None,
    **columns: Any,
) -> WhatIf:
    """Predict a row again with some columns changed, and share the difference among the changes.

    The parameters are those of `clearwood.what_if` without model and data.
    """
    wanted = {**(changes or {}), **columns}
    if not wanted:
        raise InputError(
            "nothing is changed",
            parameter="changes",
            hint=words("for example ", Option("changes", {"age": 45}), "."),
        )
    if len(wanted) > _MOST_CHANGES:
        raise InputError(
            f"{len(wanted)} columns are changed; the difference is shared among up to "
            f"{_MOST_CHANGES}",
            parameter="changes",
        )
    model = self.model
    old = chosen_row(self.data, row)
    if isinstance(model, TableModel) and hasattr(model, "schema_"):
        old = as_table(old, schema=model.schema_)
    if len(old) != 1:
        raise InputError(
            f"{len(old)} rows are given; one is explained",
            parameter="row",
            hint="give a single row.",
        )
    new = _changed(old, wanted)
    predictor, _ = self.stacked(new, background=old, output=output, scale=scale)
    places = [predictor.position(name) for name in wanted]
    predicted = predictor.predict(np.array([0, 1]))
    game = Interventional(
        predictor=predictor,
        n_rows=1,
        members=tuple((place,) for place in places),
        weights=np.ones(1),
        chosen=np.zeros(1, np.intp),
        predictions=predicted[:1],
        background=predicted[1:],
    )
    coalitions = all_coalitions(len(places))
    values = game.at(0, coalitions).mean
    single = coalitions.sum(axis=1) == 1
    alone = coalitions[single].T.astype(np.float64) @ (values[single] - values[0])
    labels = [predictor.columns[place].labels() for place in places]
    return WhatIf(
        columns=tuple(predictor.names[place] for place in places),
        was=tuple(cell(label[1]) for label in labels),
        now=tuple(cell(label[0]) for label in labels),
        before=predicted[1],
        after=predicted[0],
        shares=shapley_weights(coalitions) @ values,
        alone=alone,
        outputs=predictor.outputs,
        unit=predictor.unit,
        model=predictor.kind,
    )


def _unknown(name: str, known: Any) -> InputError:
    return InputError(f"there is no column {name!r}", hint=did_you_mean(name, map(str, known)))


def _changed(old: Any, wanted: Mapping[str, Any]) -> Any:
    """Write new values into a row, in the row's own form."""
    if isinstance(old, Table):
        return _changed_table(old, wanted)
    frame = nw.from_native(old, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _changed_frame(frame, wanted)
    made = np.array(old)
    names = [f"x{k}" for k in range(made.shape[1])]
    if made.dtype.kind in "iub":
        made = made.astype(np.float64)
    for name, value in wanted.items():
        if name not in names:
            raise _unknown(name, names)
        made[0, names.index(name)] = np.nan if value is None else value
    return made


def _changed_frame(frame: nw.DataFrame[Any], wanted: Mapping[str, Any]) -> Any:
    for name in wanted:
        if name not in frame.columns:
            raise _unknown(name, frame.columns)
    if frame.implementation.is_pandas():
        import pandas as pd

        made = frame.to_native().copy()
        for name, value in wanted.items():
            kind = made[name].dtype
            fresh = pd.Series([value], index=made.index)
            if isinstance(kind, pd.CategoricalDtype):
                if value is not None and value not in kind.categories:
                    raise _no_level(name, value, kind.categories)
                fresh = fresh.astype(kind)
            made[name] = fresh
        return made
    rows = frame.to_dict(as_series=False)
    rows.update({name: [value] for name, value in wanted.items()})
    made = nw.from_dict(rows, backend=frame.implementation)
    return made.to_native()


def _changed_table(table: Table, wanted: Mapping[str, Any]) -> Table:
    columns = list(table.columns)
    for name, value in wanted.items():
        place = columns.index(table.column(name))
        column = columns[place]
        if column.is_coded:
            written = None if value is None else str(value)
            if written is not None and written not in column.levels:
                raise _no_level(name, value, column.levels)
            code = -1 if written is None else column.levels.index(written)
            values: Any = np.array([code], np.int32)
        elif column.kind is Kind.DATE:
            values = np.array([value if value is not None else "NaT"], "datetime64[us]")
        elif column.kind is Kind.TEXT:
            values = np.array([value], object)
        else:
            try:
                values = np.array([np.nan if value is None else float(value)])
            except (TypeError, ValueError):
                raise InputError(f"column {name!r} holds numbers; {value!r} is none") from None
        columns[place] = replace(column, values=values)
    return replace(table, columns=tuple(columns))


def _no_level(name: str, value: Any, levels: Any) -> InputError:
    return InputError(
        f"{value!r} is not a level of column {name!r}",
        hint=did_you_mean(str(value), map(str, levels)),
    )
