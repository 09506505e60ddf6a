"""Readable models beside R's packages: mgcv, rpart and earth, where R has them.

R fits the same rows in a process of its own and measures its own CPU time, without starting and
reading. On Debian: ``apt-get install r-base-core r-cran-mgcv r-cran-rpart r-cran-earth``.
"""

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._harness import write_record
from benchmarks.bench_glassbox import friedman

#: The fit to measure, and the error of what it returns.
Ours = tuple[Callable[[], Any], Callable[[Any], float]]
_COLUMNS = ["fit", "R", "clearwood, CPU", "R, CPU", "R / ours", "error, clearwood", "error, R"]
#: Reads the rows, fits, and prints the least CPU seconds and the error.
_PROGRAM = """
if (!requireNamespace("{package}", quietly=TRUE)) {{ cat("null"); quit() }}
d <- read.csv("{rows}"); new <- read.csv("{new}"); suppressMessages(library({package}))
seconds <- Inf
for (k in 1:{repeats}) {{
  before <- proc.time(); fit <- {fit}; took <- proc.time() - before
  seconds <- min(seconds, took[["user.self"]] + took[["sys.self"]])
}}
version <- as.character(packageVersion("{package}"))
cat(sprintf('{{"seconds": %.6f, "error": %.8g, "version": "%s"}}', seconds, {error}, version))
"""
_ON_NEW_ROWS = "sqrt(mean((new$y - as.numeric(predict(fit, new)))^2))"


@dataclass(frozen=True)
class Pair:
    """One fit by us and by a package of R.

    Parameters
    ----------
    title
        What is fitted to how much.
    package
        R's package.
    call
        R's call; ``d`` are the rows, with the target ``y``.
    error
        R's expression of the error of ``fit``.
    ours
        Takes the rows and new ones; returns the fit to measure, and the error of what it returns.
    n_rows, n_columns
        Of Friedman's example.
    """

    title: str
    package: str
    call: str
    ours: Callable[[Any, Any], Ours]
    n_rows: int
    n_columns: int = 10
    error: str = _ON_NEW_ROWS

    @property
    def repeats(self) -> int:
        """How many fits the least time is taken of; R takes a minute for the larger ones."""
        return 3 if self.n_rows <= 1_000 else 1


def report(*, quick: bool, path: Path) -> int:
    program = shutil.which("Rscript")
    if program is None:
        print("R is not installed: see the docstring of benchmarks/bench_r.py")
        return 0
    rows = []
    for pair in _pairs(quick=quick):
        measured = _measured(program, pair)
        if measured is None:
            print(f"R has no package {pair.package}: {pair.title} is left out")
            continue
        rows.append(measured)
        print("  ".join(f"{one:.3g}" if isinstance(one, float) else str(one) for one in measured))
    table = {
        "title": "CPU seconds of a fit (up to 1,000 rows the least of 3) and error on 1,000 new "
        "rows; for mars the error of generalised cross-validation",
        "columns": _COLUMNS,
        "rows": rows,
    }
    write_record(path, quick=quick, tables=[table])
    return 0


def _pairs(*, quick: bool) -> list[Pair]:
    terms = " + ".join(f"s(x{k})" for k in range(10))
    gam = f"gam(y ~ {terms}, data=d, method='REML')"
    bam = f"bam(y ~ {terms}, data=d, discrete=TRUE)"
    tree = "rpart(y ~ ., data=d, control=rpart.control(xval=5, maxsurrogate=0, cp=0.001))"
    pairs = [
        Pair("gam", "mgcv", gam, _gam, 1_000),
        Pair("gam", "mgcv", gam, _gam, 10_000),
        Pair("gam, discrete in R", "mgcv", bam, _gam, 100_000),
        Pair("tree, 5 folds", "rpart", tree, _tree, 20_000),
        *(
            Pair(
                f"mars, degree {degree}",
                "earth",
                f"earth(y ~ ., data=d, degree={degree})",
                partial(_mars, degree=degree),  #: _mars(rows, new, degree),
                n_rows,
                error="fit$gcv",
            )
            for degree in (1, 2)
            for n_rows in (1_000, 10_000)
        ),
    ]
    return [pair for pair in pairs if pair.n_rows <= 1_000] if quick else pairs


def _measured(program: str, pair: Pair) -> list[Any] | None:
    X, y = friedman(pair.n_rows + 1_000, pair.n_columns)
    rows, new = (X[:-1_000], y[:-1_000]), (X[-1_000:], y[-1_000:])
    theirs = _in_r(program, pair, rows, new)
    if theirs is None:
        return None
    fit, error_of = pair.ours(rows, new)
    seconds = np.inf
    for _ in range(pair.repeats):
        started = time.process_time()
        fitted = fit()
        seconds = min(seconds, time.process_time() - started)
    return [
        f"{pair.title}, {pair.n_rows:,} rows",
        f"{pair.package} {theirs['version']}",
        f"{seconds:.3g} s",
        f"{theirs['seconds']:.3g} s",
        theirs["seconds"] / seconds,
        error_of(fitted),
        theirs["error"],
    ]


def _in_r(program: str, pair: Pair, rows: Any, new: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        files = {"rows": f"{folder}/rows.csv", "new": f"{folder}/new.csv"}
        for name, (X, y) in {"rows": rows, "new": new}.items():
            header = ",".join(["y", *(f"x{k}" for k in range(X.shape[1]))])
            np.savetxt(
                files[name], np.column_stack([y, X]), "%.17g", ",", header=header, comments=""
            )
        script = _PROGRAM.format(
            **files, package=pair.package, repeats=pair.repeats, fit=pair.call, error=pair.error
        )
        done = subprocess.run([program, "-e", script], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def _on_new_rows(new: Any) -> Callable[[Any], float]:
    X, y = new
    return lambda model: float(np.sqrt(np.mean((y - model.predict(X)) ** 2)))


def _gam(rows: Any, new: Any) -> Ours:
    from clearwood.models.catalogue.gam.estimators import GamRegressor

    return lambda: GamRegressor().fit(*rows), _on_new_rows(new)


def _tree(rows: Any, new: Any) -> Ours:
    import clearwood as cw

    learner = cw.learner("tree")
    return lambda: learner.fit(*rows), _on_new_rows(new)


def _mars(rows: Any, _new: Any, *, degree: int) -> Ours:
    from clearwood.models.catalogue.mars.estimators import MarsRegressor

    return lambda: MarsRegressor(degree=degree).fit(*rows), lambda model: float(model.gcv_)
