"""Classes that columns separate: without a penalty there are no finite coefficients."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats, Index
from clearwood._shared.errors import Setting, words
from clearwood._shared.messages import tell
from clearwood._shared.names import listed
from clearwood._shared.weights import counted

__all__ = [
    "diverging_columns",
    "warn_of_divergence_in_parts",
    "warn_of_levels_without_events",
    "warn_of_separation",
]

#: Columns that a warning names.
_NAMED = 3
#: Rows whose log odds, or log of the mean, are beyond this are fitted as certain.
_CERTAIN = 13.8
#: Directions in which rows spread by less than this share are those in which they do not vary.
_FLAT = 1e-8
#: Columns that take a smaller part in a direction are not named.
_LEAST_PART = 1e-2
#: With more coefficients of several classes, directions in which they diverge are not looked for.
_MOST_COMPARED = 1_500


def warn_of_separation(
    name: str,
    estimator: Any,
    encoded: Floats,
    target: Index,
    weight: Floats | None,
    *,
    sources: Sequence[str],
    classes: NDArray[Any],
    penalty: str | None = "none",
) -> None:
    """Warn where the likelihood of a fitted linear model of classes has no maximum.

    There is none if a class has one side of a plane to itself, where rows may lie on the plane
    (Albert and Anderson 1984). Each plane that is looked at proves it: those of single columns, and
    those of the model's own scores, which an ever larger likelihood leads to, and those through the
    rows that the model is not certain of.

    Parameters
    ----------
    name
        Of the learner.
    estimator
        Fitted to the rows, with a ``decision_function``.
    encoded, target, weight
        The rows: encoded columns, positions of classes and weights.
    sources
        The column of the table that each encoded one is made from.
    classes
        The classes by position.
    penalty
        The setting; "none" where it makes the fit one without a penalty.
    """
    rows = counted(weight, len(target))[0]
    encoded, target = encoded[rows], target[rows]
    parted: tuple[int, tuple[str, ...]] | None = None
    coefficients = np.asarray(getattr(estimator, "coef_", ()))
    if len(classes) > 2 and coefficients.shape == (len(classes), encoded.shape[1]):
        scores = np.asarray(estimator.decision_function(encoded))
        parted = _diverging_classes(encoded, scores, target, coefficients, sources)
    for k in range(len(classes)) if len(classes) > 2 else [1]:
        is_own = target == k
        if is_own.all() or not is_own.any():
            continue
        alone = list(
            dict.fromkeys(sources[int(j)] for j in np.flatnonzero(_sides(encoded, is_own)))
        )
        if alone:
            who = _named(alone)
        else:
            together = () if parted is None else parted[1]
            if len(classes) == 2:
                together = _together(estimator, encoded, is_own, sources)
            is_found = together if len(classes) == 2 else parted is not None and parted[0] == k
            planes = _planes(estimator, encoded, k)
            if not is_found and not any(_sides(one, is_own, strictly=True).any() for one in planes):
                continue
            who = _combination(together)
        _tell_of_separation(name, who, classes, k, penalty)
        return


def _combination(columns: Sequence[str]) -> str:
    return f"a combination of columns{f' ({listed(columns, most=_NAMED)})' if columns else ''}"


def _tell_of_separation(
    name: str, who: str, classes: NDArray[Any], k: int, penalty: str | None
) -> None:
    tell(
        words(
            f"learner {name!r}: {who} separates all or some rows of class {str(classes[k])!r} "
            "from the other classes, so that without a penalty some coefficients have no "
            "finite value; they are where the solver stopped, and their standard errors mean "
            "nothing. Set ",
            Setting("penalty", "l2") if penalty == "none" else Setting("C", 1.0),
            "." if len(classes) > 2 else ", or use 'bayes', whose priors keep them finite.",
        )
    )


def diverging_columns(
    encoded: Floats, score: Floats, sign: Floats, coefficients: Floats, sources: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns whose coefficients have no finite value at the maximum, if there are any.

    In a direction in which rows that are not fitted as certain do not vary, and the others become
    ever more certain, the likelihood rises for ever. Predictions that are certain for another
    reason, such as a steep line, leave no such direction.

    Parameters
    ----------
    encoded
        Rows that count.
    score
        Their log odds, or the logarithm of their means over the mean of all.
    sign
        1 where a larger score suits the row's target for ever, -1 where a smaller one does, 0 where
        neither does.
    coefficients
        Of the encoded columns, without the constant.
    sources
        The column of the table that each encoded one is made from.

    Examples
    --------
    >>> rows = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [1.0, 2.0]])
    >>> score, sign = np.array([0.5, 0.0, -0.5, 25.0]), np.array([1.0, -1.0, 1.0, 1.0])
    >>> diverging_columns(rows, score, sign, np.array([25.0, -0.5]), ["town", "age"])
    ('town',)
    """
    is_certain = score * sign > _CERTAIN
    if not is_certain.any():
        return ()
    spread = encoded.std(axis=0)
    used = np.flatnonzero(spread > 0)
    scaled = (encoded[:, used] - encoded[:, used].mean(axis=0)) / spread[used]
    rows = np.column_stack([np.ones(len(scaled)), scaled])
    vector = np.append(0.0, coefficients[used] * spread[used])
    vector[0] = float(np.mean(score - scaled @ vector[1:]))
    left = rows[~is_certain]
    direction = _flat(left.T @ left, rows.T @ rows, vector)
    heights = (rows @ direction) * sign
    if not _rises(float(heights.min()), float(heights.max(initial=0.0))):
        return ()
    return _parts_of(direction[1:], [sources[int(j)] for j in used])


