"""Make one tree of an ensemble."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Floats
from clearwood._shared.choices import Effort, Equal, Objective
from clearwood._shared.errors import InputError, Option, bad_value, unknown_choice, words
from clearwood._shared.messages import tell
from clearwood._shared.numbers import count, percent
from clearwood.condensing.compose.atoms import atoms_of
from clearwood.condensing.compose.composed import composed_of_tree
from clearwood.condensing.compose.decision import MOST_IN_PAIRS, decision_for
from clearwood.condensing.compose.kernel import (
    Attempt,
    Problem,
    Shrinking,
    Solution,
    compose_all,
    compose_within,
)
from clearwood.condensing.compose.likely_rows import with_likely_rows
from clearwood.condensing.compose.restrict import restricted
from clearwood.condensing.condensed import Condensed
from clearwood.condensing.reading.surrogates import with_surrogates
from clearwood.condensing.tree.budget import (
    Budget,
    DoesNotFitError,
    Limit,
    LittleProvedWarning,
    ProofTooLargeError,
)
from clearwood.condensing.tree.certificate import Certificate, Region
from clearwood.condensing.tree.condensed_tree import bare, shell_of
from clearwood.condensing.tree.diagram import Diagram
from clearwood.condensing.tree.fingerprint import of_diagram, of_forest
from clearwood.condensing.tree.names import with_names_of
from clearwood.forest import Forest, from_model, rounded
from clearwood.kernels import threads

__all__ = ["condense"]

_SAMPLE = 5000  # nodes
_HOPELESS = 100  # times what may be spent, by a rough estimate
# A smaller share of rows that reach certified leaves causes a warning.
_LITTLE = 0.1


def condense(
    model: Any,
    data: Any = None,
    *,
    equal: Equal | None = None,
    effort: Effort = "good",
    objective: Objective = "leaves",
    tolerance: float | None = None,
    leaves: int | None = None,
    nodes: int | None = None,
    time_limit: float | None = None,
    memory: float | None = None,
    n_jobs: int | None = 1,
) -> Condensed:
    """Compute one tree that predicts what an ensemble predicts, at every point.

    Parameters
    ----------
    model
        A fitted tree model (see `clearwood.forest.from_model`) or a `Forest`.
    data
        Rows that matter. The expected number of questions is computed over them, and work under a
        limit goes to them first. A table also brings back names of columns that LightGBM writes
        with underscores.
    equal
        What must be equal: "class", the predicted label (default for classifiers, and a much
        smaller tree), or "value", the raw prediction, so that a classifier's tree and its exports
        have probabilities too.
    effort
        "fast" composes the tree. "good" also makes it smaller, usually within a few per cent of
        the smallest. "optimal" proves that it is the smallest, or raises `ProofTooLargeError`
        before it starts.
    objective
        What is made small: "leaves", "depth", or "questions", the mean number of questions on the
        path of a row of ``data``.
    tolerance
        Largest distance from the raw prediction, for a smaller tree; for ``equal="value"`` only.
    leaves, nodes, time_limit, memory
        Limits: leaves of the tree, nodes made while it is composed, seconds, bytes. Work stops
        there; leaves that are not proved by then are marked, and the ensemble predicts the rows
        that reach them. Without a limit, the exact tree has to fit into 4 GB. With ``leaves``,
        ``nodes`` or ``memory``, and without a limit, the same call gives the same tree on every
        machine, busy or idle, whatever memory is free; with ``time_limit`` it does not.
    n_jobs
        Threads for work under a limit. The tree does not depend on it, unless time ends the work.

    Returns
    -------
    Condensed

    Raises
    ------
    DoesNotFitError
        Where the exact tree does not fit into 4 GB of memory and no limit is set.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import GradientBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, y)
    >>> tree = cw.condense(model)
    >>> bool((tree.predict(X) == model.predict(X)).all()), str(tree.certificate.region)
    (True, 'everywhere')
    """
    budget = Budget.checked(leaves=leaves, nodes=nodes, time_limit=time_limit, memory=memory)
    imported = from_model(model)
    forest = imported if data is None else with_names_of(imported, data)
    _check_choices(equal=equal, effort=effort, objective=objective)
    equal = _equal(forest, equal)
    _check(forest, equal=equal, effort=effort, tolerance=tolerance)
    if objective == "questions" and data is None:
        raise InputError(
            "the mean number of questions is over rows, and there are none",
            parameter="data",
            hint=words("pass rows as ", Option("data"), ", for instance the training table."),
        )
    request = Request(
        problem=_problem(forest, equal=equal, tolerance=tolerance or None),
        rows=None if data is None else _rows(forest, data),
        equal=equal,
        effort=effort,
        objective=objective,
        tolerance=tolerance or None,
        budget=budget,
        n_threads=threads(n_jobs),
    )
    solution = _exact(request) or _within(request)
    diagram = solution.tree.diagram(forest, request.problem.atoms)
    certificate = _certificate(request, solution, diagram, forest=of_forest(imported))
    if not certificate.is_everywhere:
        _warn_of_little(certificate)
    condensed = Condensed(
        diagram=diagram,
        shell=shell_of(forest),
        equal=equal,
        effort=effort,
        objective=objective,
        tolerance=request.tolerance,
        certificate=certificate,
        fallback=None if certificate.is_everywhere else _fallback(forest, request, solution),
    )
    return with_surrogates(condensed, model)


@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """What is condensed, and how; every option is checked."""

    problem: Problem
    rows: Floats | None  # the rows that matter, as the model's columns
    equal: Equal
    effort: Effort
    objective: Objective
    tolerance: float | None
    budget: Budget
    n_threads: int

    @property
    def takes_class_of_scores(self) -> bool:
        """Whether values are composed, from which the class is read: with very many classes."""
        return self.equal == "class" and self.problem.is_of_values

    @cached_property
    def places(self) -> NDArray[np.int32] | None:
        """The rows in ranks."""
        return None if self.rows is None else _places(self.problem, self.rows)


def _exact(request: Request) -> Solution | None:
    """Compose everything; None where the limits do not allow it."""
    budget, forest = request.budget, request.problem.forest
    # half of the time is kept for the case that this does not end
    seconds = None if budget.seconds is None else 0.5 * budget.seconds
    limits = [budget.nodes, None if budget.leaves is None else 4 * budget.leaves + 1000]
    nodes = min((limit for limit in limits if limit is not None), default=None)
    shrinking = Shrinking(
        effort=request.effort,
        objective=request.objective,
        memory=budget.memory,
        places=request.places,
    )

    def compose(nodes: int | None) -> Attempt:
        return compose_all(
            request.problem, shrinking, memory=budget.memory, nodes=nodes, seconds=seconds
        )

    if budget.is_set and forest.n_trees > 1 and (nodes is None or nodes > _SAMPLE):
        sample = compose(_SAMPLE)
        if sample.stopped is not None and _is_hopeless(
            sample, budget, nodes=nodes, seconds=seconds
        ):
            return None
    attempt = compose(nodes)
    solution = None
    if attempt.tree is not None:
        tree = attempt.tree.of_classes() if request.takes_class_of_scores else attempt.tree
        solution = Solution(tree=tree, is_shrunk=attempt.is_shrunk)
    if forest.n_trees == 1 and request.objective == "leaves" and request.effort != "optimal":
        own = composed_of_tree(forest, request.problem.atoms, values=request.equal == "value")
        if solution is None or own.n_leaves < solution.tree.n_leaves:
            solution = Solution(tree=own)
    if solution is None:
        if not budget.is_set:
            raise _does_not_fit(attempt, compose(attempt.n_nodes // 10), memory=budget.memory)
        return None
    if budget.leaves is not None and solution.tree.n_leaves > budget.leaves:
        return None
    if attempt.proof_bytes:
        raise ProofTooLargeError(n_bytes=attempt.proof_bytes, memory=budget.memory)
    return solution


def _is_hopeless(
    sample: Attempt, budget: Budget, *, nodes: int | None, seconds: float | None
) -> bool:
    """Whether the first nodes of an exact tree show that it is far too large."""
    # the share done at first is that of the boxes that are easy to decide
    early = sample.early_progress
    share = max(sample.progress - early, 1e-12) / max(1 - early, 1e-12)
    times = _HOPELESS * share
    return bool(
        (nodes is not None and 0.8 * sample.n_nodes > times * nodes)
        or (seconds is not None and sample.seconds > times * seconds)
        or sample.n_bytes > times * budget.memory
    )


def _does_not_fit(attempt: Attempt, start: Attempt, *, memory: int) -> DoesNotFitError:
    """Estimate the size of the whole tree by the progress after its first nodes.

    The first nodes cover the boxes that are easy to decide, often most of the space. What they
    cover is therefore left out of the rate.
    """
    n_nodes, gained = attempt.n_nodes - start.n_nodes, attempt.progress - start.progress
    if n_nodes <= 0 or gained <= 0:
        n_nodes, gained = attempt.n_nodes, max(attempt.progress, 1e-12)
    return DoesNotFitError(
        n_nodes=attempt.n_nodes,
        share=attempt.progress,
        estimate=attempt.n_nodes + (1 - attempt.progress) * n_nodes / gained,
        memory=memory,
    )


def _within(request: Request) -> Solution:
    """Compose where most rows are first, and stop at the limits."""
    rows = None if request.rows is None else with_likely_rows(request.rows)
    solution = compose_within(
        request.problem,
        memory=request.budget.memory,
        leaves=request.budget.leaves_within,
        seconds=request.budget.seconds_left,
        places=None if rows is None else _places(request.problem, rows),
        classes=None if rows is None or request.problem.is_of_values else _classes(request, rows),
        n_threads=request.n_threads,
    )
    if solution.stopped is Limit.LEAVES and request.budget.leaves_within != request.budget.leaves:
        solution = replace(solution, stopped=Limit.NODES)
    if request.takes_class_of_scores:
        return replace(solution, tree=solution.tree.of_classes())
    return solution


def _places(problem: Problem, rows: Floats) -> NDArray[np.int32]:
    return problem.atoms.places(rounded(problem.forest, rows))


def _classes(request: Request, rows: Floats) -> NDArray[np.int32]:
    """Return the position of the class that the ensemble predicts for each row."""
    forest = request.problem.forest
    assert forest.classes is not None  # validated on entry
    order = np.argsort(forest.classes)
    labels = bare(forest).predict(rows)
    return order[np.searchsorted(forest.classes[order], labels)].astype(np.int32)


def _certificate(
    request: Request, solution: Solution, diagram: Diagram, *, forest: str
) -> Certificate:
    everywhere = bool(diagram.certified.all())
    stopped = None if everywhere else solution.stopped
    rows = request.rows
    return Certificate(
        equal=request.equal,
        region=Region.EVERYWHERE if everywhere else Region.CERTIFIED_LEAVES,
        tolerance=request.tolerance,
        optimal=request.effort == "optimal" and solution.is_shrunk,
        objective=request.objective,
        n_leaves=diagram.n_leaves,
        depth=diagram.depth,
        n_nodes=diagram.n_nodes,
        forest=forest,
        diagram=of_diagram(diagram),
        share_certified=None
        if rows is None
        else float(diagram.certified[diagram.apply(rows)].mean()),
        n_rows=None if rows is None else len(rows),
        stopped=stopped,
        limit=None if stopped is None else request.budget.amount(stopped),
    )


def _warn_of_little(certificate: Certificate) -> None:
    """Warn where so little was proved within the limits that the tree hardly matters."""
    share = certificate.share_certified
    if share is None:
        if certificate.n_leaves > 1:
            return
        result = "nothing was proved: the ensemble predicts every row"
    elif share >= _LITTLE:
        return
    elif share == 0:
        result = (
            f"none of the {count(certificate.n_rows or 0, 'row')} reaches a certified leaf: the "
            "ensemble predicts all of them"
        )
    else:
        result = (
            f"only {percent(share)} of the {count(certificate.n_rows or 0, 'row')} reach a "
            "certified leaf: the ensemble predicts the others"
        )
    limit = certificate.stopped or Limit.LEAVES
    tell(
        words(
            f"{result}. This is where {certificate.ended}: raise ",
            Option(limit.value),
            *((", pass rows that matter as ", Option("data")) if share is None else ()),
            ", use ",
            *((Option("equal", "value"), " with ") if certificate.equal == "class" else ()),
            "a larger " if certificate.tolerance is not None else "a ",
            Option("tolerance"),
            ", or fit fewer or shallower trees",
        ),
        category=LittleProvedWarning,
    )


def _fallback(forest: Forest, request: Request, solution: Solution) -> Forest:
    assert solution.uncertified is not None  # some leaves are not certified
    # how many rows reached a node is not part of a prediction, and would be half of a small file
    without_cover = replace(forest, cover=np.full(forest.n_nodes, np.nan))
    return restricted(without_cover, request.problem.atoms, solution.uncertified)


def _problem(forest: Forest, *, equal: Equal, tolerance: float | None) -> Problem:
    # the composer bounds differences between all pairs of classes, unless they are too many
    by_scores = equal == "class" and forest.n_outputs > MOST_IN_PAIRS
    decision = decision_for(forest, equal="value" if by_scores else equal, tolerance=tolerance)
    return Problem(forest=forest, atoms=atoms_of(forest), decision=decision)


def _rows(forest: Forest, data: Any) -> Floats:
    rows = forest.matrix(data)
    if len(rows) == 0:
        raise InputError(
            "the data has no rows",
            parameter="data",
            hint="leave it out, or pass the training rows.",
        )
    return rows


def _check_choices(*, equal: Any, effort: Any, objective: Any) -> None:
    for name, value, known in (
        ("effort", effort, get_args(Effort)),
        ("objective", objective, get_args(Objective)),
        ("equal", "class" if equal is None else equal, get_args(Equal)),
    ):
        if value not in known:
            raise unknown_choice(name, value, known)


def _equal(forest: Forest, equal: Equal | None) -> Equal:
    if equal is None:
        return "value" if forest.classes is None else "class"
    if equal == "class" and forest.classes is None:
        raise InputError(
            f"{forest.source} predicts numbers, not classes",
            parameter="equal",
            value=equal,
            hint=words("use ", Option("equal", "value"), ", or leave it out."),
        )
    return equal


def _check(forest: Forest, *, equal: Equal, effort: Effort, tolerance: float | None) -> None:
    if effort == "optimal" and equal == "class" and forest.n_outputs > MOST_IN_PAIRS:
        raise InputError(
            f"the smallest tree is proved for up to {MOST_IN_PAIRS} classes; this model has "
            f"{forest.n_outputs}",
            parameter="effort",
            value=effort,
            hint=words("use ", Option("effort", "good"), "."),
        )
    if tolerance is None:
        return
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise bad_value("tolerance", tolerance, "it is a number that is not negative, or None")
    if equal == "class":
        raise InputError(
            "a class has no tolerance: it is equal or it is not",
            parameter="tolerance",
            value=tolerance,
            hint=words(
                "use ", Option("equal", "value"), " to bound the distance from the raw prediction."
            ),
        )
    if forest.aggregation == "weighted median" and tolerance > 0:
        raise InputError(
            "a tolerance is not supported for the weighted median of AdaBoost.R2",
            parameter="tolerance",
            value=tolerance,
            hint="leave it out; the tree is then exact.",
        )
