"""What is said where exact is too big: refusals with an estimate, warnings of little proved."""

import warnings
from collections.abc import Mapping
from typing import Any

from clearwood._shared.errors import ClearwoodWarning, InputError
from clearwood.condensing.compose.memory import in_words
from clearwood.condensing.proof.certificate import Certificate

__all__ = ["does_not_fit", "no_proof", "tell_of_little"]

# A smaller share of rows that reach proved leaves is worth a warning.
_LITTLE = 0.1


def does_not_fit(found: Mapping[str, Any], memory: int) -> InputError:
    """Say how large the exact tree would be, and the two ways on."""
    share = max(float(found["progress"]), 1e-12)
    nodes = found["nodes_made"] / share
    return InputError(
        f"the exact tree does not fit: after {found['nodes_made']:,} nodes and "
        f"{in_words(found['bytes'])} about {100 * share:.2g} % of the space was done, so it would "
        f"take some {nodes:.2g} nodes (the limit was {found['stopped']}"
        + (f", {in_words(memory)})" if found["stopped"] == "memory" else ")"),
        hint=(
            "either give a budget, leaves=1000 for instance, and the rows that matter as data=: "
            "exact where it says so, the ensemble answers the rest; or allow a tolerance, with "
            'equal="value" and tolerance=...'
        ),
    )


def no_proof(n_bytes: float, memory: int) -> InputError:
    """Say what proving the least tree would take."""
    size = "more memory than any machine has"
    if n_bytes < 1e18:
        size = f"a table of about {in_words(n_bytes)}"
    return InputError(
        f"proving the least tree would take {size}; {in_words(memory)} may be used",
        hint='effort="good" comes within a few per cent; memory= (in bytes) allows more.',
    )


def tell_of_little(certificate: Certificate) -> None:
    """Warn where a budget proved so little that the tree hardly matters."""
    share = certificate.share_certified
    if share is None:
        if certificate.n_leaves > 1:
            return
        found = "nothing was proved: the ensemble answers every row"
    elif share >= _LITTLE:
        return
    else:
        some = f"only {100 * share:.2g} %" if share else "none"
        found = (
            f"{some} of the {certificate.n_rows:,} rows given "
            f"{'reach' if share else 'reaches'} a proved leaf, so the ensemble answers "
            f"{'nearly every' if share else 'every'} row"
        )
    limit = {"leaves": "more leaves=", "seconds": "more seconds=", "memory": "more memory="}
    hints = [limit.get(certificate.stopped or "leaves", "a larger budget")]
    if share is None:
        hints.append("the rows that matter as data=")
    hints.append(
        'equal="value" with a tolerance=' if certificate.equal == "class" else "a tolerance="
    )
    if certificate.equal == "value" and certificate.tolerance is not None:
        hints[-1] = "a larger tolerance="
    warnings.warn(
        f"{found}; the budget of {certificate.stopped} was used up. Try {', '.join(hints)}, or "
        "fewer or shallower trees",
        ClearwoodWarning,
        stacklevel=3,
    )
