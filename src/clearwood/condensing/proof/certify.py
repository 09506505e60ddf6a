"""A separate checker of whether a condensed tree predicts what the ensemble predicts.

It shares no code with the composer, so that a mistake in one cannot hide in the other: nothing in
this package imports from ``compose``, and ranks and bounds are computed here a second time. Diagram
and ensemble are walked together, box by box, from the diagram's questions; trees are restricted to
the box, and a leaf is proved as soon as bounds on what the trees can still add leave no other
outcome. Where no bound decides, the box is divided by the trees' own questions until every tree is
constant, and the library's own sum, in its order and precision, decides.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood import kernels
from clearwood._shared.arrays import Floats
from clearwood._shared.clock import Clock
from clearwood._shared.errors import Call, InputError, words
from clearwood._shared.names import listed
from clearwood.condensing.proof.joint_ranks import JointRanks, joint_ranks
from clearwood.condensing.proof.whole_sums import WholeSums, whole_sums
from clearwood.condensing.tree.budget import checked_memory
from clearwood.condensing.tree.certificate import Certification, Verdict, claim
from clearwood.condensing.tree.condensed_tree import CondensedTree, bare, shell_of
from clearwood.condensing.tree.fingerprint import of_diagram, of_forest
from clearwood.condensing.tree.json import read_file
from clearwood.condensing.tree.names import as_written
from clearwood.forest import Forest, from_model, links

__all__ = ["certify"]

_MODES = {"class": 0, "value": 1, "tolerance": 2, "median": 3}
_VERDICTS = (Verdict.PROVED, Verdict.DIFFERENT, Verdict.OUT_OF_TIME, Verdict.OUT_OF_MEMORY)
# What a shell shares with its ensemble. Arrays of nodes are what differs.
_SETTINGS = (
    "aggregation",
    "link",
    "temperature",
    "precision",
    "accumulate",
    "zero_is_positive",
    "positive_above",
    "missing_value",
    "levels",
)


def certify(
    condensed: CondensedTree | str | os.PathLike[str],
    model: Any,
    *,
    time_limit: float | None = None,
    memory: float | None = None,
) -> Certification:
    """Prove that a condensed tree predicts what a model predicts, or find a row where it does not.

    Parameters
    ----------
    condensed
        A condensed tree, or the JSON file it was written to.
    model
        The ensemble: a fitted model, a `clearwood.forest.Forest`, or a file of one.
    time_limit
        Give up after this many seconds; without it, never.
    memory
        Give up at this many bytes; by default at 4 GB.

    Returns
    -------
    Certification
        True where the claim of the certificate is proved for every row of the region it names:
        any numbers, missing values (where the model has a rule for them) and categories, seen or
        not. Otherwise ``counterexample`` is a row where they differ, unless time or memory ran
        out first.

    Notes
    -----
    The two are compared on the model's matrix; an encoder in front of the model is not checked.
    States that are proved already are recognised by 128-bit hashes.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(5, max_depth=2, random_state=0).fit(X, y)
    >>> cw.certify(cw.condense(forest), forest)
    Proved: same class everywhere
    """
    clock, n_bytes = Clock.started_now(time_limit), checked_memory(memory)
    tree = _tree_of(condensed)
    forest = _forest_of(model)
    _refuse_other_model(tree, forest)
    same_model = of_forest(forest) == tree.certificate.forest
    same_tree = of_diagram(tree.diagram) == tree.certificate.diagram
    where = "everywhere" if tree.diagram.certified.all() else "at certified leaves"
    result = Certification(
        verdict=Verdict.PROVED,
        claim=f"{claim(tree.equal, tree.tolerance)} {where}",
        same_model=same_model,
        same_tree=same_tree,
    )
    if setting := _other_setting(tree, forest):
        row = _differing_row(tree, forest)
        result = replace(result, verdict=Verdict.OTHER_SETTINGS, setting=setting)
        return result if row is None else _with_row(result, tree, forest, row)
    ranks = joint_ranks([tree.diagram, forest], forest.n_features, missing=forest.accepts_missing)
    sums = whole_sums(forest)
    outcome = kernels.certify(
        ranks.arrays(),
        _ensemble(forest, sums, ranks.cut[1]),
        _claim(tree, forest, sums, ranks.cut[0]),
        0.0 if clock.time_limit is None else max(clock.left, 1e-3),  # 0 is no limit
        float(n_bytes),
    )
    row = _counterexample(tree, forest, ranks, outcome)
    result = replace(result, verdict=_VERDICTS[outcome["verdict"]], n_states=outcome["n_states"])
    if row is None:
        return result
    return _with_row(replace(result, verdict=Verdict.DIFFERENT), tree, forest, row)


def _tree_of(condensed: Any) -> CondensedTree:
    if isinstance(condensed, CondensedTree):
        return condensed
    if isinstance(condensed, str | os.PathLike):
        return read_file(condensed, CondensedTree, check=False)
    raise InputError(
        f"certify takes a condensed tree or its JSON file, not {type(condensed).__name__}",
        parameter="condensed",
        value=condensed,
        hint=words("call ", Call("certify", ("cw.condense(model)", "model")), "."),
    )


def _forest_of(model: Any) -> Forest:
    if isinstance(model, str | os.PathLike):
        from clearwood import files
        from clearwood.forest import load as load_forest
        from clearwood.models import load as load_model

        kind = files.read(model).manifest.kind
        model = load_forest(model) if kind == "forest" else load_model(model)
    return from_model(model)


def _refuse_other_model(tree: CondensedTree, forest: Forest) -> None:
    sides: list[str] = []
    one, two = tree.classes, forest.classes
    if [*map(as_written, tree.feature_names)] != [*map(as_written, forest.feature_names)]:
        sides = [f"has the columns {listed(x.feature_names, most=5)}" for x in (tree, forest)]
    elif tree.equal == "value" and tree.diagram.n_outputs != forest.n_outputs:
        sides = [f"has {n} outputs" for n in (tree.diagram.n_outputs, forest.n_outputs)]
    elif _sorted_labels(one) != _sorted_labels(two):
        sides = [
            "predicts numbers" if c is None else f"predicts {listed(map(str, c), most=5)}"
            for c in (one, two)
        ]
    if sides:
        raise InputError(
            f"the tree is of another model: it {sides[0]}, the model {sides[1]}",
            parameter="model",
            hint="pass the model that was condensed.",
        )


def _sorted_labels(classes: NDArray[Any] | None) -> list[str] | None:
    return None if classes is None else sorted(map(str, classes))


def _other_setting(tree: CondensedTree, forest: Forest) -> str | None:
    """Name a setting that shows raw predictions differently, where there is one."""
    if forest.classes is not None and list(tree.classes) != list(forest.classes):  # type: ignore[arg-type]
        return "classes"
    shell = shell_of(forest)
    for name in _SETTINGS:
        if getattr(tree.shell, name) != getattr(shell, name):
            return name
    return None


def _differing_row(tree: CondensedTree, forest: Forest) -> Floats | None:
    """Draw rows until tree and ensemble, which have other settings, differ at one."""
    ranks = joint_ranks([forest, tree.diagram], forest.n_features)
    rng = np.random.default_rng(0)
    for _ in range(200):
        box: list[Any] = []
        for column in ranks.columns:
            if column.is_set:
                box.append([int(rng.integers(len(column.places)))])
            else:
                rank = int(rng.integers(len(column.cuts) + 1))
                box.append((rank, rank, False))
        row = ranks.point(box, forest.levels)
        of_tree, of_ensemble = _predictions(tree, forest, row)
        if of_tree != of_ensemble:
            return row
    return None


def _ensemble(forest: Forest, sums: WholeSums, cut: NDArray[np.int32]) -> dict[str, Any]:
    return {
        "feature": np.where(forest.is_leaf, -1, forest.feature).astype(np.int32),
        "cut": cut,
        "default_left": forest.default_left.astype(np.int32),
        "left": forest.left,
        "right": forest.right,
        "roots": forest.roots,
        "tree_output": forest.tree_output,
        "node_output": forest.tree_output[forest.node_tree],
        "gain": sums.gain,
        "gain_low": sums.low,
        "gain_high": sums.high,
        "base": forest.base,
        "divisor": sums.divisor,
        "weight": forest.tree_weight,
        "base_low": sums.base_low,
        "base_high": sums.base_high,
        "single": forest.accumulate == "float32",
        "divides": forest.aggregation not in ("sum", "weighted median"),
    }


def _claim(
    tree: CondensedTree, forest: Forest, sums: WholeSums, cut: NDArray[np.int32]
) -> dict[str, Any]:
    diagram = tree.diagram
    mode: str = tree.equal
    if tree.equal == "value" and tree.tolerance is not None:
        mode = "tolerance"
    if forest.aggregation == "weighted median":
        mode = "median"
    tolerance = tree.tolerance or 0.0
    low, high, value = diagram.low, diagram.high, diagram.value
    least = greatest = np.empty(0, np.int64)
    if mode == "tolerance":
        with np.errstate(invalid="ignore"):
            least, greatest = sums.inward(
                np.maximum(low, value - tolerance), np.minimum(high, value + tolerance)
            )
    cut_sum, exact_cut = 0, 0.0
    if tree.equal == "class" and forest.n_outputs == 1:
        cut_sum, exact_cut = sums.cut(forest)
    certified = diagram.certified
    if tree.equal == "value" and tree.tolerance is None:
        # the bounds kept beside an exact value are part of the claim
        exact = ((low == value) & (high == value)).all(axis=1) | ~certified
        value = np.where((exact | ~diagram.is_leaf)[:, None], value, np.nan)
    return {
        "feature": diagram.feature,
        "cut": cut,
        "default_left": diagram.default_left.astype(np.int32),
        "left": diagram.left,
        "right": diagram.right,
        "mode": _MODES[mode],
        "outcome": diagram.outcome,
        "certified": certified.astype(np.int32),
        "value": np.ascontiguousarray(value),
        "lower": low,
        "upper": high,
        "least": least,
        "greatest": greatest,
        "error": sums.error,
        "ties_exact": sums.exact,
        "cut_sum": cut_sum,
        "exact_cut": exact_cut,
        "tolerance": tolerance,
    }


def _counterexample(
    tree: CondensedTree, forest: Forest, ranks: JointRanks, outcome: Mapping[str, Any]
) -> Floats | None:
    """Return a row at which the two differ, if the kernel or a leaf that it left open has one."""
    verdict = _VERDICTS[outcome["verdict"]]
    if verdict is Verdict.DIFFERENT:
        return ranks.point(outcome["box"], forest.levels)
    if verdict is Verdict.PROVED:
        for leaf, box in outcome["open"]:
            row = ranks.point(box, forest.levels)
            raw = bare(forest).predict_raw(row[None, :]).reshape(-1)
            if not np.array_equal(raw, tree.diagram.value[leaf]):
                return row
    return None


def _predictions(tree: CondensedTree, forest: Forest, row: Floats) -> tuple[Any, Any]:
    """Return what both predict for a row of the model's matrix."""
    raw = bare(forest).predict_raw(row[None, :])
    leaf = int(tree.diagram.apply(row[None, :])[0])
    if tree.equal == "class":
        labels = tree.classes
        assert labels is not None
        outcome = int(tree.diagram.outcome[leaf])
        label = labels[outcome] if 0 <= outcome < len(labels) else None
        return _scalar(label), _scalar(links.predict(forest, raw)[0])
    return _scalar(tree.diagram.value[leaf]), _scalar(np.atleast_1d(raw[0]))


def _scalar(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.tolist()
        return value[0] if len(value) == 1 else value
    return value.item() if isinstance(value, np.generic) else value


def _with_row(
    result: Certification, tree: CondensedTree, forest: Forest, row: Floats
) -> Certification:
    of_tree, of_ensemble = _predictions(tree, forest, row)
    return replace(
        result,
        counterexample=_in_words(forest, row),
        row=row,
        of_tree=of_tree,
        of_ensemble=of_ensemble,
    )


def _in_words(forest: Forest, row: Floats) -> dict[str, Any]:
    """Return a row of the matrix under its columns' names, with categories by theirs."""
    point: dict[str, Any] = {}
    for name, levels, x in zip(forest.feature_names, forest.levels, row.tolist(), strict=True):
        if np.isnan(x):
            point[name] = None
        elif levels is not None and x == int(x) and 0 <= x < len(levels):
            point[name] = levels[int(x)]
        else:
            point[name] = x
    return point
