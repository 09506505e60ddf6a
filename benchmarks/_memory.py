"""Peak memory of one call, measured in a process that does nothing else.

Run as ``python -m benchmarks._memory SECTION TITLE CASE [--quick]``; prints MB or null.
"""

import argparse
import ctypes
import gc
import json
from collections.abc import Callable
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks import _harness

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("section")
    parser.add_argument("title")
    parser.add_argument("case")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    comparisons = _harness.load(options.section, quick=options.quick)
    comparison = next(one for one in comparisons if one.title == options.title)
    case = next(one for one in comparison.cases if one.name == options.case)
    with threadpool_limits(comparison.threads):
        call = case.prepare(comparison.data(), comparison.threads)
        print(json.dumps(_peak(call)))


def _peak(call: Callable[[], object]) -> float | None:
    """How far the resident set rises above where it is now, in MB."""
    give_back_freed()
    try:
        # sets the high-water mark back to the present size, so that making the data leaves no trace
        CLEAR.write_text("5", encoding="ascii")
    except OSError:
        return None
    before = resident("VmRSS")
    answer = call()
    peak = resident("VmHWM")
    del answer
    return max(0.0, peak - before)


def give_back_freed() -> None:
    """Return memory freed so far to the system, lest the call reuse it and seem to need none."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def resident(entry: str) -> float:
    for line in STATUS.read_text(encoding="ascii").splitlines():
        if line.startswith(entry):
            return int(line.split()[1]) / 1024
    message = f"{STATUS} has no {entry}"
    raise RuntimeError(message)


if __name__ == "__main__":
    main()
