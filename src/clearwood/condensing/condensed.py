"""The result of condensing: one tree with all the forms in which it can be read and written."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clearwood._shared.numbers import count
from clearwood.condensing.export.c import to_c
from clearwood.condensing.export.dot import to_dot
from clearwood.condensing.export.onnx import to_onnx
from clearwood.condensing.export.python import to_python
from clearwood.condensing.export.sql import to_sql
from clearwood.condensing.prune import prune
from clearwood.condensing.reading.path import path
from clearwood.condensing.reading.rules import rules
from clearwood.condensing.reading.svg import Picture, html, to_svg
from clearwood.condensing.reading.text import to_text
from clearwood.condensing.tree.condensed_tree import CondensedTree
from clearwood.condensing.tree.json import read_file, read_json, save, to_json

__all__ = ["Condensed", "from_json", "load"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Condensed(CondensedTree):
    """One tree that predicts what an ensemble predicts; the result of `clearwood.condense`.

    Parameters
    ----------
    diagram
        The tree, with equal branches kept once.
    shell
        The ensemble without its trees: names, levels and encoder of the user's columns, classes
        and link.
    equal
        What is equal: "class", the predicted label; or "value", the raw prediction (margin, mean,
        shares of votes) and with it everything computed from it.
    effort, objective
        As in `clearwood.condense`.
    tolerance
        How far a leaf's value may be from the ensemble's raw prediction; None where it is exact.
    fallback
        The ensemble, cut down to the leaves that are not certified, where it predicts; None where
        all leaves are certified.
    certificate
        What is proved, where and how.
    surrogates
        For a single tree with surrogates: which splits stand in for others where a value is
        missing. They are questions of ``diagram`` as well, so this is for reading; files leave it
        out.
    outline
        That tree without its surrogates, as texts and pictures show it; None where there are none.

    See Also
    --------
    clearwood.certify : A separate checker of the equality.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(10, max_depth=2, random_state=0).fit(X, y)
    >>> one = cw.condense(forest)
    >>> bool((one.predict(X) == forest.predict(X)).all())
    True
    """

    # To people

    rules = rules
    path = path
    prune = prune
    to_text = to_text
    to_svg = to_svg
    _repr_html_ = html

    def plot(self, *, units: Mapping[str, str] | None = None) -> Picture:
        """Draw the tree as a picture that notebooks show and ``save`` writes."""
        return Picture(self.to_svg(units=units))

    def to_frame(self, library: str | None = None) -> Any:
        """Return the rules as a data frame; see `Rules`."""
        return self.rules().to_frame(library)

    def __repr__(self) -> str:
        leaves = count(self.n_leaves, "leaf", "leaves")
        shape = f"{leaves}, depth {self.depth}, {count(self.n_nodes, 'node')} when shared"
        return f"Condensed {self.shell.source}: {shape}; {self.certificate.statement}"

    # To machines

    to_sql = to_sql
    to_python = to_python
    to_c = to_c
    to_dot = to_dot
    to_onnx = to_onnx
    to_json = to_json
    save = save


def from_json(document: Any) -> Condensed:
    """Read the tree that `Condensed.to_json` wrote; damaged or foreign documents are refused."""
    return read_json(document, Condensed)


def load(path: str | os.PathLike[str], *, check: bool = True) -> Condensed:
    """Read a tree from a JSON file.

    Parameters
    ----------
    path
        The file.
    check
        Warn where the tree is not the one its certificate names.
    """
    return read_file(path, Condensed, check=check)
