"""Pictures of the report for the README, made in a real browser: docs/images/report-*.png.

    python benchmarks/pictures.py

A synthetic city of 12,000 people is published, audited and reported on.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from playwright.sync_api import sync_playwright

import shoal

IMAGES = Path(__file__).resolve().parent.parent / "docs/images"
SHOTS = (("verdict", "light", 1180), ("people", "dark", 1180))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        events, published, key, page = (
            Path(folder) / name for name in ("events.parquet", "published.parquet", "key.csv", "report.html")
        )
        pq.write_table(shoal.make_city(12_000), events)
        shoal.anonymize(events, k=2, tau="30min", epsilon="30min", output=published, key_out=key)
        shoal.write_report(events, published, page, key=key, synthetic=True)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"), args=["--no-sandbox"]
        )
        for name, theme, height in SHOTS:
            tab = browser.new_page(viewport={"width": 1080, "height": height}, color_scheme=theme)
            tab.goto(page.as_uri())
            tab.click(f"#tab-{name}")
            tab.evaluate(f"document.getElementById('tab-{name}').blur()")
            tab.evaluate("window.scrollTo(0, 0)")  # the tabs are far down, so that the click scrolled there
            path = IMAGES / f"report-{name}.png"
            if name == "verdict":
                tab.screenshot(path=path, clip={"x": 0, "y": 0, "width": 1080, "height": height})
            else:
                tab.locator(f"#{name}").screenshot(path=path)
            print(f"{path.name}: {path.stat().st_size // 1000} kB")
        browser.close()


if __name__ == "__main__":
    main()
