"""LIME: a sparse linear model near one row, with the evidence for and against it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.choices import LimeSelection
from clearwood._shared.clock import Clock
from clearwood._shared.errors import InputError, Option, bad_value, unknown_choice, words
from clearwood._shared.messages import tell
from clearwood._shared.numbers import number, percent
from clearwood._shared.progress import progress
from clearwood._shared.results import Result, html_table
from clearwood._shared.weights import checked_weights
from clearwood.explanation.results.about import noting_zero_weights
from clearwood.explanation.rows.compose import chosen_row, perturbed, stacked
from clearwood.explanation.rows.predictor import Predictor, limit_words
from clearwood.explanation.sampling.representation import Representation, representation_of
from clearwood.fitted import Unit

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["Lime", "LocalMoments", "Sparse", "chosen_terms", "fit", "lime", "moments_of"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Lime(Result):
    """A sparse linear model near one row. Made by `clearwood.lime`; its frame has a row per term.

    Parameters
    ----------
    terms
        In words, in the order in which they were chosen: "age", "town = Bern".
    coefficients
        Per unit of a number; of a level, the difference between having it and not.
    standardised
        Per standard deviation over the data, which makes terms comparable.
    draws
        The coefficients of the same terms in each draw: (draws, terms).
    selected
        Share of draws in which the term would have been chosen.
    sign_agreement
        Share of draws in which the coefficient has the same sign.
    widths, by_width, r2_by_width
        Other kernel widths, the coefficients there (NaN where too few rows are near) and the fit.
    stable
        Whether the sign is the same in nine of ten draws and at every width.
    values
        The explained row's value of each term.
    prediction, local_prediction
        Of the model and of the linear model at the row.
    r2
        Share of the weighted variance of the predictions that the linear model fits.
    kernel_width
        In standard deviations.
    effective_rows, n_rows
        Rows near the explained one, counted by weight, and all that were drawn.
    n_zero_weight
        Rows of the data that have a weight of zero and are left out.
    select
        How terms were chosen.
    model, unit, output
        What is explained.
    notes
        What the reader should know.
    """

    terms: tuple[str, ...]
    coefficients: Floats
    standardised: Floats
    draws: Floats
    selected: Floats
    sign_agreement: Floats
    widths: Floats
    by_width: Floats
    r2_by_width: Floats
    stable: NDArray[np.bool_]
    values: Floats
    prediction: float
    local_prediction: float
    r2: float
    kernel_width: float
    effective_rows: float
    n_rows: int
    select: str
    model: str
    unit: Unit
    output: str
    n_zero_weight: int = 0
    notes: tuple[str, ...] = ()

    @property
    def spread(self) -> Floats:
        """Standard deviation of each coefficient over the draws."""
        return np.asarray(self.draws.std(axis=0, ddof=1))

    def __len__(self) -> int:
        return len(self.terms)

    def _headline(self) -> str:
        return (
            f"LIME of {self.model} ({self.output}, {self.unit}): prediction "
            f"{number(self.prediction)}, linear model {number(self.local_prediction)}, "
            f"weighted R² {self.r2:.2f}, kernel width {number(self.kernel_width)}"
        )

    def __repr__(self) -> str:
        long = max((len(term) for term in self.terms), default=0)
        lines = [self._headline()]
        for k, term in enumerate(self.terms):
            doubt = "" if self.stable[k] else "  sign not stable"
            value, spread = number(self.coefficients[k]), number(self.spread[k])
            lines.append(f"  {term:<{long}}  {value:>10} ± {spread}{doubt}")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        rows = [
            (
                term,
                number(self.coefficients[k]),
                number(self.spread[k]),
                percent(self.sign_agreement[k]),
                "yes" if self.stable[k] else "no",
            )
            for k, term in enumerate(self.terms)
        ]
        headings = ("term", "coefficient", "over draws ±", "draws of this sign", "stable")
        return html_table(self._headline(), headings, rows, self.notes)

    def _columns(self) -> dict[str, Any]:
        return {
            "term": list(self.terms),
            "value": self.values,
            "coefficient": self.coefficients,
            "standardised": self.standardised,
            "spread": self.spread,
            "selected": self.selected,
            "sign_agreement": self.sign_agreement,
            "stable": ["yes" if stable else "no" for stable in self.stable],
        }

    def plot(self, kind: str = "draws") -> Any:
        """Draw the coefficients over draws, or over kernel widths (Altair).

        Parameters
        ----------
        kind
            "draws" or "widths".
        """
        from clearwood.plot import plot_lime

        return plot_lime(self, kind)


#: Terms whose weighted variance is below this share of the largest carry nothing to fit.
_FLAT = 1e-10
#: Terms whose gains differ by less than this share gain the same.
_TIE = 1e-9
#: A term that fits less than this share of the variance fits rounding.
_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class LocalMoments:
    """Weighted means, variances and covariances of standardised terms and the prediction."""

    mean: Floats
    gram: Floats
    product: Floats
    centre: float
    spread: float
    n: int


@dataclass(frozen=True, eq=False)
class Sparse:
    """A linear model of few terms, standardised."""

    coefficients: Floats
    intercept: float  # the fitted prediction where every standardised term is zero
    r2: float  # share of the weighted variance of the prediction that is fitted


def moments_of(features: Floats, predicted: Floats, weights: Floats) -> LocalMoments:
    """Add up what least squares needs; the weights are scaled to sum to one."""
    share = weights / weights.sum()
    mean = share @ features
    centre = float(share @ predicted)
    offset = features - mean
    scaled = offset * share[:, None]
    return LocalMoments(
        mean=mean,
        gram=scaled.T @ offset,
        product=scaled.T @ (predicted - centre),
        centre=centre,
        spread=float(share @ (predicted - centre) ** 2),
        n=len(features),
    )


def chosen_terms(moments: LocalMoments, n_terms: int, method: str) -> list[int]:
    """Choose terms by forward selection, or as the lasso lets them in."""
    return _forward(moments, n_terms) if method == "forward" else _lasso(moments, n_terms)


def _forward(moments: LocalMoments, n_terms: int) -> list[int]:
    """Add the term that lowers the weighted squared error most, again and again."""
    gram, product = moments.gram.copy(), moments.product.copy()
    floor = _FLAT * max(float(np.diag(gram).max(initial=0.0)), 1e-300)
    chosen: list[int] = []
    while len(chosen) < n_terms:
        size = np.diag(gram)
        usable = size > floor
        usable[chosen] = False
        if not usable.any():
            break
        gain = np.where(usable, product**2 / np.where(usable, size, 1.0), -1.0)
        # the last levels of a column gain the same, but for rounding: the first one is taken
        best = int(np.flatnonzero(gain >= gain.max() * (1 - _TIE))[0])
        if gain[best] <= _NOTHING * moments.spread:
            break
        chosen.append(best)
        # what the new term explains is taken out of all others
        ray = gram[best] / gram[best, best]
        product = product - ray * product[best]
        gram = gram - np.outer(gram[best], ray)
    return chosen


def _lasso(moments: LocalMoments, n_terms: int) -> list[int]:
    from sklearn.linear_model import lars_path_gram

    size = np.diag(moments.gram)
    usable = np.flatnonzero(size > _FLAT * max(float(size.max(initial=0.0)), 1e-300))
    if not len(usable) or not moments.spread > 0:
        return []
    gram = moments.gram[np.ix_(usable, usable)]
    _, _, path = lars_path_gram(
        Xy=moments.product[usable], Gram=gram, n_samples=1, method="lasso", max_iter=4 * n_terms
    )
    path = np.where(path**2 * size[usable, None] > _NOTHING * moments.spread, path, 0.0)
    counts = (path != 0).sum(axis=0)
    fitting = np.flatnonzero(counts <= n_terms)
    at = fitting[np.argmax(counts[fitting])]
    result = np.flatnonzero(path[:, at])
    order = np.argsort(-np.abs(path[result, at]), kind="stable")
    return [int(k) for k in usable[result[order]]]


def fit(moments: LocalMoments, chosen: list[int]) -> Sparse:
    """Fit the chosen terms by weighted least squares, with an intercept."""
    if not chosen:
        return Sparse(np.empty(0), moments.centre, 0.0 if moments.spread > 0 else 1.0)
    gram = moments.gram[np.ix_(chosen, chosen)]
    result = np.linalg.lstsq(gram, moments.product[chosen], rcond=1e-12)[0]
    fitted = float(result @ moments.product[chosen])
    r2 = fitted / moments.spread if moments.spread > 0 else 1.0
    intercept = moments.centre - float(moments.mean[chosen] @ result)
    return Sparse(np.asarray(result, np.float64), intercept, float(np.clip(r2, 0.0, 1.0)))


#: Other kernel widths that are tried, as multiples of the one wanted.
_WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
#: A term's sign is stable if at least this share of draws agrees with it.
_AGREED = 0.9
#: Near rows must have this share of a term's variance over the data.
_VARIES = 1e-3
#: Fewer rows than this, counted by their weight, fit nothing.
_FEWEST = 30.0
#: One draw shows no instability.
_FEWEST_DRAWS = 2


def lime(
    self: "Explanation",
    row: Any,
    *,
    kernel_width: float | None = None,
    n_features: int = 6,
    select: LimeSelection = "forward",
    n_samples: int = 2000,
    repeats: int = 10,
    output: Any = None,
    scale: str | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
) -> Lime:
    """Fit a sparse linear model to a model's predictions near one row.

    The parameters are those of `clearwood.lime` without model and data.
    """
    clock = Clock.started_now(time_limit)
    seed = self.seed if seed is None else seed
    output = self.output if output is None else output
    _check(kernel_width, n_features, select, n_samples, repeats)
    row = chosen_row(self.data, row)
    n_data = self.n_rows
    explanation, _ = self.over_positive_weights()
    predictor, n_rows = explanation.stacked(row, scale=scale, n_jobs=n_jobs)
    if n_rows != 1:
        raise InputError(
            f"{n_rows} rows are given; LIME explains one",
            parameter="row",
            hint="give a single row.",
        )
    if len(predictor) < 3:
        raise InputError(
            "the data has one row, and no spread to draw from",
            parameter="data",
            hint="give the training rows.",
        )
    if output is None and len(predictor.outputs) > 1:
        output = predictor.outputs[int(np.argmax(predictor.predict(np.array([0]))[0]))]
    predictor = predictor.taking(output)
    weights = checked_weights(explanation.own_weights, explanation.n_rows)
    space = representation_of(predictor.columns, weights)
    both, _ = stacked(explanation.model, row, explanation.data)

    generator = np.random.default_rng(seed)

    def draw() -> tuple[Floats, Floats]:
        drawn = space.draw(n_samples, generator)
        base = np.zeros(n_samples, np.intp)
        rows = perturbed(both, predictor.names, base, drawn.taken, drawn.written)
        near = explanation.predictor(rows, output=output, scale=scale, n_jobs=n_jobs)
        return drawn.features, near.predict(np.arange(n_samples))[:, 0]

    features, predicted = _predicted(draw, n_samples, repeats, clock)
    width = 0.75 * float(np.sqrt(len(space.columns))) if kernel_width is None else kernel_width
    done = len(features) // n_samples
    result, doubts = _fitted(space, predictor, features, predicted, width, n_features, select, done)
    if doubts:
        tell("; ".join(doubts))
    return noting_zero_weights(result, n_data - explanation.n_rows)


def _check(
    kernel_width: float | None, n_features: int, select: str, n_samples: int, repeats: int
) -> None:
    if kernel_width is not None and not kernel_width > 0:
        raise bad_value("kernel_width", kernel_width, "it must be above 0")
    if n_features < 1:
        raise bad_value("n_features", n_features, "it must be at least 1")
    if select not in ("forward", "lasso"):
        raise unknown_choice("select", select, ("forward", "lasso"))
    if n_samples < 50:
        raise bad_value("n_samples", n_samples, "it must be at least 50")
    if repeats < 2:
        raise bad_value(
            "repeats", repeats, "it must be at least 2", hint="one draw shows no instability."
        )


def _predicted(
    draw: Callable[[], tuple[Floats, Floats]], n_samples: int, repeats: int, clock: Clock
) -> tuple[Floats, Floats]:
    """Draw rows and predict them, again and again: their features and predictions."""
    done: list[tuple[Floats, Floats]] = []
    started = time.monotonic()
    with progress("drawing rows", total=repeats) as step:
        try:
            while len(done) < repeats:
                if len(done) >= _FEWEST_DRAWS and clock.is_over:
                    tell(f"{limit_words(clock)} after {len(done)} of {repeats} draws")
                    break
                done.append(draw())
                speed = n_samples * len(done) / max(time.monotonic() - started, 1e-9)
                step(1, note=f"{speed:,.0f} evaluations/s")
        except KeyboardInterrupt:
            if len(done) < _FEWEST_DRAWS:
                raise
            tell(f"interrupted after {len(done)} of {repeats} draws")
    features, predicted = zip(*done, strict=True)
    return np.concatenate(features), np.concatenate(predicted)


def _fitted(
    space: Representation,
    predictor: Predictor,
    features: Floats,
    predicted: Floats,
    width: float,
    n_features: int,
    select: str,
    repeats: int,
) -> tuple[Lime, list[str]]:
    """Return the result, and doubts that the user is warned of."""
    usable = space.scale > 0
    scale = np.where(usable, space.scale, 1.0)
    # measured from the explained row, so that the intercept is the fitted prediction there
    standard = np.where(usable, (features - space.row) / scale, 0.0)
    steps = np.where(usable, scale / np.where(usable, space.kernel_scale, 1.0), 0.0)
    distance = ((standard * steps) ** 2).sum(axis=1)
    draws = np.array_split(np.arange(len(features)), repeats)
    weights = np.exp(-distance / width**2)
    weight = float(weights.sum() ** 2 / max((weights**2).sum(), 1e-300))
    if not weight >= 2 or not np.isfinite(weight):
        raise InputError(
            f"no drawn row is near the explained one at a kernel width of {number(width)}",
            parameter="kernel_width",
            value=width,
            hint=words(
                "use a larger ", Option("kernel_width"), ", or more ", Option("n_samples"), "."
            ),
        )
    whole = moments_of(standard, predicted, weights)
    chosen = chosen_terms(whole, n_features, select)
    main = fit(whole, chosen)
    by_draw, picked = [], np.zeros(len(chosen))
    for draw in draws:
        one = moments_of(standard[draw], predicted[draw], weights[draw])
        by_draw.append(fit(one, chosen).coefficients)
        picked += np.isin(chosen, chosen_terms(one, n_features, select))
    widths = np.array(_WIDTHS) * width
    by_width = np.full((len(widths), len(chosen)), np.nan)
    fits = np.full(len(widths), np.nan)
    for at, other in enumerate(widths):
        near = np.exp(-distance / other**2)
        if near.sum() ** 2 < _FEWEST * (near**2).sum() or not near.any():
            continue  # too few rows near for a fit
        narrow = moments_of(standard, predicted, near)
        # a level that no near row has, or that all have, has no coefficient at this width
        seen = np.flatnonzero(np.diag(narrow.gram)[chosen] > _VARIES)
        again = fit(narrow, [chosen[k] for k in seen])
        by_width[at, seen], fits[at] = again.coefficients, again.r2
    unit = scale[chosen]
    signs = np.sign(main.coefficients)
    agreement = (np.sign(by_draw) == signs).mean(axis=0)
    same_by_width = (np.isnan(by_width) | (np.sign(by_width) == signs)).all(axis=0)
    terms = tuple(space.terms[k].name for k in chosen)
    doubts, notes = _notes(space, terms, agreement, same_by_width, weight, usable)
    result = Lime(
        terms=terms,
        coefficients=main.coefficients / unit,
        standardised=main.coefficients,
        draws=np.array(by_draw) / unit,
        selected=picked / repeats,
        sign_agreement=agreement,
        widths=widths,
        by_width=by_width / unit,
        r2_by_width=fits,
        stable=(agreement >= _AGREED) & same_by_width,
        values=space.row[chosen],
        prediction=float(predictor.predict(np.array([0]))[0, 0]),
        local_prediction=main.intercept,
        r2=main.r2,
        kernel_width=width,
        effective_rows=weight,
        n_rows=len(features),
        select=select,
        model=predictor.kind,
        unit=predictor.unit,
        output=predictor.outputs[0],
        notes=(*doubts, *notes),
    )
    return result, doubts


def _notes(
    space: Representation,
    terms: tuple[str, ...],
    agreement: Floats,
    same_by_width: Bools,
    weight: float,
    usable: Bools,
) -> tuple[list[str], list[str]]:
    """Return doubts about the coefficients, and what else the reader should know."""
    doubts, notes = [], []
    unsure = [t for t, share in zip(terms, agreement, strict=True) if share < _AGREED]
    if unsure:
        doubts.append(f"the sign of {', '.join(unsure)} changes from draw to draw")
    turning = [t for t, same in zip(terms, same_by_width, strict=True) if not same]
    if turning:
        doubts.append(f"the sign of {', '.join(turning)} changes with the kernel width")
    if weight < _FEWEST:
        doubts.append(
            f"only {weight:.0f} rows, counted by weight, are near the explained one; "
            "draw more rows or use a wider kernel"
        )
    flat = sorted(
        {
            space.columns[t.column].name
            for t, ok in zip(space.terms, usable, strict=True)
            if not ok and t.level is None
        }
    )
    if flat:
        notes.append(f"constant columns have no coefficient: {', '.join(flat)}")
    if space.lumped:
        notes.append(f"rare levels share one term: {', '.join(space.lumped)}")
    return doubts, notes
