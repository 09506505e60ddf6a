"""The terms of a model that is a sum of few of them, one line each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clearwood._shared.errors import bad_value
from clearwood._shared.numbers import IN_TABLES, count, number, percent
from clearwood._shared.results import Result, html_table
from clearwood.explanation.results.importance import joined
from clearwood.fitted import parts_of
from clearwood.models import Learner, rows_outside

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["Doubted", "TermRow", "TermTable", "readable_order", "terms"]

#: The most columns a term may have for a model to be read term by term.
MOST_COLUMNS = 3
#: Terms with a smaller share of the variance are folded into the rest.
LEAST_SHARE = 0.001


@dataclass(frozen=True)
class TermRow:
    """One term of a model.

    Parameters
    ----------
    columns
        The columns it is a function of.
    share
        Its share of the variance of all terms over the data.
    edf
        Its effective degrees of freedom; None where they are not known.
    p_value
        Of the hypothesis that it is zero; None where the model has no such test.
    monotone
        "up" or "down" where the model was fitted to rise or fall with the column.
    low, high
        The range of the column in the training rows (dates in days since 1970); None for
        categories, for terms of several columns and where it is not known.
    """

    columns: tuple[str, ...]
    share: float
    edf: float | None = None
    p_value: float | None = None
    monotone: str | None = None
    low: float | None = None
    high: float | None = None

    @property
    def order(self) -> int:
        """How many columns it has."""
        return len(self.columns)

    @property
    def name(self) -> str:
        """The columns, written together."""
        return joined(self.columns)


@dataclass(frozen=True)
class Doubted:
    """A training row that lies far beyond all others and contradicts them.

    Parameters
    ----------
    row
        Its position among the training rows that have a target.
    values
        Its values far out, by column (dates as numbers of the encoded matrix).
    counts_as
        What part of a row it counts as.
    """

    row: int
    values: Mapping[str, float]
    counts_as: float


@dataclass(frozen=True, repr=False)
class TermTable(Result):
    """The terms of a model, the largest share of variance first.

    Parameters
    ----------
    model
        The kind of model, in words.
    terms
        Those with a share of at least ``least``.
    least
        The smallest share of a term that is listed.
    n_rest, rest_share
        How many further terms there are, and their share together.
    remainder_share
        The share of what no term holds: zero where the terms are the whole model.
    n_rows
        Rows of the data.
    n_outside
        How many of them lie outside the training range of some column; None where it is not known.
    outside
        How many of them lie outside the training range, by column; only columns with some.
    doubted
        Training rows that count less, because they lie far beyond all others and contradict them;
        those that count least first.
    """

    model: str
    terms: tuple[TermRow, ...]
    least: float
    n_rest: int
    rest_share: float
    remainder_share: float
    n_rows: int
    n_outside: int | None = None
    outside: Mapping[str, int] | None = None
    doubted: tuple[Doubted, ...] = ()

    def __len__(self) -> int:
        return len(self.terms)

    def __repr__(self) -> str:
        return f"Terms of {self.model}: {self.summary}"

    @property
    def summary(self) -> str:
        """How many terms there are, what the rest is, and which rows are extrapolated."""
        shown = (
            f"{count(len(self.terms), 'term')} with {percent(1 - self._unlisted)} of the variance"
        )
        if self.n_rest:
            shown += (
                f"; the rest, {count(self.n_rest, 'term')} below {percent(self.least)} each, has "
                f"{percent(self.rest_share)}"
            )
        if self.n_outside is not None:
            which = count(self.n_outside, "row")
            shown += f"; {which} of {self.n_rows:,} outside the training range"
        if self.doubted:
            shown += (
                f"; {count(len(self.doubted), 'training row')} far beyond all others "
                f"{'counts' if len(self.doubted) == 1 else 'count'} less"
            )
        return shown

    @property
    def _unlisted(self) -> float:
        return self.rest_share + self.remainder_share

    def _columns(self) -> Mapping[str, Any]:
        """Return one line per term, and the rest as the last."""
        rows = self.terms
        rest = [None] if self.n_rest else []
        columns: dict[str, list[Any]] = {
            "term": [row.name for row in rows] + (["the rest"] if rest else []),
            "order": [row.order for row in rows] + rest,
            "share": [row.share for row in rows] + ([self.rest_share] if rest else []),
        }
        for name in ("edf", "p_value", "monotone", "low", "high"):
            values = [getattr(row, name) for row in rows]
            if any(value is not None for value in values):
                columns[name.replace("_", " ")] = values + rest
        return columns

    def _repr_html_(self) -> str:
        columns = self._columns()
        cells = zip(*columns.values(), strict=True)
        written = [tuple(map(_written, row)) for row in cells]
        return html_table(repr(self), tuple(columns), written)


def _written(value: Any) -> str:
    if value is None:
        return ""
    return number(value, IN_TABLES) if isinstance(value, float) else str(value)


def readable_order(explanation: "Explanation") -> int | None:
    """Return the most columns that a term has, of a model that can be read term by term.

    None for models that do not describe their own score, and for those with terms of more than
    three columns.
    """
    inner = getattr(explanation.model, "estimator_", explanation.model)
    if parts_of(inner) is None or explanation.exact_game is None:
        return None
    longest = explanation.game.order
    return longest if longest <= MOST_COLUMNS else None


def terms(self: "Explanation", *, least: float = LEAST_SHARE) -> TermTable:
    """List the terms of a model with their share of the variance, largest first.

    The terms are the components of the decomposition. Where they are known, each has its
    effective degrees of freedom and the p-value of the hypothesis that it is zero; a model that
    `clearwood.Learner` fitted also has the training range of each column, and the rows of the data
    that lie outside are counted.

    Parameters
    ----------
    least
        Terms with a smaller share are counted together, as the rest.

    Returns
    -------
    TermTable

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("diabetes")
    >>> table = cw.explain(cw.learner("gam").fit(data), data).terms()
    >>> table.terms[0].name, table.remainder_share
    ('s5', 0.0)
    """
    if not 0 <= least < 1:
        raise bad_value("least", least, "it is a share, from 0 to below 1")
    decomposition = self.decomposition
    importance = decomposition.importance()
    model = self.model
    facts = _facts(self)
    ranges = _ranges(model)
    monotone = getattr(model, "monotone", None) or {}
    listed, n_rest, rest = [], 0, 0.0
    ordered = sorted(
        zip(importance.components, importance.share, strict=True), key=lambda pair: -pair[1]
    )
    for names, share in ordered:
        if share < least:
            n_rest, rest = n_rest + 1, rest + float(share)
            continue
        edf, p_value = facts.get(names, (None, None))
        own = names[0] if len(names) == 1 else None
        low, high = ranges.get(str(own), (None, None))
        listed.append(TermRow(names, float(share), edf, p_value, monotone.get(own), low, high))
    outside, n_outside = rows_outside(ranges, decomposition._arithmetic.rows.columns)  # noqa: SLF001
    return TermTable(
        model=decomposition.about.model,
        terms=tuple(listed),
        least=least,
        n_rest=n_rest,
        rest_share=rest,
        remainder_share=float(importance.remainder_share),
        n_rows=decomposition.background.n_rows,
        n_outside=n_outside if ranges else None,
        outside=outside if ranges else None,
        doubted=_doubted(self),
    )


def _facts(explanation: "Explanation") -> dict[tuple[str, ...], tuple[float | None, float | None]]:
    """Return degrees of freedom and p-value by the user's columns, where the model has them."""
    inner = getattr(explanation.model, "estimator_", explanation.model)
    table = getattr(inner, "term_table_", None)
    if not table:
        return {}
    game = explanation.game
    edf: dict[tuple[str, ...], float] = {}
    tests: dict[tuple[str, ...], list[float | None]] = {}
    for row in table:
        players = sorted({int(game.groups[column]) for column in row["columns"]})
        names = tuple(game.columns[player] for player in players)
        edf[names] = edf.get(names, 0.0) + float(row["edf"])
        tests.setdefault(names, []).append(row["p_value"])
    # several tests of parts of one term are not a test of the term
    return {k: (edf[k], own[0] if len(own) == 1 else None) for k, own in tests.items()}


def _doubted(explanation: "Explanation") -> tuple[Doubted, ...]:
    """Return the training rows that the model was not led by, with the user's columns."""
    inner = getattr(explanation.model, "estimator_", explanation.model)
    rows = getattr(inner, "doubted_rows_", ())
    if not rows:
        return ()  # the game that names the columns is known for exact models only
    game = explanation.game
    return tuple(
        Doubted(
            one["row"],
            {game.columns[int(game.groups[at])]: value for at, value in one["values"].items()},
            one["counts_as"],
        )
        for one in rows
    )


def _ranges(model: Any) -> Mapping[str, tuple[float, float]]:
    training = getattr(model, "training_", {}) if isinstance(model, Learner) else {}
    return {name: (low, high) for name, (low, high) in training.get("ranges", {}).items()}
