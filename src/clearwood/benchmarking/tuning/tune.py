"""Tuning: choosing settings by cross-validation on the training rows of a unit."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clearwood._shared.clock import Clock
from clearwood._shared.errors import InputError
from clearwood.benchmarking.fitting.contenders import Contender
from clearwood.benchmarking.fitting.work import (
    LOSSES_FOR_FEW_TREES,
    Context,
    Rows,
    Spread,
    Trial,
    Unit,
    in_turn,
    in_words,
    judge,
    seed_of,
)
from clearwood.benchmarking.tuning.paths import NotGrown, Path, TreePath, path_of
from clearwood.benchmarking.tuning.searches import Settings, position, search
from clearwood.models import Choice, Dimension
from clearwood.resampling import KFold, Split, TimeOrdered
from clearwood.table import Task

__all__ = ["FoldResult", "TrialStore", "simplicity", "tune"]

Losses = NDArray[np.float32]

# A configuration is given up when it is worse than the best so far by this many standard errors of
# the paired difference and by this share of the best risk. The first rarely happens by chance; the
# second keeps those that might be ahead after another fold. On many rows the standard error is so
# small that a wrong choice costs next to nothing.
_HOPELESS = 3.0
_HOPELESS_ON_MANY_ROWS = 2.0
_MANY_ROWS = 2_000
_NEAR = 0.005

#: Configurations begun together where there is a time limit.
_BATCH = 4

#: A fit to fewer rows than this is a poor guide to a fit to all of them.
_LEAST_ROWS = 100

#: From so many judged rows on, the worse half of the configurations is given up after each fold.
_ROWS_TO_HALVE = 200

#: Settings of trees and of ensembles of trees are compared on so many of the training rows, with so
#: many rows of the rarer class (or counts above zero) or of every class: what is best hardly
#: depends on the rows beyond, except for the number of boosted trees, which is chosen on all.
_ENOUGH_ROWS = 2_000
_ENOUGH_EVENTS = 200
_ENOUGH_OF_A_CLASS = 20
_FAMILIES_OF_TREES = ("tree", "ensemble")
_FOLDS_OF_A_TENTH = 10

#: Trees of a forest while its other settings are compared; the chosen one has all of them. With
#: more rows to judge on there is less noise, so that fewer are enough.
_TREES_WHILE_TUNING = 100
_TREES_ON_MANY_ROWS = 50
_MANY_TRAINING_ROWS = 1_000


@dataclass(frozen=True)
class FoldResult:
    """The losses of a configuration on one inner fold, or why it has none.

    Losses are kept in single precision: a run that is resumed reads them back from the store, and
    has to decide as the first one did.
    """

    losses: Losses | None
    seconds: float
    failure: str | None = None
    is_past_best: bool = False


class TrialStore(Protocol):
    """Keeps the results of configurations, so that a run can be resumed."""

    def trials(self, unit: str, keys: Sequence[str]) -> dict[str, FoldResult]:
        """Return the results that are known, by the keys of their configurations."""

    def add_trials(self, unit: str, results: Mapping[str, FoldResult]) -> None:
        """Keep more results."""


def tune(
    context: Context, unit: Unit, *, store: TrialStore | None = None, spread: Spread = in_turn
) -> tuple[Settings, tuple[Trial, ...]]:
    """Choose settings for a unit by cross-validation on its training rows.

    The inner folds are the same for every learner; the configurations drawn are the same for
    every unit, so that the estimate belongs to one procedure.

    Returns
    -------
    tuple
        The settings chosen and every trial.
    """
    tuning = context.tuning
    assert tuning is not None
    contender = context.contenders[unit.learner]
    seed = seed_of(context.seed, unit.learner, "search")
    path = path_of(contender, context) if tuning.search in ("random", "grid") else None
    judge_of = _Judge(context, unit, path, store, spread)
    if path is not None:
        configurations = path.configurations(contender, tuning.trials, seed)
        trials = judge_of([contender.defaults, *configurations], 1.0)
    else:
        trials = search(
            tuning.search,
            contender.space,
            contender.defaults,
            trials=tuning.trials,
            seed=seed,
            evaluate=judge_of,
            least_share=_LEAST_ROWS / len(judge_of.rows),
        )
    settings = dict(_chosen(trials, contender.space, tuning.rule).settings)
    return judge_of.on_all_rows(settings), tuple(trials)


def _chosen(trials: Sequence[Trial], space: Mapping[str, Dimension], rule: str) -> Trial:
    valid = [trial for trial in trials if trial.failure is None and trial.share == 1.0]
    if not valid:
        reason = next((trial.failure for trial in trials if trial.failure), "none was tried")
        several = f"none of {len(trials)} configurations could be fitted: "
        raise InputError(f"{several if len(trials) > 1 else ''}{reason}")
    # racing judges the survivors on all folds; one that was given up early cannot have won
    most = max(trial.folds for trial in valid)
    best = min((trial for trial in valid if trial.folds == most), key=lambda trial: trial.risk)
    if rule == "one_se":
        near = [trial for trial in valid if trial.risk <= best.risk + best.se]
        best = max(near, key=lambda trial: simplicity(trial.settings, space))
    return best


# Whether a larger value of a setting makes the model simpler (1) or more complex (-1).
_SIMPLER = {
    "alpha": 1,
    "C": -1,
    "ccp_alpha": 1,
    "n_neighbors": 1,
    "max_depth": -1,
    "depth": -1,
    "max_leaf_nodes": -1,
    "num_leaves": -1,
    "max_leaves": -1,
    "min_samples_leaf": 1,
    "min_child_samples": 1,
    "min_child_weight": 1,
    "max_iter": -1,
    "n_estimators": -1,
    "iterations": -1,
    "l2_regularization": 1,
    "reg_lambda": 1,
    "reg_alpha": 1,
    "l2_leaf_reg": 1,
    "n_nonzero_coefs": -1,
    "n_components": -1,
    "n_knots": -1,
    "interactions": -1,
    "gamma": -1,
    "shrinkage": 1,
}


def simplicity(settings: Mapping[str, Any], space: Mapping[str, Dimension]) -> float:
    """Return how simple a configuration is: the sum of where its settings lie in their ranges.

    A setting counts positively if larger values make simpler models, negatively if they make more
    complex ones, and not at all otherwise.

    Examples
    --------
    >>> from clearwood.models import Real
    >>> space = {"alpha": Real(0.01, 1, log=True)}
    >>> simplicity({"alpha": 0.1}, space) > simplicity({"alpha": 0.02}, space)
    True
    """
    total = 0.0
    for key, dimension in space.items():
        sign = _SIMPLER.get(key.rpartition("__")[2], 0)
        where = None if isinstance(dimension, Choice) else position(dimension, settings[key])
        # a default outside the range (no limit on depth, say) is the most complex there is
        total += sign * where if where is not None else -abs(sign)
    return total


def _enough_rows(context: Context, unit: Unit) -> Rows:
    """Draw as many of the training rows as it takes to compare settings; groups stay whole."""
    rows, codes = unit.train, context.codes[unit.train]
    share = _ENOUGH_ROWS / len(rows)
    if context.classes is not None:
        counts = np.unique(codes, return_counts=True)[1]
        enough = _ENOUGH_EVENTS if len(context.classes) == 2 else _ENOUGH_OF_A_CLASS
        share = max(share, enough / counts.min())
    elif context.table.task in (Task.COUNT, Task.AMOUNT):
        share = max(share, _ENOUGH_EVENTS / max(int((codes > 0).sum()), 1))
    if share >= 1:
        return rows
    rng = np.random.default_rng(seed_of(context.seed, unit.split, "rows"))
    groups = context.table.groups
    if groups is None:
        return np.sort(rng.choice(rows, round(share * len(rows)), replace=False))
    labels, group = np.unique(groups[rows], return_inverse=True)
    order = rng.permutation(len(labels))
    taken = np.cumsum(np.bincount(group)[order])
    kept = order[: max(2, int(np.searchsorted(taken, share * len(rows))) + 1)]
    return rows[np.isin(group, kept)]


class _Judge:
    """Judges configurations on the inner folds of a unit."""

    def __init__(
        self,
        context: Context,
        unit: Unit,
        path: Path | None,
        store: TrialStore | None,
        spread: Spread,
    ) -> None:
        assert context.tuning is not None
        self.context, self.unit, self.store, self.spread = context, unit, store, spread
        self.tuning = context.tuning
        self.path = path
        self.contender = context.contenders[unit.learner]
        self.seed = seed_of(context.seed, unit.split, "inner")
        self.rows = unit.train
        if isinstance(path, TreePath) or self.contender.family in _FAMILIES_OF_TREES:
            self.rows = _enough_rows(context, unit)
        splits = inner_splits(context, self.rows, self.tuning.inner, self.seed)
        self.folds = [(self.rows[split.train], self.rows[split.test]) for split in splits]
        weights = context.table.weights
        self.weights = [None if weights is None else weights[test] for _, test in self.folds]
        self.clock = Clock(self.tuning.time_limit)
        self.races: list[_Race] = []

    def __call__(self, configurations: Sequence[Settings], share: float) -> list[Trial]:
        races = [_Race(settings) for settings in configurations]
        self.races += races if share == 1.0 else []
        if self.tuning.time_limit is None:
            self._judge(races, races, share)
            return _trials(races, self.weights, share)
        # with a time limit: the defaults, which come first, then a few at a time
        done: list[_Race] = []
        while len(done) < len(races):
            if done and self.clock.is_over:
                break
            batch = races[len(done) : len(done) + (_BATCH if done else 1)]
            done.extend(batch)
            self._judge(batch, done, share)
        return _trials(done, self.weights, share)

    def _judge(self, races: "list[_Race]", rivals: "list[_Race]", share: float) -> None:
        """Judge configurations fold by fold, among rivals that may have been judged before."""
        for fold in range(len(self.folds)):
            running = [race for race in races if race.running]
            decided = len(rivals) > 1 and sum(race.running for race in rivals) == 1
            if not running or (fold > 1 and decided and self.tuning.racing):
                return
            groups = self._groups(running)
            train, test = self._rows(fold, share)
            arguments = [
                (
                    self.context,
                    self.unit,
                    Fold(fold, train, test, share),
                    [race.settings for race in group],
                    self.path,
                    self.store,
                )
                for group in groups
            ]
            by_group = self.spread(try_settings, arguments)
            for group, results in zip(groups, by_group, strict=True):
                for race, result in zip(group, results, strict=True):
                    race.add(result)
            if self.tuning.racing and (self.path is None or self.path.racing):
                _give_up_hopeless(rivals, self.weights)
                self._give_up_worse_half(races)

    def _give_up_worse_half(self, races: "list[_Race]") -> None:
        """Give up the worse half of the fits, each at its best setting of the path."""
        groups = self._groups([race for race in races if race.running])
        if len(groups) <= 2 or sum(map(len, groups[0][0].losses)) < _ROWS_TO_HALVE:
            return
        groups.sort(key=lambda group: min(_mean(race.losses, self.weights)[0] for race in group))
        for group in groups[(len(groups) + 1) // 2 :]:
            for race in group:
                race.running = False

    def _groups(self, races: "list[_Race]") -> "list[list[_Race]]":
        """Group the configurations that share a fit."""
        return self.path.groups(races) if self.path else [[race] for race in races]

    def on_all_rows(self, settings: Settings) -> Settings:
        """Return the settings for all training rows, after a choice on some of them.

        Where the best is to be taken, they are the defaults unless the choice is better by more
        than a standard error: what little it could gain is uncertain on all rows, and equal
        settings save fits of the nested interval. The number of boosted trees depends on the rows
        and is chosen again, on a tenth held out.
        """
        if len(self.rows) == len(self.unit.train):
            return settings
        if self.tuning.rule == "best":
            settings = self._usual_unless_worse(settings)
        if isinstance(self.path, TreePath):
            return self._lengthened(self.path, settings)
        return settings

    def _usual_unless_worse(self, settings: Settings) -> Settings:
        """Return the defaults, at their best on the path, unless the settings clearly beat them."""

        def rank(race: _Race) -> tuple[int, float]:
            return -len(race.losses), _mean(race.losses, self.weights)[0]

        judged = [race for race in self.races if race.losses]
        # a search may try settings more than once
        chosen = min((race for race in judged if race.settings == settings), key=rank)
        usual = min(
            (
                race
                for group in self._groups(judged)
                if any(race.settings == self.contender.defaults for race in group)
                for race in group
            ),
            key=rank,
            default=chosen,
        )
        gains = [its - mine for its, mine in zip(usual.losses, chosen.losses, strict=False)]
        gain, error = _mean(gains, self.weights)
        return settings if gain > error else usual.settings

    def _lengthened(self, path: TreePath, settings: Settings) -> Settings:
        """Return the settings with the number of trees that is best on a tenth of all rows."""
        # the last split, which trains on all earlier rows where rows have times
        split = inner_splits(self.context, self.unit.train, _FOLDS_OF_A_TENTH, self.seed)[-1]
        train, test = self.unit.train[split.train], self.unit.train[split.test]
        several = path.lengths(self.contender, settings)
        fold = Fold(len(self.folds), train, test)
        results = try_settings(self.context, self.unit, fold, several, path, self.store)
        weights = self.context.table.weights
        of_rows = [None if weights is None else weights[test]]
        risks = [
            (_mean([one.losses], of_rows)[0], number)
            for number, one in enumerate(results)
            if one.losses is not None
        ]
        return several[min(risks)[1]] if risks else settings

    def _rows(self, fold: int, share: float) -> tuple[Rows, Rows]:
        train, test = self.folds[fold]
        if share < 1.0:
            # nested: the rows of a smaller share are among those of a larger one
            order = np.random.default_rng(seed_of(self.context.seed, self.unit.split, fold))
            count = max(2, round(share * len(train)))
            train = np.sort(order.permutation(train)[:count])
        return train, test


@dataclass(frozen=True)
class Fold:
    """An inner fold: rows of the whole table to fit on and to judge on."""

    number: int
    train: Rows
    test: Rows
    share: float = 1.0


def try_settings(
    context: Context,
    unit: Unit,
    fold: Fold,
    several: Sequence[Settings],
    path: Path | None,
    store: TrialStore | None,
) -> list[FoldResult]:
    """Fit configurations on one inner fold; those of a path share one fit."""
    if store is None:
        return _try(context, unit, fold, several, path)
    contender = context.contenders[unit.learner]
    keys = [_trial_key(contender, settings, fold) for settings in several]
    known = store.trials(unit.key, keys)
    if all(key in known for key in keys):
        return [known[key] for key in keys]
    results = _try(context, unit, fold, several, path)
    store.add_trials(unit.key, dict(zip(keys, results, strict=True)))
    return results


def _try(
    context: Context,
    unit: Unit,
    fold: Fold,
    several: Sequence[Settings],
    path: Path | None,
) -> list[FoldResult]:
    contender = context.contenders[unit.learner]
    seed = seed_of(context.seed, unit.learner, unit.split, "inner", fold.number)
    start = time.perf_counter()
    train = context.table.take(fold.train)
    test, codes = context.table.take(fold.test), context.codes[fold.test]
    try:
        if path is not None:
            models: Sequence[Any] = path.fit(contender, several, train, test, seed=seed)
        else:
            many = train.n_rows >= _MANY_TRAINING_ROWS
            trees = _TREES_ON_MANY_ROWS if many else _TREES_WHILE_TUNING
            if context.loss.name in LOSSES_FOR_FEW_TREES:
                trees //= 2
            settings = contender.with_trees(several[0], trees)
            models = [contender.build(settings, seed=seed).fit(train)]
        losses = [
            model
            if isinstance(model, NotGrown)
            else judge(model, test, codes, context.loss, context.classes)[0].astype(np.float32)
            for model in models
        ]
    except Exception as error:  # a configuration that cannot be fitted loses
        seconds = (time.perf_counter() - start) / len(several)
        return [FoldResult(None, seconds, in_words(error)) for _ in several]
    seconds = (time.perf_counter() - start) / len(several)
    return [
        FoldResult(None, seconds, str(one), is_past_best=True)
        if isinstance(one, NotGrown)
        else FoldResult(one, seconds)
        for one in losses
    ]


def _trial_key(contender: Contender, settings: Mapping[str, Any], fold: Fold) -> str:
    """Return the name of a configuration on an inner fold."""
    written = json.dumps(contender.encoded(settings), sort_keys=True)
    return f"{fold.number}/{fold.share:.6g}/{written}"


class _Race:
    """A configuration and its losses so far."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.losses: list[Losses] = []
        self.seconds = 0.0
        self.failure: str | None = None
        self.is_past_best = False
        self.running = True

    def add(self, result: FoldResult) -> None:
        self.seconds += result.seconds
        if result.losses is None:
            self.failure, self.running = result.failure, False
            self.is_past_best = result.is_past_best
        else:
            self.losses.append(result.losses)


