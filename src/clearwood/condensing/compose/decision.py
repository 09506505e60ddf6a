"""When an outcome is decided: bounds on sums that hold for the library's own rounding."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.choices import Equal
from clearwood.forest import Forest, links

__all__ = ["MOST_IN_PAIRS", "Decision", "decision_for", "gains"]

#: Up to so many classes, differences between all pairs of scores are bounded.
MOST_IN_PAIRS = 64

_MODES = {"class": 0, "value": 1, "tolerance": 2, "median": 3}


@dataclass(frozen=True, eq=False, kw_only=True)
class Decision:
    """What a kernel compares, in differences of outputs ("functionals")."""

    mode: str  # "class", "value", "tolerance" or "median"
    # a functional is output a minus output b for a class among several, else output a
    a: NDArray[np.int32]
    b: NDArray[np.int32]
    # at or above the first, class a beats b, at or below the second b beats a, however the library
    # rounds; between them only its own order of adding decides
    above: Floats
    below: Floats
    cut: float = 0.0  # with one output: the largest raw prediction that means the first class
    tolerance: float = 0.0  # how far a value may be off
    slack: float = 0.0  # how much of the tolerance rounding can take
    divide: bool  # whether functionals are of divided sums; exact sums need no division
    n_classes: int

    def arrays(self) -> dict[str, object]:
        """Return what the kernel reads."""
        return vars(self) | {"mode": _MODES[self.mode]}


def gains(forest: Forest) -> Floats:
    """Return what each node adds, weighed and rounded as the library does, one row a node."""
    if forest.aggregation == "weighted median":
        return forest.value
    dtype = np.dtype(forest.accumulate)
    weight = forest.tree_weight.astype(dtype)[forest.node_tree]
    return (forest.value.astype(dtype) * weight[:, None]).astype(np.float64)


def decision_for(forest: Forest, *, equal: Equal, tolerance: float | None) -> Decision:
    """Find out what must be compared for a forest."""
    n_outputs = forest.n_outputs
    quantum = _quantum(forest)
    margin = np.zeros(n_outputs) if quantum is not None else _margin(forest)
    divide = forest.aggregation not in ("sum", "weighted median")
    outputs = np.arange(n_outputs, dtype=np.int32)
    if equal == "value":
        mode = "value" if tolerance is None else "tolerance"
        mode = "median" if forest.aggregation == "weighted median" else mode
        return Decision(
            mode=mode,
            a=outputs,
            b=outputs,
            above=np.zeros(n_outputs),
            below=np.zeros(n_outputs),
            tolerance=tolerance or 0.0,
            slack=float(_margin(forest).max()),
            divide=divide,
            n_classes=1,
        )
    cut = 0.0
    if n_outputs == 1:
        a, b = np.array([1], np.int32), np.array([0], np.int32)
        cut = _cut(forest)
        if quantum is not None:
            first = _first_positive(forest, cut, quantum)
            above, below = np.array([first]), np.array([first - quantum])
            divide = False
        else:
            above, below = cut + margin, cut - margin
        n_classes = 2
    else:
        # ties go to the first class
        first_class, second_class = np.triu_indices(n_outputs, 1)
        a, b = first_class.astype(np.int32), second_class.astype(np.int32)
        above = margin[a] + margin[b]
        below = -above if quantum is None else np.full(len(a), -quantum)
        divide = divide and quantum is None
        n_classes = n_outputs
    return Decision(
        mode="class",
        a=a,
        b=b,
        above=above,
        below=below,
        cut=cut,
        divide=divide,
        n_classes=n_classes,
    )


def _largest(forest: Forest) -> Floats:
    """Give, per output, the largest sum of absolute values that trees and base can reach."""
    gain = np.abs(gains(forest))
    gain[~forest.is_leaf] = 0.0
    per_tree = np.maximum.reduceat(gain, forest.roots, axis=0)
    total = np.abs(forest.base).copy()
    for tree, output in enumerate(forest.tree_output):
        if output < 0:
            total += per_tree[tree]
        else:
            total[output] += per_tree[tree, 0]
    return np.asarray(total)


def _margin(forest: Forest) -> Floats:
    """Bound the difference between a library's rounded sum and bounds added up in any order.

    A sum of n + 1 terms is off by at most n ε Σ|term| in precision ε, to first order; the factor
    two covers the higher orders, the division, and the additions of bounds themselves.
    """
    epsilon = float(np.finfo(forest.accumulate).eps) / 2
    n = forest.n_trees + 8
    bound = 2.0 * n * (epsilon + np.finfo(np.float64).eps) * _largest(forest)
    if forest.aggregation not in ("sum", "weighted median"):
        bound = bound / forest.divisor
    return np.asarray(bound + np.finfo(np.float64).tiny)


def _quantum(forest: Forest) -> float | None:
    """Return the unit all values are multiples of, where sums of them are never rounded."""
    if forest.aggregation == "weighted median":
        return None
    if forest.n_outputs > 1 and len(np.unique(forest.divisor)) > 1:
        return None
    values = np.concatenate([gains(forest)[forest.is_leaf].ravel(), forest.base])
    values = np.unique(np.abs(values[values != 0]))
    if len(values) == 0:
        return 1.0
    mantissa, exponent = np.frexp(values)
    whole = (mantissa * 2.0**53).astype(np.int64)
    lowest_bit = (whole & -whole).astype(np.float64)
    unit = float(np.min(lowest_bit * 2.0 ** (exponent.astype(np.float64) - 53)))
    digits = 24 if forest.accumulate == "float32" else 53
    if unit <= 0 or float(_largest(forest).max()) / unit >= 2.0 ** (digits - 2):
        return None
    # quotients of neighbouring sums must differ
    return unit if float(_largest(forest).max()) / unit < 2.0**40 else None


def _is_positive(forest: Forest, raw: float) -> bool:
    assert forest.classes is not None
    label = links.predict(forest, np.array([raw]))[0]
    return bool(label == forest.classes[1])


def _cut(forest: Forest) -> float:
    """Find the largest raw prediction that still means the first class, by halving the floats."""

    def number(code: int) -> float:
        bits = code if code >= 0 else (-code) | (1 << 63)
        return float(np.array([bits], np.uint64).view(np.float64)[0])

    def code(value: float) -> int:
        bits = int(np.array([value], np.float64).view(np.uint64)[0])
        return bits if bits < 1 << 63 else -(bits & ((1 << 63) - 1))

    low, high = code(-1.0), code(1.0)
    while high - low > 1:
        middle = (low + high) // 2
        if _is_positive(forest, number(middle)):
            high = middle
        else:
            low = middle
    return number(low)


def _first_positive(forest: Forest, cut: float, quantum: float) -> float:
    """Return the smallest exact sum whose quotient lies above the cut."""
    divisor = float(forest.divisor[0]) if forest.aggregation != "sum" else 1.0
    total = (np.floor(cut * divisor / quantum) - 2) * quantum
    while not total / divisor > cut:
        total += quantum
    return float(total)
