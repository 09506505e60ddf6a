"""Which configurations tuning tries, and in what order."""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, get_args

import numpy as np

from clearwood._shared.choices import Search
from clearwood._shared.errors import (
    InputError,
    MissingExtraError,
    Option,
    unknown_choice,
    words,
)
from clearwood.benchmarking.fitting.work import Trial
from clearwood.models import Choice, Dimension, Whole

__all__ = ["SEARCHES", "Evaluate", "check_search", "drawn", "gridded", "position", "search"]

Settings = dict[str, Any]

#: Judges configurations, fitted to a share of the training rows; bad ones may be given up early.
Evaluate = Callable[[Sequence[Settings], float], list[Trial]]

#: In halving and Hyperband each round keeps one in this many, on this many times the rows.
ETA = 3

SEARCHES: tuple[str, ...] = get_args(Search)


def check_search(name: str) -> None:
    """Refuse an unknown search, or one whose package is missing."""
    if name not in SEARCHES:
        raise unknown_choice("search", name, SEARCHES)
    if name in ("tpe", "gp") and find_spec("optuna") is None:
        raise MissingExtraError(f"the search {name!r}", extra="tune")
    if name == "gp" and find_spec("torch") is None:
        raise InputError(
            words(Option("search", "gp"), " needs PyTorch, which its Gaussian process is based on"),
            parameter="search",
            value=name,
            hint=words("pip install torch, or use ", Option("search", "tpe"), "."),
        )


def search(
    name: str,
    space: Mapping[str, Dimension],
    defaults: Settings,
    *,
    trials: int,
    seed: int,
    evaluate: Evaluate,
    least_share: float = 0.0,
) -> list[Trial]:
    """Run a search and return all its trials; the defaults come first.

    `least_share` is the smallest share of the training rows that still makes a fair fit.
    """
    if name in ("tpe", "gp"):
        return _optuna(name, space, defaults, trials=trials, seed=seed, evaluate=evaluate)
    configurations = gridded(space, trials, seed) if name == "grid" else drawn(space, trials, seed)
    configurations = [defaults, *(one for one in configurations if one != defaults)][:trials]
    if name == "halving":
        steps = _steps(len(configurations), least_share)
        return _halve(configurations, steps, evaluate)
    if name == "hyperband":
        return _hyperband(configurations, least_share, evaluate)
    return evaluate(configurations, 1.0)


def drawn(space: Mapping[str, Dimension], n: int, seed: int) -> list[Settings]:
    """Draw configurations at random, each setting on its own scale.

    Examples
    --------
    >>> from clearwood.models import Real
    >>> [round(one["alpha"], 3) for one in drawn({"alpha": Real(0.01, 1, log=True)}, 2, 0)]
    [0.188, 0.035]
    """
    rng = np.random.default_rng(seed)
    return [{key: dim.sample(rng) for key, dim in space.items()} for _ in range(n)]


def gridded(space: Mapping[str, Dimension], n: int, seed: int) -> list[Settings]:
    """Return a grid of at most n points, with as many values of each setting as possible.

    Where even two values of each setting make too many points, n of them are drawn.

    Examples
    --------
    >>> space = {"depth": Whole(1, 3), "weights": Choice("uniform", "distance")}
    >>> [one["depth"] for one in gridded(space, 6, seed=0)]
    [1, 1, 2, 2, 3, 3]
    """
    values = {key: dim.grid(2) for key, dim in space.items()}
    for count in range(3, n + 1):
        finer = {key: dim.grid(count) for key, dim in space.items()}
        if math.prod(map(len, finer.values())) > n:
            break
        values = finer
    total = math.prod(map(len, values.values()))
    points: Iterable[tuple[Any, ...]] = itertools.product(*values.values())
    if total > n:
        chosen = set(np.random.default_rng(seed).choice(total, n, replace=False).tolist())
        points = (point for i, point in enumerate(points) if i in chosen)
    return [dict(zip(values, point, strict=True)) for point in points]


def _steps(n: int, least_share: float) -> int:
    """Return how many times the rows can grow by ETA, given the configurations and the rows."""
    by_trials = math.floor(math.log(max(n, 1), ETA) + 1e-9)
    by_rows = math.floor(math.log(1 / max(least_share, 1e-6), ETA) + 1e-9)
    return max(0, min(by_trials, by_rows))


