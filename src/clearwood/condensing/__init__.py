"""One tree that predicts exactly what an ensemble predicts: compose, reduce, certify, export."""

from clearwood.condensing.condensed import Condensed
from clearwood.condensing.diagram import Diagram
from clearwood.condensing.export.json import from_json, load
from clearwood.condensing.proof.certificate import Certificate
from clearwood.condensing.proof.certification import Certification
from clearwood.condensing.proof.certify import certify
from clearwood.condensing.reading.path import Path
from clearwood.condensing.reading.prune import Pruned
from clearwood.condensing.reading.rules import Rule, Rules
from clearwood.condensing.single_tree import condense

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
