"""What exports to other languages share: which trees they can hold, and which columns they need."""

from collections.abc import Sequence
from typing import Any

from clearwood._shared.errors import InputError
from clearwood._shared.messages import tell
from clearwood.condensing.reading.questions import (
    Question,
    column_names,
    derived_columns,
    leaf_predictions,
)
from clearwood.condensing.reading.wording import too_large
from clearwood.condensing.tree.condensed_tree import CondensedTree
from clearwood.forest import LearnerEncoder

__all__ = ["exported_predictions", "refuse_many_leaves", "warn_of_preparation"]


def exported_predictions(condensed: CondensedTree, form: str) -> dict[int, Any]:
    """Return the one label or number of each leaf, or raise where a form cannot hold the tree."""
    if not condensed.diagram.certified.all():
        raise InputError(
            f"the ensemble predicts at some leaves of this tree, and {form} cannot hold it",
            hint="condense without limits or with higher ones, or prune the tree to data; "
            "JSON keeps the ensemble.",
        )
    if condensed.classes is None and condensed.shell.n_outputs > 1:
        raise InputError(
            f"the model predicts {condensed.shell.n_outputs} numbers a row; {form} holds one",
            hint="JSON keeps all of them.",
        )
    return leaf_predictions(condensed)


def refuse_many_leaves(n_leaves: int, most: int, form: str) -> None:
    """Raise where a form that holds every leaf would be too large."""
    if n_leaves > most:
        raise too_large(
            f"{n_leaves:,} leaves; {form} holds every one, up to {most:,}",
            "or write C, which holds equal branches once",
        )


def warn_of_preparation(condensed: CondensedTree, questions: Sequence[Question | None]) -> None:
    """Warn where an export needs columns, or gaps, that are not in the user's table as it is."""
    names = column_names(condensed.shell)
    used = {names[question.column] for question in questions if question is not None}
    derived = sorted(used & set(derived_columns(condensed.shell)))
    if derived:
        shown = ", ".join(map(repr, derived[:5])) + (", ..." if len(derived) > 5 else "")
        tell(
            f"this needs {shown}, which the model's encoder makes; add "
            f"{'them' if len(derived) > 1 else 'it'} to the table, for instance in a view"
        )
    encoder = condensed.shell.encoder
    schema = encoder.schema.columns if isinstance(encoder, LearnerEncoder) else ()
    coded = [
        f"{c.name!r} ({', '.join(c.missing_codes)})"
        for c in schema
        if c.missing_codes and c.name in used
    ]
    if coded:
        tell(
            f"the codes for missing of {', '.join(coded)} are values here; make them missing "
            "values first, for instance in a view"
        )
