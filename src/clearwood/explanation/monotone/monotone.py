"""Whether the prediction rises or falls with a column, found by search and by proof."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.checks import check_whole
from clearwood._shared.errors import InputError, Option, bad_value, words
from clearwood._shared.numbers import count, number, percent
from clearwood._shared.results import Result
from clearwood.explanation.games.game import Game
from clearwood.explanation.monotone.proofs import Counterexample, Prover
from clearwood.explanation.rows.predictor import Predictor
from clearwood.fitted import Unit
from clearwood.table import Kind

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["Direction", "Monotone", "MonotoneClaim", "Witness", "monotone"]

#: "flat": the prediction does not change with the column at all; "neither": it rises and falls.
Direction = Literal["up", "down", "flat", "neither"]

_VERB = {"up": "rises", "down": "falls", "flat": "does not change", "neither": "rises and falls"}
_WORD = {"up": "increasing", "down": "decreasing", "flat": "constant"}


@dataclass(frozen=True)
class Witness(Result):
    """Two rows that differ in one column only, and what the model predicts for them.

    Parameters
    ----------
    low, high
        The rows by column; the column that differs is smaller in the first.
    predicted_low, predicted_high
        Their predictions.
    """

    low: Mapping[str, Any]
    high: Mapping[str, Any]
    predicted_low: float
    predicted_high: float

    @property
    def change(self) -> float:
        """What the prediction changes by from the first row to the second."""
        return self.predicted_high - self.predicted_low


@dataclass(frozen=True)
class MonotoneClaim(Result):
    """Whether the prediction rises or falls with one column, everything else being equal.

    Parameters
    ----------
    column
        The column.
    direction
        "up", "down", "flat" or "neither". If it is not proved, it is the direction in which no
        step against it was met.
    proved
        Whether it holds for all values of all columns, also those that do not occur together; what
        is missing in the column has no place in its order. "neither" is proved by witnesses.
    wanted
        The direction that was asked for; None where there was none.
    n_steps, n_against
        Steps from one value of the column to the next that were computed in rows, and how many of
        them go against the direction that was asked for, or against the more frequent one.
    rising, falling
        Witnesses: the largest rise and fall that were met; None where there was none.
    """

    column: str
    direction: Direction
    proved: bool
    wanted: Direction | None
    n_steps: int
    n_against: int
    rising: Witness | None
    falling: Witness | None

    _derived = ("holds",)

    @property
    def holds(self) -> bool | None:
        """Whether the wanted direction holds; None where that is not known, or none is wanted."""
        if self.wanted is None:
            return None
        if self.against is not None:
            return False
        return True if self.proved else None

    @property
    def against(self) -> Witness | None:
        """A witness against the wanted direction."""
        return {"up": self.falling, "down": self.rising}.get(self.wanted or "")

    @property
    def sentence(self) -> str:
        """The claim in words."""
        counted = f"{self.n_against:,} of {count(self.n_steps, 'step')} in rows"
        if self.wanted is not None and self.against is not None:
            share = percent(self.n_against / max(self.n_steps, 1))
            met = f"{counted} ({share}) go the other way" if self.n_against else "a pair of rows"
            way = "rise" if self.wanted == "up" else "fall"
            return f"the prediction does not always {way}: {met}, by up to " + number(
                abs(self.against.change)
            )
        if self.direction == "neither":
            return "the prediction rises in some rows and falls in others"
        if self.proved:
            return f"proved {_WORD[self.direction]} over the whole space"
        return (
            f"not proved: the prediction {_VERB[self.direction]} in all "
            f"{count(self.n_steps, 'step')} that were computed in rows"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Monotone(Result):
    """Directions of a model in its columns; made by `Explanation.monotone`.

    Parameters
    ----------
    claims
        One for each column.
    model
        The model in words.
    outcome
        Which output, where there are several; else empty.
    """

    claims: tuple[MonotoneClaim, ...]
    model: str
    outcome: str

    def __getitem__(self, column: str) -> MonotoneClaim:
        for claim in self.claims:
            if claim.column == column:
                return claim
        raise KeyError(column)

    @property
    def holds(self) -> bool | None:
        """Whether all wanted directions hold; None where one is not known."""
        known = [claim.holds for claim in self.claims if claim.wanted is not None]
        if False in known:
            return False
        return None if None in known or not known else True

    def _columns(self) -> Mapping[str, Any]:
        names = ("column", "direction", "proved", "wanted", "holds", "n_steps", "n_against")
        return {name: [getattr(claim, name) for claim in self.claims] for name in names}

    def __repr__(self) -> str:
        of = f" of {self.outcome}" if self.outcome else ""
        lines = [f"Directions{of}, by {self.model}"]
        lines += [f"  {_line(claim.column)}: {claim.sentence}" for claim in self.claims]
        for claim in self.claims:
            if claim.against is not None:
                pair = _pair(claim.column, claim.against)
                lines.append(f"  {_line(claim.column)}, two rows: {pair}")
        return "\n".join(lines)


def _pair(column: str, witness: Witness) -> str:
    """Describe two rows by what differs, and by their predictions."""
    low, high = (_value(row[column]) for row in (witness.low, witness.high))
    before, after = number(witness.predicted_low, 4), number(witness.predicted_high, 4)
    rest = ", ".join(f"{_line(k)} = {_value(v)}" for k, v in witness.low.items() if k != column)
    return f"from {low} to {high} the prediction goes from {before} to {after}, where {rest}"


def _value(value: Any) -> str:
    """Write a value of a column."""
    if value is None:
        return "missing"
    return number(value, 4) if isinstance(value, float | int) else _line(value)


def _line(text: Any) -> str:
    """Write text in one line."""
    return " ".join(str(text).split())


#: Kinds of columns whose values have an order.
_ORDERED = (Kind.NUMBER, Kind.WHOLE, Kind.YES_NO, Kind.ORDERED)
#: Values of a column that rows are computed at, at most.
_VALUES = 50
#: Rounding of predictions, relative to their size; libraries may add in single precision.
_ROUNDING = 2e-6


def monotone(
    self: "Explanation",
    columns: Mapping[str, str] | Iterable[str] | str | None = None,
    *,
    n_rows: int = 200,
    seed: int = 0,
) -> Monotone:
    """Decide whether the prediction rises or falls with columns, everything else being equal.

    The parameters are those of `clearwood.monotone` without model and data.
    """
    check_whole("n_rows", n_rows, 1)
    explanation, _ = self.over_positive_weights()
    predictor = explanation.predictor()
    _check_output(predictor)
    wanted = _wanted(columns, predictor)
    generator = np.random.default_rng(seed)
    proofs = _proofs(explanation, predictor)
    claims = tuple(
        _claim(predictor, column, way, n_rows, generator, proofs) for column, way in wanted.items()
    )
    outputs = predictor.outputs
    outcome = outputs[0] if outputs and predictor.unit.is_probability else ""
    return Monotone(claims, predictor.kind, outcome)


def _check_output(predictor: Predictor) -> None:
    """Refuse several outputs."""
    if len(predictor.outputs) > 1:
        raise InputError(
            f"the model has {len(predictor.outputs)} outputs, and directions are of one",
            parameter="output",
            hint=words("name one: ", Option("output", predictor.outputs[0]), "."),
        )


def _wanted(columns: Any, predictor: Predictor) -> dict[int, Literal["up", "down"] | None]:
    """Read which columns are meant, by position, and the direction that each should have."""
    if columns is None:
        ordered = [k for k, one in enumerate(predictor.columns) if one.kind in _ORDERED]
        return dict.fromkeys(ordered)
    names: Mapping[str, Any]
    if isinstance(columns, Mapping):
        names = columns
    else:
        names = dict.fromkeys([columns] if isinstance(columns, str) else columns)
    result: dict[int, Literal["up", "down"] | None] = {}
    for name, way in names.items():
        position = predictor.position(name)
        column = predictor.columns[position]
        if column.kind not in _ORDERED:
            raise InputError(
                f"column {column.name!r} is a {column.kind}, whose values have no order",
                parameter="columns",
                value=column.name,
            )
        if way not in ("up", "down") and (way is not None or isinstance(columns, Mapping)):
            raise bad_value(
                "columns",
                {name: way},
                f"the direction of column {name!r} must be 'up' or 'down'",
            )
        result[position] = way
    return result


@dataclass(frozen=True, eq=False)
class _Proofs:
    """Proves directions of the model's score, and predicts codes."""

    prove: Prover
    game: Game

    def predicted(self, codes: Floats, predictor: Predictor) -> Floats:
        """Predict rows of the game's codes on the scale of the predictor."""
        score = self.game.predict(self.prove.rows.with_codes(codes))
        numbers = self.prove.output(score)
        if self.game.unit is Unit.LOG_ODDS and predictor.unit.is_probability:
            return np.asarray(1 / (1 + np.exp(-numbers)))
        if self.game.unit is Unit.LOG_MEAN:
            return np.exp(numbers)
        if score.shape[1] == 2:  # complementary probabilities
            return np.asarray((numbers + 1) / 2)
        return numbers


