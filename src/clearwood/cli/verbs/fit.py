"""`clearwood fit`: from a table to a model file."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearwood._shared.choices import Categories
from clearwood._shared.errors import InputError, Option, words
from clearwood._shared.numbers import IN_TABLES, duration, number, size
from clearwood.cli.support import completion
from clearwood.cli.support.console import commands, facts, print_json, print_text, quoted, written
from clearwood.cli.support.options import (
    Columns,
    Force,
    Jobs,
    Json,
    Monotone,
    Reading,
    Rebalance,
    Seed,
    Select,
    directions,
    limited_cores,
    pairs,
    read_table,
    setting,
)
from clearwood.cli.support.parts import Workers, naming_kept
from clearwood.cli.support.verb import verb

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clearwood.models import Learner
    from clearwood.table import Parts, Table

__all__ = ["fit"]

#: Parameters of a learner that have options of their own.
_OWN_OPTIONS = ("task", "categories", "monotone", "select", "rebalance", "seed", "n_jobs")

#: The training risk of a larger table is estimated from this many of its rows, and says so.
RISK_ROWS = 200_000

#: A predicted count of zero or less would outweigh all other rows.
_LOWEST_COUNT = 1e-6


@verb
def fit(
    data: Path,
    *,
    target: str,
    learner: Annotated[str, typer.Option(autocompletion=completion.learners)] = "gbm",
    path: Path = Path("model.cw"),
    settings: list[str] | None = None,
    categories: Categories | None = None,
    monotone: Monotone = None,
    select: Select = None,
    rebalance: Rebalance = False,
    checkpoint: Path | None = None,
    scheduler: str | None = None,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
    columns: Columns,
    reading: Reading,
) -> None:
    """Fit a learner to a table and save the model.

    Parameters
    ----------
    data
        A table: CSV, TSV, Parquet, Feather or JSON lines; or a folder, a pattern in quotes or an
        address of CSV or Parquet files.
    target : COLUMN
        The column to predict.
    learner : NAME
        One of the learners that `clearwood models` lists.
    path : FILE
        The model's file.
    settings : KEY=VALUE
        A setting of the learner, such as max_depth=3. Repeatable.
    categories
        How categories are encoded.
    checkpoint : FILE
        With --scan: a file that keeps the trees grown so far. The same command goes on from it if
        it was interrupted. Learners that fit with --scan: lightgbm, xgboost, glm, logistic, ols,
        ridge, lasso, elastic-net, baseline.
    scheduler : ADDRESS
        The address of a Dask scheduler, such as tcp://10.0.0.1:8786: the rows stay where they are,
        and the trees are grown on its workers, each with some of the rows.
    """
    import clearwood as cw
    from clearwood._shared.progress import progress
    from clearwood.cli.support.files import check_output

    # Whatever can be checked without reading the table is checked first.
    check_output(path, ".cw", force=force, inputs=[data])
    texts = pairs("--set", settings or (), example="max_depth=3")
    for key, text in texts.items():
        if key in _OWN_OPTIONS:
            raise InputError(
                f"--set {key}={text}: {key!r} is not a setting of a learner but an option",
                hint=words("type ", Option(key, text), "."),
            )
    model = cw.learner(
        learner,
        task=columns.task,
        categories=categories,
        monotone=directions(monotone),
        select=select,
        rebalance=rebalance,
        seed=seed,
        n_jobs=n_jobs,
        **{key: setting(text) for key, text in texts.items()},
    )
    model.entry.require()
    with Workers(scheduler=scheduler).ready():
        how = {**vars(reading), "scan": reading.scan or scheduler is not None}
        table = read_table(data, target=target, **columns.roles(), **how)
        title = f"fitting {learner} to {table.n_rows:,} rows"
        keeping = (
            nullcontext()
            if checkpoint is None
            else naming_kept(checkpoint, "--checkpoint", "the trees grown so far")
        )
        with limited_cores(n_jobs), keeping, progress(title) as step:
            distributed = None if scheduler is None else True
            model.fit(table, checkpoint=checkpoint, distributed=distributed)
            step(note="measuring the training risk")
            risk = training_risk(model, table)
    cw.save(model, path, force=force)
    written.append(path)
    if json:
        print_json(_document(model, table, path, risk))
    else:
        _report(model, table, path, risk)


def training_risk(model: "Learner", table: "Table | Parts") -> dict[str, Any]:
    """Compute the mean loss on the rows that the model was fitted to, which is optimistic."""
    import numpy as np

    from clearwood.table import Parts

    if isinstance(table, Parts):
        table = table.sample(RISK_ROWS)
    if table.n_rows > RISK_ROWS:
        rows = np.random.default_rng(0).choice(table.n_rows, RISK_ROWS, replace=False)
        table = table.take(np.sort(rows))
    measure, losses = row_losses(model, table)
    value = float(np.average(losses, weights=table.weights))
    return {"measure": measure, "value": value, "rows": table.n_rows, "in_sample": True}


def row_losses(model: "Learner", table: "Table") -> tuple[str, "NDArray[np.float64]"]:
    """Compute the loss of each row under a fitted learner; name the mean of these losses.

    Squared error for numbers, Poisson deviance for counts, gamma or Tweedie deviance for amounts if
    all predictions are positive, minus the log of the probability of the true class for classes;
    0 or 1 for learners that predict a class without probabilities.

    Examples
    --------
    >>> import clearwood as cw
    >>> wine = cw.datasets.load("wine")
    >>> measure, losses = row_losses(cw.learner("lda").fit(wine), wine)
    >>> measure, losses.shape
    ('log loss', (178,))
    """
    import numpy as np

    from clearwood import benchmarking
    from clearwood.losses import default_loss, find_loss
    from clearwood.models import has_probabilities
    from clearwood.table import Task

    task = model.task_
    loss = default_loss(task, table.y)
    if task.is_classification and not has_probabilities(model):
        loss = find_loss("zero-one")
    if task is Task.AMOUNT and (model.predict(table) <= 0).any():
        loss = find_loss("squared")
    if task is not Task.COUNT:
        return loss.risk_title, benchmarking.row_losses(model, table, loss)
    # learners may predict negative counts, for which the loss is not defined
    mean = np.maximum(model.predict(table), _LOWEST_COUNT)
    return loss.risk_title, loss.per_row(np.asarray(table.y, dtype=np.float64), mean)


def _report(model: "Learner", table: "Table | Parts", output: Path, risk: dict[str, Any]) -> None:
    from rich.text import Text

    rows = f"{table.n_rows:,}"
    if table.dropped:
        rows += f" ({table.dropped:,} more left out: {table.target} is missing)"
    sampled = f" ({risk['rows']:,} of them)" if risk["rows"] < table.n_rows else ""
    features = ", ".join(table.features)
    settings = ", ".join(f"{key}={value}" for key, value in _settings(model).items())
    monotone = ", ".join(f"{key}={value}" for key, value in (model.monotone_ or {}).items())
    print_text(
        Text.assemble(
            "Fitted ", (model.name, "bold cyan"), " to predict ", (str(table.outcome), "bold")
        ),
        "",
        facts(
            [
                ("learner", model.entry.title),
                ("task", str(model.task_)),
                ("rows", rows),
                *_events(table),
                ("features", f"{len(table.features)}: {features}"),
                ("settings", settings or "none"),
                *([("monotone", monotone)] if monotone else []),
                *_selected(model),
                *(("note", note) for note in model.notes_),
                ("training risk", f"{number(risk['value'], IN_TABLES)} {risk['measure']}"),
                ("", f"on the rows it was fitted to{sampled}, so optimistic"),
                *_level(model),
                ("time", duration(model.training_["seconds"])),
                ("model", f"{output} ({size(output.stat().st_size)})"),
            ]
        ),
        "",
    )
    file, named = quoted(output), _without_rows(table).by_header()
    roles = f"--target {quoted(named.target or '')}"
    if str(table.task) == "amount":  # the only one that is never inferred
        roles += f" --task {table.task}"
    if named.exposure is not None:
        roles += f" --exposure {quoted(named.exposure)}"
    next_steps = [
        (f"clearwood predict {file} NEW.csv -o predictions.csv", "predict new rows"),
        (f"clearwood inspect {file}", "what is in the file"),
        (
            f"clearwood benchmark DATA {roles}",
            "unbiased risk",
        ),
    ]
    commands("Next", next_steps)


def _events(table: "Table | Parts") -> list[tuple[str, str]]:
    """Say how many events there are to learn from, if they are few."""
    from clearwood.checks import events
    from clearwood.table import Parts

    found = None if isinstance(table, Parts) else events(table)
    return [("few events", found.text)] if found is not None and found.are_few else []


def _level(model: "Learner") -> list[tuple[str, str]]:
    """State observed / expected of the training rows, unless a note does."""
    level = model.level_
    if level is None or level.is_off or model.rebalance:
        return []
    return [("level", level.text)]


def _selected(model: "Learner") -> list[tuple[str, str]]:
    """Return which columns the learner chose, if it chose."""
    if model.select is None:
        return []
    names = ", ".join(model.selected_) or "none; it predicts the same for every row"
    return [("selected", f"{len(model.selected_)} by {model.select}: {names}")]


def _without_rows(table: "Table | Parts") -> "Table":
    from clearwood.table import Parts

    return table.empty if isinstance(table, Parts) else table


def _settings(model: "Learner") -> dict[str, Any]:
    """Return the settings with the values that they had in the fit, where they depend on rows."""
    return {**model.all_settings, **model.training_["settings"]}


def _document(
    model: "Learner", table: "Table | Parts", output: Path, risk: dict[str, Any]
) -> dict[str, Any]:
    return {
        "model": output,
        "bytes": output.stat().st_size,
        "learner": model.name,
        "task": str(model.task_),
        "target": table.target,
        **({} if table.exposure is None else {"exposure": table.exposure}),
        "rows": table.n_rows,
        "dropped": table.dropped,
        "features": list(table.features),
        "settings": _settings(model),
        "monotone": model.monotone_,
        "select": model.select,
        "selection": model.selection_,
        "seed": model.seed,
        "training_risk": risk,
        "level": model.level_,
        "rebalance": model.rebalance,
        "seconds": model.training_["seconds"],
        "left_out": model.training_["left_out"],
        "notes": [*map(str, table.notes), *model.notes_],
    }
