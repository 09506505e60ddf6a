"""The record of tuning: every configuration with its inner risk."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood._shared.errors import InputError, Option, did_you_mean, words
from clearwood._shared.frames import plain
from clearwood._shared.numbers import number
from clearwood._shared.results import Result
from clearwood.benchmarking.fitting.work import Outcome, Trial, Unit
from clearwood.models import Choice, Dimension

__all__ = ["Archive", "TuningCurve", "archive_of", "curve_of"]


@dataclass(frozen=True)
class Archive(Result):
    """Every configuration that tuning tried for one learner, with its outer repeat and fold."""

    learner: str
    trials: tuple[tuple[int, int, Trial], ...]

    def __len__(self) -> int:
        return len(self.trials)

    def _columns(self) -> dict[str, list[Any]]:
        keys = dict.fromkeys(key for _, _, trial in self.trials for key in trial.settings)
        columns: dict[str, list[Any]] = {
            "repeat": [repeat for repeat, _, _ in self.trials],
            "fold": [fold for _, fold, _ in self.trials],
        }
        for key in keys:
            columns[key] = [trial.settings.get(key) for _, _, trial in self.trials]
        for key in ("risk", "se", "folds", "share", "seconds", "failure", "is_past_best"):
            columns[key] = [getattr(trial, key) for _, _, trial in self.trials]
        return columns

    def to_json(self) -> list[dict[str, Any]]:  # type: ignore[override]
        """Return one object per configuration and outer fold, as plain JSON values."""
        return [
            plain({**vars(trial), "repeat": repeat, "fold": fold})
            for repeat, fold, trial in self.trials
        ]

    def __repr__(self) -> str:
        folds = len({(repeat, fold) for repeat, fold, _ in self.trials})
        return f"Archive of {self.learner!r}: {len(self)} trials in {folds} outer folds"


@dataclass(frozen=True)
class TuningCurve(Result):
    """Inner risk against the values that tuning tried, averaged over the outer folds.

    The smallest of these risks is too optimistic, as it was selected; the outer folds correct for
    that. The curve shows which values matter, not how well the learner will do.

    Parameters
    ----------
    learner
        The learner.
    settings
        The configurations.
    risk, se
        Mean over the outer folds, and its standard error over rows.
    folds
        How many outer folds tried each.
    space
        The ranges searched.
    """

    learner: str
    settings: tuple[Mapping[str, Any], ...]
    risk: tuple[float, ...]
    se: tuple[float, ...]
    folds: tuple[int, ...]
    space: Mapping[str, Dimension]

    def along(self, setting: str | None = None) -> str:
        """Return the setting to draw against: the one named, or the first that is a number."""
        if setting is None:
            numbers = [key for key, dim in self.space.items() if not isinstance(dim, Choice)]
            setting = next(iter(numbers or self.space))
        if setting not in self.space:
            raise InputError(
                f"{setting!r} of {self.learner!r} was not tuned",
                parameter="setting",
                value=setting,
                hint=did_you_mean(str(setting), self.space),
            )
        return setting

    def _columns(self) -> dict[str, Sequence[Any]]:
        columns: dict[str, Sequence[Any]] = {
            key: [settings[key] for settings in self.settings] for key in self.space
        }
        return {**columns, "risk": self.risk, "se": self.se, "folds": self.folds}

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values: a list for every setting, and the risks."""
        return {"learner": self.learner, **{k: plain(v) for k, v in self._columns().items()}}

    def plot(self, setting: str | None = None) -> Any:
        """Draw the risk against one setting (Altair)."""
        from clearwood.plot import plot_curve

        return plot_curve(self, setting)

    def __repr__(self) -> str:
        best = int(np.argmin(self.risk))
        chosen = ", ".join(f"{key}={value}" for key, value in self.settings[best].items())
        return (
            f"TuningCurve of {self.learner!r}: {len(self.risk)} configurations, smallest inner "
            f"risk {number(self.risk[best], 4)} ± {number(self.se[best], 2)} at {chosen}"
        )


def archive_of(learner: str, outcomes: Iterable[tuple[Unit, Outcome]]) -> Archive:
    """Collect the trials of one learner's outer folds."""
    return Archive(
        learner,
        tuple(
            (unit.repeat, unit.fold, trial)
            for unit, outcome in outcomes
            for trial in outcome.archive
        ),
    )


def curve_of(
    learner: str, outcomes: Iterable[tuple[Unit, Outcome]], space: Mapping[str, Dimension]
) -> TuningCurve:
    """Average the trials of one learner over its outer folds."""
    together: dict[str, list[Trial]] = {}
    for _, outcome in outcomes:
        for trial in outcome.archive:
            if trial.failure is None and trial.share == 1.0:
                key = json.dumps(trial.settings, sort_keys=True, default=repr)
                together.setdefault(key, []).append(trial)
    if not together:
        raise InputError(
            f"{learner!r} was not tuned",
            parameter="learner",
            value=learner,
            hint=words("it has no settings to tune, or ", Option("tune"), " was below 2."),
        )
    groups = list(together.values())
    return TuningCurve(
        learner,
        tuple(trials[0].settings for trials in groups),
        tuple(float(np.mean([trial.risk for trial in trials])) for trials in groups),
        # the folds share most rows, so averaging over them reduces the error little
        tuple(float(np.mean([trial.se for trial in trials])) for trials in groups),
        tuple(len(trials) for trials in groups),
        space,
    )