def _proofs(explanation: "Explanation", predictor: Predictor) -> _Proofs | None:
    """Return what proves directions; None where the model is not read as a sum."""
    game = explanation.exact_game
    if game is None or game.grouping is not None:
        return None
    if len(game.columns) != len(predictor.columns):
        return None
    n_outputs = len(game.outputs)
    if n_outputs == 1:
        output = _first
    elif n_outputs == 2 and predictor.unit.is_probability:
        output = _difference
    else:
        return None
    rows, raw = explanation.rows(), game.reader(explanation.data)
    return _Proofs(Prover(game, rows, raw, output), game)


def _first(numbers: Floats) -> Floats:
    return np.asarray(numbers[..., 0])


def _difference(numbers: Floats) -> Floats:
    return np.asarray(numbers[..., 1] - numbers[..., 0])


def _claim(
    predictor: Predictor,
    position: int,
    wanted: Literal["up", "down"] | None,
    n_rows: int,
    generator: np.random.Generator,
    proofs: _Proofs | None,
) -> MonotoneClaim:
    """Search for steps in both directions, then prove what was not refuted."""
    met = _StepSearch.over(predictor, position, n_rows, generator)
    rising, falling = met.witness(predictor, 1), met.witness(predictor, -1)
    proved = False
    ways: Sequence[int] = [sign for sign, step in ((1, falling), (-1, rising)) if step is None]
    if wanted is not None and len(ways) == 2:
        ways = [1, -1] if wanted == "up" else [-1, 1]
    direction: Direction = "neither"
    if ways:
        results = {sign: None if proofs is None else proofs.prove(position, sign) for sign in ways}
        for sign, result in results.items():
            if isinstance(result, Counterexample) and proofs is not None:
                witness = _confirmed(result, proofs, predictor, met, position)
                if witness is not None and sign > 0 and witness.change < 0:
                    falling = witness
                if witness is not None and sign < 0 and witness.change > 0:
                    rising = witness
        held = [sign for sign in ways if results[sign] is True]
        direction = _direction(held or list(ways), rising, falling)
        proved = bool(held) and direction != "neither"
    if direction == "neither":
        proved = rising is not None and falling is not None
    against = {"up": met.n_down, "down": met.n_up, None: min(met.n_up, met.n_down)}[wanted]
    return MonotoneClaim(
        column=predictor.columns[position].name,
        direction=direction,
        proved=proved,
        wanted=wanted,
        n_steps=met.n_steps,
        n_against=against,
        rising=rising,
        falling=falling,
    )


