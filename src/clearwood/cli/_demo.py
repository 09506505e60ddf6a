"""`clearwood demo`: a first look, from a table to a compared, saved and used model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearwood.cli._console import commands, emit, facts, program, quoted, say, written
from clearwood.cli._options import Force, Jobs, Json, Seed

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from clearwood.cli._compare import Comparison
    from clearwood.table import Table

__all__ = ["demo"]

ROWS = 10_000
BAR_WIDTH = 20

#: What is compared, and settings that suit a table of this size.
LEARNERS: dict[str, dict[str, Any]] = {
    "baseline": {},
    "glm": {},
    "tree": {},
    "forest": {"n_estimators": 100, "min_samples_leaf": 20},
    "gbm": {"learning_rate": 0.05, "max_leaf_nodes": 8},
}

#: What is written, and what it is.
FILES = {
    "insurance.csv": "the table",
    "results.json": "the comparison",
    "model.cw": "the best learner, fitted to all rows",
    "predictions.csv": "its predictions for the first 1,000 rows",
}


def demo(
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the files go.")
    ] = Path("clearwood-demo"),
    seed: Seed = 0,
    jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
) -> None:
    """Compare a few learners on a simulated insurance portfolio and save the best."""
    import clearwood as cw
    from clearwood.cli._compare import compare
    from clearwood.cli._cores import at_most
    from clearwood.cli._demo_folder import DemoFolder
    from clearwood.cli._output import write_columns, write_json
    from clearwood.cli._predict import prediction_columns
    from clearwood.cli._risk import poisson_deviance

    folder = DemoFolder(output, FILES, force=force)
    table = cw.datasets.insurance(ROWS, seed)
    if not json:
        _introduce(table)
    learners = {
        name: cw.learner(name, task=table.task, seed=seed, n_jobs=jobs, **settings)
        for name, settings in LEARNERS.items()
    }
    with at_most(jobs):
        result = compare(table, learners, seed=seed)
        best = learners[result.standings[0].name].fit(table)
        predictions = prediction_columns(best, table.head(1000))

    folder.make()
    write_columns(folder / "insurance.csv", table.to_dict(), force=True)
    folder.record("insurance.csv")
    write_json(folder / "results.json", result.to_json(), force=True)
    folder.record("results.json")
    cw.save(best, folder / "model.cw", force=True)
    written.append(folder / "model.cw")
    folder.record("model.cw")
    write_columns(folder / "predictions.csv", predictions, force=True)
    folder.record("predictions.csv")
    floor = float(poisson_deviance(table.y, cw.datasets.insurance_truth().mean(table)).mean())
    if json:
        emit({**result.to_json(), "true_risk": floor, "folder": output, "files": list(FILES)})
    else:
        _report(result, floor, output, table)


def _introduce(table: "Table") -> None:
    from rich.text import Text

    say(
        Text("Clearwood demo", style="bold green"),
        f"{table.n_rows:,} simulated motor policies; how many {table.target} does each have?",
        f"Known of each: {', '.join(table.features)}",
        "",
    )


def _report(result: "Comparison", floor: float, folder: Path, table: "Table") -> None:
    from rich.text import Text

    possible = 1 - floor / result.baseline_risk
    say(
        _standings(result, possible),
        "",
        f"Risk: {result.measure} of rows not used in fitting, by {result.folds}-fold",
        "cross-validation with the same folds for all; lower is better. ± is one standard",
        "error, that of the gain from paired differences. The table is simulated, so the",
        f"most there is to gain is known: {100 * possible:.1f} %, a full bar. The rest is chance.",
        _verdict(result),
        "",
        Text("Written", style="bold"),
        facts((str(folder / name), purpose) for name, purpose in FILES.items()),
        "",
    )
    run, model = program(), quoted(folder / "model.cw")
    data = quoted(folder / "insurance.csv")
    roles = f"--target {table.target} --ignore claim_amount --protected gender"
    commands(
        "Next",
        [
            (f"{run} inspect {model}", "what is in the file"),
            (f"{run} models", "what else there is"),
            (f"{run} fit {data} {roles} --learner gbm -o gbm.cw", ""),
            (f"{run} predict gbm.cw {data} -o predictions.csv", ""),
        ],
    )


def _verdict(result: "Comparison") -> str:
    best, *others = result.standings
    level = [standing.name for standing in others if standing.level_with_best]
    if not level:
        return f"Best: {best.name}, by more than two standard errors."
    names = " and ".join(filter(None, (", ".join(level[:-1]), level[-1])))
    verb = "is" if len(level) == 1 else "are"
    return f"Best: {best.name}; {names} {verb} within two standard errors of it."


def _standings(result: "Comparison", possible: float) -> "RichTable":
    from rich.table import Table
    from rich.text import Text

    from clearwood.models import catalogue

    table = Table(box=None, padding=(0, 3, 0, 0), header_style="bold")
    table.add_column("learner", style="cyan", no_wrap=True)
    table.add_column("reading", no_wrap=True)
    table.add_column("risk", no_wrap=True)
    table.add_column("better than the baseline by", no_wrap=True)
    for standing in result.standings:
        share = min(max(standing.gain / possible, 0.0), 1.0)
        filled = round(BAR_WIDTH * share)
        gain = f"{100 * standing.gain:5.1f} ± {100 * standing.gain_standard_error:.1f} %"
        bar = Text.assemble(("█" * filled + "·" * (BAR_WIDTH - filled), "green"), f" {gain}")
        table.add_row(
            standing.name,
            catalogue.get(standing.name).reading,
            f"{standing.risk:.4f} ± {standing.standard_error:.4f}",
            Text("–") if standing.name == "baseline" else bar,
        )
    return table