Weights = Sequence[NDArray[np.float64] | None]


def _mean(losses: Sequence[NDArray[Any]], weights: Weights) -> tuple[float, float]:
    """Return the mean loss over the first folds, and its standard error over rows."""
    together = np.concatenate([one.astype(np.float64) for one in losses])
    of_rows = [
        np.ones(len(one)) if w is None else w for one, w in zip(losses, weights, strict=False)
    ]
    weight = np.concatenate(of_rows)
    mean = float(np.average(together, weights=weight))
    spread = float(np.sum((weight * (together - mean)) ** 2))
    return mean, float(np.sqrt(spread) / weight.sum())


def _give_up_hopeless(races: "Sequence[_Race]", weights: Weights) -> None:
    running = [race for race in races if race.running]
    for folds in sorted({len(race.losses) for race in running}):
        rivals = [race for race in running if len(race.losses) >= folds]
        means = [_mean(race.losses[:folds], weights)[0] for race in rivals]
        best, least = rivals[int(np.argmin(means))], min(means)
        for race in rivals:
            if len(race.losses) > folds or race is best:
                continue
            pairs = zip(race.losses, best.losses, strict=False)
            differences = [mine - its for mine, its in pairs]
            gap, error = _mean(differences, weights)
            many = sum(map(len, differences)) >= _MANY_ROWS
            errors = _HOPELESS_ON_MANY_ROWS if many else _HOPELESS
            race.running = gap <= max(errors * error, _NEAR * abs(least))