def _halve(configurations: Sequence[Settings], steps: int, evaluate: Evaluate) -> list[Trial]:
    """Judge all on few rows, the better third on three times as many, and so on to all rows."""
    everything: list[Trial] = []
    alive = list(configurations)
    for step in range(steps, -1, -1):
        trials = evaluate(alive, ETA**-step)
        everything.extend(trials)
        order = sorted(range(len(trials)), key=lambda i: _rank(trials[i]))
        alive = [alive[i] for i in order[: math.ceil(len(alive) / ETA)]]
    return everything


def _hyperband(
    configurations: Sequence[Settings], least_share: float, evaluate: Evaluate
) -> list[Trial]:
    """Halving from several starting points: many configurations on few rows, few on many."""
    most = _steps(len(configurations), least_share)
    shares = [ETA**step / (step + 1) for step in range(most, -1, -1)]
    counts = np.floor(np.cumsum(shares) / sum(shares) * len(configurations) + 0.5).astype(int)
    everything: list[Trial] = []
    start = 0
    for step, end in zip(range(most, -1, -1), counts, strict=True):
        bracket = configurations[start:end]
        if bracket:
            everything.extend(_halve(bracket, min(step, _steps(len(bracket), 0.0)), evaluate))
        start = int(end)
    return everything


def _rank(trial: Trial) -> float:
    return math.inf if trial.failure else trial.risk


def _optuna(
    name: str,
    space: Mapping[str, Dimension],
    defaults: Settings,
    *,
    trials: int,
    seed: int,
    evaluate: Evaluate,
) -> list[Trial]:
    """Try the configurations that Optuna proposes, each based on the results of those before."""
    import warnings

    import optuna
    from optuna.exceptions import ExperimentalWarning

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        if name == "tpe":
            sampler: Any = optuna.samplers.TPESampler(seed=seed, multivariate=True)
        else:
            sampler = optuna.samplers.GPSampler(seed=seed, deterministic_objective=True)
    study = optuna.create_study(sampler=sampler)
    done = evaluate([defaults], 1.0)
    known: Trial | None = None
    if all(position(dim, defaults[key]) is not None for key, dim in space.items()):
        known = done[0]
        study.enqueue_trial(
            {
                key: dim.values.index(defaults[key]) if isinstance(dim, Choice) else defaults[key]
                for key, dim in space.items()
            }
        )
    while known is not None or len(done) < trials:
        proposal = study.ask()
        # for the defaults too: without suggestions the sampler would have no space to model
        settings = {key: _suggested(proposal, key, dim) for key, dim in space.items()}
        trial = known
        if trial is None:
            (trial,) = evaluate([settings], 1.0)
            done.append(trial)
        known = None
        if trial.failure:
            study.tell(proposal, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(proposal, trial.risk)
    return done


def _suggested(proposal: Any, key: str, dimension: Dimension) -> Any:
    if isinstance(dimension, Choice):
        # by position: Optuna's own values must be plain, those of a space may be anything
        return dimension.values[proposal.suggest_categorical(key, range(len(dimension.values)))]
    if isinstance(dimension, Whole):
        return proposal.suggest_int(key, dimension.low, dimension.high, log=dimension.log)
    return proposal.suggest_float(key, dimension.low, dimension.high, log=dimension.log)


def position(dimension: Dimension, value: Any) -> float | None:
    """Return where a value lies in its range, from 0 to 1 on the range's scale; None outside it.

    Examples
    --------
    >>> from clearwood.models import Real
    >>> position(Real(0.01, 1, log=True), 0.1)
    0.5
    >>> position(Whole(2, 12), None) is None
    True
    """
    if isinstance(dimension, Choice):
        known = list(dimension.values)
        return known.index(value) / max(len(known) - 1, 1) if value in known else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not dimension.low <= value <= dimension.high:
        return None
    if dimension.low == dimension.high:
        return 0.0
    if dimension.log:
        return math.log(value / dimension.low) / math.log(dimension.high / dimension.low)
    return (value - dimension.low) / (dimension.high - dimension.low)
