"""Check the types of the Python code in README.md and docs/ with mypy, as a reader's editor would.

Each page becomes one module whose code stands on the lines it has in the page, so that messages
name the place to repair.

usage: python tools/check_snippets.py
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "snippets"
FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)")
PROMPT = re.compile(r"^\s*(>>>|\.\.\.)( |$)")


def code_of(page: str) -> str:
    """Python code of a page, each line where it was, all other lines empty.

    In a block with prompts, the lines after prompts are code and all others are results.
    """
    lines: list[str] = []
    block: list[str] | None = None
    for line in page.splitlines():
        fence = FENCE.match(line)
        if block is None:
            if fence and fence["language"] == "python":
                block, indent = [], len(fence["indent"])
            lines.append("")
        elif fence and not fence["language"]:
            lines += [*_without_results(block), ""]
            block = None
        else:
            block.append(line[indent:])
    return "\n".join(lines) + "\n"


def _without_results(block: list[str]) -> list[str]:
    if not any(PROMPT.match(line) for line in block):
        return block
    return [PROMPT.sub("", line) if PROMPT.match(line) else "" for line in block]


def main() -> int:
    """Write the modules, run mypy on them and print its messages with the names of the pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for left in FOLDER.glob("*.py"):
        left.unlink()
    names = {}
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        code = code_of(page.read_text(encoding="utf-8"))
        if code.strip():
            place = page.relative_to(ROOT)
            module = re.sub(r"\W", "_", place.with_suffix("").as_posix())
            names[module] = place.as_posix()
            (FOLDER / f"{module}.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--no-error-summary", *map(str, FOLDER.glob("*.py"))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    for line in (done.stdout + done.stderr).splitlines():
        print(re.sub(r"^build/snippets/(\w+)\.py", lambda found: names[found[1]], line))
    if not done.returncode:
        print(f"Success: the code of {len(names)} pages has no type errors")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