def _trials(races: "Sequence[_Race]", weights: Weights, share: float) -> list[Trial]:
    """Sum up; the risk of one that was given up early is estimated from its gap to the best."""
    judged = [race for race in races if race.failure is None and race.losses]
    most = max((len(race.losses) for race in judged), default=0)
    finishers = [race for race in judged if len(race.losses) == most]
    best = min(finishers, key=lambda race: _mean(race.losses, weights)[0], default=None)
    trials = []
    for race in races:
        risk = error = np.inf
        if race.failure is None and race.losses and best is not None:
            risk, error = _mean(race.losses, weights)
            if len(race.losses) < most:
                head = _mean(best.losses[: len(race.losses)], weights)[0]
                risk += _mean(best.losses, weights)[0] - head
        trials.append(
            Trial(
                race.settings,
                risk,
                error,
                len(race.losses),
                share,
                race.seconds,
                race.failure,
                race.is_past_best,
            )
        )
    return trials


def inner_splits(context: Context, rows: Rows, k: int, seed: int) -> tuple[Split, ...]:
    """Cut the training rows of a unit into folds for tuning; positions count among these rows.

    Groups and times are respected as in the outer splits. Where a class has too few of these rows
    for k folds there are fewer folds; where it has a single row, folds ignore the classes.
    """
    table = context.table
    groups = None if table.groups is None else table.groups[rows]
    if groups is None and len(np.unique(rows)) < len(rows):
        groups = rows  # a row that a bootstrap drew twice must not be on both sides
    if table.times is not None:
        times = table.times[rows]
        spans = min(k, len(np.unique(times)) - 1)
        return TimeOrdered(max(spans, 1)).splits(len(rows), groups=groups, times=times, seed=seed)
    units = len(rows) if groups is None else len(np.unique(groups))
    k = max(2, min(k, units))
    if context.classes is None:
        return KFold(k).splits(len(rows), groups=groups, seed=seed)
    y = context.codes[rows]
    rarest = int(np.unique(y, return_counts=True)[1].min())
    try:
        return KFold(max(2, min(k, rarest))).splits(len(rows), y=y, groups=groups, seed=seed)
    except InputError:
        return KFold(k).splits(len(rows), groups=groups, seed=seed)
