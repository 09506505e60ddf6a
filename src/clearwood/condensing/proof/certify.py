"""A separate checker of whether a condensed tree says what the ensemble says.

It shares nothing with the composer but the forest. Diagram and ensemble are walked together, box
by box, from the diagram's questions; trees are restricted to the box, and a leaf is proved as soon
as bounds on what the trees can still add leave no other outcome. Where no bound decides, the box is
divided by the trees' own questions until every tree is constant, and the library's own sum, in its
order and precision, decides.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood import kernels
from clearwood._shared.errors import InputError
from clearwood.condensing.compose.whole_sums import whole_sums
from clearwood.condensing.condensed import Condensed, shell_of
from clearwood.condensing.proof import fingerprint as _fingerprint
from clearwood.condensing.proof.certification import Certification
from clearwood.condensing.proof.joint_ranks import JointRanks, joint_ranks
from clearwood.condensing.reading.names import as_written
from clearwood.forest import Forest, from_model
from clearwood.forest.links import predict as on_scale

__all__ = ["certify"]

_MODES = {"class": 0, "value": 1, "tolerance": 2, "median": 3}
_PROVED, _REFUTED, _TIME, _MEMORY = range(4)
# What a shell shares with its ensemble. Arrays of nodes are what differs.
_SETTINGS = (
    "aggregation",
    "link",
    "temperature",
    "precision",
    "accumulate",
    "zero_is_positive",
    "missing_value",
    "levels",
)


def certify(
    condensed: Condensed | str | os.PathLike[str],
    model: Any,
    *,
    seconds: float | None = None,
    memory: float | None = None,
) -> Certification:
    """Prove that a condensed tree says what a model says, or find a row where it does not.

    Parameters
    ----------
    condensed
        What `clearwood.condense` gave, or the JSON file it was written to.
    model
        The ensemble: a fitted model, a `clearwood.forest.Forest`, or a file of one.
    seconds
        Give up after this long; without it, as long as it takes.
    memory
        Give up at this many bytes; without it, 8e9.

    Returns
    -------
    Certification
        True where the claim of the certificate was proved for every row of the region it names:
        any numbers, missing values (where the model has a rule for them) and categories, seen or
        not. Otherwise ``counterexample`` is a row where they differ, unless time or memory ran
        out first.

    Notes
    -----
    Equality is that of the model's matrix: what an encoder in front of it makes of the user's
    columns is not looked at. States already proved are told apart by 128-bit hashes.

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
    tree = _tree_of(condensed)
    forest = _forest_of(model)
    for name, limit in (("seconds", seconds), ("memory", memory)):
        if limit is not None and not limit > 0:
            raise InputError(f"{name}={limit!r} leaves no room to work", hint="give more than 0.")
    same_model = _fingerprint.of_forest(forest) == tree.certificate.forest
    same_tree = _fingerprint.of_diagram(tree.diagram) == tree.certificate.diagram
    _refuse_other_columns(tree, forest)
    told: dict[str, Any] = {"same_model": same_model, "same_tree": same_tree}
    if other := _other_settings(tree, forest):
        found = _by_settings(tree, forest, other)
        return replace(found, **told)
    ranks = joint_ranks([tree.diagram, forest], forest.n_features, missing=forest.accepts_missing)
    outcome = kernels.certify(
        ranks.arrays(),
        _ensemble(forest, ranks.cut[1]),
        _claim(tree, forest, ranks.cut[0]),
        float(seconds or 0.0),
        float(memory or 8e9),
    )
    told["n_states"] = outcome["n_states"]
    return replace(_judged(tree, forest, ranks, outcome, same_model=same_model), **told)


def _tree_of(condensed: Any) -> Condensed:
    if isinstance(condensed, Condensed):
        return condensed
    if isinstance(condensed, str | os.PathLike):
        from clearwood.condensing.export.json import load

        return load(condensed, check=False)
    raise InputError(
        f"certify takes a condensed tree or its JSON file; got {type(condensed).__name__}",
        hint="cw.certify(cw.condense(model), model).",
    )


def _forest_of(model: Any) -> Forest:
    if isinstance(model, str | os.PathLike):
        from clearwood import files
        from clearwood.forest import load as load_forest
        from clearwood.models import load as load_model

        kind = files.read(model).manifest.kind
        model = load_forest(model) if kind == "forest" else load_model(model)
    return from_model(model)


def _refuse_other_columns(tree: Condensed, forest: Forest) -> None:
    if [*map(as_written, tree.feature_names)] != [*map(as_written, forest.feature_names)]:
        raise InputError(
            "the certificate is for another model: its columns are "
            f"{_listed(tree.feature_names)}, the model's {_listed(forest.feature_names)}",
            hint="give the model that was condensed.",
        )
    if tree.equal == "value" and tree.diagram.n_outputs != forest.n_outputs:
        raise InputError(
            f"the certificate is for another model: its predictions have "
            f"{tree.diagram.n_outputs} outputs, the model's {forest.n_outputs}",
            hint="give the model that was condensed.",
        )
    one, two = tree.classes, forest.classes
    if (one is None) != (two is None) or (
        one is not None and two is not None and sorted(map(str, one)) != sorted(map(str, two))
    ):
        names = ["numbers" if c is None else _listed(tuple(map(str, c))) for c in (one, two)]
        raise InputError(
            f"the certificate is for another model: it predicts {names[0]}, the model {names[1]}",
            hint="give the model that was condensed.",
        )


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return shown + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _other_settings(tree: Condensed, forest: Forest) -> str | None:
    """Name a setting that shows raw predictions differently, where there is one."""
    if forest.classes is not None and list(tree.classes) != list(forest.classes):  # type: ignore[arg-type]
        return "classes"
    shell = shell_of(forest)
    for name in _SETTINGS:
        if getattr(tree.shell, name) != getattr(shell, name):
            return name
    return None


