"""Choosing the columns of a learner by the method that ``select=`` names."""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.arrays import Bools, Floats
from clearwood._shared.errors import InputError, Option, words
from clearwood.models.selection.candidates import Candidates, candidates
from clearwood.models.selection.result import Selection
from clearwood.models.selection.spec import Spec
from clearwood.table import Table, Task

__all__ = ["select_columns"]

#: Selections that are remembered: tuning fits many settings to the same rows.
_REMEMBERED = 16
_memory: "OrderedDict[str, Selection]" = OrderedDict()
_lock = Lock()


def select_columns(
    spec: Spec,
    table: Table,
    target: NDArray[Any],
    weight: Floats | None,
    *,
    task: Task,
    seed: int,
    make: Callable[[Sequence[str]], Any],
) -> Selection:
    """Choose columns of a table.

    Parameters
    ----------
    spec
        Method, number of columns and options.
    table
        The training rows.
    target
        Numbers, or positions of classes.
    weight
        Of the rows; nothing is learned from rows of weight 0.
    task
        What is predicted.
    seed
        Fixes every random choice.
    make
        Makes an unfitted learner for some columns, for wrappers.
    """
    spec.check(len(table.features))
    if spec.method.family == "wrapper":
        return _select(spec, table, target, weight, task, seed, make)
    key = _digest(spec, table, target, weight, task, seed)
    with _lock:
        known = _memory.get(key)
    if known is None:
        known = _select(spec, table, target, weight, task, seed, make)
        with _lock:
            _memory[key] = known
            while len(_memory) > _REMEMBERED:
                _memory.popitem(last=False)
    return known


def _select(
    spec: Spec,
    table: Table,
    target: NDArray[Any],
    weight: Floats | None,
    task: Task,
    seed: int,
    make: Callable[[Sequence[str]], Any],
) -> Selection:
    these = candidates(table, target, weight, task, seed)
    if (these.target == these.target[0]).all():
        # no column can inform about a target that is the same everywhere
        scores, chosen = np.zeros(len(these)), np.zeros(len(these), bool)
    elif spec.method.family == "wrapper":
        scores, chosen = _wrapped(spec, these, table, weight, make)
    else:
        scores, chosen = _CHOOSE[spec.method.name](these, spec)
    by_name = dict(zip(these.names, scores, strict=True))
    names = {name for name, is_chosen in zip(these.names, chosen, strict=True) if is_chosen}
    return Selection(
        spec.text,
        table.features,
        np.array([by_name.get(name, np.nan) for name in table.features]),
        tuple(name for name in table.features if name in names),
        these.left_out,
        these.n_rows,
        seed,
    )


def _highest(scores: Floats, n: int) -> Bools:
    """Return the columns with the highest scores; of equal ones those that come first."""
    chosen = np.zeros(len(scores), bool)
    chosen[np.argsort(-scores, kind="stable")[:n]] = True
    return chosen


Chosen = tuple[Floats, Bools]


def _filtered(name: str) -> Callable[[Candidates, Spec], Chosen]:
    """Return a choice by one of the scores of single columns."""

    def choose(these: Candidates, spec: Spec) -> Chosen:
        from clearwood.models.selection import filters

        scores = getattr(filters, name)(these)
        return scores, _highest(scores, spec.count(len(these)))

    return choose


def _relief(these: Candidates, spec: Spec) -> Chosen:
    from clearwood.models.selection.filters import relief

    scores = relief(these, int(spec.options["neighbours"]))
    return scores, _highest(scores, spec.count(len(these)))


def _mrmr(these: Candidates, spec: Spec) -> Chosen:
    from clearwood.models.selection.filters import mrmr

    scores, order = mrmr(these, spec.count(len(these)))
    return scores, np.isin(np.arange(len(these)), order)


def _lasso(these: Candidates, spec: Spec) -> Chosen:
    from clearwood.models.selection.lasso import lasso

    entered, sizes = lasso(these)
    if spec.n is None:
        return entered, sizes > 0
    return entered, _highest(entered, spec.count(len(these)))


def _trees(these: Candidates, spec: Spec) -> Chosen:
    from clearwood.models.selection.forests import trees

    scores = trees(these)
    if spec.n is None:
        return scores, scores >= scores.mean()
    return scores, _highest(scores, spec.count(len(these)))


def _boruta(these: Candidates, spec: Spec) -> Chosen:
    from clearwood.models.selection.forests import boruta

    return boruta(these, int(spec.options["rounds"]), spec.options["level"])


def _stability(these: Candidates, spec: Spec) -> Chosen:
    from clearwood.models.selection.lasso import entering, stability

    threshold = spec.options["threshold"]
    first = entering(spec.options["errors"], threshold, len(these))
    if spec.n is None:
        scores = stability(these, first)
        return scores, scores >= threshold
    scores = stability(these, max(first, spec.n))
    return scores, _highest(scores, spec.count(len(these)))


def _knockoffs(these: Candidates, spec: Spec) -> Chosen:
    from clearwood.models.selection.lasso import knockoffs, leading

    fdr = spec.options["fdr"]
    fewest = int(np.ceil(1 / fdr - 1e-9))
    if len(these) < fewest:
        raise InputError(
            words(
                Option("select", spec.text),
                f": a false discovery rate of {fdr:g} can only be shown for {fewest} or more "
                f"columns at a time, and there are {len(these)}",
            ),
            parameter="select",
            value=spec.text,
            hint=words(
                "allow a higher rate with the method's option fdr, or use ",
                Option("select", "stability"),
                " or ",
                Option("select", "boruta"),
                ".",
            ),
        )
    leads = knockoffs(these)
    return leads, leading(leads, fdr)


_CHOOSE: dict[str, Callable[[Candidates, Spec], Chosen]] = {
    "correlation": _filtered("correlation"),
    "anova": _filtered("anova"),
    "chi2": _filtered("chi2"),
    "mutual-information": _filtered("mutual_information"),
    "relief": _relief,
    "mrmr": _mrmr,
    "lasso": _lasso,
    "trees": _trees,
    "boruta": _boruta,
    "stability": _stability,
    "knockoffs": _knockoffs,
}


def _wrapped(
    spec: Spec,
    these: Candidates,
    table: Table,
    weight: Floats | None,
    make: Callable[[Sequence[str]], Any],
) -> Chosen:
    from clearwood.models.selection.wrappers import WrapperProblem, recursive, sequential

    weights = None if weight is None else np.asarray(weight)[these.rows]
    problem = WrapperProblem(make, table.select(these.names).take(these.rows), these, weights)
    n = spec.count(len(these))
    if spec.method.name == "recursive":
        return recursive(problem, n)
    forward = spec.method.name == "forward"
    return sequential(problem, n, forward=forward, folds=int(spec.options["folds"]))


def _digest(
    spec: Spec,
    table: Table,
    target: NDArray[Any],
    weight: Floats | None,
    task: Task,
    seed: int,
) -> str:
    """Return a digest of everything that decides a selection."""
    digest = hashlib.sha256(repr((spec.text, str(task), seed, table.n_rows)).encode())
    arrays = [target, *([] if weight is None else [weight])]
    if table.groups is not None:
        arrays.append(np.unique(table.groups, return_inverse=True)[1])
    for name in table.features:
        column = table.column(name)
        digest.update(repr((name, str(column.kind), column.levels)).encode())
        if column.values.dtype != object:  # text, which is not a candidate
            arrays.append(column.values)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
