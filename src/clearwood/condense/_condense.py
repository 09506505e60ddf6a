"""Make one tree of an ensemble."""

import math
from typing import Any, get_args

from clearwood._errors import InputError, did_you_mean
from clearwood.condense._atoms import atoms_of
from clearwood.condense._certificate import Certificate
from clearwood.condense._condensed import Condensed, Effort, Equal, Objective, shell_of
from clearwood.condense._decision import decision_for
from clearwood.condense._diagram import Diagram
from clearwood.condense._fingerprint import of_diagram, of_forest
from clearwood.condense._kernel import diagram_from, ensemble_arrays, limits
from clearwood.condense._memory import allowance
from clearwood.forest import Forest, from_model
from clearwood.kernels import _core

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
    n_jobs: int = 1,
    seed: int = 0,
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
        are theirs.
    leaves, seconds, memory
        A budget (memory in bytes): work stops there, and leaves that are not proved by then are
        marked and answered by the ensemble itself.
    n_jobs, seed
        Threads, and the seed of what is sampled.

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
    forest = from_model(model)
    equal = _checked(forest, equal, effort, objective, tolerance)
    decision = decision_for(forest, equal=equal, tolerance=tolerance or None)
    atoms = atoms_of(forest)
    found = _core.compose(
        ensemble_arrays(forest, atoms),
        decision.arrays(),
        limits(memory=allowance(memory), seconds=seconds),
    )
    diagram = diagram_from(found, forest, atoms, values=equal == "value")
    return Condensed(
        diagram=diagram,
        shell=shell_of(forest),
        equal=equal,
        effort=effort,
        objective=objective,
        tolerance=tolerance or None,
        certificate=_certificate(forest, diagram, equal, objective, tolerance),
    )


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


def _certificate(
    forest: Forest, diagram: Diagram, equal: Equal, objective: Objective, tolerance: float | None
) -> Certificate:
    return Certificate(
        equal=equal,
        region="everywhere",
        tolerance=tolerance or None,
        proof="composed: every leaf is a box in which bounds on the sum of trees decide",
        optimal=False,
        objective=objective,
        n_leaves=diagram.n_leaves,
        depth=diagram.depth,
        n_nodes=diagram.n_nodes,
        forest=of_forest(forest),
        diagram=of_diagram(diagram),
    )
