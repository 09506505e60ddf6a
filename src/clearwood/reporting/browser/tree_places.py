"""A condensed tree laid out for the page: where rows go, place by place.

A diagram keeps equal branches once; a reader goes down a tree. The page carries the unfolded tree
as far as it is useful: the places that most rows reach are opened first, until there are enough of
them, and those left closed are listed with their rows and leaves.
"""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearwood.condensing import Condensed
from clearwood.condensing.reading import Labels, Wording, column_names
from clearwood.forest import links
from clearwood.reporting.browser.forest import packed_questions
from clearwood.reporting.page.pack import packed, plain_number

__all__ = ["Places", "directions", "tree_in_page"]

#: The most places the page carries.
MOST_PLACES = 4_000
_EVERY_NUMBER = ((-np.inf, np.inf),)


@dataclass(frozen=True, eq=False)
class Places:
    """A tree laid out for the page's script, ready for JSON."""

    data: Mapping[str, Any] = field(repr=False)
    n_places: int
    #: Places that have more below them which is not carried, and rows that come to these.
    n_closed: int
    rows_closed: int


@dataclass
class _Place:
    node: int
    rows: NDArray[np.intp]
    left: "_Place | None" = None
    right: "_Place | None" = None


def tree_in_page(
    condensed: Condensed,
    matrix: NDArray[np.float64],
    target: NDArray[np.float64] | None = None,
    *,
    used: NDArray[np.intp] | None = None,
    weights: NDArray[np.float64] | None = None,
    most_places: int = MOST_PLACES,
) -> Places:
    """Lay a condensed tree out, with the rows of a matrix counted at every place.

    The mean of the target, as a number and weighted where rows have weights, is shown there too.
    ``used`` are the model's columns that the page makes, so that it can follow new rows; None where
    it makes none.
    """
    root, closed = _opened(condensed, matrix, most_places)
    gaps = np.unique(condensed.shell.groups[np.isnan(matrix).any(axis=0)]).tolist()
    wording = Wording(condensed, missing=gaps)
    used_in_tree = condensed.diagram.feature[condensed.diagram.feature >= 0]
    wide = np.arange(condensed.diagram.n_features, dtype=np.intp) if used is None else used
    if not np.isin(used_in_tree, wide).all():
        wide, used = np.arange(condensed.diagram.n_features, dtype=np.intp), None
    number, questions = packed_questions(condensed.diagram, wide)
    positions: dict[int, int] = {}
    splits: list[dict[str, Any]] = []
    answers = _Answers(condensed, wording)
    count = condensed.diagram.leaf_counts
    listed: dict[str, list[int]] = {"question": [], "split": [], "rows": [], "answer": []}
    means: list[Any] = []
    below: list[int] = []
    stack = [root]
    while stack:
        place = stack.pop()
        listed["rows"].append(len(place.rows))
        means.append(_mean(target, place.rows, weights))
        if place.left is not None and place.right is not None:
            question = int(number[place.node])
            if question not in positions:
                positions[question] = len(splits)
                splits.append(_split(wording, place.node))
            listed["question"].append(question)
            listed["split"].append(positions[question])
            listed["answer"].append(0)
            below.append(0)
            stack += [place.right, place.left]
            continue
        is_leaf = bool(condensed.diagram.is_leaf[place.node])
        listed["question"].append(0)
        listed["split"].append(0)
        listed["answer"].append(answers.of(place.node) + 1 if is_leaf else 0)
        below.append(0 if is_leaf else min(count[place.node], 2**31))
    data = {
        **{name: packed(np.array(own, np.int64)) for name, own in listed.items()},
        "below": packed(np.array(below, np.int64)),
        "mean": None if target is None else means,
        "splits": splits,
        "answers": answers.list,
        "questions": None if used is None else questions,
        "precision": condensed.diagram.precision,
        "n_rows": len(matrix),
        "columns": list(column_names(condensed.shell)),
    }
    return Places(data, len(below), len(closed), sum(len(place.rows) for place in closed))


