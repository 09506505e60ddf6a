"""Find the browser that the tests and the pictures of pages use: print its path, or nothing.

`CLEARWOOD_BROWSER` names another one, or is `no` where none should be used.

usage: python tools/browser.py
"""

import os
import shutil
import sys

#: Any of them will do. The headless shell answers clicks late on a busy machine, so it comes last.
NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "chromium-headless-shell",
)


def browser() -> str | None:
    """Return the path of Chromium or Chrome, or None where there is none or `no` is set."""
    wanted = os.environ.get("CLEARWOOD_BROWSER", "")
    if wanted == "no":
        return None
    names = (wanted,) if wanted else NAMES
    return next(filter(None, map(shutil.which, names)), None)


if __name__ == "__main__":
    found = browser()
    if found is None and os.environ.get("CLEARWOOD_BROWSER", "no") != "no":
        print(
            f"error: CLEARWOOD_BROWSER={os.environ['CLEARWOOD_BROWSER']} was not found. "
            "Hint: give the path of Chromium or Chrome, or `no`",
            file=sys.stderr,
        )
        sys.exit(2)
    print(found or "")
