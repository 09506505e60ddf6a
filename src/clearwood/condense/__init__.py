"""One tree that predicts exactly what an ensemble predicts: compose, reduce, certify, export.

The package is called as the function it is named after: ``clearwood.condense(model)``.
"""

from clearwood.condense._certificate import Certificate
from clearwood.condense._certification import Certification
from clearwood.condense._certify import certify
from clearwood.condense._condense import condense
from clearwood.condense._condensed import Condensed
from clearwood.condense._diagram import Diagram
from clearwood.condense._export_json import from_json, load
from clearwood.condense._path import Path
from clearwood.condense._prune import Pruned
from clearwood.condense._rules import Rule, Rules

__all__ = [
    "Certificate",
    "Certification",
    "Condensed",
    "Diagram",
    "Path",
    "Pruned",
    "Rule",
    "Rules",
    "certify",
    "condense",
    "from_json",
    "load",
]
