"""Take the picture of the report for README. Run: python docs/_report_picture.py REPORT.html."""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

ASSETS = Path(__file__).parent / "assets"


def picture(page_file: Path, to: Path) -> None:
    """Open a report in Chromium, without a network, and save its first screen."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1180, "height": 860})
        page.context.set_offline(True)
        page.goto(page_file.absolute().as_uri())
        page.wait_for_timeout(500)
        page.screenshot(path=to)
        browser.close()


if __name__ == "__main__":
    picture(Path(sys.argv[1]), ASSETS / "report.png")
