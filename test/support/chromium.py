# SPDX-License-Identifier: Apache-2.0
"""A real Chromium, driven through a pipe in the DevTools protocol: pages, their messages and requests, pictures of
them, keys and the mouse. Standard library only."""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

# Done when what was just changed has been drawn.
FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60))))"


def contrast(nodes, left_out="false"):
    """The smallest contrast of a text of the page, of the nodes that the selectors name, to what lies below it, as WCAG
    defines it. `left_out`: an expression over `node` of those that do not count."""
    return f"""(() => {{
    const parts = colour => colour.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const below = node => {{ for (; node; node = node.parentElement) {{
        const found = parts(getComputedStyle(node).backgroundColor);
        if (found.length < 4 || found[3] === 1) return found; }} return [255, 255, 255]; }};
    let worst = 21;
    for (const node of document.querySelectorAll('{nodes}')) {{
        if (!node.textContent.trim() || !node.getClientRects().length || {left_out}) continue;
        const a = light(parts(getComputedStyle(node).color)), b = light(below(node));
        worst = Math.min(worst, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
    }}
    return worst;
}})()"""


def find():
    """The browser's path; None where there is none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """A page in a window of its own. `messages`: what the console said, errors too; `requests`: addresses asked for."""

    def __init__(self, width=1280, height=900, dark=False, script=True, phone=False):
        self.folder = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        to_read, self.to = os.pipe()
        self.source, from_write = os.pipe()
        command = [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
                   "--disable-background-networking", "--disable-dev-shm-usage", "--remote-debugging-pipe",
                   "--user-data-dir=" + self.folder.name, "about:blank"]

        def place():
            """The browser reads from 3 and writes to 4."""
            incoming, outgoing = os.dup(to_read), os.dup(from_write)
            os.dup2(incoming, 3)
            os.dup2(outgoing, 4)

        self.process = subprocess.Popen(command, preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        start_new_session=True)
        os.close(to_read)
        os.close(from_write)
        self.number, self.buffer, self.events = 0, b"", []
        self.messages, self.requests, self.session = [], [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.size(width, height, phone)
        self.scheme(dark)
        if not script:
            self.call("Emulation.setScriptExecutionDisabled", value=True)

    def size(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def scheme(self, dark):
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.to)
        os.close(self.source)
        self.folder.cleanup()

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.source], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                return None
            data = os.read(self.source, 1 << 20)
            if not data:
                raise EOFError("the browser has ended")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        self.note(message)
        return message

    def note(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.messages.append(" ".join(str(a.get("value", a.get("description"))) for a in parameters["args"]))
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.messages.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded":
            self.messages.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        if method:
            self.events.append(method)

    def check_quiet(self, check, what, *own):
        """The console has said nothing, and nothing was asked for but addresses that begin with one of `own`."""
        check.that(not self.messages, f"{what}: the console says {self.messages[:3]}")
        beyond = [address for address in self.requests if not address.startswith((*own, "about:"))]
        check.that(not beyond, f"{what}: requests {beyond[:3]}")

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            answer = self.receive(deadline)
            if answer is None:
                raise TimeoutError(method)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]

    def open(self, path):
        """Seconds until the page and its scripts are there."""
        self.events.clear()
        began = time.monotonic()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while "Page.loadEventFired" not in self.events:
            if self.receive(began + 60) is None:
                raise TimeoutError(path)
        return time.monotonic() - began

    def run(self, script):
        """The value of an expression, promises awaited."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", script))
        return answer["result"].get("value")

    def picture(self, path, whole=False):
        parameters = {"format": "png"}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            parameters.update(captureBeyondViewport=True, clip={"x": 0, "y": 0, "width": size["width"],
                                                                "height": min(size["height"], 8000), "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", **parameters)["data"]))

    def mouse(self, kind, x, y, button="none", buttons=0, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons, **more)

    def click(self, x, y):
        self.mouse("mousePressed", x, y, "left", 1, clickCount=1)
        self.mouse("mouseReleased", x, y, "left", 0, clickCount=1)

    def wheel(self, x, y, delta, control=True):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=delta, modifiers=2 if control else 0)

    def drag(self, x, y, to, shift=False):
        modifiers = 8 if shift else 0
        self.mouse("mousePressed", x, y, "left", 1, clickCount=1, modifiers=modifiers)
        for step in range(1, 6):
            self.mouse("mouseMoved", x + (to - x) * step / 5, y, "left", 1, modifiers=modifiers)
        self.mouse("mouseReleased", to, y, "left", 0, clickCount=1, modifiers=modifiers)

    def key(self, key, code=0, shift=False):
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code,
                      modifiers=8 if shift else 0, **text)
            text = {}
