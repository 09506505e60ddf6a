"""Growing, pruning and walking down single decision trees."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood.kernels import _core

__all__ = ["cart_leaves", "grow_cart", "weakest_links"]


def grow_cart(**arrays_and_limits: Any) -> Mapping[str, Any]:
    """Grow a tree on presorted columns.

    Parameters
    ----------
    **arrays_and_limits
        As the C++ structures ``CartRows`` and ``CartLimits`` describe them: ``columns`` (columns by
        rows), ``order``, ``n_levels``, ``monotone``, ``surrogates``, ``target``, ``weight``,
        ``cover``; ``criterion``, ``costs``, ``n_classes``, ``prior_mean``, ``prior_weight``,
        ``max_depth``, ``min_rows``, ``max_surrogates``, ``max_subset_levels``.

    Returns
    -------
    dict
        ``nodes`` and ``surrogates``, each a dictionary of arrays, and ``words``, the sets of
        categories.

    Examples
    --------
    >>> tree = grow_cart(
    ...     columns=np.array([[1.0, 2.0, 5.0, 6.0]]),
    ...     order=np.array([[0, 1, 2, 3]], np.int32),
    ...     n_levels=np.zeros(1, np.int32),
    ...     monotone=np.zeros(1, np.int8),
    ...     surrogates=np.zeros(1, bool),
    ...     target=np.array([0.0, 0.0, 1.0, 1.0]),
    ...     weight=np.ones(4),
    ...     cover=np.ones(4),
    ...     criterion="squared",
    ...     costs=np.empty((0, 0)),
    ...     n_classes=0,
    ...     prior_mean=0.0,
    ...     prior_weight=0.0,
    ...     max_depth=-1,
    ...     min_rows=1,
    ...     max_surrogates=0,
    ...     max_subset_levels=10,
    ... )
    >>> tree["nodes"]["threshold"][0], tree["nodes"]["value"]
    (np.float64(3.5), array([0.5, 0. , 1. ]))
    """
    return _core.grow_cart(**arrays_and_limits)


def cart_leaves(
    values: NDArray[np.float64],
    *,
    nodes: Mapping[str, NDArray[Any]],
    surrogates: Mapping[str, NDArray[Any]],
    words: NDArray[np.uint32],
) -> NDArray[np.int32]:
    """Return the leaf that each row reaches, surrogates standing in for missing values."""
    out = np.empty(len(values), np.int32)
    _core.cart_leaves(
        np.ascontiguousarray(values, np.float64), dict(nodes), dict(surrogates), words, out
    )
    return out


def weakest_links(
    left: NDArray[np.int32], right: NDArray[np.int32], risk: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the penalty per leaf from which each node of a tree is a leaf of the pruned tree.

    Children come after their parent. Leaves have minus infinity, nodes that vanish with a node
    above them infinity.

    Examples
    --------
    >>> left, right = np.array([1, -1, -1], np.int32), np.array([2, -1, -1], np.int32)
    >>> weakest_links(left, right, np.array([5.0, 1.0, 1.0]))
    array([  3., -inf, -inf])
    """
    out = np.empty(len(left))
    _core.weakest_links(
        np.ascontiguousarray(left, np.int32),
        np.ascontiguousarray(right, np.int32),
        np.ascontiguousarray(risk, np.float64),
        out,
    )
    return out
