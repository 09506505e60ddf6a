"""The independences that a graph implies for the columns that are observed."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from clearwood._shared.checks import check_whole
from clearwood._shared.errors import unknown_choice
from clearwood._shared.numbers import count
from clearwood._shared.results import Result, html_table
from clearwood.causal.graph.numbered import NumberedGraph
from clearwood.causal.graph.separators import Separators

if TYPE_CHECKING:
    from clearwood.causal.graph.independence_tests import IndependenceTests

__all__ = ["Independence", "IndependenceKind", "Independences", "independences_of"]

IndependenceKind = Literal["minimal", "all"]


@dataclass(frozen=True)
class Independence(Result):
    """Two columns that are independent given others, if the graph is right.

    Parameters
    ----------
    a, b
        The two columns.
    given
        What is conditioned on.

    Examples
    --------
    >>> print(Independence("height", "accidents", ("gender",)))
    height ⊥ accidents | gender
    """

    a: str
    b: str
    given: tuple[str, ...] = ()

    def __str__(self) -> str:
        given = f" | {', '.join(self.given)}" if self.given else ""
        return f"{self.a} ⊥ {self.b}{given}"


@dataclass(frozen=True, repr=False)
class Independences(Result):
    """The independences that a graph implies, which data can contradict.

    Only the Markov property is used: in data that follow the graph, d-separated columns are
    independent. The reverse (faithfulness) is not assumed anywhere.

    Parameters
    ----------
    kind
        "minimal": for each pair, one smallest set given which it is independent. "all": every
        minimal set.
    items
        The independences.
    is_complete
        Whether these are all, or as many as `limit` allows.

    Examples
    --------
    >>> from clearwood.causal import Graph
    >>> print(Graph("x3 -> x1 -> x2 -> x4 <- x3").independences())
    2 independences
      x3 ⊥ x2 | x1
      x1 ⊥ x4 | x3, x2
    """

    kind: IndependenceKind
    items: tuple[Independence, ...]
    is_complete: bool = True

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Independence]:
        return iter(self.items)

    def __getitem__(self, at: int) -> Independence:
        return self.items[at]

    def test(
        self,
        data: Any,
        *,
        learner: str = "spline",
        confidence: float = 0.9,
        folds: int = 5,
        seed: int = 0,
        n_jobs: int = 1,
    ) -> "IndependenceTests":
        """Test on data whether the independences hold, and so whether the graph fits.

        Both columns are predicted from those that are conditioned on, out of fold, and the
        residuals are multiplied. Independence implies that the products have mean zero (the
        generalised covariance measure of Shah and Peters 2020). Categories are tested through the
        indicators of their levels, with the largest statistic of all pairs of levels; its
        distribution is that of a Gaussian multiplier bootstrap. P-values are corrected by Holm.

        A rejection says that an arrow or a hidden cause is missing between the two columns, or
        that the learner cannot fit one of them. That nothing is rejected proves nothing: the test
        sees only dependence that shows in the mean of the products, and only with enough rows.

        Parameters
        ----------
        data
            A table, or anything that `clearwood.read` takes, with a column for each node. Weights
            and groups of a table count; the target of a table with an exposure is the rate.
        learner
            The learner that predicts columns, by its name in the catalogue. Its error matters less
            than it seems: what counts is the product of the errors for both columns.
        confidence
            One minus the chance that any independence which holds is rejected.
        folds
            How many folds the predictions are made in.
        seed
            Fixes folds and draws.
        n_jobs
            Threads that the learner may use.

        Returns
        -------
        IndependenceTests

        Examples
        --------
        >>> import numpy as np
        >>> from clearwood.causal import Graph
        >>> random = np.random.default_rng(0)
        >>> z = random.normal(size=500)
        >>> x = z + random.normal(size=500)
        >>> data = {"z": z, "x": x, "y": z + x + random.normal(size=500)}
        >>> tests = Graph("x <- z -> y").independences().test(data)
        >>> tests[0].is_rejected, bool(tests[0].effect > 0.4)
        (True, True)
        """
        from clearwood.causal.graph.independence_tests import tests_of

        return tests_of(
            self,
            data,
            learner=learner,
            confidence=confidence,
            folds=folds,
            seed=seed,
            n_jobs=n_jobs,
        )

    def _heading(self) -> str:
        """Return how many there are."""
        more = "" if self.is_complete else "; there are more"
        return f"{count(len(self.items), 'independence')}{more}"

    def __str__(self) -> str:
        return "\n".join([self._heading(), *(f"  {one}" for one in self.items)])

    __repr__ = __str__

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "a": [one.a for one in self.items],
            "b": [one.b for one in self.items],
            "given": [", ".join(one.given) for one in self.items],
        }

    def _repr_html_(self) -> str:
        rows = [[f"{one.a} ⊥ {one.b}", ", ".join(one.given)] for one in self.items]
        return html_table(self._heading(), ["independent", "given"], rows)


def independences_of(graph: NumberedGraph, kind: IndependenceKind, limit: int) -> Independences:
    """List the independences of pairs of observed columns."""
    if kind not in get_args(IndependenceKind):
        raise unknown_choice("kind", kind, get_args(IndependenceKind))
    check_whole("limit", limit, 1)
    found = list(islice(_independences(graph, kind), limit + 1))
    return Independences(kind, tuple(found[:limit]), len(found) <= limit)


def _independences(graph: NumberedGraph, kind: IndependenceKind) -> Iterator[Independence]:
    """Give the independences pair by pair."""
    arrays = graph.arrays
    observed = 1 - graph.hidden_mask
    none = np.zeros_like(observed)
    adjacent = set(zip(arrays.causes.tolist(), arrays.effects.tolist(), strict=True))
    places = np.flatnonzero(observed).tolist()
    ones = np.ones(arrays.n)
    for a, b in combinations(places, 2):
        if (a, b) in adjacent or (b, a) in adjacent:
            continue
        separators = Separators(arrays, arrays.mask([a]), arrays.mask([b]), observed, none)
        if kind == "all":
            sets = list(separators.minimal())
        else:
            least = separators.cheapest(ones)
            sets = [] if least is None else [least]
        for one in sets:
            yield Independence(graph.nodes[a], graph.nodes[b], graph.named(one))
