"""One tree that predicts exactly what an ensemble predicts: compose, reduce, certify, export.

The package is called as the function it is named after: ``clearwood.condense(model)``.
"""

from clearwood._callable import make_callable
from clearwood.condense._certificate import Certificate
from clearwood.condense._condense import condense
from clearwood.condense._condensed import Condensed
from clearwood.condense._diagram import Diagram

__all__ = ["Certificate", "Condensed", "Diagram", "condense"]

make_callable(__name__, condense)
