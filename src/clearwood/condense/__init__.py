"""One tree that predicts exactly what an ensemble predicts: compose, reduce, certify, export."""

from clearwood.condense._certificate import Certificate
from clearwood.condense._condensed import Condensed
from clearwood.condense._diagram import Diagram

__all__ = ["Certificate", "Condensed", "Diagram"]