def _opened(
    condensed: Condensed, matrix: NDArray[np.float64], most: int
) -> tuple[_Place, list[_Place]]:
    """Open places, those with most rows first; give the root and the places left closed."""
    diagram = condensed.diagram
    root = _Place(0, np.arange(len(matrix)))
    waiting = [(-len(root.rows), 0, 0, root)]
    n_places, turn = 1, 0
    while waiting and n_places + 2 <= most:
        _, depth, _, place = heapq.heappop(waiting)
        if diagram.is_leaf[place.node]:
            continue
        left = np.zeros(0, bool)
        if len(place.rows):
            values = matrix[place.rows, diagram.feature[place.node]]
            left = diagram.goes_left(np.full(len(place.rows), place.node), values)
        place.left = _Place(int(diagram.left[place.node]), place.rows[left])
        place.right = _Place(int(diagram.right[place.node]), place.rows[~left])
        n_places += 2
        for child in (place.left, place.right):
            turn += 1
            heapq.heappush(waiting, (-len(child.rows), depth + 1, turn, child))
    return root, [place for *_, place in waiting if not diagram.is_leaf[place.node]]


def _mean(
    target: NDArray[np.float64] | None,
    rows: NDArray[np.intp],
    weights: NDArray[np.float64] | None,
) -> float | int | None:
    """Return the mean of some rows, weighted where there are weights; None without any weight."""
    if target is None or not len(rows):
        return None
    own = None if weights is None else weights[rows]
    if own is not None and not own.any():
        return None
    return plain_number(f"{np.average(target[rows], weights=own):.6g}")


def _split(wording: Wording, node: int) -> dict[str, Any]:
    """Return a split in words, and as numbers or labels that the page can combine."""
    question = wording.questions[node]
    assert question is not None
    split: dict[str, Any] = {"column": question.column, "text": wording.question(node)}
    if isinstance(question, Labels):
        split["left"] = list(map(str, question.left))
        split["right"] = list(map(str, question.right))
        split["is_known"] = not question.right and not question.missing_left
    elif question.left == _EVERY_NUMBER:
        split["is_known"] = not question.missing_left
    elif (cut := wording.cut(node)) is not None:
        split["cut"] = plain_number(f"{cut:.6g}")
    return split


class _Answers:
    """What leaves answer, each kept once."""

    def __init__(self, condensed: Condensed, wording: Wording) -> None:
        self._tree = condensed
        self._wording = wording
        self._known: dict[int, int] = {}
        self.list: list[dict[str, Any]] = []

    def of(self, node: int) -> int:
        if node not in self._known:
            self._known[node] = len(self.list)
            self.list.append(self._answer(node))
        return self._known[node]

    def _answer(self, node: int) -> dict[str, Any]:
        diagram, shell = self._tree.diagram, self._tree.shell
        certified = bool(diagram.certified[node])
        answer: dict[str, Any] = {"text": self._wording.answer(node), "certified": certified}
        if not certified:
            return answer
        if self._tree.equal == "class":
            answer["class"] = int(diagram.outcome[node])
            return answer
        raw = diagram.value[node]
        one = raw[:1] if shell.n_outputs == 1 else raw[None, :]
        if shell.classes is not None:
            label = links.predict(shell, one)[0]
            answer["class"] = int(np.flatnonzero(shell.classes == label)[0])
            answer["text"] = str(label)
        elif shell.n_outputs == 1:
            answer["value"] = plain_number(links.predict(shell, one)[0])
        return answer


def directions(condensed: Condensed, matrix: NDArray[np.float64]) -> list[str]:
    """Return the path of each row through the tree: "1" for left, which is yes, "0" for right."""
    diagram = condensed.diagram
    ways = [""] * len(matrix)
    node = np.zeros(len(matrix), np.intp)
    rows = np.flatnonzero(~diagram.is_leaf[node])
    while len(rows):
        at = node[rows]
        left = diagram.goes_left(at, matrix[rows, diagram.feature[at]])
        for row, goes in zip(rows.tolist(), left.tolist(), strict=True):
            ways[row] += "1" if goes else "0"
        node[rows] = np.where(left, diagram.left[at], diagram.right[at])
        rows = rows[~diagram.is_leaf[node[rows]]]
    return ways
