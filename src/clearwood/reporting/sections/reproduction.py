"""Reproduction: what it takes to make the page again."""

import hashlib
import os
import platform
from collections.abc import Mapping
from dataclasses import is_dataclass
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from clearwood._shared.numbers import count, duration, percent
from clearwood.models import Learner
from clearwood.reporting.collect.findings import Findings, Step
from clearwood.reporting.page.blocks import Block, Cell, Facts, More, Note, Prose, Section, Sheet
from clearwood.reporting.page.figures import DIGITS
from clearwood.table import Parts, Table

__all__ = ["recipe", "section"]

TITLE = "Reproduction"

_PACKAGES = (
    "clearwood",
    "numpy",
    "scipy",
    "scikit-learn",
    "narwhals",
    "altair",
    "vl-convert-python",
)

_REFERENCES = (
    (
        "Decomposition of predictions, partial dependence, accumulated local effects, Shapley "
        "values: M. Hiabu (2024). Interpretable Machine Learning. Lecture notes."
    ),
    (
        "ALE: D. W. Apley and J. Zhu (2020). Visualizing the effects of predictor variables in "
        "black box supervised learning models. Journal of the Royal Statistical Society: Series B "
        "82(4), 1059–1086."
    ),
    (
        "Partial dependence: J. H. Friedman (2001). Greedy function approximation: a gradient "
        "boosting machine. The Annals of Statistics 29(5), 1189–1232."
    ),
    (
        "ICE: A. Goldstein, A. Kapelner, J. Bleich and E. Pitkin (2015). Peeking inside the black "
        "box: visualizing statistical learning with plots of individual conditional expectation. "
        "Journal of Computational and Graphical Statistics 24(1), 44–65."
    ),
    (
        "Shapley values: L. S. Shapley (1953). A value for n-person games. In H. W. Kuhn and A. W. "
        "Tucker (eds.), Contributions to the Theory of Games II, Annals of Mathematics Studies 28, "
        "307–317. Princeton University Press."
    ),
    (
        "Nested intervals: S. Bates, T. Hastie and R. Tibshirani (2024). Cross-validation: what "
        "does it estimate and how well does it do it? Journal of the American Statistical "
        "Association 119(546), 1434–1445."
    ),
    (
        "Drift, column by column: S. Holm (1979). A simple sequentially rejective multiple test "
        "procedure. Scandinavian Journal of Statistics 6(2), 65–70."
    ),
    (
        "One tree: N. Brock (2022). On the equivalence of tree-based ensemble learners with "
        "decision trees."
    ),
)


def section(findings: Findings) -> Section:
    """Write the section about how to make the page again."""
    lead = (
        "The same data, versions and seed give the same page on any machine, busy or idle: how "
        "many rows a number is of follows from the sizes of table and model, and is stated with "
        "it. Only a time limit that you set cuts by the clock. The data of every figure are "
        "available below it, as a table "
        f"and as CSV, rounded to {DIGITS} significant digits."
    )
    blocks: list[Block] = [
        Prose((lead,), lead=True),
        Facts(_facts(findings)),
        *_commands(findings),
        _stages(findings),
    ]
    items = tuple(f"{step}: {text}" for step, texts in findings.warnings.items() for text in texts)
    if items:
        notes = (Note("Warnings", "", items=items),)
        blocks.append(More(f"{count(len(items), 'warning')} from the library", notes))
    blocks.append(More("References", (Prose(_REFERENCES),)))
    return Section("reproduction", TITLE, tuple(blocks))


