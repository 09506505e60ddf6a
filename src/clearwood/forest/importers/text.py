"""The text format of the Born-Again Tree Ensembles forests (Vidal and Schiffer, 2020)."""

import os
from pathlib import Path

import numpy as np

from clearwood._shared.errors import InputError
from clearwood.forest.build import Trees, assemble
from clearwood.forest.forest import Forest
from clearwood.forest.inputs import default_names

__all__ = ["read_text"]


def read_text(path: str | os.PathLike[str]) -> Forest:
    """Read a random forest that predicts by vote from a text file with one line per node.

    The header names the numbers of trees, features and classes; a node's line has its number, IN
    or LN (leaf), children, feature, threshold (``x <= threshold`` goes left), depth and class.
    The forest predicts the class with most votes; ties go to the smaller class.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Forest
        Its raw prediction is the share of votes for each class.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "stump.txt"
    >>> _ = path.write_text('''NB_TREES: 1
    ... NB_FEATURES: 2
    ... NB_CLASSES: 2
    ...
    ... [TREE 0]
    ... NB_NODES: 3
    ... 0 IN 1 2 1 5.5 0 -1
    ... 1 LN -1 -1 -1 -1 1 0
    ... 2 LN -1 -1 -1 -1 1 1
    ... ''')
    >>> forest = read_text(path)
    >>> forest.predict([[0.0, 5.5], [0.0, 5.6]])
    array([0, 1])
    """
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(
            f"cannot read {str(path)!r}: {error.strerror}", parameter="path", value=str(path)
        ) from None
    except UnicodeDecodeError:
        raise InputError(
            f"{str(path)!r} is not a text file", parameter="path", value=str(path)
        ) from None
    header: dict[str, str] = {}
    blocks: list[list[tuple[int, str]]] = []
    for number, line in enumerate(lines, start=1):
        if line.startswith("[TREE"):
            blocks.append([])
        elif blocks and line.strip():
            blocks[-1].append((number, line))
        elif not blocks:
            key, _, value = line.partition(":")
            header[key.strip()] = value.strip()
    counts = {}
    for key in ("NB_TREES", "NB_FEATURES", "NB_CLASSES"):
        if not header.get(key, "").isdigit():
            raise InputError(
                f"{str(path)!r} has no line '{key}: <number>' before its first tree",
                parameter="path",
                value=str(path),
                hint="only forests in the text format of BA-Trees can be read.",
            )
        counts[key] = int(header[key])
    if len(blocks) != counts["NB_TREES"]:
        raise InputError(
            f"{str(path)!r} announces {counts['NB_TREES']} trees but has {len(blocks)}",
            parameter="path",
            value=str(path),
            hint="the file may be truncated.",
        )
    n_classes = counts["NB_CLASSES"]
    return assemble(
        [_tree(block, n_classes, path) for block in blocks],
        base=np.zeros(n_classes),
        feature_names=default_names(counts["NB_FEATURES"]),
        aggregation="hard vote",
        accepts_missing=False,
        classes=np.arange(n_classes),
        source=f"text file {path.name}",
    )


def _tree(block: list[tuple[int, str]], n_classes: int, path: Path) -> Trees:
    lines = [(number, line) for number, line in block if not line.startswith("NB_NODES")]
    n = len(lines)
    left, right, feature, label = (np.full(n, -1) for _ in range(4))
    threshold = np.zeros(n)
    for number, line in lines:
        where = f"line {number} of {str(path)!r}"
        try:
            name, kind, one, two, column, cut, _, vote = line.split()
            node, children, voted = int(name), (int(one), int(two)), int(vote)
            is_inner, split = {"IN": True, "LN": False}[kind], (int(column), float(cut))
        except (ValueError, KeyError):
            raise InputError(
                f"{where} is not a node: {line!r}",
                hint="a node is: number, IN or LN, left, right, feature, threshold, depth, class.",
            ) from None
        if not 0 <= node < n:
            raise InputError(f"{where} numbers a node {node} of {n}")
        if is_inner:
            if not all(0 < child < n for child in children):
                raise InputError(f"{where} has children {children} of {n} nodes")
            left[node], right[node] = children
            feature[node], threshold[node] = split
        elif not 0 <= voted < n_classes:
            raise InputError(f"{where} votes for class {voted} of {n_classes}")
        else:
            label[node] = voted
    value = np.zeros((n, n_classes))
    leaves = np.flatnonzero(left < 0)
    value[leaves, label[leaves]] = 1.0
    return Trees(
        sizes=[n],
        left=left,
        right=right,
        feature=feature,
        threshold=threshold,
        default_left=np.ones(n, bool),
        value=value,
        cover=np.full(n, np.nan),
    )
