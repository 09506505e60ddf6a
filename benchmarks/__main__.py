"""Run benchmarks: ``python -m benchmarks [section ...] [--quick]``."""

import argparse
import sys
from pathlib import Path

from benchmarks import _harness, _page
from clearwood._shared.errors import did_you_mean


def main() -> int:
    sections = sorted(
        path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py")
    )
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Clearwood beside its peers: CPU time, memory, difference in the answers.",
    )
    parser.add_argument("section", nargs="*", help=_words(sections))
    parser.add_argument("--quick", action="store_true", help="small data, for a first look")
    parser.add_argument("--no-memory", action="store_true", help="do not measure memory")
    parser.add_argument(
        "--output", type=Path, default=_harness.ROOT / "artefacts", help="folder for the JSON files"
    )
    parser.add_argument(
        "--page", type=Path, help="page whose tables are written from the records afterwards"
    )
    options = parser.parse_args()
    chosen = [name.removeprefix("bench_") for name in options.section] or list(_page.TITLES)
    for name in chosen:
        if name not in sections:
            parser.error(f"no section {name!r}; {did_you_mean(name, sections)}")
    options.output.mkdir(parents=True, exist_ok=True)

    machine = _harness.machine()
    print(_page.machine_words(machine))
    print(f"Python {machine['python']} ({sys.executable})")
    print(", ".join(f"{name} {number}" for name, number in machine["versions"].items()))
    # small data is dominated by fixed costs, about which nothing is promised
    broken = 0
    for name in chosen:
        try:
            report = _harness.report_of(name)
        except ModuleNotFoundError as error:
            print(f"\n{name}: not run, as {error.name} is not installed", file=sys.stderr)
            broken += 1
            continue
        if report is not None:
            broken += report(quick=options.quick, path=options.output / f"bench-{name}.json")
            continue
        results = [
            (
                comparison,
                _harness.compare(
                    name, comparison, quick=options.quick, memory=not options.no_memory
                ),
            )
            for comparison in _harness.load(name, quick=options.quick)
        ]
        path = options.output / f"bench-{name}.json"
        _harness.write_record(
            path,
            quick=options.quick,
            comparisons=[
                {
                    "title": comparison.title,
                    "threads": comparison.threads,
                    "cases": [result.to_json() for result in measured],
                }
                for comparison, measured in results
            ],
        )
        print(f"\n{name}: written to {path}")
        broken += sum(
            isinstance(result, _harness.Measurement) and not result.kept
            for _, measured in results
            for result in measured
        )
    if options.page is not None:
        count = _page.update(options.page, options.output.glob("bench-*.json"))
        print(f"tables of {count} sections written to {options.page}")
    if broken and not options.quick:
        print(f"{broken} promises were not kept, or not tried", file=sys.stderr)
        return 1
    return 0


def _words(sections: list[str]) -> str:
    studies = [name for name in sections if name not in _page.TITLES]
    return (
        f"{', '.join(_page.TITLES)}; these if none is named. Studies, some of which take hours: "
        f"{', '.join(studies)}"
    )


if __name__ == "__main__":
    sys.exit(main())
