"""The section "Fairness": how predictions differ between groups of protected columns."""

from typing import Any

from clearwood.fairness import audit
from clearwood.reporting.audit import fairness_blocks
from clearwood.reporting.collect.findings import Findings
from clearwood.reporting.page.blocks import Choice, Section
from clearwood.table import NUMERIC, are_few_levels

__all__ = ["TITLE", "section"]

TITLE = "Fairness"
#: Bands of protected columns of numbers, which a report chooses itself.
_BANDS = 4


def section(findings: Findings) -> Section | None:
    """Compare groups of the protected columns; None where no column is protected."""
    table = findings.table
    names = [name for name in table.protected if name != table.target]
    if not names:
        return None
    numbers = [name for name in names if table.kind(name) in NUMERIC]
    bands = {name: _BANDS for name in numbers if not are_few_levels(table[name].values)}
    options: dict[str, Any] = {"protected": names, "bands": bands or None, "causes": False}
    is_benchmarked = findings.benchmark is not None and findings.chosen is not None
    results = []
    if is_benchmarked and findings.same_rows:
        results = [
            audit(findings.benchmark, learner=findings.chosen, fitted=findings.model, **options)
        ]
    if not results or findings.is_test_apart:
        results.append(audit(findings.model, table, test=findings.test, **options))
    several = [
        fairness_blocks(result, lists_small_groups=findings.options.has_rows) for result in results
    ]
    if len(several) == 1:
        return Section("fairness", TITLE, several[0])
    labels = ("Rows not used for fitting", "Test rows")
    return Section(
        "fairness", TITLE, (Choice("rows", "Rows", tuple(zip(labels, several, strict=True))),)
    )
