"""A condensed tree as an ONNX model."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.errors import MissingExtraError
from clearwood.condensing.export.common import exported_predictions, refuse_many_leaves
from clearwood.condensing.reading.questions import (
    Labels,
    Question,
    leaf_values,
    questions,
    value_names,
)
from clearwood.condensing.tree.condensed_tree import CondensedTree

__all__ = ["to_onnx"]

_MOST_LEAVES = 1_000_000


def to_onnx(condensed: CondensedTree) -> Any:
    """Return an ONNX model, as the onnx package has it.

    Its input ``X`` is a matrix of doubles as `Condensed.matrix` gives it: the model's columns,
    codes for categories, NaN for missing. Its output ``prediction`` has one label or number a
    row. The tree is one TreeEnsembleRegressor in double precision that finds the leaf, whose
    prediction is looked up, so that none is rounded. For a classifier condensed with
    ``equal="value"`` there is a second output of doubles: ``probabilities``, one row each and one
    column per class, or ``score`` where the model's score is not a probability.

    Returns
    -------
    onnx.ModelProto
        ``onnx.save`` writes it.
    """
    predictions = exported_predictions(condensed, "ONNX")
    try:
        import onnx
        from onnx import TensorProto, helper, numpy_helper
    except ImportError as error:
        raise MissingExtraError("ONNX export", extra="onnx") from error
    refuse_many_leaves(condensed.n_leaves, _MOST_LEAVES, "ONNX")
    tree = _unfolded(condensed)
    order = sorted(predictions)
    number = {node: k for k, node in enumerate(order)}
    values, kind = _table([predictions[node] for node in order])
    if kind == TensorProto.STRING:
        table = helper.make_tensor("answers", kind, [len(values)], [v.encode() for v in values])
    else:
        table = numpy_helper.from_array(values, "answers")
    leaves = [at for at, node in enumerate(tree) if node.leaf >= 0]
    weights = np.array([number[tree[at].leaf] for at in leaves], np.float64)
    values_of_nodes = np.array([node.value for node in tree])
    n = len(tree)
    ensemble = helper.make_node(
        "TreeEnsembleRegressor",
        ["X"],
        ["leaf"],
        domain="ai.onnx.ml",
        nodes_treeids=[0] * n,
        nodes_nodeids=list(range(n)),
        nodes_featureids=[node.feature for node in tree],
        nodes_modes=[node.mode for node in tree],
        nodes_values_as_tensor=numpy_helper.from_array(values_of_nodes, "values"),
        nodes_truenodeids=[node.true for node in tree],
        nodes_falsenodeids=[node.false for node in tree],
        nodes_missing_value_tracks_true=[node.missing_true for node in tree],
        target_treeids=[0] * len(leaves),
        target_nodeids=leaves,
        target_ids=[0] * len(leaves),
        target_weights_as_tensor=numpy_helper.from_array(weights, "leaves"),
        n_targets=1,
    )
    steps = [
        ensemble,
        helper.make_node("Cast", ["leaf"], ["position"], to=TensorProto.INT64),
        helper.make_node("Reshape", ["position", "flat"], ["row"]),
        helper.make_node("Gather", ["answers", "row"], ["prediction"]),
    ]
    outputs = [helper.make_tensor_value_info("prediction", kind, ["rows"])]
    constants = [table, numpy_helper.from_array(np.array([-1], np.int64), "flat")]
    if names := value_names(condensed):
        held = leaf_values(condensed)
        numbers = np.array([held[node] for node in order])
        if names == ("score",):
            output, numbers = "score", numbers[:, 0]
        else:
            output = "probabilities"
        constants.append(numpy_helper.from_array(numbers, "values_of_leaves"))
        steps.append(helper.make_node("Gather", ["values_of_leaves", "row"], [output]))
        shape: list[str | int] = ["rows", *numbers.shape[1:]]
        outputs.append(helper.make_tensor_value_info(output, TensorProto.DOUBLE, shape))
    graph = helper.make_graph(
        steps,
        "condensed tree",
        [
            helper.make_tensor_value_info(
                "X", TensorProto.DOUBLE, ["rows", len(condensed.feature_names)]
            )
        ],
        outputs,
        constants,
    )
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)],
        producer_name="clearwood",
        ir_version=8,
    )
    onnx.checker.check_model(model)
    return model


def _table(predictions: list[Any]) -> tuple[Any, int]:
    from onnx import TensorProto

    if all(isinstance(prediction, bool) for prediction in predictions):
        return np.array(predictions, np.bool_), TensorProto.BOOL
    if all(isinstance(prediction, int) for prediction in predictions):
        return np.array(predictions, np.int64), TensorProto.INT64
    if all(isinstance(prediction, int | float) for prediction in predictions):
        return np.array(predictions, np.float64), TensorProto.DOUBLE
    return [str(prediction) for prediction in predictions], TensorProto.STRING


@dataclass
class _Node:
    feature: int
    mode: str
    value: float
    missing_true: int
    true: int = 0
    false: int = 0
    leaf: int = -1  # the node of the diagram


def _unfolded(condensed: CondensedTree) -> list[_Node]:
    """Write the tree with every branch in full, each question as comparisons with numbers."""
    tree: list[_Node] = []
    of_node = questions(condensed, encoded=True)
    left, right = condensed.diagram.left.tolist(), condensed.diagram.right.tolist()
    # what remains: a node to write and the place (true or false child) that points at it
    waiting: list[tuple[int, int, bool]] = [(0, -1, True)]
    while waiting:
        node, parent, side = waiting.pop()
        question = of_node[node]
        if question is None:
            _add(tree, _Node(0, "LEAF", 0.0, 0, leaf=node), parent, side=side)
            continue
        steps = _steps(question, condensed)
        for k, (end, goes_left, missing) in enumerate(steps):
            if k == len(steps) - 1 and k > 0:
                waiting.append((left[node] if goes_left else right[node], parent, side))
                break
            branch = _Node(question.column, "BRANCH_LEQ", end, int(missing))
            at = _add(tree, branch, parent, side=side)
            waiting.append((left[node] if goes_left else right[node], at, True))
            parent, side = at, False
    return tree


def _add(tree: list[_Node], node: _Node, parent: int, *, side: bool) -> int:
    """Put a node at the end, and point its parent at it; return its place."""
    if parent >= 0:
        setattr(tree[parent], "true" if side else "false", len(tree))
    tree.append(node)
    return len(tree) - 1


def _steps(question: Question, condensed: CondensedTree) -> list[tuple[float, bool, bool]]:
    """Return the intervals from below: end, whether it goes left, whether missing values do so too.

    The last has no end; what comes there has failed every comparison, as missing values do unless
    a comparison before lets them pass.
    """
    if isinstance(question, Labels):
        levels: Any = condensed.shell.levels[question.column]
        members = set(question.left)
        ends = [(code + 0.5, level in members) for code, level in enumerate(levels)]
        ends[-1] = (math.inf, ends[-1][1])
    else:
        ends = []
        low = -math.inf
        for start, end in question.left:
            if start > low:
                ends.append((start, False))
            ends.append((end, True))
            low = end
        if low < math.inf:
            ends.append((math.inf, False))
    joined: list[tuple[float, bool]] = []
    for end, goes_left in ends:
        if joined and joined[-1][1] == goes_left:
            joined[-1] = (end, goes_left)
        else:
            joined.append((end, goes_left))
    missing_left = question.missing_left
    if joined[-1][1] == missing_left and len(joined) > 1:
        return [(end, goes, False) for end, goes in joined]
    if len(joined) > 1:
        # one comparison lets missing values pass: the first that goes their way
        first = next(k for k, (_, goes) in enumerate(joined) if goes == missing_left)
        return [(end, goes, k == first) for k, (end, goes) in enumerate(joined)]
    end, goes = joined[0]
    return [(math.inf, goes, False), (math.inf, missing_left, False)]
