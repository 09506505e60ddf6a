"""`clearwood fit`: from a table to a model file."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearwood.cli.support import complete as _complete
from clearwood.cli.support.console import (
    bytes_in_words,
    commands,
    emit,
    facts,
    figure,
    quoted,
    say,
    written,
)
from clearwood.cli.support.options import (
    Decimal,
    Delimiter,
    Encoding,
    Force,
    Group,
    Ignore,
    Jobs,
    Json,
    Kinds,
    Protected,
    Seed,
    TaskName,
    Time,
    Weight,
    pairs,
    setting,
)

if TYPE_CHECKING:
    from clearwood.models import Learner
    from clearwood.table import Table

__all__ = ["fit"]


#: The training risk of a larger table is that of this many of its rows.
RISK_ROWS = 20_000


def fit(
    *,
    data: Annotated[
        Path,
        typer.Argument(metavar="DATA", help="A table: CSV, TSV, Parquet, Feather or JSON lines."),
    ],
    target: Annotated[
        str, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")
    ],
    learner: Annotated[
        str,
        typer.Option(
            "--learner",
            "-l",
            metavar="NAME",
            help="Which learner; `clearwood models` lists them.",
            autocompletion=_complete.learners,
        ),
    ] = "gbm",
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the model goes.")
    ] = Path("model.cw"),
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting of the learner, such as max_depth=3. Repeatable.",
        ),
    ] = None,
    task: TaskName = None,
    categories: Annotated[
        str | None,
        typer.Option(
            metavar="WAY",
            help="How categories reach the model: onehot, ordinal, native or target.",
            autocompletion=_complete.categories,
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
    weight: Weight = None,
    group: Group = None,
    time: Time = None,
    protected: Protected = None,
    ignore: Ignore = None,
    kind: Kinds = None,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    encoding: Encoding = None,
) -> None:
    """Fit a learner to a table and save the model."""
    import clearwood as cw
    from clearwood._shared.progress import progress
    from clearwood.cli.support.cores import at_most
    from clearwood.cli.support.output import check_output

    # What can be refused without reading the table is refused first.
    check_output(output, force=force, inputs=[data])
    given = pairs("--set", settings or (), example="max_depth=3")
    model = cw.learner(
        learner,
        task=task,
        categories=categories,
        seed=seed,
        n_jobs=jobs,
        **{key: setting(value) for key, value in given.items()},
    )
    model.entry.require()
    with progress(f"reading {data.name}"):
        table = cw.read(
            data,
            target=target,
            weight=weight,
            group=group,
            time=time,
            protected=protected or (),
            ignore=ignore or (),
            kinds=pairs("--kind", kind or (), example="zip=category"),
            task=task,
            delimiter=delimiter,
            decimal=decimal,
            encoding=encoding,
        )
    with at_most(jobs), progress(f"fitting {learner} to {table.n_rows:,} rows") as step:
        model.fit(table)
        step(note="measuring the training risk")
        risk = training_risk(model, table)
    cw.save(model, output, force=force)
    written.append(output)
    if json:
        emit(_document(model, table, output, risk))
    else:
        _report(model, table, output, risk)


def training_risk(model: "Learner", table: "Table") -> dict[str, Any]:
    """Give the mean loss on the rows the model was fitted to: what it managed, not what it will."""
    import numpy as np

    from clearwood.cli.support.risk import loss_of_rows

    rows = np.arange(table.n_rows)
    if table.n_rows > RISK_ROWS:
        chosen = np.random.default_rng(0).choice(table.n_rows, RISK_ROWS, replace=False)
        rows = np.sort(chosen)
        table = table.take(rows)
    measure, losses = loss_of_rows(model, table)
    value = float(np.average(losses, weights=table.weights))
    return {"measure": measure, "value": value, "rows": len(rows), "honest": False}


def _report(model: "Learner", table: "Table", output: Path, risk: dict[str, Any]) -> None:
    from rich.text import Text

    from clearwood.cli.app import verbs

    rows = f"{table.n_rows:,}"
    if table.dropped:
        rows += f" ({table.dropped:,} more left out: no {table.target})"
    sampled = f" ({risk['rows']:,} of them)" if risk["rows"] < table.n_rows else ""
    features = ", ".join(table.features)
    say(
        Text.assemble(
            "Fitted ", (model.name, "bold cyan"), " to predict ", (str(table.target), "bold")
        ),
        "",
        facts(
            [
                ("learner", model.entry.title),
                ("task", str(model.task_)),
                ("rows", rows),
                ("features", f"{len(table.features)}: {features}"),
                ("settings", _settings_in_words(model)),
                ("training risk", f"{figure(risk['value'])} {risk['measure']}"),
                ("", f"on the rows it was fitted to{sampled}: not an honest estimate"),
                ("time", f"{model.training_['seconds']:.1f} s"),
                ("model", f"{output} ({bytes_in_words(output.stat().st_size)})"),
            ]
        ),
        "",
    )
    file = quoted(output)
    next_steps = [
        (f"clearwood predict {file} NEW.csv -o predictions.csv", "predict new rows"),
        (f"clearwood inspect {file}", "what is in it"),
    ]
    if "benchmark" in verbs():
        honest = (f"clearwood benchmark DATA --target {quoted(table.target or '')}", "honest risk")
        next_steps.append(honest)
    commands("Next", next_steps)


def _settings_in_words(model: "Learner") -> str:
    settings = model.all_settings
    return ", ".join(f"{key}={value}" for key, value in settings.items()) or "none"


def _document(
    model: "Learner", table: "Table", output: Path, risk: dict[str, Any]
) -> dict[str, Any]:
    return {
        "model": output,
        "bytes": output.stat().st_size,
        "learner": model.name,
        "task": str(model.task_),
        "target": table.target,
        "rows": table.n_rows,
        "dropped": table.dropped,
        "features": list(table.features),
        "settings": model.all_settings,
        "seed": model.seed,
        "training_risk": risk,
        "seconds": model.training_["seconds"],
        "notes": [str(note) for note in table.notes],
    }
