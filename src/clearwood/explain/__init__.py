"""Explanations of predictions; the package is also the function `clearwood.explain`."""

from clearwood._callable import make_callable
from clearwood.decompose import Shapley, explain
from clearwood.explain._shapley import shapley

__all__ = ["Shapley", "explain", "shapley"]

make_callable(__name__, explain)