def _flat(left: Floats, whole: Floats, vector: Floats) -> Floats:
    """Return the part of a vector along which some rows do not vary, though all rows do.

    ``left`` and ``whole`` are the sums of products of these rows, and of all.
    """
    values, vectors = np.linalg.eigh(left)
    flat = vectors[:, values <= _FLAT * max(float(values[-1]), 1.0)]
    # combinations of columns that are constant over all rows change no prediction
    values, vectors = np.linalg.eigh(whole)
    moves = vectors[:, values > _FLAT * values[-1]]
    return np.asarray(moves @ (moves.T @ (flat @ (flat.T @ vector))))


def _rises(least: float, largest: float) -> bool:
    """Tell whether no row becomes less likely along a direction, and one more so."""
    return largest > 0 and least >= -1e-3 * largest


def _parts_of(direction: Floats, sources: Sequence[str]) -> tuple[str, ...]:
    """Name the columns that take part in a direction."""
    part = np.abs(direction)
    named = [sources[int(j)] for j in np.flatnonzero(part > _LEAST_PART * part.max())]
    return tuple(dict.fromkeys(named))


def warn_of_divergence_in_parts(
    name: str,
    over_rows: Callable[[Callable[[Floats, Floats], dict[str, Floats]]], dict[str, Floats]],
    coefficients: Floats,
    *,
    sources: Sequence[str],
    classes: NDArray[Any] | None,
    penalty: str | None,
) -> None:
    """Warn as `warn_of_separation` and `warn_of_levels_without_events`, of rows that are in parts.

    Parameters
    ----------
    name
        Of the learner.
    over_rows
        Adds up what a function returns of the encoded rows, with a column of ones before the
        others, and of the targets of each batch; of "least" and "largest" it keeps the extremes.
    coefficients
        The constant first.
    sources
        As of `warn_of_separation`.
    classes
        The two classes; None for counts and amounts.
    penalty
        The setting of a logistic regression.
    """
    level = 0.0
    if classes is None:
        n_rows, total = over_rows(lambda rows, y: {"sums": np.array([len(rows), y.sum()])})["sums"]
        level = float(np.log(total / n_rows))

    def signs(y: Floats) -> Floats:
        return 2 * y - 1 if classes is not None else np.where(y == 0, -1.0, 0.0)

    def products(rows: Floats, y: Floats) -> dict[str, Floats]:
        left = rows[(rows @ coefficients - level) * signs(y) <= _CERTAIN]
        return {"whole": rows.T @ rows, "left": left.T @ left}

    found = over_rows(products)
    whole, left = found["whole"], found["left"]
    n = whole[0, 0]
    if left[0, 0] == n:
        return
    middle = whole[0, 1:] / n
    spread = np.sqrt(np.maximum(np.diag(whole)[1:] / n - middle**2, 0.0))
    used = np.flatnonzero(spread > 1e-12 * (1 + np.abs(middle)))
    scale = np.zeros((len(coefficients), len(used) + 1))
    scale[0, 0], scale[0, 1:] = 1.0, -middle[used] / spread[used]
    scale[used + 1, np.arange(1, len(used) + 1)] = 1 / spread[used]
    vector = np.append(
        coefficients[0] - level + middle @ coefficients[1:], coefficients[used + 1] * spread[used]
    )
    direction = _flat(scale.T @ left @ scale, scale.T @ whole @ scale, vector)

    def heights(rows: Floats, y: Floats) -> dict[str, Floats]:
        values = (rows @ (scale @ direction)) * signs(y)
        return {"least": values.min(keepdims=True), "largest": values.max(keepdims=True)}

    ends = over_rows(heights)
    if not _rises(float(ends["least"][0]), float(ends["largest"][0])):
        return
    columns = _parts_of(direction[1:], [sources[int(j)] for j in used])
    if classes is None:
        _tell_of_no_events(name, columns)
    else:
        _tell_of_separation(name, _combination(columns), classes, 1, penalty)


