"""Drives a headless Chromium over a pipe, by the DevTools protocol."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

__all__ = ["Page", "chromium", "opened"]

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
_FLAGS: Final = ("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe")
_EXEC: Final = """
import fcntl, os, sys
there, here = (fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3])
os.dup2(there, 3)
os.dup2(here, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Gives the browser its pipes under the numbers that it expects."""
_PATIENCE: Final = 30.0
"""Seconds that one answer may take."""


def chromium() -> str | None:
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


@dataclass
class Page:
    """One page; `events` has all that the browser told of it, in order."""

    to: int
    back: int
    session: str = ""
    last: int = 0
    rest: bytes = b""
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def call(self, method: str, **params: Any) -> Any:
        return self._call(self.session, method, params)

    def _call(self, session: str, method: str, params: dict[str, Any]) -> Any:
        self.last += 1
        order: dict[str, Any] = {"id": self.last, "method": method, "params": params}
        if session:
            order["sessionId"] = session
        os.write(self.to, json.dumps(order).encode() + b"\0")
        while True:
            message = self._next()
            if message.get("id") == self.last:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def wait(self, method: str) -> dict[str, Any]:
        """The first event of that name that is not yet told."""
        while True:
            message = self._next()
            self.events.append(message)
            if message.get("method") == method:
                return message

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + _PATIENCE
        while b"\0" not in self.rest:
            left = max(0.0, deadline - time.monotonic())
            ready = select.select([self.back], [], [], left)[0]
            assert ready, "the browser does not answer"
            chunk = os.read(self.back, 1 << 20)
            assert chunk, "the browser has gone"
            self.rest += chunk
        text, _, self.rest = self.rest.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=url)
        self.wait("Page.loadEventFired")

    def run(self, script: str, frame: str = "") -> Any:
        """The value of an expression, or of its promise, in the page or in a frame."""
        params = {"expression": script, "returnByValue": True, "awaitPromise": True}
        evaluated = self._call(frame or self.session, "Runtime.evaluate", params)
        assert "exceptionDetails" not in evaluated, evaluated
        return evaluated["result"].get("value")

    def until(self, script: str, frame: str = "") -> Any:
        """The value of an expression as soon as it is neither empty, nor zero, nor false."""
        return _until(lambda: self.run(script, frame), script)

    def frame(self, url: str) -> str:
        """The only frame in a sandbox at that URL, for `run`."""

        def there() -> str | None:
            targets = self._call("", "Target.getTargets", {})["targetInfos"]
            frames = [one for one in targets if (one["type"], one["url"]) == ("iframe", url)]
            return frames[0]["targetId"] if len(frames) == 1 else None

        params = {"targetId": _until(there, f"a frame at {url}"), "flatten": True}
        session: str = self._call("", "Target.attachToTarget", params)["sessionId"]
        return session

    def look(self, width: int, height: int, scheme: str) -> bytes:
        """A picture, as PNG, of a window of that size in a light or dark scheme."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        media = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=media)
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])


def _until(value: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + _PATIENCE
    while not (now := value()):
        assert time.monotonic() < deadline, f"never there: {what}"
        time.sleep(0.02)
    return now


@contextmanager
def opened(profile: Path) -> Generator[Page, None, None]:
    """A blank page of a browser of its own, which ends with it."""
    program = chromium()
    assert program is not None
    there, to = os.pipe()
    back, here = os.pipe()
    launch = [sys.executable, "-c", _EXEC, str(there), str(here), program]
    process = subprocess.Popen(
        [*launch, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
        pass_fds=(there, here),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(there)
    os.close(here)
    try:
        page = Page(to, back)
        targets = page.call("Target.getTargets")["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        attached = page.call("Target.attachToTarget", targetId=target, flatten=True)
        page.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        yield page
    finally:
        process.terminate()
        process.wait(10)
        os.close(to)
        os.close(back)
