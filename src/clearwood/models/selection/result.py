"""Which columns a learner has chosen, by which scores, and which a fitted one uses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from clearwood._shared.arrays import Floats
from clearwood._shared.numbers import IN_TABLES, count, number
from clearwood._shared.results import Result, html_table
from clearwood.models.selection.spec import read_selection

__all__ = ["Selection", "chooses_columns", "chosen_columns"]


_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Result):
    """The columns that a learner chose from the rows it was fitted to.

    A fitted learner has it as ``selection_``. Scores rank columns for one model on these rows. They
    are not effects, and p-values among them do not hold for the chosen columns any more, since the
    same rows have chosen them.

    Parameters
    ----------
    method
        The request, such as "anova:10".
    columns
        The features of the table, in its order.
    scores
        One for each of them; NaN for those that were left out before.
    selected
        The chosen columns, in the order of the table; empty if there is none.
    left_out
        Features that could not be chosen, with the reason.
    n_rows
        Rows with a weight above 0.
    seed
        What fixed the random choices.

    Examples
    --------
    >>> import clearwood as cw
    >>> model = cw.learner("ridge", select="anova:3").fit(cw.datasets.load("diabetes"))
    >>> model.selection_.selected
    ('bmi', 'bp', 's5')
    """

    method: str
    columns: tuple[str, ...]
    scores: Floats
    selected: tuple[str, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    n_rows: int = 0
    seed: int = 0

    @property
    def score(self) -> str:
        """What the scores are."""
        return read_selection(self.method).method.score

    @property
    def order(self) -> tuple[str, ...]:
        """The columns from the highest score down; those without a score last."""
        ranked = np.argsort(-np.nan_to_num(self.scores, nan=-np.inf), kind="stable")
        return tuple(self.columns[k] for k in ranked)

    def _columns(self) -> dict[str, Any]:
        """Return one row per column, from the highest score down."""
        scores = dict(zip(self.columns, self.scores, strict=True))
        return {
            "column": list(self.order),
            "score": [float(scores[name]) for name in self.order],
            "selected": [name in self.selected for name in self.order],
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote."""
        return cls(
            raw["method"],
            tuple(raw["columns"]),
            np.array([np.nan if one is None else one for one in raw["scores"]], np.float64),
            tuple(raw["selected"]),
            dict(raw["left_out"]),
            raw["n_rows"],
            raw["seed"],
        )

    def __repr__(self) -> str:
        rows = self._rows()
        width = max(len(row[0]) for row in [("column",), *rows])
        lines = [f"  {name:<{width}}  {score:>9}  {mark}" for name, score, mark in rows]
        more = len(self.columns) - len(rows)
        if more:
            lines.append(f"  and {count(more, 'more column')}")
        return "\n".join([self._headline(), f"  {'column':<{width}}  {'score':>9}", *lines])

    def _repr_html_(self) -> str:
        return html_table(self._headline(), ("column", self.score, ""), self._rows())

    def _headline(self) -> str:
        return (
            f"{len(self.selected)} of {count(len(self.columns), 'column')} selected by "
            f"{self.method} from {count(self.n_rows, 'row')}; score: {self.score}; "
            f"seed {self.seed}"
        )

    def _rows(self) -> list[tuple[str, str, str]]:
        scores = dict(zip(self.columns, self.scores, strict=True))
        return [
            (
                name,
                number(scores[name], IN_TABLES) if np.isfinite(scores[name]) else "–",
                "selected" if name in self.selected else self.left_out.get(name, ""),
            )
            for name in self.order[:_SHOWN]
        ]

    def plot(self, **options: Any) -> Any:
        """Draw the scores, the chosen columns in colour (Altair)."""
        from clearwood.plot import plot_selection

        return plot_selection(self, **options)


def chooses_columns(learner: Any) -> bool:
    """Whether a fit of a `Learner` uses some columns only: by ``select=``, or by zeros of its own.

    Examples
    --------
    >>> import clearwood as cw
    >>> plain, chosen = cw.learner("ridge"), cw.learner("ridge", select="anova:3")
    >>> chooses_columns(plain), chooses_columns(chosen), chooses_columns(cw.learner("lasso"))
    (False, True, True)
    """
    return learner.select is not None or _is_sparse(learner)


def _is_sparse(learner: Any) -> bool:
    sparse = learner.entry.sparse
    settings = learner.all_settings
    return sparse is not None and all(settings[name] in few for name, few in sparse.items())


def chosen_columns(model: Any) -> tuple[str, ...]:
    """Return the columns of the table that a fitted learner uses, in the order of the table.

    A category is used if one of its levels has a coefficient that is not zero.

    Examples
    --------
    >>> import clearwood as cw
    >>> chosen_columns(cw.learner("subset", size=2).fit(cw.datasets.load("diabetes")))
    ('bmi', 's5')
    """
    selected: tuple[str, ...] = model.selected_
    if not selected or not _is_sparse(model):
        return selected
    coefficients = np.atleast_2d(model.estimator_.coef_)  # one line for each output
    is_used = (coefficients != 0).any(axis=0)
    used = {
        one.source for one, is_in in zip(model.encoder_.columns_, is_used, strict=True) if is_in
    }
    return tuple(name for name in model.schema_.features if name in used)
