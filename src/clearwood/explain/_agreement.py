"""Where explanations of one model tell different stories, and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._errors import InputError
from clearwood._progress import progress
from clearwood.decompose._present import as_frame, html_table, plain
from clearwood.decompose._rows import as_data
from clearwood.explain._asking import patience_of
from clearwood.explain._association import association, associations, bins_of, profile_of
from clearwood.explain._effect import measured_effect
from clearwood.explain._effect_result import ModelEffect
from clearwood.explain._importance import importance
from clearwood.explain._predictor import Predictor, predictor_of
from clearwood.explain._predictor_rows import Index
from clearwood.table import Column, Kind, Table
from clearwood.table._tell import tell

__all__ = ["Agreement", "ColumnAgreement", "agreement"]

Floats = NDArray[np.float64]

_POINTS = 40
_DRAWS = 100
# In standard deviations of the prediction: smaller differences change no story.
_DIFFERS = 0.1
_GOES_WITH = 0.3
_INTERACTS = 0.1
_MOST_ROWS = 2000
_MOST_ASKED = 500
# Share of the importance that one measure gives and the other does not.
_SHARE_DIFFERS = 0.1


@dataclass(frozen=True, kw_only=True)
class ColumnAgreement:
    """What the methods say about one column.

    Parameters
    ----------
    column
        Its name.
    pdp_ale
        How far partial dependence and accumulated local effect differ: root mean square over the
        data, in standard deviations of the prediction; 0 where chance explains it.
    interventional_observational
        The same for partial dependence and the mean of those who have the value.
    impurity, permutation
        Shares of importance by either measure; None where there are no trees or no target.
    goes_with
        Columns it depends on, with the strength from 0 to 1.
    interacts_with
        The column that its curves depend on most; None where they are nearly parallel.
    interaction
        How far individual curves differ in shape, in standard deviations of the prediction.
    extrapolates
        The share of the grid at which the partial dependence asks about rows outside the data.
    words
        All of this in a sentence.
    """

    column: str
    pdp_ale: float
    interventional_observational: float
    impurity: float | None
    permutation: float | None
    goes_with: tuple[tuple[str, float], ...]
    interacts_with: str | None
    interaction: float
    extrapolates: float
    words: str

    @property
    def agrees(self) -> bool:
        """Whether all methods tell the same story."""
        return not self.stories

    @property
    def stories(self) -> tuple[str, ...]:
        """The comparisons that differ."""
        found = []
        if self.pdp_ale > _DIFFERS:
            found.append("pdp against ale")
        if self.interventional_observational > _DIFFERS:
            found.append("interventional against observational")
        if _shares_differ(self.impurity, self.permutation):
            found.append("impurity against permutation")
        return tuple(found)


@dataclass(frozen=True, eq=False, repr=False)
class Agreement:
    """What the methods say about every column, the largest difference first.

    Made by `clearwood.agreement`.

    Parameters
    ----------
    columns
        One entry per column.
    model
        The model in words.
    n_rows
        How many rows were used.
    notes
        What was not compared, and why.
    """

    columns: tuple[ColumnAgreement, ...]
    model: str
    n_rows: int
    notes: tuple[str, ...] = ()

    def __getitem__(self, column: str) -> ColumnAgreement:
        """Give the entry of one column."""
        return next(entry for entry in self.columns if entry.column == column)

    def __repr__(self) -> str:
        differing = [entry for entry in self.columns if not entry.agrees]
        if not differing:
            return f"Agreement: all methods tell the same story of {len(self.columns)} columns"
        lines = [f"  {entry.words}" for entry in differing[:10]]
        head = f"Agreement: stories differ for {len(differing)} of {len(self.columns)} columns"
        return "\n".join([head, *lines])

    def _repr_html_(self) -> str:
        rows = [
            (
                entry.column,
                f"{entry.pdp_ale:.2f}",
                f"{entry.interventional_observational:.2f}",
                entry.words,
            )
            for entry in self.columns
        ]
        headings = ("column", "pdp against ale", "interventional against observational", "in words")
        return html_table("Where methods tell different stories", headings, rows, self.notes)

    def to_frame(self, library: str | None = None) -> Any:
        """Give one row per column, the largest difference first.

        Parameters
        ----------
        library
            "pandas", "polars", "pyarrow" or "dict"; the first that is installed when None.
        """
        made = self.columns
        return as_frame(
            {
                "column": [entry.column for entry in made],
                "pdp_ale": np.array([entry.pdp_ale for entry in made]),
                "interventional_observational": np.array(
                    [entry.interventional_observational for entry in made]
                ),
                "impurity": np.array([_number(entry.impurity) for entry in made]),
                "permutation": np.array([_number(entry.permutation) for entry in made]),
                "interaction": np.array([entry.interaction for entry in made]),
                "extrapolates": np.array([entry.extrapolates for entry in made]),
                "words": [entry.words for entry in made],
            },
            library,
        )

    def to_json(self) -> dict[str, Any]:
        """Give everything as plain JSON values."""
        found: dict[str, Any] = plain(
            {
                "columns": [{**vars(entry), "stories": entry.stories} for entry in self.columns],
                "model": self.model,
                "rows": self.n_rows,
                "notes": self.notes,
            }
        )
        return found

    def plot(self, **options: Any) -> Any:
        """Draw the differences as bars, with what is thought negligible shaded (Altair)."""
        from clearwood.plot._any_importance import plot_agreement

        return plot_agreement(self, **options)


def agreement(
    model: Any,
    data: Any,
    *,
    columns: Sequence[str] | None = None,
    y: Any = None,
    output: Any = None,
    scale: str | None = None,
    sample: int | None = None,
    time_budget: float | None = None,
    seed: int = 0,
    n_jobs: int = 1,
) -> Agreement:
    """Say where explanations of a model tell different stories, and the likely reason.

    Three pairs are compared for each column: partial dependence with accumulated local effects,
    the interventional effect (partial dependence) with the observational one (the marginal mean),
    and, for trees with a known target, impurity with permutation importance. Where they differ,
    the reasons looked for are columns that go with it, columns it interacts with, and whether the
    partial dependence asks about rows outside the data. The reasons are likely ones, not proofs.

    Parameters
    ----------
    model, data, y, output, scale, n_jobs
        As for `effect` and `importance`.
    columns
        The columns to look at; all that vary when None.
    sample
        How many rows are used; by default 2,000 of models that are read as trees, 500 of others.
    time_budget
        Seconds after which the columns that are done are given, with a warning; Ctrl-C does the
        same.
    seed
        Fixes samples and draws.

    Returns
    -------
    Agreement

    Examples
    --------
    A model that ignores ``x1``, which is nearly the same as ``x0``:

    >>> import numpy as np
    >>> import clearwood as cw
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=400)
    >>> X = np.column_stack([x, x + rng.normal(0, 0.1, 400), rng.normal(size=400)])
    >>> found = cw.agreement(lambda X: X[:, 0] + X[:, 2], X)
    >>> found["x1"].stories
    ('interventional against observational',)
    >>> found["x2"].agrees
    True
    """
    patience = patience_of(time_budget)
    data = as_data(data)
    predictor = predictor_of(model, data, output=output, scale=scale, n_jobs=n_jobs)
    if len(predictor) < 2:
        raise InputError("the data has 1 row; a comparison needs rows that differ")
    names, notes = _columns(predictor, columns)
    size = min(sample or (_MOST_ROWS if predictor.is_step else _MOST_ASKED), len(predictor))
    impurity, permutation, more = _importances(model, data, y, size, seed, n_jobs)
    notes += more
    rows = np.arange(len(predictor))  # the same rows that effects are averaged over
    if size < len(rows):
        rows = np.sort(np.random.default_rng(seed).choice(len(rows), size, replace=False))
    predicted = predictor.predict(rows)
    spread = float(np.sqrt(predicted.var(axis=0).sum()))
    found: list[ColumnAgreement] = []
    why = ""
    with progress("comparing", total=len(names)) as step:
        try:
            for name in names:
                if found and patience.is_over:
                    why = patience.words
                    break
                shares = (impurity.get(name), permutation.get(name))
                found.append(_compare(predictor, name, shares, spread, rows, predicted, seed))
                step(1, note=name)
        except KeyboardInterrupt:
            if not found:
                raise
            why = "interrupted"
    if why:
        notes.append(f"{why} after {len(found)} of {len(names)} columns")
        tell(notes[-1])
    found.sort(key=lambda e: -max(e.pdp_ale, e.interventional_observational))
    return Agreement(tuple(found), predictor.kind, size, tuple(notes))


def _columns(predictor: Predictor, wanted: Sequence[str] | None) -> tuple[list[str], list[str]]:
    if wanted is not None:
        names = [wanted] if isinstance(wanted, str) else list(wanted)
        return [predictor.names[predictor.position(name)] for name in names], []
    varying = [c.name for c in predictor.columns if _varies(c)]
    left = len(predictor.columns) - len(varying)
    return varying, [f"{left} columns do not vary and are left out"] if left else []


def _varies(column: Column) -> bool:
    missing = column.missing
    if missing.all():
        return False
    present = column.values[~missing]
    return bool(missing.any() or (present != present[0]).any())


def _importances(
    model: Any, data: Any, y: Any, size: int, seed: int, n_jobs: int
) -> tuple[dict[str, float], dict[str, float], list[str]]:
    """Give shares of importance by impurity and by permutation, where both can be had."""
    if y is None and not (isinstance(data, Table) and data.target is not None):
        return {}, {}, ["impurity and permutation importance are not compared: no target is known"]
    try:
        gains = importance(model, data, kind="impurity")
    except InputError:
        return {}, {}, []
    lost = importance(model, data, y=y, repeats=3, sample=size, seed=seed, n_jobs=n_jobs)
    worth = np.maximum(lost.values, 0)
    total = worth.sum() or 1.0
    return (
        dict(zip(gains.columns, gains.values.tolist(), strict=True)),
        dict(zip(lost.columns, (worth / total).tolist(), strict=True)),
        [],
    )


def _compare(
    predictor: Predictor,
    name: str,
    shares: tuple[float | None, float | None],
    spread: float,
    rows: Index,
    predicted: Floats,
    seed: int,
) -> ColumnAgreement:
    def measured(kind: Any, points: int, bands: int, **more: Any) -> ModelEffect:
        return measured_effect(
            None,
            predictor,
            name,
            kind=kind,
            points=points,
            bands=bands,
            sample=len(rows),
            exact=False,
            seed=seed,
            **more,
        )

    each = measured("ice", _POINTS, 0)
    local = measured("ale", _POINTS, _DRAWS, extrapolation=False)
    scale = spread or 1.0
    position = predictor.position(name)
    column = predictor.columns[position].take(rows)
    goes_with = _goes_with(predictor, position)
    interaction, partner = _interaction(predictor, each, position, rows, scale)
    made = ColumnAgreement(
        column=name,
        pdp_ale=_difference(local, each) / scale,
        interventional_observational=_observed_gap(column, each, predicted) / scale,
        impurity=shares[0],
        permutation=shares[1],
        goes_with=goes_with,
        interacts_with=partner,
        interaction=interaction,
        extrapolates=float(each.extrapolates.mean()),
        words="",
    )
    told = {**vars(made), "words": _words(made)}
    return ColumnAgreement(**told)


def _difference(effect: ModelEffect, curve: ModelEffect) -> float:
    """Give the root mean square difference of two effects, both centred; 0 within chance."""
    n_points = len(effect.grid[0])
    values = effect.values.reshape(n_points, -1)
    assert effect.lower is not None
    assert effect.upper is not None
    # half the band over 1.96 is a standard error
    error = (effect.upper - effect.lower).reshape(n_points, -1) / 3.92
    weight = effect.shares / effect.shares.sum()
    gap = values - _at(curve, effect.grid[0])
    gap = gap - weight @ gap
    square, chance = float((weight @ gap**2).sum()), float((weight @ error**2).sum())
    # neighbouring points err together, so all of them count as one or two
    return float(np.sqrt(square - chance)) if square > 4 * chance else 0.0


def _observed_gap(column: Column, curve: ModelEffect, predicted: Floats) -> float:
    """Say how far the mean of those who have a value differs from the partial dependence there.

    Rows are put into bins of the column. Were both the same, the prediction less the partial
    dependence at the row's own value would have the same mean in every bin.
    """
    rest = predicted - _at(curve, column.labels())
    known = np.isfinite(rest).all(axis=1)
    _, bins = np.unique(bins_of(column)[known], return_inverse=True)
    rest = rest[known]
    counts = np.bincount(bins)
    weight = counts / counts.sum()
    square, chance, spread = 0.0, 0.0, 0.0
    for output in rest.T:
        mean = np.bincount(bins, output) / counts
        within = np.bincount(bins, (output - mean[bins]) ** 2) / np.maximum(counts - 1, 1)
        square += float(weight @ (mean - weight @ mean) ** 2)
        chance += float(weight @ (within / counts))
        spread += float(2 * (weight**2) @ (within / counts) ** 2)
    beyond = square - chance
    return float(np.sqrt(beyond)) if beyond > 3 * np.sqrt(spread) + 1e-20 else 0.0


def _at(curve: ModelEffect, wanted: NDArray[Any]) -> Floats:
    """Give a curve at some values; NaN at levels that it does not show."""
    values = curve.values.reshape(len(curve.grid[0]), -1)
    if not curve.is_ordered[0]:
        place = {str(level): k for k, level in enumerate(curve.grid[0])}
        padded = np.vstack([values, np.full((1, values.shape[1]), np.nan)])
        return padded[[place.get(str(level), len(values)) for level in wanted]]
    own, asked = _numbers(curve.grid[0]), _numbers(wanted)
    known = np.isfinite(own)
    found = np.empty((len(asked), values.shape[1]))
    for k in range(values.shape[1]):
        found[:, k] = np.interp(asked, own[known], values[known, k])
        found[~np.isfinite(asked), k] = values[-1, k]
    return found


def _numbers(values: NDArray[Any]) -> Floats:
    if values.dtype.kind != "M":
        return values.astype(np.float64)
    found = values.astype("datetime64[us]").astype(np.float64)
    found[np.isnat(values)] = np.nan
    return found


def _goes_with(predictor: Predictor, position: int) -> tuple[tuple[str, float], ...]:
    strength = associations(predictor.profiles, position)
    strength[position] = 0
    best = np.argsort(-strength, kind="stable")[:3]
    return tuple(
        (predictor.names[k], round(float(strength[k]), 3)) for k in best if strength[k] > _GOES_WITH
    )


def _interaction(
    predictor: Predictor, each: ModelEffect, position: int, rows: Index, scale: float
) -> tuple[float, str | None]:
    """Say how far curves differ in shape, and which column their shape depends on."""
    assert each.curves is not None
    curves = each.curves.reshape(len(each.curves), len(each.grid[0]), -1)
    weight = each.shares / each.shares.sum()
    centred = curves - np.einsum("j,ijk->ik", weight, curves)[:, None]
    apart = centred - centred.mean(axis=0)
    size = float(np.sqrt(np.einsum("j,ijk->", weight, apart**2) / len(apart))) / scale
    if size < _INTERACTS:
        return size, None
    flat = (apart * np.sqrt(weight)[None, :, None]).reshape(len(apart), -1)
    _, _, directions = np.linalg.svd(flat, full_matrices=False)
    main = profile_of(Column("shape", Kind.NUMBER, flat @ directions[0]))
    strength = [
        0.0 if k == position else association(main, profile_of(column.take(rows)))
        for k, column in enumerate(predictor.columns)
    ]
    best = int(np.argmax(strength))
    return size, predictor.names[best] if strength[best] > _GOES_WITH else None


def _shares_differ(impurity: float | None, permutation: float | None) -> bool:
    if impurity is None or permutation is None:
        return False
    return abs(impurity - permutation) > _SHARE_DIFFERS


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def _words(entry: ColumnAgreement) -> str:
    """Say in a sentence what differs and why."""
    if entry.agrees:
        return f"{entry.column}: all methods tell the same story"
    told = []
    if entry.pdp_ale > _DIFFERS:
        told.append(
            f"partial dependence and accumulated local effect differ by {entry.pdp_ale:.2f} "
            "standard deviations of the prediction"
        )
    if entry.interventional_observational > _DIFFERS:
        told.append(
            "the model's own effect and the mean of those who have the value differ by "
            f"{entry.interventional_observational:.2f}"
        )
    if _shares_differ(entry.impurity, entry.permutation):
        assert entry.impurity is not None
        assert entry.permutation is not None
        told.append(
            f"impurity gives it {entry.impurity:.0%} of the importance, permutation "
            f"{entry.permutation:.0%}"
        )
    why = []
    if entry.goes_with:
        listed = ", ".join(f"{name!r} ({strength:.2f})" for name, strength in entry.goes_with)
        why.append(f"it goes with {listed}")
    if entry.interacts_with is not None:
        why.append(f"it interacts with {entry.interacts_with!r}")
    if entry.extrapolates > 0:
        why.append(f"{entry.extrapolates:.0%} of its grid extrapolates")
    if not why and "impurity against permutation" in entry.stories:
        why.append("impurity favours columns with many values and counts what was learned by heart")
    reason = f"; likely because {' and '.join(why)}" if why else "; no reason was found"
    return f"{entry.column}: {' and '.join(told)}{reason}"
