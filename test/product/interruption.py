#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""interruption.py STAGESIM: a run that is interrupted leaves no file, no directory and no process behind; files that
were there before stay as they were."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

PATIENCE = 60  # seconds


def until(condition):
    """Waits until condition() is true; false when it never was."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_alive(pid):
    """A process that is dead but not waited for counts as dead."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def hear_all():
    """Under nohup SIGHUP is ignored, by children as well."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def interrupt(check, binary, folder, number, arguments):
    name = f"{signal.Signals(number).name} to {arguments[0]}"
    before = sorted(folder.rglob("*"))
    with subprocess.Popen([binary, *arguments, "-o", "new/deep/out", "--trace", "csv,paje"], cwd=folder,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=hear_all) as process:
        begun = until(lambda: any(folder.rglob(".*.stagesim")) and children(process.pid))
        check.that(begun, f"{name}: never began to write")
        born = children(process.pid)
        process.send_signal(number)
        check.that(process.wait(PATIENCE) == -number, f"{name}: ended with {process.returncode}")
    check.that(sorted(folder.rglob("*")) == before, f"{name}: left {sorted(set(folder.rglob('*')) - set(before))}")
    check.that(until(lambda: not any(is_alive(child) for child in born)), f"{name}: a process goes on")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        tool.write_mesh(folder / "platform.xml", 8)
        tool.write_scenario(folder / "long.yaml", "platform.xml", "1f1b", 8, 60000)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            interrupt(check, binary, folder, number, ["run", "long.yaml"])
        interrupt(check, binary, folder, signal.SIGTERM, ["compare", "long.yaml", "--schedules", "1f1b,gpipe"])
        (folder / "new/deep/out").mkdir(parents=True)
        (folder / "new/deep/out/summary.json").write_text("as it was")
        interrupt(check, binary, folder, signal.SIGINT, ["run", "long.yaml"])
        check.that((folder / "new/deep/out/summary.json").read_text() == "as it was", "an older file changed")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