def _facts(findings: Findings) -> tuple[tuple[str, str], ...]:
    table, options, bench = findings.table, findings.options, findings.benchmark
    facts = [
        (
            "Rows and columns",
            f"{count(findings.n_all, 'row')}, {count(len(table.columns), 'column')}",
        ),
        ("Fingerprint of the data", _fingerprint(findings)),
        *_work(findings),
    ]
    facts += _file("Data from", _source(findings))
    if findings.test is not None:
        rows = f"{count(findings.test.n_rows, 'row')}, SHA-256 {findings.test.fingerprint()}"
        facts += [("Test rows", rows), *_file("Test rows from", findings.test)]
    facts += [("Model", _model(findings)), ("Seed", str(options.seed))]
    if bench is not None:
        method = bench.method
        facts.append(
            (
                "Benchmark",
                (
                    f"{', '.join(bench.learners)}; {bench.loss} loss; {method.plan}; "
                    f"{method.tuning}; {percent(method.confidence)} {method.interval} intervals; "
                    f"seed {method.seed}; {duration(bench.seconds)}"
                ),
            )
        )
    if findings.decomposition is not None:
        facts.append(("Explanations", str(findings.decomposition.about)))
    facts += [
        (
            "Rows on the page",
            f"{findings.sample.n_rows:,}, drawn with the seed" if options.has_rows else "none",
        ),
        ("Versions", _versions(findings)),
        ("Python", f"{platform.python_version()} on {platform.system()} ({platform.machine()})"),
    ]
    return tuple(facts)


def _fingerprint(findings: Findings) -> str:
    if findings.in_parts is None:
        return f"SHA-256 {findings.table.fingerprint()}"
    return f"SHA-256 {findings.in_parts.parts.fingerprint()}, of files and schema"


def _work(findings: Findings) -> list[tuple[str, str]]:
    """Say how rows in parts were worked on, and what is exact over all of them."""
    in_parts = findings.in_parts
    if in_parts is None:
        return []
    runs = list(in_parts.runs.items())
    facts = [(f"Parts, {title}", run.described) for title, run in runs]
    skipped = dict.fromkeys(pair for _, run in runs for pair in run.skipped)
    facts += [("Left out", f"{name}: {error}") for name, error in skipped]
    rows = f"{count(findings.table.n_rows, 'row')}, seed {findings.options.seed}"
    judged = _judged(findings)
    other = (
        "everything else: columns and their distributions, associations, curves and their bands, "
        f"{'' if judged else 'performance, '}checks, individual predictions"
    )
    return [
        *facts,
        *_decomposed(findings),
        *judged,
        (f"Over a sample of {rows}", other),
    ]


def _decomposed(findings: Findings) -> list[tuple[str, str]]:
    """Say over which rows the decomposition is exact."""
    if findings.decomposition is None or findings.is_sampled:
        return [("Exact over all rows", "nothing: the model has no exact decomposition")]
    shares = "the decomposition, shares of variance and interactions"
    n_rows = findings.decomposition.background.n_rows
    if n_rows >= findings.n_all:
        return [("Exact over all rows", f"{shares}, and the values of main effects")]
    seed = findings.options.seed
    return [
        ("Exact over all rows", "nothing: the decomposition of all rows would take too long"),
        (
            f"Exact over {count(n_rows, 'row')} drawn from {findings.n_all:,}, seed {seed}",
            f"{shares}; all rows, or others drawn, would give somewhat different values",
        ),
    ]


def _judged(findings: Findings) -> list[tuple[str, str]]:
    """Say what of a benchmark is exact over all rows that were held out."""
    held = None if findings.benchmark is None else findings.benchmark.in_parts
    if held is None or findings.performance is None or findings.chosen is None:
        return []
    facts = [
        (
            f"Exact over all {count(held.n_test, 'held-out row')}",
            "the risks of the benchmark, their intervals and differences",
        )
    ]
    rest = "measures, calibration, residuals and curves of the performance"
    if held.n_kept < held.n_test:
        rows = f"{count(held.n_kept, 'held-out row')}, seed {held.seed}"
        facts.append((f"Over a sample of {rows}", rest))
    return facts


def _source(findings: Findings) -> Table | Parts:
    """Return where the rows are: the table, or the parts that it is a sample of."""
    return findings.table if findings.in_parts is None else findings.in_parts.parts


