"""The section "Fairness": how predictions differ between groups of protected columns."""

from typing import Any

from clearwood.fairness import audit
from clearwood.reporting.audited import fairness_blocks
from clearwood.reporting.collect.findings import Findings
from clearwood.reporting.page.blocks import Section
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
    if is_benchmarked and findings.same_rows:
        result = audit(
            findings.benchmark, learner=findings.chosen, fitted=findings.model, **options
        )
    else:
        result = audit(findings.model, table, test=findings.test, **options)
    blocks = fairness_blocks(result, lists_small_groups=findings.options.has_rows)
    return Section("fairness", TITLE, blocks)