def _by_settings(tree: Condensed, forest: Forest, setting: str) -> Certification:
    """Look for a row where reading predictions differently makes a difference."""
    reason = f"the tree was written for a model with other {setting.replace('_', ' ')}"
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
            return _differing(tree, forest, row, reason)
    return Certification(proved=False, reason=reason)


def _ensemble(forest: Forest, cut: NDArray[np.int32]) -> dict[str, Any]:
    sums = whole_sums(forest)
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


def _claim(tree: Condensed, forest: Forest, cut: NDArray[np.int32]) -> dict[str, Any]:
    diagram = tree.diagram
    sums = whole_sums(forest)
    mode: str = tree.equal
    if tree.equal == "value" and tree.tolerance is not None:
        mode = "tolerance"
    if forest.aggregation == "weighted median":
        mode = "median"
    tolerance = tree.tolerance or 0.0
    lower, upper, value = diagram.lower, diagram.upper, diagram.value
    least = greatest = np.empty(0, np.int64)
    if mode == "tolerance":
        with np.errstate(invalid="ignore"):
            least, greatest = sums.inward(
                np.maximum(lower, value - tolerance), np.minimum(upper, value + tolerance)
            )
    cut_sum, exact_cut = 0, 0.0
    if tree.equal == "class" and forest.n_outputs == 1:
        cut_sum, exact_cut = sums.cut(forest)
    certified = diagram.certified
    if tree.equal == "value" and tree.tolerance is None:
        # the bounds kept beside an exact value are part of the claim
        exact = ((lower == value) & (upper == value)).all(axis=1) | ~certified
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
        "lower": lower,
        "upper": upper,
        "least": least,
        "greatest": greatest,
        "error": sums.error,
        "ties_exact": sums.exact,
        "cut_sum": cut_sum,
        "exact_cut": exact_cut,
        "tolerance": tolerance,
    }


def _judged(
    tree: Condensed,
    forest: Forest,
    ranks: JointRanks,
    outcome: Mapping[str, Any],
    *,
    same_model: bool,
) -> Certification:
    if outcome["verdict"] == _REFUTED:
        row = ranks.point(outcome["box"], forest.levels)
        reason = "tree and ensemble differ"
        if not same_model:
            reason = "the certificate is for another model, and the two differ"
        return _differing(tree, forest, row, reason)
    if outcome["verdict"] in (_TIME, _MEMORY):
        what = "time" if outcome["verdict"] == _TIME else "memory"
        return Certification(
            proved=False, reason=f"{what} ran out after {outcome['n_states']:,} states, none wrong"
        )
    for leaf, box in outcome["open"]:
        row = ranks.point(box, forest.levels)
        raw = replace(forest, **_bare(forest)).predict_raw(row[None, :]).reshape(-1)
        if not np.array_equal(raw, tree.diagram.value[leaf]):
            return _differing(tree, forest, row, "tree and ensemble differ")
    return Certification(proved=True, reason=_claimed(tree, same_model=same_model))


def _claimed(tree: Condensed, *, same_model: bool) -> str:
    what = "same class" if tree.equal == "class" else "same value"
    if tree.tolerance is not None:
        what = f"value within {tree.tolerance:g}"
    where = "everywhere" if tree.diagram.certified.all() else "at certified leaves"
    note = "" if same_model else " (though the certificate names another model)"
    return f"{what} {where}{note}"


def _bare(forest: Forest) -> dict[str, Any]:
    return {"encoder": None, "missing_value": None, "levels": (None,) * forest.n_features}


def _predictions(tree: Condensed, forest: Forest, row: NDArray[np.float64]) -> tuple[Any, Any]:
    """Give what both predict for a row of the model's matrix."""
    raw = replace(forest, **_bare(forest)).predict_raw(row[None, :])
    leaf = int(tree.diagram.apply(row[None, :])[0])
    if tree.equal == "class":
        labels = tree.classes
        assert labels is not None
        outcome = int(tree.diagram.outcome[leaf])
        mine = labels[outcome] if 0 <= outcome < len(labels) else None
        return _scalar(mine), _scalar(on_scale(forest, raw)[0])
    return _scalar(tree.diagram.value[leaf]), _scalar(np.atleast_1d(raw[0]))


def _scalar(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.tolist()
        return value[0] if len(value) == 1 else value
    return value.item() if isinstance(value, np.generic) else value


def _differing(
    tree: Condensed, forest: Forest, row: NDArray[np.float64], reason: str
) -> Certification:
    of_tree, of_ensemble = _predictions(tree, forest, row)
    return Certification(
        proved=False,
        reason=reason,
        counterexample=_in_words(forest, row),
        row=row,
        of_tree=of_tree,
        of_ensemble=of_ensemble,
    )


def _in_words(forest: Forest, row: NDArray[np.float64]) -> dict[str, Any]:
    """Give a row of the matrix under its columns' names, with categories by theirs."""
    point: dict[str, Any] = {}
    for name, levels, x in zip(forest.feature_names, forest.levels, row.tolist(), strict=True):
        if np.isnan(x):
            point[name] = None
        elif levels is not None and x == int(x) and 0 <= x < len(levels):
            point[name] = levels[int(x)]
        else:
            point[name] = x
    return point
