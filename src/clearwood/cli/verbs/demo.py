"""`clearwood demo`: a first look, from a table to a model that is compared, used and explained."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clearwood.cli.support.console import commands, emit, facts, program, quoted, say, written
from clearwood.cli.support.options import Force, Jobs, Json, Seed

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from clearwood.benchmarking import Benchmark
    from clearwood.table import Table

__all__ = ["demo"]

ROWS = 10_000
BAR_WIDTH = 10

#: What is compared, and settings that suit a table of this size.
LEARNERS: dict[str, dict[str, Any]] = {
    "baseline": {},
    "glm": {},
    "tree": {},
    "forest": {"n_estimators": 100, "min_samples_leaf": 20},
    "gbm": {"learning_rate": 0.05, "max_leaf_nodes": 8},
}

#: How the report is asked for.
REPORT: dict[str, Any] = {"title": "Accidents of a simulated motor portfolio"}

#: What is written, and what it is.
FILES = {
    "insurance.csv": "the table",
    "results.json": "the comparison",
    "model.cw": "the best learner, fitted to all rows",
    "predictions.csv": "its predictions for the first 1,000 rows",
    "report.html": "all about it on one page: open it in a browser",
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
    """Compare a few learners on a simulated insurance portfolio, and report on the best."""
    import clearwood as cw
    from clearwood.cli.support.cores import at_most
    from clearwood.cli.support.demo_folder import DemoFolder
    from clearwood.cli.support.output import write_columns, write_json
    from clearwood.cli.verbs.predict import prediction_columns
    from clearwood.losses import find_loss

    folder = DemoFolder(output, FILES, force=force)
    table = cw.datasets.insurance(ROWS, seed)
    if not json:
        _introduce(table)
    learners = {
        name: cw.learner(name, task=table.task, seed=seed, **settings)
        for name, settings in LEARNERS.items()
    }
    bench = cw.benchmark(table, learners, tune=0, repeats=1, seed=seed, n_jobs=jobs)
    if not bench.complete:
        raise KeyboardInterrupt
    with at_most(jobs):
        best = bench.best().fit(table, n_jobs=jobs)
        predictions = prediction_columns(best, table.head(1000))
        page = cw.report(
            best,
            table,
            benchmark=bench,
            command=f"{program()} demo --seed {seed}",
            seed=seed,
            n_jobs=jobs,
            **REPORT,
        )

    folder.make()
    write_columns(folder / "insurance.csv", table.to_dict(), force=True)
    folder.record("insurance.csv")
    write_json(folder / "results.json", bench.to_json(), force=True)
    folder.record("results.json")
    cw.save(best, folder / "model.cw", force=True)
    written.append(folder / "model.cw")
    folder.record("model.cw")
    write_columns(folder / "predictions.csv", predictions, force=True)
    folder.record("predictions.csv")
    page.save(folder / "report.html", force=True)
    written.append(folder / "report.html")
    folder.record("report.html")
    truth = cw.datasets.insurance_truth().mean(table)
    floor = float(find_loss("poisson").per_row(table.y, truth).mean())
    if json:
        emit({**bench.to_json(), "true_risk": floor, "folder": output, "files": list(FILES)})
    else:
        _report(bench, floor, output, table)


def _introduce(table: "Table") -> None:
    from rich.text import Text

    say(
        Text("Clearwood demo", style="bold green"),
        f"{table.n_rows:,} simulated motor policies; how many {table.target} does each have?",
        f"Known of each: {', '.join(table.features)}",
        "",
    )


def _report(bench: "Benchmark", floor: float, folder: Path, table: "Table") -> None:
    from rich.text import Text

    possible = 1 - floor / bench["baseline"].risk
    say(
        _standings(bench, possible),
        "",
        "Risk: mean Poisson deviance of rows not used in fitting, lower is better, by",
        f"{bench.method.plan} with the same folds for all. The 90 % intervals",
        "account for folds that share training rows, and those of gains for rows that are",
        "hard for all learners. The table is simulated, so the most there is to gain is",
        f"known: {100 * possible:.1f} %, a full bar. The rest is chance.",
        _verdict(bench),
        "",
        Text("Written", style="bold"),
        facts((str(folder / name), purpose) for name, purpose in FILES.items()),
        "",
        f"The report: {(folder / 'report.html').absolute().as_uri()}",
        "",
    )
    run, model = program(), quoted(folder / "model.cw")
    data = quoted(folder / "insurance.csv")
    roles = f"--target {table.target} --ignore claim_amount --protected gender"
    commands(
        "Next",
        [
            (f"{run} inspect {model}", "what is in the file"),
            (f"{run} explain {model} {data} -o why", ""),
            (f"{run} models", "what else there is"),
            (f"{run} report {data} {roles} --quick -o report.html", ""),
            (f"{run} fit {data} {roles} --learner gbm -o gbm.cw", ""),
            (f"{run} predict gbm.cw {data} -o predictions.csv", ""),
        ],
    )


def _verdict(bench: "Benchmark") -> str:
    best, *others = bench.standings
    level = [one.learner for one in others if one.difference_low <= 0 <= one.difference_high]
    if not level:
        return f"Best: {best.learner}, which the data tell from all others."
    names = " and ".join(filter(None, (", ".join(level[:-1]), level[-1])))
    return f"Best: {best.learner}; the data do not tell {names} from it."


def _standings(bench: "Benchmark", possible: float) -> "RichTable":
    from rich.table import Table
    from rich.text import Text

    from clearwood.models import catalogue

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("learner", style="cyan", no_wrap=True)
    table.add_column("reading", no_wrap=True)
    table.add_column("risk", no_wrap=True)
    table.add_column("interval", no_wrap=True)
    table.add_column("better than the baseline by", no_wrap=True)
    for one in bench.standings:
        bar = Text("–")
        if one.learner != "baseline":
            found, base = bench.compare("baseline", one.learner), bench["baseline"].risk
            gain, low, high = (
                100 * value / base for value in (found.difference, found.low, found.high)
            )
            filled = round(BAR_WIDTH * min(max(gain / 100 / possible, 0.0), 1.0))
            blocks = "█" * filled + "·" * (BAR_WIDTH - filled)
            bar = Text.assemble((blocks, "green"), f" {gain:4.1f} % ({low:.1f} to {high:.1f})")
        table.add_row(
            one.learner,
            catalogue.get(one.learner).reading,
            f"{one.risk:.4f}",
            f"{one.low:.4f} to {one.high:.4f}",
            bar,
        )
    return table
