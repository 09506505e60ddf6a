"""The tables of the page on performance, written from the records of a run."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["TITLES", "machine_words", "update"]

#: Sections of the page and their headings: what `make bench` runs. The others are studies, some of
#: hours, whose figures are on pages of their own.
TITLES = {
    "any_model": "Sampled Shapley values",
    "benchmark": "Benchmarks, beside the same fits by hand",
    "causal": "Causal graphs",
    "condense": "One tree for an ensemble",
    "effects": "Effects and importance",
    "files": "Model files",
    "glassbox": "Fits of readable models",
    "import": "Imports of fitted models",
    "predict": "Predictions of trees",
    "r": "Readable models beside packages of R",
    "rank": "Values against thresholds",
    "read": "Reading files",
    "report": "Reports",
    "resume": "Benchmarks that are killed and resumed",
    "selectors": "Selection of columns",
    "shapley": "Shapley values, interactions and components of trees",
}
BEGIN = "<!-- tables of make bench: begin -->"
END = "<!-- tables of make bench: end -->"


def update(page: Path, records: Iterable[Path]) -> int:
    """Write the sections of a run between the marks of a page; return how many.

    Sections that were run for a quick look only, or whose records are for other pages, are left
    out.
    """
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(records)]
    shown = [run for run in runs if _is_shown(run)]
    text = page.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        message = f"{page} has no marks {BEGIN} and {END}"
        raise ValueError(message)
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = [BEGIN, "", *_head(shown), *(line for run in shown for line in _section(run)), END]
    page.write_text(before + "\n".join(lines) + after, encoding="utf-8")
    return len(shown)


def _is_shown(run: Any) -> bool:
    if not isinstance(run, dict) or run.get("section") not in TITLES or run.get("quick"):
        return False
    return bool(run.get("comparisons") or run.get("tables"))


def machine_words(machine: dict[str, Any]) -> str:
    """Say where something was measured."""
    return f"{machine['processor']}, {machine['cores']} cores, kernels use {machine['simd_level']}"


def _head(runs: Sequence[dict[str, Any]]) -> list[str]:
    """Say when and where each section was measured, and with which versions."""
    if not runs:
        return ["No section was run in full.", ""]
    days = sorted({run["when"][:10] for run in runs})
    places: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        place = f"{machine_words(run['machine'])}, Python {run['machine']['python']}."
        places.setdefault(place, []).append(run)
    lines = [f"Measured on {' and '.join(days)}:", ""]
    for place, those in places.items():
        sections = "" if len(places) == 1 else f"{', '.join(run['section'] for run in those)}: "
        lines.append(f"- {sections}{place}")
    versions: dict[str, set[str]] = {}
    for run in runs:
        for name, number in run["machine"]["versions"].items():
            versions.setdefault(name, set()).add(number)
    listed = ", ".join(f"{name} {' and '.join(sorted(n))}" for name, n in versions.items())
    return [*lines, "", listed + ".", ""]


def _section(run: dict[str, Any]) -> list[str]:
    lines = [f"### {TITLES[run['section']]}", ""]
    lines += [f"`make bench SECTIONS={run['section']}`, {run['when'][:10]}.", ""]
    for comparison in run.get("comparisons", ()):
        threads = comparison["threads"]
        title = f"{comparison['title']} ({threads} thread{'' if threads == 1 else 's'})"
        columns = ["", "CPU time", "times ours", "memory", "difference"]
        lines += _table(title, columns, [_row(case) for case in comparison["cases"]])
    for table in run.get("tables", ()):
        lines += _table(table["title"], table["columns"], table["rows"])
    return lines


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    cells = [[_cell(one) for one in row] for row in rows]
    return [
        f"{title}:",
        "",
        _line(columns),
        "|" + "---|" * len(columns),
        *(_line(row) for row in cells),
        "",
    ]


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _line(cells: Sequence[str]) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def _row(case: dict[str, Any]) -> list[str]:
    if "cpu" not in case:
        return [case["case"], f"not installed: {case['not_installed']}", "", "", ""]
    memory = "" if case.get("memory_mb") is None else f"{case['memory_mb']:.3g} MB"
    return [
        case["case"],
        _seconds(case["cpu"]),
        f"{case['ratio']:.3g}",
        memory,
        f"{case['difference']:.1g}",
    ]


def _seconds(value: float) -> str:
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"
