"""`clearwood demo`: a first look, from a table to a report on the best of several learners."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearwood._shared.errors import InputError
from clearwood._shared.numbers import percent
from clearwood.cli.support.console import (
    commands,
    facts,
    print_json,
    print_text,
    program,
    prose,
    quoted,
    written,
)
from clearwood.cli.support.files import require_folder, write_json
from clearwood.cli.support.options import Force, Jobs, Json, Seed, limited_cores
from clearwood.cli.support.verb import verb

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from clearwood.benchmarking import Benchmark
    from clearwood.explanation import Factors
    from clearwood.models import Learner
    from clearwood.table import Table

__all__ = ["DemoFolder", "demo"]


ROWS = 10_000


BAR_WIDTH = 10


#: The learners that are compared, with settings for a table of this size.
LEARNERS: dict[str, dict[str, Any]] = {
    "baseline": {},
    "glm": {},
    "glass": {},
    "tree": {},
    "forest": {"n_estimators": 100, "min_samples_leaf": 20},
    "gbm": {"learning_rate": 0.05, "max_leaf_nodes": 8},
}


#: Options of the report.
REPORT: dict[str, Any] = {"title": "Accidents of a simulated motor portfolio"}


#: The files that are written, and what they hold.
FILES = {
    "insurance.csv": "the table",
    "results.json": "the comparison",
    "model.cw": "the best learner, fitted to all rows",
    "predictions.csv": "its predictions of the first 1,000 rows",
    "factors.csv": "the best model with such a form, as factors",
    "report.html": "a report on it: open it in a browser",
}

MANIFEST = "made-by-clearwood-demo.json"


@verb
def demo(
    *,
    path: Path = Path("clearwood-demo"),
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    force: Force = False,
    json: Json = False,
) -> None:
    """Compare a few learners on a simulated insurance portfolio, and report on the best.

    Parameters
    ----------
    path : FOLDER
        The folder for the files.
    """
    import numpy as np

    import clearwood as cw
    from clearwood.cli.support.files import write_columns, write_json
    from clearwood.losses import find_loss
    from clearwood.models import prediction_columns

    folder = DemoFolder(path, FILES, force=force)
    table = cw.datasets.insurance(ROWS, seed)
    if not json:
        _introduce(table)
    learners = {
        name: cw.learner(name, task=table.task, seed=seed, **settings)
        for name, settings in LEARNERS.items()
    }
    bench = cw.benchmark(table, learners, tune=0, repeats=1, seed=seed, n_jobs=n_jobs)
    if not bench.complete:
        raise KeyboardInterrupt
    with limited_cores(n_jobs):
        best = bench.best().fit(table, n_jobs=n_jobs)
        columns = prediction_columns(best, table.head(1000))
        predictions = {name: values.tolist() for name, values in columns.items()}
        factors = _factors(bench, best, table)
        page = cw.report(
            best,
            table,
            benchmark=bench,
            seed=seed,
            n_jobs=n_jobs,
            **REPORT,
        )

    writers: dict[str, Callable[[Path], None]] = {
        "insurance.csv": lambda file: write_columns(file, table.to_dict(), force=True),
        "results.json": lambda file: write_json(file, bench.to_json(), force=True),
        "model.cw": lambda file: cw.save(best, file, force=True),
        "predictions.csv": lambda file: write_columns(file, predictions, force=True),
        "factors.csv": lambda file: _write_bytes(file, factors.to_csv().encode("utf-8")),
        "report.html": lambda file: page.save(file, force=True),
    }
    folder.write(writers)
    truth = cw.datasets.insurance_truth().mean(table)
    losses = find_loss("poisson").per_row(table.y, truth)
    floor = float(np.average(losses, weights=table.weights))
    if json:
        print_json({**bench.to_json(), "true_risk": floor, "folder": path, "files": list(FILES)})
    else:
        _report(bench, floor, path, table)


def _factors(bench: "Benchmark", best: "Learner", table: "Table") -> "Factors":
    """Write the best learner as a table of factors, or else the next one that has such a table."""
    import clearwood as cw
    from clearwood._shared.errors import InputError

    for one in bench.standings:
        is_best = one.learner == bench.best().name
        try:
            return cw.factors(best if is_best else bench.choose(one.learner).fit(table), table)
        except InputError:  # three columns or more interact
            continue
    raise InputError("no learner can be written as a table of factors")


def _write_bytes(file: Path, content: bytes) -> None:
    from clearwood.files import atomic_write

    with atomic_write(file, force=True) as output:
        output.write(content)


def _introduce(table: "Table") -> None:
    from rich.text import Text

    print_text(
        Text("Clearwood demo", style="bold green"),
        f"The task: predict {table.outcome} of {table.n_rows:,} simulated motor policies.",
        f"Features: {', '.join(table.features)}",
        f"Exposure: {table.exposure}",
        "",
    )


def _report(bench: "Benchmark", floor: float, folder: Path, table: "Table") -> None:
    from rich.text import Text

    possible = 1 - floor / bench["baseline"].risk
    print_text(
        _standings(bench, possible),
        "",
        prose(
            f"Risk: mean Poisson deviance per year on held-out rows (lower is better), by "
            f"{bench.method.plan} with the same folds for all learners. The "
            f"{percent(bench.method.confidence)} intervals account for training rows that folds "
            "share; those of the improvement also for rows that are hard for every learner. The "
            "data are simulated, so the largest possible improvement is known: "
            f"{percent(possible)}, a full bar."
        ),
        prose(_verdict(bench)),
        "",
        Text("Written", style="bold"),
        facts((str(folder / name), purpose) for name, purpose in FILES.items()),
        "",
        f"The report: {(folder / 'report.html').absolute().as_uri()}",
        "",
    )
    run, model = program(), quoted(folder / "model.cw")
    data = quoted(folder / "insurance.csv")
    roles = f"--target {table.target} --exposure {table.exposure} --ignore claim_amount"
    roles += " --protected gender"
    commands(
        "Next",
        [
            (f"{run} inspect {model}", "what is in the file"),
            (f"{run} explain {model} {data} -o why", ""),
            (f"{run} predict {quoted(folder / 'factors.csv')} {data} -o rates.csv", ""),
            (f"{run} models", "all learners"),
            (f"{run} report {data} {roles} --quick -o report.html", ""),
            (f"{run} fit {data} {roles} --learner gbm -o gbm.cw", ""),
            (f"{run} predict gbm.cw {data} -o predictions.csv", ""),
        ],
    )


def _verdict(bench: "Benchmark") -> str:
    best, *others = bench.standings
    equal = [one.learner for one in others if one.difference_low <= 0 <= one.difference_high]
    if not equal:
        return f"Best: {best.learner}, clearly better than the rest."
    names = " and ".join(filter(None, (", ".join(equal[:-1]), equal[-1])))
    return f"Best: {best.learner}, but not clearly better than {names}."


def _standings(bench: "Benchmark", possible: float) -> "RichTable":
    from rich.table import Table
    from rich.text import Text

    from clearwood.models import catalogue

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("learner", style="cyan", no_wrap=True)
    table.add_column("reading", no_wrap=True)
    table.add_column("risk", no_wrap=True)
    table.add_column("interval", no_wrap=True)
    table.add_column("improvement on the baseline", no_wrap=True)
    for one in bench.standings:
        bar = Text("–")
        if one.learner != "baseline":
            gap, base = bench.compare("baseline", one.learner), bench["baseline"].risk
            gain, low, high = (100 * value / base for value in (gap.difference, gap.low, gap.high))
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


class DemoFolder:
    """A folder with a list of the files that the demo wrote, each with its checksum.

    A file that is not on the list, or was changed since, is the user's: it is replaced only with
    ``--force``.

    Parameters
    ----------
    path
        The folder; it is made when the first file is written.
    names
        The files the demo will write.
    force
        Replace them in any case.
    """

    def __init__(self, path: Path, names: Iterable[str], *, force: bool = False) -> None:
        self.path = path
        self._checksums = _read_manifest(path / MANIFEST)
        if path.exists() and not path.is_dir():
            raise InputError(f"'{path}' is a file", hint="choose a folder with -o.")
        require_folder(path.parent)
        for name in names:
            if not force and self._is_foreign(path / name):
                raise InputError(
                    f"'{path / name}' was not written by the demo, or was changed since",
                    hint="choose another folder with -o, or replace it with --force.",
                )

    def write(self, writers: Mapping[str, Callable[[Path], None]]) -> None:
        """Write files, each with its own function, and record them one by one."""
        self.path.mkdir(exist_ok=True)
        for name, write in writers.items():
            file = self.path / name
            write(file)
            if file not in written:
                written.append(file)
            self._checksums[name] = _checksum(file)
            write_json(self.path / MANIFEST, {"files": self._checksums}, force=True)

    def _is_foreign(self, file: Path) -> bool:
        return file.exists() and self._checksums.get(file.name) != _checksum(file)


def _read_manifest(path: Path) -> dict[str, Any]:
    """Return the recorded checksums; none if the list cannot be read."""
    try:
        files = json.loads(path.read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return files if isinstance(files, dict) else {}


def _checksum(path: Path) -> str | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
