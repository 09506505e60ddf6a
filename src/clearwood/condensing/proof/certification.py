"""What the separate checker found about a condensed tree."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Certification"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Certification:
    """Whether a condensed tree was proved to say what the ensemble says; true where it was.

    Parameters
    ----------
    proved
        Whether the claim was proved for every row.
    reason
        What was proved, or why it was not.
    counterexample
        A row where tree and ensemble differ, in the user's columns; None where none was found.
        Categories appear by name and missing values as None. For a model with an encoder in
        front the columns are those the encoder makes.
    row
        The same row as the model's matrix has it: codes for categories, NaN for missing.
    of_tree, of_ensemble
        What each predicts there.
    same_model
        Whether the certificate names this very model by its SHA-256.
    same_tree
        Whether the certificate names this very tree.
    n_states
        How many pairs of a node and restricted trees were visited.

    Examples
    --------
    >>> import clearwood as cw
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], ["no", "yes", "no"])
    >>> found = cw.certify(cw.condense(tree), tree)
    >>> bool(found), found.counterexample
    (True, None)
    """

    proved: bool
    reason: str
    counterexample: Mapping[str, Any] | None = None
    row: NDArray[np.float64] | None = None
    of_tree: Any = None
    of_ensemble: Any = None
    same_model: bool = True
    same_tree: bool = True
    n_states: int = 0

    def __bool__(self) -> bool:
        return self.proved

    def to_json(self) -> dict[str, Any]:
        """Give plain JSON values."""
        return {name: _plain(value) for name, value in asdict(self).items()}

    def __repr__(self) -> str:
        verdict = "Proved" if self.proved else "Not proved"
        text = f"{verdict}: {self.reason}"
        if self.counterexample is not None:
            shown = list(self.counterexample.items())
            row = ", ".join(f"{name}={value!r}" for name, value in shown[:8])
            row += ", ..." if len(shown) > 8 else ""
            text += f"; at {row} the tree says {self.of_tree}, the ensemble {self.of_ensemble}"
        return text


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else str(value)
    return value