def _file(name: str, table: Table | Parts) -> list[tuple[str, str]]:
    """Say where a table comes from, with the file's own SHA-256 if it is one."""
    if not table.source:
        return []
    path = Path(table.source)
    if not (path.suffix and path.is_file()):
        return [(name, table.source)]
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return [(name, f"{table.source}, the file's own SHA-256 {digest}")]


def _model(findings: Findings) -> str:
    model = findings.model
    if not isinstance(model, Learner):
        return findings.name
    trained = model.training_
    rows, seconds = int(trained["rows"]), float(trained["seconds"])
    return f"{model!r}, fitted to {count(rows, 'row')} in {duration(seconds)}"


def _versions(findings: Findings) -> str:
    names = [*_PACKAGES]
    if isinstance(findings.model, Learner):
        names += findings.model.entry.distributions
    versions = []
    for name in names:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(versions)


def _commands(findings: Findings) -> list[Block]:
    lines = [("In Python", recipe(findings))]
    if findings.options.command is not None:
        lines.insert(0, ("On the command line", findings.options.command))
    return [Facts(tuple(lines))]


def recipe(findings: Findings) -> str:
    """Return the calls that make the page again, with dots for what the page cannot know."""
    bench, model = findings.benchmark, findings.model
    script = _Script(findings.options.model_file)
    script.table("data", _source(findings))
    arguments = ["model", "data"]
    if findings.options.is_compared:
        bench, arguments = None, ["data"]
    elif findings.options.model_file is not None:
        arguments[0] = repr(findings.options.model_file)
    elif isinstance(model, Learner) and _is_fitted_to(model, _source(findings)):
        script.lines.append(f"model = {script.written(model)}.fit(data)")
    elif isinstance(model, Learner) and _is_of_sample(findings):
        assert bench is not None
        rows = f"data.sample({int(model.training_['rows']):_}, seed={bench.method.seed})"
        script.lines.append(f"model = {script.written(model)}.fit({rows})")
    else:
        script.lines.append("model = ...  # the model, as it was fitted")
    if bench is not None:
        made = script.call("cw.benchmark", "data", _repeated(bench.options))
        if not findings.same_rows:
            made = "...  # the benchmark, which is of other rows"
        elif bench.method.is_simultaneous:
            made += ".simultaneous()"
        script.lines.append(f"bench = {made}")
        arguments.append("benchmark=bench")
    if findings.test is not None:
        script.table("test", findings.test)
        arguments.append("test=test")
    call = script.call("cw.report", ", ".join(arguments), findings.options.given)
    script.lines.append(f'{call}.save("report.html")')
    return "\n".join(["import clearwood as cw", *sorted(script.imports), *script.lines])


def _is_of_sample(findings: Findings) -> bool:
    """Whether a learner of a benchmark of these rows was fitted to a sample of them."""
    held = None if findings.benchmark is None else findings.benchmark.in_parts
    is_drawn = held is not None and findings.chosen in held.sampled and findings.same_rows
    return is_drawn and held is not None and findings.model.training_["rows"] == held.sample


def _is_fitted_to(model: Learner, table: Table | Parts) -> bool:
    """Whether a model seems to be fitted to a table, which has the roles that a fit needs."""
    is_read_for_it = "schema" in (table.options or {})
    return not is_read_for_it and int(model.training_["rows"]) == table.n_rows


