"""The tables of the page on performance, written from the records of a run."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["update"]

#: Headings of the page; a section that is not listed has its own name.
_TITLES = {
    "benchmark": "Benchmarks, beside the same fits by hand",
    "causal": "Causal graphs",
    "condense": "One tree for an ensemble",
    "effects": "Effects and importance",
    "glassbox": "Fits of readable models",
    "import": "Imports of fitted models",
    "predict": "Predictions of trees",
    "rank": "Values against thresholds",
    "read": "Reading files",
    "shapley": "Shapley values, interactions and components of trees",
}
BEGIN = "<!-- tables of make bench: begin -->"
END = "<!-- tables of make bench: end -->"


def update(page: Path, records: Iterable[Path]) -> int:
    """Write the timed sections of a run between the marks of a page; return how many.

    Sections that were run for a quick look only, or that print tables of their own, are left out.
    """
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(records)]
    timed = [run for run in runs if run.get("comparisons") and not run.get("quick")]
    text = page.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        message = f"{page} has no marks {BEGIN} and {END}"
        raise ValueError(message)
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = [BEGIN, "", *_head(timed), *(line for run in timed for line in _section(run)), END]
    page.write_text(before + "\n".join(lines) + after, encoding="utf-8")
    return len(timed)


def _head(runs: Sequence[dict[str, Any]]) -> list[str]:
    """Say when and where it was measured, and with which versions."""
    if not runs:
        return ["No section was run in full.", ""]
    machine = runs[0]["machine"]
    days = sorted({run["when"][:10] for run in runs})
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    where = (
        f"Measured on {' and '.join(days)}: {machine['processor']}, {machine['cores']} cores, "
        f"kernels use {machine['simd_level']}, Python {machine['python']}."
    )
    return [where, "", versions + ".", ""]


def _section(run: dict[str, Any]) -> list[str]:
    lines = [f"### {_TITLES.get(run['section'], run['section'])}", ""]
    lines += [f"`make bench SECTIONS={run['section']}`, {run['when'][:10]}.", ""]
    for comparison in run["comparisons"]:
        threads = comparison["threads"]
        lines += [
            f"{comparison['title']} ({threads} thread{'' if threads == 1 else 's'}):",
            "",
            "| | CPU time | times ours | memory | difference |",
            "|---|---|---|---|---|",
        ]
        lines += [_row(case) for case in comparison["cases"]] + [""]
    return lines


def _row(case: dict[str, Any]) -> str:
    if "cpu" not in case:
        return f"| {case['case']} | not installed: {case['not_installed']} | | | |"
    memory = "" if case.get("memory_mb") is None else f"{case['memory_mb']:.3g} MB"
    return (
        f"| {case['case']} | {_seconds(case['cpu'])} | {case['ratio']:.3g} | {memory} "
        f"| {case['difference']:.1g} |"
    )


def _seconds(value: float) -> str:
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"
