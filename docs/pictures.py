"""Draws the picture of README: the page of a diff, as a headless Chromium shows it.

Usage: python -m docs.pictures
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

__all__ = ["BROWSERS", "draw"]

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
PICTURE: Final = Path(__file__).parent / "img" / "diff.png"
REVISIONS: Final = ("2025-06-18", "2025-11-25")
WIDTH, HEIGHT = 1200, 660


def draw(browser: str, picture: Path) -> None:
    """The first screen of the page. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        report(page)
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        size = f"--window-size={WIDTH},{HEIGHT}"
        files = [f"--user-data-dir={folder}/profile", f"--screenshot={picture}", page.as_uri()]
        picture.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([browser, *flags, size, *files], check=True, capture_output=True)


def report(page: Path) -> None:
    options = ["--format", "html", "--output", str(page), "--fail-on", "never"]
    command = [sys.executable, "-m", "mcp_bindgen", "diff", *REVISIONS, *options]
    subprocess.run(command, check=True, capture_output=True)


def main() -> int:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"one of these is needed: {', '.join(BROWSERS)}", file=sys.stderr)
        return 2
    draw(browser, PICTURE)
    print(f"{PICTURE.relative_to(PICTURE.parents[2])}: is written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
