"""`clearwood.evaluate`: a fitted model on rows whose target is known."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from clearwood._shared.checks import check_confidence, check_seed, check_whole
from clearwood._shared.errors import Call, InputError, words
from clearwood._shared.numbers import count
from clearwood.checks import Drift, drift
from clearwood.evaluation.against import other_of
from clearwood.evaluation.over_parts import evaluate_parts
from clearwood.evaluation.result import Evaluation
from clearwood.evaluation.row_facts import facts_of
from clearwood.evaluation.task_measures import check_threshold
from clearwood.evaluation.truth import truth_of
from clearwood.fitted import FittedModel
from clearwood.table import (
    Parts,
    Role,
    Schema,
    Table,
    as_table,
    read_as,
    scan_as,
)

__all__ = ["evaluate", "in_roles"]

#: With fewer rows an evaluation is refused.
_FEWEST_ROWS = 5


def evaluate(
    model: Any,
    data: Any,
    *,
    training: Any = None,
    against: Any = None,
    rescale: bool = False,
    threshold: float = 0.5,
    confidence: float = 0.9,
    name: str | None = None,
    sample: int = 200_000,
    seed: int = 0,
    ledger: str | Path | None = None,
    n_jobs: int | None = 1,
) -> Evaluation:
    """Evaluate a fitted model on rows that it was not fitted to.

    Of a table in parts, the mean loss and the measures that follow from means of rows (`r2`,
    `rmse`, `mae`, `deviance_explained`, `accuracy`, `majority`, `observed_expected`), with their
    intervals, are exact over all rows. Rankings, calibration, lift, curves and columns are those of
    a sample of the rows. ``measures().sampled`` lists which measures are.

    Parameters
    ----------
    model
        A fitted learner, a model of another library, a function of rows, or the path of a model
        file.
    data
        Rows with the target: what `clearwood.read` takes, or a table in parts. Weight, exposure and
        group are those of the rows that the model was fitted to, where it is a `Learner`.
    training
        The rows that the model was fitted to, to state how far the new ones differ from them.
    against
        Another prediction of the same quantity, that the model is compared with in a double lift: a
        column of the new rows, such as the current premium per unit of exposure, another fitted
        model, or the path of its file.
    rescale
        Whether both predictions get the observed mean in the double lift, see `Evaluation.lift`.
    threshold
        Of two classes, the second is predicted where its probability is above this.
    confidence
        The level of all intervals.
    name
        What the model is called; by default the name of the learner.
    sample, seed
        Of a table in parts: how many rows to draw for what needs rows in memory, and what decides
        which. A table that has no more rows is evaluated as if it were in memory.
    ledger, n_jobs
        Of a table in parts, as for `clearwood.explain`: a file for finished parts, and processes.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        If the rows have no target or lack a column of the model, are too few, or if the other
        prediction is missing or not positive somewhere.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.load("breast_cancer")
    >>> model = cw.learner("logistic").fit(data.take(slice(0, 300)))
    >>> result = cw.evaluate(model, data.take(slice(300, None)))
    >>> result.measures().interval("auc")[0] > 0.95
    True
    """
    check_threshold(threshold)
    check_confidence(confidence)
    model = FittedModel(model)
    schema = model.schema
    column = against if isinstance(against, str) and not _is_file(against, data) else None
    check_whole("sample", sample, _FEWEST_ROWS)
    check_seed(seed)
    every = _with_target(data, schema, column, training)
    if isinstance(every, Parts) and every.n_rows <= sample:
        every = every.to_table()
    table = every.sample(sample, seed=seed) if isinstance(every, Parts) else every
    model = FittedModel(model, every)
    classes = model.labels
    predicted, needs = model.for_loss(table)
    called = name or model.name
    other = None
    if against is not None and column is None:
        is_read = isinstance(data, Table) or isinstance(every, Parts)
        other = other_of(against, table, classes, own=called, source=None if is_read else data)
    truth, known = truth_of(table, classes)
    facts = facts_of(table, truth, known, predicted, model)
    in_parts = None
    if isinstance(every, Parts):
        in_parts, facts = evaluate_parts(
            model,
            every,
            threshold=threshold,
            confidence=confidence,
            n_sampled=int(known.sum()),
            seed=seed,
            ledger=ledger,
            n_jobs=n_jobs,
        )
    rows = np.flatnonzero(known)
    if len(rows) < _FEWEST_ROWS:
        raise InputError(
            f"{count(len(rows), 'row')} with a known {table.target!r} "
            f"{'is' if len(rows) == 1 else 'are'} too few; an evaluation needs {_FEWEST_ROWS} or "
            "more",
            parameter="data",
            value=len(rows),
        )
    shifted = None if training is None else _shift(training, table, schema, sample, seed)
    notes = list(facts.notes(classes, every.dropped, table.target, shifted))
    if in_parts is not None:
        notes.append(
            f"rankings, calibration, lift, curves and columns are those of a sample of "
            f"{in_parts.n_sampled:,} of {in_parts.n_rows:,} rows (seed {seed}); the mean loss and "
            f"{', '.join(in_parts.measures)} are exact over all rows"
        )
    result = Evaluation(
        learner=called,
        what=str(table.outcome),
        task=model.task,
        source="new rows",
        table=table,
        rows=rows,
        truth=truth[rows],
        predicted=predicted[rows],
        classes=classes,
        needs=needs,
        confidence=confidence,
        threshold=threshold,
        against=column if other is None else other.name,
        others={} if other is None else {other.name: other.predicted[rows]},
        rescale=rescale,
        drift=shifted,
        new_levels=facts.new_levels,
        outside=facts.outside,
        judged_by=None if in_parts is None else in_parts.loss,
        judged=None if in_parts is None else in_parts.risk,
        in_parts=in_parts,
        fitted=model.level,
        notes=tuple(notes),
    )
    if result.against is not None:
        result.lift(against=result.against)  # refuses what cannot be compared with
    return result


def _is_file(against: str, data: Any) -> bool:
    """Return whether a name is that of a model file; a column of that name comes first."""
    names = data.names if isinstance(data, Table | Parts) else getattr(data, "columns", ())
    return against not in list(names) and Path(against).is_file()


def _with_target(
    data: Any, schema: Schema | None, against: str | None, training: Any
) -> Table | Parts:
    """Return the new rows as a table with the target that the model predicts."""
    table = _read(data, schema, against, training)
    if table.target is None:
        named = None if schema is None else schema.target
        raise InputError(
            "the rows to evaluate have no target"
            if named is None
            else f"the rows to evaluate lack the target {named!r}",
            parameter="data",
            hint=words(
                "predictions can only be compared with what was observed; name the target: ",
                Call("read", ("data",), {"target": "…"}),
            )
            if named is None
            else "predictions can only be compared with what was observed.",
        )
    if against is not None and isinstance(table, Parts):
        table.check_column(against)
    elif against is not None:
        table.column(against)  # refuses one that is not there
    return table


def _read(data: Any, schema: Schema | None, against: str | None, training: Any) -> Table | Parts:
    keep = () if against is None else (against,)
    is_read = isinstance(data, Table | Parts)
    if schema is None and not is_read and isinstance(training, Table | Parts) and training.target:
        schema = training.schema
    if isinstance(data, Table):
        return data if schema is None or schema.target is None else in_roles(data, schema)
    if isinstance(data, Parts):
        return _in_parts(data, schema)
    if schema is not None:
        return read_as(data, schema, keep=keep, constant=True)
    return as_table(data)


def _in_parts(data: Parts, schema: Schema | None) -> Parts:
    """Return rows in parts, whose target and exposure are those of the model."""
    parts = data if schema is None or data.target is not None else scan_as(data, schema)
    if schema is not None and schema.target is not None and parts.target is not None:
        _check_same(parts, schema)
    return parts


def in_roles(data: Table, schema: Schema) -> Table:
    """Return a table whose target and exposure are those of a schema, if it has the target.

    Parameters
    ----------
    data
        New rows, read with roles or without.
    schema
        The schema of the table that a model was fitted to.

    Examples
    --------
    >>> import clearwood as cw
    >>> data = cw.datasets.insurance(50)
    >>> in_roles(data.select(data.names), data.schema).target
    'accidents'
    """
    if data.target is None and schema.target in data.names:
        others = (Role.TARGET, Role.EXPOSURE, Role.WEIGHT, Role.GROUP)
        roles = {
            c.name: c.role for c in schema.columns if c.role in others and c.name in data.names
        }
        data = replace(data, roles={**data.roles, **roles}, task=schema.task)
    if data.target is not None:
        _check_same(data, schema)
    return data


def _check_same(data: Table | Parts, schema: Schema) -> None:
    """Refuse rows whose target or exposure is not that of the model."""
    for role in ("target", "exposure"):
        own, wanted = getattr(data, role), getattr(schema, role)
        same = wanted is None if own is None else schema.name_of(own) == wanted
        if not same:
            raise InputError(
                f"the rows to evaluate have {_named(role, own)}, and the model was fitted with "
                f"{_named(role, wanted)}",
                parameter="data",
                value=own,
                hint="what is observed and what is predicted must be the same quantity.",
            )


def _named(role: str, name: str | None) -> str:
    return f"no {role}" if name is None else f"the {role} {name!r}"


def _shift(training: Any, table: Table, schema: Schema | None, sample: int, seed: int) -> Drift:
    """Compare the distributions of the columns with those the model was fitted to."""
    first = training
    if isinstance(training, Parts):
        first = training.sample(sample, seed=seed)
    elif not isinstance(training, Table):
        first = as_table(training) if schema is None else read_as(training, schema)
    names = [name for name in first.features if name in table.names]
    return drift(first, table, columns=names, names=("training rows", "new rows"))
