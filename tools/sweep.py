"""Take learners through everything a user does, on tables that are hard in different ways.

Each learner is fitted to each table, predicts, is saved, loaded, inspected, benchmarked, explained
and reported. A pair ends as "ok", as "refused" (an `InputError` that says what to
try) or as "FAILED"; "." is a task that the learner does not have. Warnings are listed. The exit
code is 1 after a failure. Ctrl-C ends with what is done.

Learners are written as "NAME SETTING=VALUE ...", tables as "FILE target=COLUMN OPTION=VALUE ..."
with the options of `clearwood.read`, several columns with commas. By default the whole catalogue on
simulated tables.

usage: python tools/sweep.py [LEARNER ...] [--on TABLE ...] [--rows N] [--no-report] [--to FOLDER]
e.g.   python tools/sweep.py subset "ridge select=anova:3" --on mixed "mpg.csv target=mpg"
"""

import argparse
import ast
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, softmax

import clearwood as cw
from clearwood.models import catalogue

#: Smaller than by default, where that takes more than a few seconds on some hundred rows.
QUICK: dict[str, dict[str, Any]] = {
    "catboost": {"iterations": 40},
    "cnn": {"epochs": 10},
    "ebm": {"outer_bags": 1, "interactions": 1, "max_rounds": 200},
    "network": {"epochs": 20},
    "stacking": {"folds": 2},
    "transformer": {"epochs": 5, "width": 8, "heads": 2, "layers": 1},
}
#: Levels that break careless files and pages.
ODD = ["a,b", 'say "so"', "tea 🍵", "שלום", "<b>&amp;", " ", "=1+1", "x" * 60]
#: From the sum of Shapley values to the prediction, by the unit of the sum.
LINKS: dict[str, Callable[[Any], Any]] = {
    "prediction": np.asarray,
    "probability": np.asarray,
    "log odds": lambda odds: shares(expit(odds)),
    "log of the mean": np.exp,
    "score before softmax": partial(softmax, axis=1),
}
#: How messages and pages quote an error that nobody expected.
CRASH = re.compile(r"\b[A-Z]\w*(Error|Exception): ")
#: The CPU seconds that one step may take.
LIMIT = 300


def shares(values: Any) -> Any:
    """Divide by the sum over classes, where there are several."""
    return values if values.ndim == 1 else values / values.sum(axis=1, keepdims=True)


