"""Take pictures of the report and of the audit: run `python docs/_screens.py [FOLDER]`.

`make docs` runs it for the site. Without a folder it writes `docs/assets`, which README shows.
Where Chromium is missing, it says so and leaves the pictures that are there.
"""

import struct
import subprocess
import sys
import tempfile
import warnings
import zlib
from pathlib import Path

import clearwood as cw

sys.path.append(str(Path(__file__).parents[1] / "tools"))
from browser import browser

ASSETS = Path(__file__).parent / "assets"
SIZE = (1180, 860)
#: The chunk of a picture that holds the version of Clearwood that made the page.
VERSION = b"Clearwood\0" + cw.__version__.encode("latin-1")


def report(to: Path) -> None:
    """Write the page of a model of accidents."""
    data = cw.datasets.insurance(4_000, seed=1)
    bench = cw.benchmark(data, ["baseline", "glm", "gbm"], tune=0, repeats=1, seed=1)
    model = bench.best().fit(data)
    title = "Accidents of a simulated motor portfolio"
    cw.report(model, data, benchmark=bench, quick=True, title=title).save(to)


def audit(to: Path) -> None:
    """Write the page on what a tariff does to women and men."""
    policies = cw.datasets.insurance(4_000, seed=0)
    tariff = cw.learner("glm").fit(policies)
    audited = cw.audit(tariff, policies, protected=["gender"], reference="female")
    audited.save(to, title="Women and men in a simulated tariff")


PAGES = {"report": report, "audit": audit}


def picture(program: str, page: Path, to: Path) -> None:
    """Save the first screen of a page as Chromium draws it, with the version in the file."""
    width, height = SIZE
    command = [
        program,
        *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
        *("--disable-background-networking", "--virtual-time-budget=3000"),
        *(f"--window-size={width},{height}", f"--screenshot={to}", page.as_uri()),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)  # noqa: S603 - ours
    content = to.read_bytes()
    head = 8 + 4 + 4 + 13 + 4  # the signature and the first chunk, which has the size
    chunk = b"tEXt" + VERSION
    length, check = struct.pack(">I", len(VERSION)), struct.pack(">I", zlib.crc32(chunk))
    to.write_bytes(content[:head] + length + chunk + check + content[head:])


def main() -> int:
    """Make the pages and their pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ASSETS
    program = browser()
    if program is None:
        print(
            "there is no browser, so the pictures of the report and the audit are those of the "
            "repository. Hint: apt-get install chromium"
        )
        return 0
    with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
        warnings.simplefilter("ignore", cw.ClearwoodWarning)  # the pages show them
        for name, make in PAGES.items():
            page = Path(scratch) / f"{name}.html"
            make(page)
            picture(program, page, folder / f"{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
