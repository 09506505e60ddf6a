"""How this was made: what it takes to make it again."""

import platform
import shlex
from importlib.metadata import PackageNotFoundError, version

from clearwood.benchmarking import duration
from clearwood.models import Learner
from clearwood.reporting.collect.findings import Findings
from clearwood.reporting.page.blocks import Block, Facts, More, Note, Prose, Section, Sheet
from clearwood.reporting.page.figures import DIGITS
from clearwood.reporting.sections.words import count

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
        "M. Hiabu (2024). Interpretable Machine Learning. Lecture notes. The decomposition into "
        "parts, partial dependence, accumulated local effects, and what Shapley values are of."
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
        "A. Goldstein, A. Kapelner, J. Bleich and E. Pitkin (2015). Peeking inside the black box. "
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
    """Write the chapter about how the page came about."""
    blocks: list[Block] = [
        Prose(
            (
                (
                    "The same data, versions and seed give the same page, except where a time "
                    "limit cut work short, which is said there. The data behind every figure "
                    "stands beside it, as a table and as CSV to save, its numbers rounded to "
                    f"{DIGITS} digits that count."
                ),
            ),
            lead=True,
        ),
        Facts(_facts(findings)),
        *_commands(findings),
        _stages(findings),
    ]
    if findings.warned:
        items = tuple(
            f"{stage}: {text}" for stage, texts in findings.warned.items() for text in texts
        )
        blocks.append(
            More(
                f"{count(len(items), 'warning')} while it was made",
                (Note("Said by the library", "", items=items),),
            )
        )
    blocks.append(More("References", (Prose(_REFERENCES),)))
    return Section("made", "How this was made", tuple(blocks))


def _facts(findings: Findings) -> tuple[tuple[str, str], ...]:
    table, options, bench = findings.table, findings.options, findings.benchmark
    facts = [
        ("Rows and columns", f"{table.n_rows:,} rows, {len(table.columns):,} columns"),
        ("Fingerprint of the data", f"SHA-256 {table.fingerprint()}"),
    ]
    if table.source:
        facts.append(("Data from", table.source))
    if findings.test is not None:
        facts.append(
            ("Test rows", f"{findings.test.n_rows:,} rows, SHA-256 {findings.test.fingerprint()}")
        )
    facts += [("Model", _model(findings)), ("Seed", str(options.seed))]
    if bench is not None:
        method = bench.method
        facts.append(
            (
                "Benchmark",
                (
                    f"{', '.join(bench.learners)}; {bench.loss} loss; {method.plan}; "
                    f"{method.tuning}; {100 * method.confidence:g} % {method.interval} intervals; "
                    f"seed {method.seed}; {duration(bench.seconds)}"
                ),
            )
        )
    why = findings.decomposition
    if why is not None:
        facts.append(("Explanations", f"{why.about}"))
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
    return f"{model!r}, fitted to {trained['rows']:,} rows in {duration(float(trained['seconds']))}"


def _versions(findings: Findings) -> str:
    names = [*_PACKAGES]
    if isinstance(findings.model, Learner) and findings.model.name in _OF_LEARNERS:
        names.append(_OF_LEARNERS[findings.model.name])
    found = []
    for name in names:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def _commands(findings: Findings) -> list[Block]:
    lines = []
    command = findings.options.command or _command(findings)
    if command:
        lines.append(("On the command line", command))
    lines.append(("In Python", _python(findings)))
    return [Facts(tuple(lines))]


def _command(findings: Findings) -> str | None:
    """Give the command that makes such a page of a file, where the model comes from comparing."""
    source, bench = findings.table.source, findings.benchmark
    if bench is None or findings.chosen != bench.learners[0] or not _is_file(source):
        return None
    words = ["clearwood", "report", source, "--target", str(findings.target)]
    words += ["--learners", ",".join(bench.learners), "--seed", str(bench.method.seed)]
    words += ["--quick"] if findings.options.quick else []
    return shlex.join([*words, "-o", "report.html"])


def _python(findings: Findings) -> str:
    """Give the calls that make such a page, with names for what the page cannot know."""
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
    rows = tuple(
        (
            stage.name,
            round(stage.seconds, 2),
            findings.failures.get(stage.name, stage.note) or "done",
        )
        for stage in findings.stages
    )
    left = tuple(
        (stage, None, f"left out: {why}")
        for stage, why in findings.failures.items()
        if stage not in {one.name for one in findings.stages}
    )
    total = sum(stage.seconds for stage in findings.stages)
    return More(
        f"What was done, in {duration(total)}",
        (
            Sheet(
                "stages",
                "Each step with its seconds by the clock, and what came of it",
                ("step", "seconds", "what came of it"),
                rows + left,
                shown=30,
            ),
        ),
    )