def _direction(ways: Sequence[int], rising: Witness | None, falling: Witness | None) -> Direction:
    """Name the direction that is left."""
    if rising is not None and falling is not None:
        return "neither"
    if rising is not None:
        return "up"
    if falling is not None:
        return "down"
    if set(ways) == {1, -1}:
        return "flat"
    return "up" if 1 in ways else "down"


def _confirmed(
    pair: Counterexample,
    proofs: _Proofs,
    predictor: Predictor,
    met: "_StepSearch",
    position: int,
) -> Witness | None:
    """Predict a pair of rows that a search through boxes gave, in the user's values."""
    before = float(proofs.predicted(pair.low, predictor)[0])
    after = float(proofs.predicted(pair.high, predictor)[0])
    if abs(after - before) <= met.tolerance or pair.shown[position][0] is None:
        return None
    low, high = _row(predictor, 0), _row(predictor, 0)
    for player, (first, second) in pair.shown.items():
        name = predictor.columns[player].name
        low[name], high[name] = first, second
    return Witness(low, high, before, after)


@dataclass(frozen=True, eq=False)
class _StepSearch:
    """Predictions of rows at rising values of a column.

    Parameters
    ----------
    position
        The column.
    values
        Rows of the data whose value the column takes, rising.
    base, held
        The rows, and for other columns the rows whose value they take instead.
    predicted
        Of shape (rows, values).
    """

    position: int
    values: Index
    base: Index
    held: Mapping[int, Index]
    predicted: Floats

    @classmethod
    def over(
        cls, predictor: Predictor, position: int, n_rows: int, generator: np.random.Generator
    ) -> "_StepSearch":
        """Draw rows, put others together, and predict all of them at values of the column."""
        total = len(predictor)
        base = np.sort(generator.permutation(total)[:n_rows])
        mixed = generator.integers(0, total, len(base))
        others = [k for k in range(len(predictor.columns)) if k != position]
        held = {k: np.concatenate([base, generator.integers(0, total, len(mixed))]) for k in others}
        base = np.concatenate([base, mixed])
        values = _rising_values(predictor, position)
        grid = {k: np.repeat(rows, len(values)) for k, rows in held.items()}
        grid[position] = np.tile(values, len(base))
        predicted = predictor.predict(np.repeat(base, len(values)), grid)[:, 0]
        return cls(position, values, base, held, predicted.reshape(len(base), len(values)))

    @property
    def tolerance(self) -> float:
        """Changes that are rounding."""
        return _ROUNDING * float(np.abs(self.predicted).max(initial=0.0))

    @property
    def steps(self) -> Floats:
        """The change from one value to the next, (rows, steps)."""
        return np.diff(self.predicted, axis=1)

    @property
    def n_steps(self) -> int:
        """How many steps were computed."""
        return int(self.steps.size)

    @property
    def n_up(self) -> int:
        """How many steps rise."""
        return int((self.steps > self.tolerance).sum())

    @property
    def n_down(self) -> int:
        """How many steps fall."""
        return int((self.steps < -self.tolerance).sum())

    def witness(self, predictor: Predictor, sign: int) -> Witness | None:
        """Return the largest step in a direction; None where there is none."""
        steps = sign * self.steps
        if not steps.size or steps.max() <= self.tolerance:
            return None
        row, step = np.unravel_index(int(np.argmax(steps)), steps.shape)
        rows = []
        for at in (step, step + 1):
            taken = {k: int(own[row]) for k, own in self.held.items()}
            taken[self.position] = int(self.values[at])
            rows.append(_row(predictor, int(self.base[row]), taken))
        before, after = self.predicted[row, step : step + 2].tolist()
        return Witness(rows[0], rows[1], before, after)


def _rising_values(predictor: Predictor, position: int) -> Index:
    """Return rows with distinct known values of a column, rising, spread over its quantiles."""
    column = predictor.columns[position]
    known = np.flatnonzero(~column.missing)
    _, first = np.unique(column.values[known], return_index=True)
    rows = known[first]
    if len(rows) > _VALUES:
        rows = rows[np.unique(np.linspace(0, len(rows) - 1, _VALUES).astype(np.intp))]
    return rows


def _row(predictor: Predictor, base: int, held: Mapping[int, int] | None = None) -> dict[str, Any]:
    """Return the user's values of a row, some columns taken from other rows."""
    result = {}
    for k, column in enumerate(predictor.columns):
        at = (held or {}).get(k, base)
        value = column.take(np.array([at])).labels()[0]
        is_gap = bool(column.missing[at])
        result[column.name] = None if is_gap else value.item() if hasattr(value, "item") else value
    return result
