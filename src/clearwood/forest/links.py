"""Labels, probabilities and numbers on the target's scale from raw predictions."""

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from clearwood._shared.errors import InputError
from clearwood.kernels import exponential

if TYPE_CHECKING:
    from clearwood.forest.forest import Forest

__all__ = ["Exponential", "Link", "inverse", "predict", "probabilities"]

Link = Literal["identity", "logistic", "softmax", "log", "signed root", "softplus"]
Exponential = Literal["numpy", "C"]


def inverse(link: Link, raw: NDArray[Any], *, exponential: Exponential = "numpy") -> NDArray[Any]:
    """Return the prediction on the target's scale: the inverse of the link.

    NumPy's exponential function and the C library's differ in the last bit.

    Examples
    --------
    >>> inverse("logistic", np.array([0.0]))
    array([0.5])
    >>> inverse("signed root", np.array([-2.0, 3.0]))
    array([-4., 9.])
    """
    if link == "identity":
        return raw
    if link == "logistic":
        return np.asarray(expit(raw))
    if link == "signed root":
        return np.asarray(np.sign(raw) * raw * raw)
    if exponential == "C":
        return _inverse_in_c(link, raw)
    if link == "softmax":
        return np.asarray(softmax(raw, axis=1))
    if link == "log":
        return np.asarray(np.exp(raw))
    return np.asarray(np.logaddexp(np.zeros_like(raw), raw))


def _inverse_in_c(link: Link, raw: NDArray[Any]) -> NDArray[Any]:
    """Compute the inverse as libraries written in C++ do, in the given precision."""
    if link == "log":
        return _exp(raw)
    if link == "softplus":
        return np.array([math.log1p(x) for x in _exp(raw).ravel().tolist()]).reshape(raw.shape)
    shares = _exp(raw - raw.max(axis=1, keepdims=True))
    total = np.zeros(len(raw))
    for k in range(raw.shape[1]):  # added up in float64, class by class
        total += shares[:, k]
    return np.asarray(shares / total.astype(raw.dtype)[:, None])


def _exp(values: NDArray[Any]) -> NDArray[Any]:
    flat = np.ascontiguousarray(values).ravel()
    out = np.empty_like(flat)
    exponential(flat, out)
    return out.reshape(values.shape)


def _on_scale(forest: "Forest", raw: NDArray[np.float64]) -> NDArray[Any]:
    # a library that sums in float32 applies its link in float32 too, and compares the result
    narrow = raw.astype(forest.accumulate)
    return inverse(
        forest.link,
        narrow / narrow.dtype.type(forest.temperature),
        exponential=forest.exponential,
    )


def predict(forest: "Forest", raw: NDArray[np.float64]) -> NDArray[Any]:
    """Return labels for classifiers, else numbers on the target's scale."""
    if forest.classes is None:
        return _on_scale(forest, raw).astype(np.float64)
    if forest.n_outputs > 1:
        return np.asarray(forest.classes[np.argmax(raw, axis=1)])
    if forest.link == "logistic" and not forest.zero_is_positive:
        positive = _on_scale(forest, raw) > 0.5
    elif forest.link == "logistic":
        positive = raw >= 0
    else:
        positive = raw > forest.positive_above
    return np.asarray(forest.classes[positive.astype(np.intp)])


def probabilities(forest: "Forest", raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probabilities, one column per class."""
    if forest.classes is None:
        raise InputError(
            "the model predicts numbers, not classes, so it has no probabilities",
            hint="use predict.",
        )
    if forest.n_outputs == 1 and forest.link != "logistic":
        raise InputError(
            f"{forest.source} gives scores that are not probabilities",
            hint="use predict or predict_raw.",
        )
    scale = _on_scale(forest, raw)
    if forest.n_outputs == 1:
        scale = np.column_stack([1 - scale, scale])
    return scale.astype(np.float64)