def mixed(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Numbers, categories, a flag, a date and gaps, with row weights."""
    frame = pd.DataFrame(
        {
            "size": rng.gamma(3, 20, n).round(1),
            "age": rng.integers(18, 80, n),
            "town": rng.choice(["Lund", "Oslo", "Rome", "Paris"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "new": rng.choice(["yes", "no"], n),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "weight": rng.choice([0.5, 1.0, 3.0], n),
        }
    )
    signal = 0.03 * frame["size"] - 0.02 * frame["age"] + (frame["town"] == "Oslo")
    frame["price"] = (10 + 5 * signal + rng.normal(size=n)).round(3)
    for column in ("size", "age", "town", "since"):
        frame[column] = frame[column].mask(rng.random(n) < 0.08)
    return frame, {"target": "price", "weight": "weight"}


def claims(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Counts over times of different length."""
    frame, _ = mixed(n, rng)
    years = rng.uniform(0.1, 2, n).round(2)
    rate = np.exp(-0.5 + 0.01 * frame["size"].fillna(50) + 0.4 * (frame["new"] == "yes"))
    frame = frame.drop(columns=["price", "weight"])
    return frame.assign(years=years, claims=rng.poisson(rate * years)), {
        "target": "claims",
        "exposure": "years",
        "task": "count",
    }


def amounts(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Amounts of money, some of them zero."""
    frame, _ = mixed(n, rng)
    mean = np.exp(4 + 0.01 * frame["size"].fillna(50))
    paid = rng.gamma(2, mean / 2) * (rng.random(n) < 0.8)
    return frame.drop(columns="price").assign(paid=paid.round(2)), {
        "target": "paid",
        "weight": "weight",
        "task": "amount",
    }


def two_classes(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Two classes that overlap, with weights."""
    frame, _ = mixed(n, rng)
    bought = np.where(frame.pop("price") + rng.normal(0, 4, n) > 17, "yes", "no")
    return frame.assign(bought=bought), {"target": "bought", "weight": "weight"}


def rare_class(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Several classes, one of which has three rows."""
    frame, _ = mixed(n, rng)
    kind = np.digitize(frame.pop("price") + rng.normal(0, 2, n), [12, 18])
    grade = np.array(["low", "middle", "high"])[kind].astype(object)
    grade[rng.choice(n, 3, replace=False)] = "odd one"
    return frame.drop(columns="weight").assign(grade=grade), {"target": "grade"}


def broken(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A constant column, one without values, one twice, odd levels and an odd column name."""
    frame, _ = mixed(n, rng)
    frame = frame.drop(columns="weight").assign(
        constant=7, nothing=np.nan, size_again=frame["size"], label=rng.choice(ODD, n)
    )
    frame['a "b", c <d>'] = rng.normal(size=n)
    frame["price"] += 3 * (frame["label"] == ODD[2])
    return frame, {"target": "price"}


def separated(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Two classes that one column tells apart without an error."""
    frame, _ = mixed(n, rng)
    gap = rng.normal(size=n)
    gap += np.sign(gap)
    frame = frame.drop(columns=["price", "weight"]).assign(gap=gap)
    return frame.assign(side=np.where(gap > 0, "right", "left")), {"target": "side"}


def wide(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, dict[str, Any]]:
    """More columns than rows."""
    n = min(n, 40)
    values = rng.normal(size=(n, 60))
    frame = pd.DataFrame(values, columns=[f"gene {i}" for i in range(60)]).round(4)
    return frame.assign(y=(values[:, :3].sum(axis=1) + rng.normal(size=n)).round(4)), {
        "target": "y"
    }


TABLES: dict[str, Callable[..., tuple[pd.DataFrame, dict[str, Any]]]] = {
    make.__name__: make
    for make in (mixed, claims, amounts, two_classes, rare_class, broken, separated, wide)
}


def options(words: list[str]) -> dict[str, Any]:
    """Read NAME=VALUE words; values are Python's where they can be, else text."""
    result: dict[str, Any] = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            result[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            result[name] = value.split(",") if name in ("ignore", "protected") else value
    return result


def table_of(text: str, rows: int, folder: Path) -> cw.Table:
    """Read a table as a user does: from a file, of which some rows are drawn."""
    name, *rest = text.split()
    rng = np.random.default_rng(0)
    if name in TABLES:
        frame, roles = TABLES[name](rows, rng)
        path = folder / f"{name}.csv"
        frame.to_csv(path, index=False)
        return cw.read(path, **roles)
    table = cw.read(Path(name), **options(rest))
    return table.take(np.sort(rng.permutation(table.n_rows)[:rows]))


@dataclass
class Trial:
    """One learner on one table: how each step went and how long it took."""

    learner: str
    table: str
    seconds: dict[str, float] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    warnings: dict[str, list[str]] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The table's short name."""
        return Path(self.table.split(maxsplit=1)[0]).stem

    @property
    def verdict(self) -> str:
        """The worst of all steps."""
        if self.failures:
            return "FAILED " + "+".join(self.failures)
        if self.refusals:
            return "refused" if "fit" in self.refusals else "refused " + "+".join(self.refusals)
        return f"ok {sum(self.seconds.values()):.1f} s" if self.seconds else "."

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Run a step; what it raises is recorded."""
        start = time.process_time()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            signal.setitimer(signal.ITIMER_PROF, LIMIT)
            try:
                yield
            except cw.InputError as error:
                wrong = error.hint is None or CRASH.search(str(error))
                kind = self.failures if wrong else self.refusals
                kind[name] = str(error)
            except Exception as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                place = f"{Path(where.filename).name}:{where.lineno}"
                self.failures[name] = f"{type(error).__name__} at {place}: {error}"
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
        self.seconds[name] = time.process_time() - start
        for one in caught:
            text = f"{one.category.__name__}: {one.message}"
            self.warnings.setdefault(name, [])
            if text not in self.warnings[name]:
                self.warnings[name].append(text)

    def went_well(self, name: str) -> bool:
        """Whether a step ended as it should."""
        return name not in self.failures and name not in self.refusals


def outputs(model: cw.Learner, rows: Any) -> np.ndarray[Any, Any]:
    """Return probabilities where the model has them, else what it predicts."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(rows))
    return np.asarray(model.predict(rows))


def check_predictions(model: cw.Learner, table: cw.Table) -> None:
    """Look at what is predicted for the rows, and for one of which nothing is known."""
    empty = {name: [None] for name in table.features}
    for rows, n in ((table, table.n_rows), (empty, 1)):
        predicted, values = model.predict(rows), outputs(model, rows)
        assert len(predicted) == n, "the number of predictions is not that of the rows"
        if model.task_.is_classification:
            assert set(predicted) <= set(model.classes_), "a class that the table does not have"
        if values.dtype.kind == "f":
            assert np.isfinite(values).all(), "a prediction is not finite"
        if values.ndim == 2:
            assert np.allclose(values.sum(axis=1), 1), "probabilities do not add up to 1"


def check_explanation(model: cw.Learner, table: cw.Table) -> None:
    """Importance, effects and Shapley values, which have to add up to the prediction."""
    rows = table.head(3)
    explanation = cw.explain(model, table, n_background=30)
    assert str(explanation.importance())
    for name in (*table.features[:1], *table.features[-1:]):
        assert str(explanation.effect(name))
    values = explanation.shapley(rows, max_evaluations=500)
    assert np.isfinite(values.values).all(), "a Shapley value is not finite"
    link = LINKS.get(values.about.unit)
    if link is not None:
        predicted = outputs(model, rows)
        if predicted.ndim > values.prediction.ndim:
            predicted = predicted[:, 1]
        message = "Shapley values do not add up to the prediction"
        np.testing.assert_allclose(
            link(values.prediction), predicted, rtol=1e-5, atol=1e-7, err_msg=message
        )


def check_report(model: cw.Learner, table: cw.Table, bench: Any, path: Path) -> None:
    """Write the page and look for parts that it could not show."""
    cw.report(model, table, benchmark=bench, quick=True, sample=60, time_limit=120).save(
        path, force=True
    )
    page = path.read_text(encoding="utf-8")
    text = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    wrong = [line for line in re.split(r"[<>]", text) if CRASH.search(line)]
    assert not wrong, "; ".join(wrong)


def tried(text: str, title: str, table: cw.Table, folder: Path, *, report: bool = True) -> Trial:
    """Take one learner through all steps on one table."""
    trial = Trial(text, title)
    name, *rest = text.split()
    if table.task not in catalogue.get(name).tasks:
        return trial
    with trial.step("fit"):
        model = cw.learner(name, seed=1, **{**QUICK.get(name, {}), **options(rest)})
        model.fit(table)
    if not trial.went_well("fit"):
        return trial
    with trial.step("predict"):
        check_predictions(model, table)
    path = folder / re.sub(r"\W+", "-", f"{text} {trial.place}")
    with trial.step("save"):
        cw.save(model, path.with_suffix(".cw"), force=True)
    with trial.step("load"):
        assert str(cw.inspect(path.with_suffix(".cw")))
        loaded = cw.load(path.with_suffix(".cw"))
        assert np.array_equal(outputs(loaded, table), outputs(model, table)), "predicts otherwise"
    bench = None
    with trial.step("benchmark"):
        bench = cw.benchmark(
            table, [model], outer=3, inner=2, tune=2, interval="naive", repeats=1, on_error="raise"
        )
        assert str(bench)
    with trial.step("explain"):
        check_explanation(model, table)
    if report:
        with trial.step("report"):
            check_report(model, table, bench, path.with_suffix(".html"))
    return trial


def print_table(trials: list[Trial]) -> None:
    """Print a line for each learner and a column for each table."""
    tables = list(dict.fromkeys(trial.place for trial in trials))
    learners = list(dict.fromkeys(trial.learner for trial in trials))
    verdicts = {(trial.learner, trial.place): trial.verdict for trial in trials}
    lines = [["", *tables]]
    lines += [[one, *(verdicts.get((one, table), "") for table in tables)] for one in learners]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(map(str.ljust, line, widths)).rstrip())


def print_messages(trials: list[Trial], what: str) -> None:
    """Print each sentence once, with where it came from."""
    places: dict[str, list[str]] = {}
    for trial in trials:
        for step, texts in getattr(trial, what).items():
            for text in [texts] if isinstance(texts, str) else texts:
                place = f"{trial.learner} x {trial.place} ({step})"
                places.setdefault(text, []).append(place)
    for text, where in places.items():
        more = f" and {len(where) - 4} more" if len(where) > 4 else ""
        print(f"\n{what}: {', '.join(where[:4])}{more}\n  {text}")


def main() -> int:
    """Try every learner on every table and print how it went."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("learners", nargs="*", default=[])
    parser.add_argument("--on", nargs="+", default=list(TABLES), metavar="TABLE")
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--no-report", action="store_true", help="leave the slowest step out")
    parser.add_argument("--to", type=Path, help="keep models and pages in this folder")
    given = parser.parse_args()
    signal.signal(signal.SIGPROF, _too_long)
    trials: list[Trial] = []
    with tempfile.TemporaryDirectory() as empty, suppress(KeyboardInterrupt):
        folder = given.to or Path(empty)
        folder.mkdir(parents=True, exist_ok=True)
        tables = {text: table_of(text, given.rows, folder) for text in given.on}
        for learner in given.learners or catalogue.names():
            for text, table in tables.items():
                trial = tried(learner, text, table, folder, report=not given.no_report)
                trials.append(trial)
                times = ", ".join(f"{k} {v:.1f}" for k, v in trial.seconds.items())
                print(f"{learner} x {trial.place}: {trial.verdict} ({times})", file=sys.stderr)
    print_table(trials)
    for what in ("refusals", "warnings", "failures"):
        print_messages(trials, what)
    return int(any(trial.failures for trial in trials))


def _too_long(*_: Any) -> None:
    raise TimeoutError(f"more than {LIMIT} seconds")


if __name__ == "__main__":
    sys.exit(main())
