"""Make one tree of an ensemble."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from clearwood import kernels
from clearwood._shared.errors import InputError, did_you_mean
from clearwood.condensing.compose.atoms import Atoms, atoms_of
from clearwood.condensing.compose.decision import Decision, decision_for
from clearwood.condensing.compose.kernel import diagram_from, ensemble_arrays, limits, shrinking
from clearwood.condensing.compose.memory import allowance
from clearwood.condensing.compose.merge import MOST_IN_PAIRS, class_of_value, merged
from clearwood.condensing.compose.one_tree import the_tree_itself
from clearwood.condensing.compose.restrict import restricted
from clearwood.condensing.compose.too_big import does_not_fit, no_proof, tell_of_little
from clearwood.condensing.compose.unseen import with_likely_rows
from clearwood.condensing.condensed import Condensed, Effort, Equal, Objective, bare, shell_of
from clearwood.condensing.diagram import Diagram
from clearwood.condensing.proof.certificate import Certificate
from clearwood.condensing.proof.fingerprint import of_diagram, of_forest
from clearwood.condensing.reading.names import with_names_of
from clearwood.forest import Forest, from_model
from clearwood.forest.predict import rounded
from clearwood.kernels import threads

__all__ = ["condense"]


def condense(
    model: Any,
    *,
    equal: Equal | None = None,
    effort: Effort = "good",
    objective: Objective = "leaves",
    tolerance: float | None = None,
    data: Any = None,
    leaves: int | None = None,
    seconds: float | None = None,
    memory: float | None = None,
    n_jobs: int | None = 1,
) -> Condensed:
    """Give one tree that predicts what the ensemble predicts, at every point.

    Parameters
    ----------
    model
        A fitted tree model (see `clearwood.forest.from_model`) or a `Forest`.
    equal
        What must be equal: "class", the predicted label (default for classifiers, and a much
        smaller tree), or "value", the raw prediction.
    effort
        "fast" composes; "good" also makes the tree smaller, mostly within a few per cent of the
        least; "optimal" proves the least, or says beforehand that it would not fit.
    objective
        What is made small: "leaves", "depth", or "questions", the expected number of questions
        over ``data``.
    tolerance
        Largest distance from the raw prediction; the tree gets smaller. For values only.
    data
        Rows that matter: the expected number of questions and the order of work under a budget
        are theirs, as are names of columns that LightGBM writes with underscores.
    leaves, seconds, memory
        A budget (memory in bytes): work stops there, and leaves that are not proved by then are
        marked and answered by the ensemble itself.
    n_jobs
        Threads for the work under a budget; the tree does not depend on it, unless time ends the
        work.

    Returns
    -------
    Condensed

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import GradientBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> one = cw.condense(model)
    >>> bool((one.predict(X) == model.predict(X)).all()), one.certificate.region
    (True, 'everywhere')
    """
    imported = from_model(model)
    forest = imported if data is None else with_names_of(imported, data)
    equal = _checked(forest, equal, effort, objective, tolerance)
    tolerance = tolerance or None
    n_threads = threads(n_jobs)
    rows = None if data is None else _rows(forest, data)
    if objective == "questions" and rows is None:
        raise InputError(
            "the expected number of questions depends on the rows that are asked",
            hint="give them as data=, for instance the training table.",
        )
    atoms = atoms_of(forest)
    many = equal == "class" and forest.n_outputs > MOST_IN_PAIRS
    problem = Problem(
        forest=forest,
        atoms=atoms,
        decision=decision_for(forest, equal="value" if many else equal, tolerance=tolerance),
        equal=equal,
        many_classes=many,
        rows=rows,
        places=None if rows is None else atoms.places(rounded(forest, rows)),
    )
    budget = Budget(leaves=leaves, seconds=seconds, memory=memory)
    found = _exact(problem, effort, objective, budget)
    if found is None:
        found = _within(problem, budget, n_threads)
    elif found["too_large"]:
        raise no_proof(found["too_large"], budget.bytes)
    diagram = diagram_from(found, forest, atoms, values=equal == "value")
    everywhere = bool(diagram.certified.all())
    optimal = effort == "optimal" and bool(found["shrunk"])
    certificate = Certificate(
        equal=equal,
        region="everywhere" if everywhere else "certified leaves",
        tolerance=tolerance,
        proof=_PROOF + (_LEAST[objective] if optimal else ""),
        optimal=optimal,
        objective=objective,
        n_leaves=diagram.n_leaves,
        depth=diagram.depth,
        n_nodes=diagram.n_nodes,
        forest=of_forest(imported),
        diagram=of_diagram(diagram),
        share_certified=None if rows is None else _share(diagram, rows),
        n_rows=None if rows is None else len(rows),
        stopped=None if everywhere else found["stopped"],
    )
    if not everywhere:
        tell_of_little(certificate)
    return Condensed(
        diagram=diagram,
        shell=shell_of(forest),
        equal=equal,
        effort=effort,
        objective=objective,
        tolerance=tolerance,
        certificate=certificate,
        fallback=None if everywhere else _fallback(problem, found),
    )


@dataclass(frozen=True, eq=False)
class Problem:
    """What is condensed, in ranks."""

    forest: Forest
    atoms: Atoms
    decision: Decision
    equal: Equal
    many_classes: bool  # composed for the value, of which the class is read off
    rows: NDArray[np.float64] | None
    places: NDArray[np.int32] | None


@dataclass(frozen=True)
class Budget:
    """What may be spent; None is no limit, but for memory, which always has one."""

    leaves: int | None
    seconds: float | None
    memory: float | None
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if self.leaves is not None and (self.leaves < 1 or self.leaves != int(self.leaves)):
            raise InputError(f"leaves={self.leaves}; a tree has a whole number of leaves, from 1")
        if self.seconds is not None and not self.seconds > 0:
            raise InputError(f"seconds={self.seconds}; it must be a positive number")
        allowance(self.memory)

    @property
    def bytes(self) -> int:
        """The memory that may be used."""
        return allowance(self.memory)

    @property
    def is_given(self) -> bool:
        """Whether the user set a limit, at which the work ends instead of failing."""
        return not (self.leaves is None and self.seconds is None and self.memory is None)

    @property
    def seconds_left(self) -> float | None:
        """What is left of the time."""
        if self.seconds is None:
            return None
        return max(self.seconds - (time.monotonic() - self.started), 1e-3)


def _exact(
    problem: Problem, effort: Effort, objective: Objective, budget: Budget
) -> dict[str, Any] | None:
    """Compose everything; None where that does not end within the budget."""
    # half of the time is kept for the case that this does not end
    seconds = None if budget.seconds is None else 0.5 * budget.seconds
    nodes = None if budget.leaves is None else 4 * budget.leaves + 1000

    def compose(most: int | None) -> dict[str, Any]:
        return kernels.compose(
            ensemble_arrays(problem.forest, problem.atoms),
            problem.decision.arrays(),
            limits(nodes=most, seconds=seconds, memory=budget.bytes),
            shrinking(effort, objective, memory=budget.bytes, places=problem.places),
        )

    if budget.is_given and problem.forest.n_trees > 1 and (nodes is None or nodes > _SAMPLE):
        began = time.monotonic()
        sample = compose(_SAMPLE)
        took = time.monotonic() - began
        if sample["stopped"] and _is_hopeless(sample, took, budget, nodes=nodes, seconds=seconds):
            return None
    found = compose(nodes)
    if problem.many_classes and not found["stopped"]:
        found = class_of_value(found, problem.forest.n_outputs)
    if problem.forest.n_trees == 1 and objective == "leaves" and effort != "optimal":
        found = _or_the_tree_itself(problem, found)
    if found["stopped"] and not budget.is_given:
        raise does_not_fit(found, budget.bytes)
    if found["stopped"]:
        return None
    if budget.leaves is not None and _n_leaves(found) > budget.leaves:
        return None
    return found


def _is_hopeless(
    sample: Mapping[str, Any],
    took: float,
    budget: Budget,
    *,
    nodes: int | None,
    seconds: float | None,
) -> bool:
    """Whether the first nodes of an exact tree show that it is far too large."""
    # the share done at first is that of the boxes that are easy to decide
    early = sample["early_progress"]
    share = max(sample["progress"] - early, 1e-12) / max(1 - early, 1e-12)
    times = _HOPELESS * share
    return bool(
        (nodes is not None and 0.8 * sample["nodes_made"] > times * nodes)
        or (seconds is not None and took > times * seconds)
        or sample["bytes"] > times * budget.bytes
    )


def _or_the_tree_itself(problem: Problem, found: dict[str, Any]) -> dict[str, Any]:
    """Give the one tree of the ensemble where what was found has more leaves, or nothing was."""
    itself = merged(the_tree_itself(problem.forest, problem.atoms, values=problem.equal == "value"))
    if found["stopped"] or _n_leaves(itself) < _n_leaves(found):
        return found | itself | {"stopped": "", "shrunk": False, "too_large": 0.0}
    return found


def _within(problem: Problem, budget: Budget, n_threads: int) -> dict[str, Any]:
    """Compose where most rows are first, and stop at the budget."""
    rows, places = None, np.empty(0, np.int32)
    if problem.rows is not None:
        rows = with_likely_rows(problem.rows)
        places = problem.atoms.places(rounded(problem.forest, rows))
    found = kernels.compose_within(
        ensemble_arrays(problem.forest, problem.atoms),
        problem.decision.arrays(),
        limits(seconds=budget.seconds_left, memory=budget.bytes),
        {"rows": np.ascontiguousarray(places).ravel(), "classes": _classes(problem, rows)},
        2**62 if budget.leaves is None else int(budget.leaves),
        n_threads,
    )
    if problem.many_classes:
        found = class_of_value(found, problem.forest.n_outputs)
    return found | {"shrunk": False, "too_large": 0.0}


def _classes(problem: Problem, rows: NDArray[np.float64] | None) -> NDArray[np.int32]:
    """Give the position of the class that the ensemble predicts for each row."""
    if rows is None or problem.equal != "class" or problem.many_classes:
        return np.empty(0, np.int32)
    classes = problem.forest.classes
    assert classes is not None  # checked at the door
    order = np.argsort(classes)
    labels = bare(problem.forest).predict(rows)
    return order[np.searchsorted(classes[order], labels)].astype(np.int32)


def _n_leaves(found: Mapping[str, Any]) -> int:
    count = [1] * len(found["left"])
    for node in range(len(count) - 1, -1, -1):
        if found["left"][node] >= 0:
            count[node] = count[found["left"][node]] + count[found["right"][node]]
    return count[0]


def _share(diagram: Diagram, rows: NDArray[np.float64]) -> float:
    return float(diagram.certified[diagram.apply(rows)].mean())


def _fallback(problem: Problem, found: Mapping[str, Any]) -> Forest:
    return restricted(
        # how many rows reached a node is no part of an answer, and would be half of a small file
        replace(problem.forest, cover=np.full(problem.forest.n_nodes, np.nan)),
        problem.atoms,
        low=found["open_low"],
        high=found["open_high"],
        missing=found["open_missing"],
    )


_SAMPLE = 5000  # nodes
_HOPELESS = 100  # times what may be spent, by a rough estimate
_PROOF = (
    "composed: every leaf is a box in which bounds on the sum of trees decide, or all trees are "
    "constant; made smaller only cell by cell"
)
_ALL_BOXES = (
    " among trees that ask only the ensemble's own thresholds and sets of categories, by a "
)
_ALL_BOXES += "table over all boxes of their grid"
_LEAST = {
    "leaves": "; the fewest leaves" + _ALL_BOXES,
    "depth": "; the least depth, and at that depth the fewest leaves," + _ALL_BOXES,
    "questions": "; the fewest questions over the data, and then leaves," + _ALL_BOXES,
}


def _rows(forest: Forest, data: Any) -> NDArray[np.float64]:
    rows = forest.matrix(data)
    if len(rows) == 0:
        raise InputError("the data given has no rows")
    return rows


def _checked(
    forest: Forest, equal: str | None, effort: str, objective: str, tolerance: float | None
) -> Equal:
    for name, given, choices in (
        ("effort", effort, get_args(Effort)),
        ("objective", objective, get_args(Objective)),
        ("equal", equal, (None, *get_args(Equal))),
    ):
        if given not in choices:
            words = [choice for choice in choices if choice is not None]
            raise InputError(f"{name}={given!r} is not known", hint=did_you_mean(str(given), words))
    classifier = forest.classes is not None
    if equal == "class" and not classifier:
        raise InputError(
            f"{forest.source} predicts numbers, not classes",
            hint='leave equal out, or use "value".',
        )
    if effort == "optimal" and equal != "value" and forest.n_outputs > MOST_IN_PAIRS and classifier:
        raise InputError(
            f"the least tree is proved for up to {MOST_IN_PAIRS} classes; this model has "
            f"{forest.n_outputs}",
            hint='effort="good" makes it small.',
        )
    if tolerance is not None:
        if not (math.isfinite(tolerance) and tolerance >= 0):
            raise InputError(f"tolerance={tolerance}; it must be a number that is not negative")
        if equal == "class" or (classifier and equal is None):
            raise InputError(
                "a class has no tolerance: it is equal or it is not",
                hint='use equal="value" to bound the distance from the raw prediction.',
            )
        if forest.aggregation == "weighted median" and tolerance > 0:
            raise InputError(
                "a tolerance is not supported for the weighted median of AdaBoost.R2",
                hint="leave it out; the tree is then exact.",
            )
    if equal is None:
        return "class" if classifier else "value"
    return "class" if equal == "class" else "value"
