"""A stock Firefox, driven by its own remote protocol (Marionette: lengths and JSON over TCP on the loopback)."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 90.0
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # how WebDriver writes a reference to an element
_PREFERENCES: dict[str, Any] = {
    "app.update.disabledForTesting": True,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "marionette.port": 0,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}
_UNTIL = """
const [condition, done] = arguments
const test = () => new Function(`return (${condition})`)() && (observer.disconnect(), done(true), true)
const observer = new MutationObserver(test)
if (!test()) observer.observe(document, {subtree: true, childList: true, characterData: true, attributes: true})
"""
_CONSOLE = """
return Services.console.getMessageArray()
  .filter((each) => each instanceof Ci.nsIScriptError && each.sourceName.startsWith(arguments[0]))
  .map((each) => `${each.category}: ${each.errorMessage}`)
"""


def firefox() -> str | None:
    return next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)


class Firefox:
    """One window. Every wait ends with what was waited for, or fails."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
        self._received = b""
        self._asked = 0
        self._read()  # it introduces itself
        self._ask("WebDriver:NewSession")
        patience = int(PATIENCE_SECONDS * 1000)
        self._ask("WebDriver:SetTimeouts", implicit=patience, pageLoad=patience, script=patience)

    def close(self) -> None:
        self._socket.close()

    def resize(self, width: int, height: int) -> None:
        self._ask("WebDriver:SetWindowRect", width=width, height=height)

    def open(self, url: str) -> None:
        self._ask("WebDriver:Navigate", url=url)

    def run(self, script: str, *arguments: Any) -> Any:
        return self._ask("WebDriver:ExecuteScript", script=script, args=list(arguments))["value"]

    def until(self, condition: str) -> None:
        """Wait until an expression is true on the page; it is tried whenever the document changes."""
        self._ask("WebDriver:ExecuteAsyncScript", script=_UNTIL, args=[condition])

    def click(self, selector: str) -> None:
        self._ask("WebDriver:ElementClick", id=self._element(selector))

    def type(self, selector: str, text: str) -> None:
        self._ask("WebDriver:ElementSendKeys", id=self._element(selector), text=text)

    def text(self, selector: str) -> str:
        return self._ask("WebDriver:GetElementText", id=self._element(selector))["value"]

    def errors(self, origin: str) -> list[str]:
        """Errors and warnings in the console that come from pages of `origin`: uncaught, or of a policy."""
        self._ask("Marionette:SetContext", value="chrome")
        try:
            return self.run(_CONSOLE, origin)
        finally:
            self._ask("Marionette:SetContext", value="content")

    def _element(self, selector: str) -> str:
        return self._ask("WebDriver:FindElement", using="css selector", value=selector)["value"][_ELEMENT]

    def _ask(self, name: str, **parameters: Any) -> Any:
        self._asked += 1
        message = json.dumps([0, self._asked, name, parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _, number, error, result = self._read()
        assert number == self._asked
        assert error is None, f"{name}: {error['error']}: {error['message']}"
        return result

    def _read(self) -> Any:
        while b":" not in self._received:
            self._more()
        length, _, self._received = self._received.partition(b":")
        while len(self._received) < int(length):
            self._more()
        body, self._received = self._received[: int(length)], self._received[int(length) :]
        return json.loads(body)

    def _more(self) -> None:
        data = self._socket.recv(1 << 16)
        assert data, "Firefox has closed the connection"
        self._received += data


@contextmanager
def started(path: str, profile: Path) -> Iterator[Firefox]:
    """Start a Firefox without a window, in a profile of its own."""
    profile.mkdir()
    (profile / "user.js").write_text(
        "".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in _PREFERENCES.items())
    )
    command = [path, "--headless", "--no-remote", "--marionette", "--remote-allow-system-access", "--profile"]
    with (profile / "output.txt").open("w") as output:
        process = subprocess.Popen([*command, str(profile), "about:blank"], stdout=output, stderr=output)
    try:
        browser = Firefox(_port(process, profile))
        try:
            yield browser
        finally:
            browser.close()
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _port(process: subprocess.Popen[bytes], profile: Path) -> int:
    """The port that Firefox has chosen, as soon as it has written it down."""
    until = time.monotonic() + PATIENCE_SECONDS
    written = profile / "MarionetteActivePort"
    while time.monotonic() < until and process.poll() is None:
        if written.exists() and (text := written.read_text().strip()):
            return int(text)
        time.sleep(0.02)
    raise AssertionError(f"Firefox did not start: {(profile / 'output.txt').read_text()[-500:]}")