def _repeated(options: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what does not change the numbers."""
    return {k: v for k, v in options.items() if k not in ("store", "n_jobs")}


class _Script:
    """Lines of Python, and the imports they need."""

    def __init__(self, model_file: str | None = None) -> None:
        self.lines: list[str] = []
        self.imports: set[str] = set()
        self._model_file = model_file

    def table(self, name: str, table: Table | Parts) -> None:
        """Write how a table is read: from its file, or from what was passed."""
        options = dict(table.options or {})
        schema = options.pop("schema", None)
        source = f"...  # {table.source or 'the table'}"
        path = Path(table.source)
        is_there = path.is_dir() or (path.suffix and path.is_file())
        if table.options is not None and is_there:
            source = repr(table.source)
        else:
            self.lines.append(f"{name} = {source}")
            source = name
        verb = "cw.scan" if isinstance(table, Parts) else "cw.read"
        if schema is None and (options or isinstance(table, Parts)):
            self.lines.append(f"{name} = {self.call(verb, source, options)}")
        elif schema is not None and options:
            self.imports.add("from clearwood.table import read_as")
            file = self._model_file
            of = "data.schema" if file is None else f"cw.load({file!r}).schema_"
            self.lines.append(f"{name} = {self.call('read_as', f'{source}, {of}', options)}")
        elif source != name:
            self.lines.append(f"{name} = {source}")

    def call(self, function: str, arguments: str, options: Mapping[str, Any]) -> str:
        """Write a call."""
        written = [f"{name}={self.written(value)}" for name, value in options.items()]
        return f"{function}({', '.join([arguments, *written])})"

    def written(self, value: Any) -> str:
        """Write a value so that Python reads it back; dots where that is not possible."""
        if isinstance(value, Learner):
            changed = {k: v for k, v in value.changed_parameters.items() if k != "n_jobs"}
            return self.call("cw.learner", repr(value.name), {**changed, **(value.settings or {})})
        if isinstance(value, Enum):
            return repr(value.value)
        if isinstance(value, os.PathLike):
            return repr(os.fspath(value))
        if isinstance(value, Mapping):
            items = (f"{self.written(k)}: {self.written(v)}" for k, v in value.items())
            return f"{{{', '.join(items)}}}"
        if isinstance(value, list | tuple):
            inside = ", ".join(map(self.written, value))
            return f"[{inside}]" if isinstance(value, list) or len(value) != 1 else f"({inside},)"
        if is_dataclass(value) and type(value).__module__.startswith("clearwood."):
            package = ".".join(type(value).__module__.split(".")[:2])
            self.imports.add(f"from {package} import {type(value).__name__}")
            return repr(value)
        return repr(value) if isinstance(value, str | int | float | bool | None) else "..."


def _outcome(findings: Findings, step: Step) -> str:
    """Say how a step ended, and of which part of the rows its numbers are."""
    if step in findings.failures:
        return findings.failures[step]
    shown = [views.pdp for views in findings.effects.values() if views.pdp is not None]
    decomposition, agreement = findings.decomposition, findings.agreement
    rows = {
        Step.DECOMPOSITION: None if decomposition is None else decomposition.background.n_rows,
        Step.EFFECTS: min((effect.n_rows for effect in shown), default=None),
        Step.AGREEMENT: None if agreement is None else agreement.n_rows,
        Step.SHAPLEY: None if findings.shapley is None else len(findings.shapley),
    }.get(step)
    if rows is None or rows >= findings.n_all:
        return "done"
    return f"done, over {rows:,} of {count(findings.n_all, 'row')}"


def _stages(findings: Findings) -> Block:
    options, done = findings.options, {stage.step for stage in findings.stages}
    rows: list[tuple[Cell, ...]] = [
        (step, round(seconds, 2), "done") for step, seconds in options.before.items()
    ]
    rows += [
        (str(stage.step), round(stage.seconds, 2), _outcome(findings, stage.step))
        for stage in findings.stages
    ]
    rows += [
        (str(step), None, f"left out: {why}")
        for step, why in findings.failures.items()
        if step not in done
    ]
    total = sum(options.before.values()) + options.clock.passed
    sheet = Sheet(
        "stages",
        "Each step with its seconds and its result",
        ("step", "seconds", "result"),
        tuple(rows),
        shown=30,
    )
    return More(f"What was done, in {duration(total)}", (sheet,))
