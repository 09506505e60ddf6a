"""The gap between groups, shared out exactly."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.stats import t as student

from clearwood._shared.arrays import Floats, Index
from clearwood._shared.checks import check_confidence, check_whole
from clearwood._shared.errors import InputError, bad_value, unknown_choice
from clearwood._shared.progress import progress
from clearwood.explanation import Scale
from clearwood.fairness.gaps.pieces import GapScale, Pieces, pieces_of
from clearwood.fairness.gaps.result import Gap, GapPart, Source
from clearwood.fairness.gaps.sharing import by_column
from clearwood.fairness.groups.grouping import Grouping, Standing, groups_of, protected_columns
from clearwood.fairness.groups.reading import ReadRows, read_both
from clearwood.fairness.predictors.training import fitted_to
from clearwood.table import Table

__all__ = ["Refits", "checked_refits", "gap", "gap_between", "reference_of"]


def gap(
    model: Any,
    data: Any,
    *,
    protected: Sequence[str] | str | None = None,
    reference: str = "largest",
    scale: GapScale = "response",
    output: Any = None,
    test: Any = None,
    n_refits: int = 0,
    min_rows: int = 30,
    min_share: float = 0.02,
    confidence: float = 0.9,
    seed: int = 0,
) -> Gap:
    """Share out the difference between groups in the mean prediction by what it comes from.

    With ``f`` the model, ``x`` the permitted columns and ``a``, ``b`` two groups,
    ``E[f | a] - E[f | b]`` is the sum of

    - *direct*: ``ξ(a) - ξ(b)``, where ``ξ(a)`` is the mean prediction if everybody were in the
      group ``a`` and nothing else changed;
    - *through columns*: the difference of the fair predictor ``Σ q(a) f(x, a)`` between the groups,
      which is there because the groups differ in the permitted columns. It is shared among them by
      their interventional Shapley values;
    - *interaction*: the rest, where a column matters more in one group than in the other.

    Where predictions are positive, the same parts are ratios whose product is the ratio of the
    means: the ratio of the ``ξ``, that of the fair means, and the rest. The ratio of the fair means
    is shared by the logarithmic mean: a column with the difference ``d`` has the ratio
    ``exp(d / L)``, where ``L`` is the logarithmic mean of the two fair means.

    Parameters
    ----------
    model
        Fitted. A model without the protected columns has no direct part.
    data
        The rows that the model was fitted to.
    protected
        The protected columns; by default those with that role. Several make crossed groups.
    reference
        The group that others are compared with, or "largest", of those that are judged.
    scale
        "response" compares means of predictions. "margin" compares means before the link: with a
        log link the ratios are those of geometric means.
    output
        The class whose probability is compared; of two the second by default.
    test
        Rows that the model was not fitted to: then means and parts are those of these rows, and
        refits use the training rows.
    n_refits
        How many times the model is fitted to resampled training rows, for intervals. A single fit
        proves little: parts vary between fits, and a model that shrinks effects understates direct
        ones.
    min_rows, min_share
        Groups with fewer rows or a smaller share, and rows without a value, are not judged.
    confidence
        The coverage that the intervals aim at.
    seed
        Fixes the draws.

    Returns
    -------
    Gap

    Notes
    -----
    Shares of columns are exact where the model adds up on the scale: trees and linear models
    without a link, and models with a log or logistic link for ``scale="margin"``. Else they are
    estimated from drawn rows, with standard errors; their sum is exact in any case.

    Examples
    --------
    >>> import clearwood as cw
    >>> from clearwood.fairness import gap
    >>> policies = cw.datasets.insurance(5000)
    >>> model = cw.learner("glm", alpha=0).fit(policies)
    >>> result = gap(model, policies, reference="female", scale="margin")
    >>> result.is_exact, round(result.part("male", "direct").ratio, 2)
    (True, 1.45)
    """
    checked_refits(n_refits, confidence)
    rows = read_both(model, data, test, protected)
    return gap_between(
        model,
        rows,
        Refits(model, rows, n_refits, seed),
        protected=protected,
        reference=reference,
        scale=scale,
        output=output,
        min_rows=min_rows,
        min_share=min_share,
        confidence=confidence,
    )


def gap_between(
    model: Any,
    rows: ReadRows,
    refits: "Refits",
    *,
    protected: Sequence[str] | str | None,
    reference: str,
    output: Any,
    min_rows: int,
    min_share: float,
    confidence: float,
    scale: GapScale = "response",
) -> Gap:
    """Share out a gap between groups of rows that are read already, with refits that are shared.

    Parameters
    ----------
    model
        Fitted.
    rows
        The training rows, and those that the gap is of.
    n_refits
        The model fitted again; several gaps may use the same fits.
    protected, reference, output, min_rows, min_share, confidence, scale
        As for `gap`.
    """
    table, seed = rows.measured, refits.seed
    names = protected_columns(protected, table)
    groups = groups_of(table, names)
    standing = groups.standings(table.weights, min_rows, min_share)
    place = reference_of(reference, groups, standing, table)
    pieces = pieces_of(model, table, groups, output=output, scale=scale)
    values = _Values(pieces, place, seed)
    bands = None
    if refits.draws:
        bands = _Bands(
            values,
            [
                _Values(_like(pieces, copy, table.take(drawn), groups.take(drawn)), place, seed)
                for copy, drawn in refits.of(groups, standing)
            ],
            confidence,
        )
    return Gap(
        protected=names,
        reference=groups.names[place],
        groups=groups.names,
        means=tuple(values.means.tolist()),
        shares=tuple(pieces.shares.tolist()),
        standing=standing,
        parts=tuple(_parts(values, groups, place, bands)),
        scale=pieces.scale,
        output=None if pieces.label is None else str(pieces.label),
        is_exact=values.is_exact,
        n_refits=0 if bands is None else bands.n,
        confidence=confidence,
        seed=seed,
    )


def checked_refits(n_refits: Any, confidence: float) -> None:
    """Raise where the number of refits or the confidence cannot be used."""
    check_whole("n_refits", n_refits, 0)
    if n_refits == 1:
        raise bad_value("n_refits", n_refits, "intervals need at least 2 refits, better 20")
    check_confidence(confidence)


def reference_of(
    reference: Any, groups: Grouping, standing: Sequence[Standing], table: Table
) -> int:
    """Return the position of the group that others are compared with."""
    if reference == "largest":
        sizes = np.bincount(groups.which, table.weights, minlength=len(groups)).astype(np.float64)
        # a group that is not judged is the reference only where there is no other
        sizes[[one is not Standing.JUDGED for one in standing]] *= 1e-9
        return int(np.argmax(sizes))
    if str(reference) not in groups.names:
        raise unknown_choice("reference", reference, [*groups.names, "largest"])
    return groups.names.index(str(reference))


class Refits:
    """The model fitted to resampled training rows; each draw is fitted once.

    Parameters
    ----------
    model
        A learner or an estimator of scikit-learn.
    rows
        The training rows, and those whose predictions are measured.
    draws
        How many times rows are drawn.
    seed
        Fixes the draws.
    """

    def __init__(self, model: Any, rows: ReadRows, draws: int, seed: int) -> None:
        self.model = model
        self.rows = rows
        self.draws = draws
        self.seed = seed
        self._fits: dict[int, Any] = {}

    def of(self, groups: Grouping, standing: Sequence[Standing]) -> Iterator[tuple[Any, Index]]:
        """Yield each refitted model, and the drawn positions of measured rows.

        These are the training rows, unless others are measured than the model was fitted to: then
        both are drawn. Groups of rows stay together. Draws without a row of some judged group are
        left out.
        """
        rng = np.random.default_rng(self.seed)
        training = self.rows.of_fits()
        judged = [k for k, one in enumerate(standing) if one is Standing.JUDGED]
        failed: InputError | None = None
        made = 0
        with progress("fitting again", total=self.draws) as step:
            for draw in range(self.draws):
                of_fit = _drawn(training, rng)
                measured = _drawn(self.rows.measured, rng) if self.rows.has_test else of_fit
                step(1)
                if not np.isin(judged, groups.which[measured]).all():
                    continue
                if draw not in self._fits:
                    self._fits[draw] = self._fitted(training.take(of_fit))
                copy = self._fits[draw]
                if isinstance(copy, InputError):
                    failed = copy
                    continue
                made += 1
                yield copy, measured
        if made < 2:
            raise failed or InputError(
                "some group has so few rows that it is missing from resampled rows",
                parameter="n_refits",
                value=self.draws,
                hint="leave the group out, or join it with another.",
            )

    def _fitted(self, training: Table) -> Any:
        try:
            return fitted_to(self.model, training)
        except InputError as error:
            return error


def _drawn(table: Table, rng: np.random.Generator) -> Index:
    """Return as many rows as there are, drawn with replacement; tied rows are drawn together."""
    units = table.groups
    if units is None:
        return np.sort(rng.integers(0, table.n_rows, table.n_rows)).astype(np.intp)
    number = np.unique(units, return_inverse=True)[1].ravel()
    order = np.argsort(number, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(number))[:-1])
    drawn = rng.integers(0, len(members), len(members))
    return np.concatenate([members[k] for k in drawn]).astype(np.intp)


def _like(pieces: Pieces, model: Any, table: Table, groups: Grouping) -> Pieces:
    """Put together a refitted model and its rows in the same way."""
    return pieces_of(
        model, table, groups, output=pieces.label, scale=pieces.scale, needs_every_group=False
    )


class _Values:
    """The parts of the gap to the reference: of shape (groups, parts), in a fixed order."""

    def __init__(self, pieces: Pieces, place: int, seed: int) -> None:
        members = pieces.as_members(pieces.table)
        own = members[np.arange(len(members)), pieces.groups.which]
        fair = np.asarray(members @ pieces.shares)
        self.means = pieces.means(own)
        direct = np.asarray(pieces.weights @ members)
        fair_means = pieces.means(fair)
        shares = by_column(pieces, fair, seed=seed)
        self.columns = pieces.permitted
        self.is_exact = shares.is_exact
        total, straight, through, columns = (
            values - values[place] for values in (self.means, direct, fair_means, shares.values)
        )
        rest = total - straight - through
        # a group that was not drawn has no mean
        every = np.abs([*self.means, *direct, *fair_means])
        size = every.max(where=~np.isnan(every), initial=0.0)
        rest[np.abs(rest) <= 1e-13 * size] = 0  # what rounding leaves is not an interaction
        self.differences = np.column_stack([total, straight, columns, rest])
        errors = np.sqrt(shares.errors**2 + shares.errors[place] ** 2) if columns.size else columns
        nothing = np.zeros(len(total))
        self.errors = np.column_stack([nothing, nothing, errors, nothing])
        self.ratios = None
        if pieces.has_log or members.min() >= 0:  # else the zero is arbitrary
            self.ratios = self._ratios(pieces, place, direct, fair_means)

    def _ratios(
        self, pieces: Pieces, place: int, direct: Floats, fair_means: Floats
    ) -> Floats | None:
        """Return the parts as ratios, where the means are positive."""
        if pieces.scale is Scale.MARGIN:
            return np.exp(self.differences) if pieces.has_log else None
        every = np.concatenate([self.means, direct, fair_means])
        if not (every[~np.isnan(every)] > 0).all():
            return None
        total, straight, through = (
            values / values[place] for values in (self.means, direct, fair_means)
        )
        mean = _logarithmic_mean(fair_means, fair_means[place])
        columns = np.exp(self.differences[:, 2:-1] / mean[:, None])
        rest = total / (straight * through)
        return np.column_stack([total, straight, columns, rest])


def _logarithmic_mean(first: Floats, second: float) -> Floats:
    """Return (a - b) / (log a - log b), and a where the two are equal."""
    ratio = np.log(first / second)
    small = np.abs(ratio) < 1e-6
    safe = np.where(small, 1.0, ratio)
    return np.asarray(np.where(small, (first + second) / 2, (first - second) / safe))


class _Bands:
    """Intervals of the parts from refits: symmetric, of ratios on the log scale."""

    def __init__(self, values: _Values, refits: list[_Values], confidence: float) -> None:
        self.n = len(refits)
        factor = float(student.ppf((1 + confidence) / 2, self.n - 1))
        half = factor * _spread([one.differences for one in refits])
        self.low, self.high = values.differences - half, values.differences + half
        self.ratios: tuple[Floats, Floats] | None = None
        if values.ratios is not None and all(one.ratios is not None for one in refits):
            logs = [np.log(one.ratios) for one in refits if one.ratios is not None]
            half = factor * _spread(logs)
            self.ratios = values.ratios * np.exp(-half), values.ratios * np.exp(half)


def _spread(draws: list[Floats]) -> Floats:
    """Return standard deviations over refits; NaN where a group was drawn in fewer than two."""
    stacked = np.array(draws)
    known = np.isfinite(stacked)
    n = known.sum(axis=0)
    filled = np.where(known, stacked, 0.0)
    centred = np.where(known, stacked - filled.sum(axis=0) / np.maximum(n, 1), 0.0)
    variance = (centred**2).sum(axis=0) / np.maximum(n - 1, 1)
    return np.asarray(np.where(n > 1, np.sqrt(variance), np.nan))


def _parts(
    values: _Values, groups: Grouping, place: int, bands: _Bands | None
) -> Iterator[GapPart]:
    """Yield the parts group by group."""
    kinds: list[tuple[Source, str]] = [("total", ""), ("direct", "")]
    kinds += [("column", name) for name in values.columns]
    kinds += [("interaction", "")]
    for group, label in enumerate(groups.names):
        if group == place:
            continue
        for k, (source, column) in enumerate(kinds):
            spread = {}
            if bands is not None and np.isfinite(bands.low[group, k]):
                spread = {"low": float(bands.low[group, k]), "high": float(bands.high[group, k])}
                if bands.ratios is not None:
                    spread["ratio_low"] = float(bands.ratios[0][group, k])
                    spread["ratio_high"] = float(bands.ratios[1][group, k])
            ratio = None if values.ratios is None else float(values.ratios[group, k])
            yield GapPart(
                group=label,
                source=source,
                column=column,
                difference=float(values.differences[group, k]),
                ratio=ratio,
                standard_error=float(values.errors[group, k]),
                **spread,
            )
