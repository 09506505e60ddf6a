"""One tree that predicts exactly what an ensemble predicts: compose, reduce, certify, export."""

from clearwood._shared.choices import Effort, Equal, Objective
from clearwood.condensing.condensed import Condensed, from_json, load
from clearwood.condensing.proof.certify import certify
from clearwood.condensing.prune import Pruned
from clearwood.condensing.reading.path import Path
from clearwood.condensing.reading.rules import Rule, Rules
from clearwood.condensing.reading.surrogates import with_surrogates
from clearwood.condensing.single_tree import condense
from clearwood.condensing.tree.budget import (
    DoesNotFitError,
    Limit,
    LittleProvedWarning,
    ProofTooLargeError,
)
from clearwood.condensing.tree.certificate import Certificate, Certification, Region, Verdict
from clearwood.condensing.tree.condensed_tree import SurrogateSplit
from clearwood.condensing.tree.diagram import Diagram

__all__ = [
    "Certificate",
    "Certification",
    "Condensed",
    "Diagram",
    "DoesNotFitError",
    "Effort",
    "Equal",
    "Limit",
    "LittleProvedWarning",
    "Objective",
    "Path",
    "ProofTooLargeError",
    "Pruned",
    "Region",
    "Rule",
    "Rules",
    "SurrogateSplit",
    "Verdict",
    "certify",
    "condense",
    "from_json",
    "load",
    "with_surrogates",
]
