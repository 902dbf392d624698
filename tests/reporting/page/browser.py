"""A real browser for tests, where there is one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def open_browser() -> Iterator[Any]:
    """Chromium without a screen: the system's, or the one that playwright installed; skips where there is none."""
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync.sync_playwright() as playwright:
        system = next((path for name in _NAMES if (path := shutil.which(name))), None)
        if system is None and not Path(playwright.chromium.executable_path).exists():
            pytest.skip("no browser is installed: make browser")
        browser = playwright.chromium.launch(executable_path=system, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Page:
    """A page that notes what it complains of and what it asks for."""

    def __init__(self, browser: Any, path: Path, *, width: int, theme: str, at: str = "") -> None:
        self.complaints: list[str] = []
        self.outside: list[str] = []
        self.tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
        self.tab.on("console", lambda message: self.complaints.append(message.text))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("request", lambda request: self._note(request.url, path))
        self.tab.goto(path.as_uri() + at)

    def _note(self, url: str, path: Path) -> None:
        if url.partition("#")[0] != path.as_uri():
            self.outside.append(url)

    @property
    def background(self) -> str:
        """The colour behind everything."""
        return str(self.tab.evaluate("getComputedStyle(document.body).backgroundColor"))

    @property
    def overflows(self) -> bool:
        """Whether one would have to scroll sideways."""
        return bool(self.tab.evaluate("document.documentElement.scrollWidth > window.innerWidth"))