def _diverging_classes(
    encoded: Floats, scores: Floats, target: Index, coefficients: Floats, sources: Sequence[str]
) -> tuple[int, tuple[str, ...]] | None:
    """Return a class some of whose rows scores of several classes separate, and the columns.

    As `diverging_columns`, where each row is compared with every other class: the difference of the
    scores of its own class and the other rises for ever, or does not change.
    """
    n, n_classes = scores.shape
    spread = encoded.std(axis=0)
    used = np.flatnonzero(spread > 0)
    scaled = (encoded[:, used] - encoded[:, used].mean(axis=0)) / spread[used]
    rows = np.column_stack([np.ones(n), scaled])
    width = rows.shape[1]
    if width * n_classes > _MOST_COMPARED:
        return None
    is_certain = scores[np.arange(n), target][:, None] - scores > _CERTAIN
    if not is_certain.any():
        return None
    left, whole = (np.zeros((n_classes, width, n_classes, width)) for _ in range(2))
    for own in range(n_classes):
        for other in range(n_classes):
            if own == other:
                continue
            mine = target == own
            for gram, taken in ((whole, mine), (left, mine & ~is_certain[:, other])):
                part = rows[taken].T @ rows[taken]
                gram[own, :, own] += part
                gram[other, :, other] += part
                gram[own, :, other] -= part
                gram[other, :, own] -= part
    size = width * n_classes
    vector = np.column_stack([np.zeros(n_classes), coefficients[:, used] * spread[used]])
    vector[:, 0] = (scores - scaled @ vector[:, 1:].T).mean(axis=0)
    direction = _flat(left.reshape(size, size), whole.reshape(size, size), vector.ravel())
    heights = rows @ direction.reshape(n_classes, width).T
    heights = heights[np.arange(n), target][:, None] - heights
    if not _rises(float(heights.min()), float(heights.max())):
        return None
    part = np.abs(direction.reshape(n_classes, width)[:, 1:]).max(axis=0)
    first = int(target[np.unravel_index(int(heights.argmax()), heights.shape)[0]])
    return first, _parts_of(part, [sources[int(j)] for j in used])


def _together(
    estimator: Any, encoded: Floats, is_own: Bools, sources: Sequence[str]
) -> tuple[str, ...]:
    coefficients = getattr(estimator, "coef_", None)
    if coefficients is None:
        return ()
    score = np.ravel(estimator.decision_function(encoded))
    sign = np.where(is_own, 1.0, -1.0)
    return diverging_columns(encoded, score, sign, np.ravel(coefficients), sources)


def _named(columns: Sequence[str]) -> str:
    if len(columns) == 1:
        return f"column {columns[0]!r} alone"
    return f"each of the columns {listed(columns, most=_NAMED)} alone"


def warn_of_levels_without_events(
    name: str,
    estimator: Any,
    encoded: Floats,
    target: Floats,
    weight: Floats | None,
    sources: Sequence[str],
) -> None:
    """Warn where a log link drives the mean of some rows without events to zero."""
    rows = counted(weight, len(target))[0]
    encoded, target = encoded[rows], target[rows]
    score = encoded @ estimator.coef_ + estimator.intercept_ - np.log(target.mean())
    sign = np.where(target == 0, -1.0, 0.0)
    columns = diverging_columns(encoded, score, sign, estimator.coef_, sources)
    if columns:
        _tell_of_no_events(name, columns)


def _tell_of_no_events(name: str, columns: Sequence[str]) -> None:
    tell(
        words(
            f"learner {name!r}: some rows of {listed(columns, most=_NAMED)} have a target of 0 "
            "without exception, so that without a penalty their coefficients have no finite value "
            "and predictions of 0; their standard errors mean nothing. Set ",
            Setting("alpha", 1e-4),
            " or join levels.",
        )
    )


def _planes(estimator: Any, encoded: Floats, k: int) -> Iterator[Floats]:
    """Give the heights of rows above planes through the score of one class, as columns."""
    scores = np.asarray(estimator.decision_function(encoded))
    if scores.ndim == 1:
        yield scores[:, None]
        return
    yield scores[:, [k]]
    yield scores[:, [k]] - np.delete(scores, k, axis=1)


def _sides(values: Floats, is_own: Bools, *, strictly: bool = False) -> Bools:
    """Return the columns by which a class has one side of a value to itself.

    Strictly, the value is 0, the class lies above it and no row on it.
    """
    own, other = values[is_own], values[~is_own]
    if strictly:
        return np.asarray((own.min(axis=0) > 0) & (other.max(axis=0) < 0))
    above = own.min(axis=0) >= other.max(axis=0)
    below = own.max(axis=0) <= other.min(axis=0)
    return np.asarray((above | below) & (np.ptp(values, axis=0) > 0))
