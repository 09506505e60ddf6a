"""Reproduction: what it takes to make the page again."""

import platform
import shlex
from importlib.metadata import PackageNotFoundError, version

from clearwood._shared.numbers import count, duration, percent
from clearwood.models import Learner
from clearwood.reporting.collect.findings import Findings
from clearwood.reporting.page.blocks import Block, Facts, More, Note, Prose, Section, Sheet
from clearwood.reporting.page.figures import DIGITS

__all__ = ["section"]

_PACKAGES = (
    "clearwood",
    "numpy",
    "scipy",
    "scikit-learn",
    "narwhals",
    "altair",
    "vl-convert-python",
)
_OF_LEARNERS = {
    "lightgbm": "lightgbm",
    "xgboost": "xgboost",
    "catboost": "catboost",
    "ebm": "interpret-core",
}

_REFERENCES = (
    (
        "M. Hiabu (2024). Interpretable Machine Learning. Lecture notes. Decomposition of "
        "predictions, partial dependence, accumulated local effects, Shapley values."
    ),
    (
        "D. W. Apley and J. Zhu (2020). Visualizing the effects of predictor variables in black "
        "box supervised learning models. Journal of the Royal Statistical Society B 82. ALE."
    ),
    (
        "J. H. Friedman (2001). Greedy function approximation: a gradient boosting machine. Annals "
        "of Statistics 29. Partial dependence."
    ),
    (
        "A. Goldstein, A. Kapelner, J. Bleich and E. Pitkin (2015). Peeking inside the black box: "
        "visualizing statistical learning with plots of individual conditional expectation. "
        "Journal of Computational and Graphical Statistics 24. ICE."
    ),
    "L. S. Shapley (1953). A value for n-person games. Contributions to the Theory of Games II.",
    (
        "S. Bates, T. Hastie and R. Tibshirani (2024). Cross-validation: what does it estimate and "
        "how well does it do it? Journal of the American Statistical Association 119. Nested "
        "intervals."
    ),
    (
        "S. Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian "
        "Journal of Statistics 6. Drift, column by column."
    ),
    (
        "N. Brock (2022). On the equivalence of tree-based ensemble learners with decision trees. "
        "One tree."
    ),
)


def section(findings: Findings) -> Section:
    """Write the section about how to make the page again."""
    lead = (
        "The same data, versions and seed give the same page, unless a time limit cut a step "
        "short, which is noted there. The data of every figure are available below it, as a table "
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
    return Section("reproduction", "Reproduction", tuple(blocks))


def _facts(findings: Findings) -> tuple[tuple[str, str], ...]:
    table, options, bench = findings.table, findings.options, findings.benchmark
    facts = [
        (
            "Rows and columns",
            f"{count(table.n_rows, 'row')}, {count(len(table.columns), 'column')}",
        ),
        ("Fingerprint of the data", f"SHA-256 {table.fingerprint()}"),
    ]
    if table.source:
        facts.append(("Data from", table.source))
    if findings.test is not None:
        facts.append(
            (
                "Test rows",
                f"{count(findings.test.n_rows, 'row')}, SHA-256 {findings.test.fingerprint()}",
            )
        )
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
        ("Rows on the page", f"{findings.sample.n_rows:,}, drawn with the seed"),
        ("Versions", _versions(findings)),
        ("Python", f"{platform.python_version()} on {platform.system()} ({platform.machine()})"),
    ]
    return tuple(facts)


def _model(findings: Findings) -> str:
    model = findings.model
    if not isinstance(model, Learner):
        return findings.name
    trained = model.training_
    rows, seconds = int(trained["rows"]), float(trained["seconds"])
    return f"{model!r}, fitted to {count(rows, 'row')} in {duration(seconds)}"


def _versions(findings: Findings) -> str:
    names = [*_PACKAGES]
    if isinstance(findings.model, Learner) and findings.model.name in _OF_LEARNERS:
        names.append(_OF_LEARNERS[findings.model.name])
    versions = []
    for name in names:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(versions)


def _commands(findings: Findings) -> list[Block]:
    lines = []
    command = findings.options.command or _command(findings)
    if command:
        lines.append(("On the command line", command))
    lines.append(("In Python", _python(findings)))
    return [Facts(tuple(lines))]


def _command(findings: Findings) -> str | None:
    """Return the command that makes such a page of a file, if the model comes from comparing."""
    source, bench = findings.table.source, findings.benchmark
    if bench is None or findings.chosen != bench.learners[0] or not _is_file(source):
        return None
    words = ["clearwood", "report", source, "--target", str(findings.target)]
    words += ["--learners", ",".join(bench.learners), "--seed", str(bench.method.seed)]
    words += ["--quick"] if findings.options.quick else []
    return shlex.join([*words, "-o", "report.html"])


def _python(findings: Findings) -> str:
    """Return the calls that make such a page, with names for what the page cannot know."""
    table = findings.table
    target = f", target={findings.target!r}" if findings.target is not None else ""
    read = "data = ...  # the table"
    if _is_file(table.source):
        read = f"data = cw.read({table.source!r}{target})"
    arguments = ["model", "data"]
    fit = "model = ...  # the model, as it was fitted"
    if isinstance(findings.model, Learner):
        settings = "".join(f", {k}={v!r}" for k, v in (findings.model.settings or {}).items())
        fit = f"model = cw.learner({findings.model.name!r}{settings}).fit(data)"
    bench = findings.benchmark
    if bench is not None:
        tune = ", tune=0" if bench.context.tuning is None else ""
        seed = f", seed={bench.method.seed}" if bench.method.seed else ""
        compare = f"bench = cw.benchmark(data, {list(bench.learners)!r}{tune}{seed})"
        best = findings.chosen == bench.learners[0]
        fit = f"{compare}\n{'model = bench.best().fit(data)' if best else fit}"
        arguments.append("benchmark=bench")
    if findings.test is not None:
        arguments.append("test=test")
    if findings.options.quick:
        arguments.append("quick=True")
    if findings.options.seed:
        arguments.append(f"seed={findings.options.seed}")
    return (
        f"import clearwood as cw\n{read}\n{fit}\ncw.report({', '.join(arguments)})"
        '.save("report.html")'
    )


def _is_file(source: str) -> bool:
    return source.endswith((".csv", ".tsv", ".gz", ".parquet", ".feather", ".jsonl", ".json"))


def _stages(findings: Findings) -> Block:
    done = {stage.step for stage in findings.stages}
    rows = tuple(
        (str(stage.step), round(stage.seconds, 2), findings.failures.get(stage.step, "done"))
        for stage in findings.stages
    )
    skipped = tuple(
        (str(step), None, f"left out: {why}")
        for step, why in findings.failures.items()
        if step not in done
    )
    total = sum(stage.seconds for stage in findings.stages)
    sheet = Sheet(
        "stages",
        "Each step with its seconds and its result",
        ("step", "seconds", "result"),
        rows + skipped,
        shown=30,
    )
    return More(f"What was done, in {duration(total)}", (sheet,))
