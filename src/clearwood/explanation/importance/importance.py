"""How much each column matters to a model: seven answers to as many questions."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clearwood._shared.checks import check_confidence, check_whole
from clearwood._shared.choices import ImportanceKind
from clearwood._shared.clock import Clock
from clearwood._shared.errors import Option, bad_value, unknown_choice, words
from clearwood.explanation.importance.methods import METHODS, Request
from clearwood.explanation.results.importance import TITLES, Importance
from clearwood.explanation.results.outputs import noting_zero_weights

if TYPE_CHECKING:
    from clearwood.explanation import Explanation

__all__ = ["importance"]


def importance(
    self: "Explanation",
    *,
    kind: ImportanceKind = "components",
    y: Any = None,
    repeats: int = 5,
    conditional: bool = False,
    groups: Mapping[str, Sequence[str]] | None = None,
    loss: Any = None,
    folds: int = 5,
    confidence: float = 0.9,
    output: Any = None,
    scale: str | None = None,
    sample: int | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    n_jobs: int | None = None,
) -> Importance:
    """Measure how much each column matters to a model, with intervals.

    The parameters are those of `clearwood.importance` without model and data.
    """
    if kind not in TITLES:
        raise unknown_choice("kind", kind, TITLES)
    clock = Clock.started_now(time_limit)
    check_whole("repeats", repeats, 1)
    check_confidence(confidence)
    if groups and kind not in ("permutation", "loco"):
        raise bad_value(
            "kind",
            kind,
            words(Option("groups"), " are not for this kind"),
            hint=words("use ", Option("kind", "permutation"), "."),
        )
    n_rows = self.n_rows
    explanation, y = self.counted(y)
    request = Request(
        explanation=explanation,
        y=y,
        repeats=repeats,
        conditional=conditional,
        groups=groups,
        loss=loss,
        folds=folds,
        confidence=confidence,
        output=output,
        scale=scale,
        sample=sample,
        clock=clock,
        seed=explanation.seed if seed is None else seed,
        n_jobs=explanation.n_jobs if n_jobs is None else n_jobs,
    )
    return noting_zero_weights(METHODS[kind](request), n_rows - explanation.n_rows)
