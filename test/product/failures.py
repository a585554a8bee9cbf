#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""failures.py STAGESIM: links and hosts that fail, by SimGrid's state profiles, end a run with exit code 3, a message
that says what failed and when, and no output; those that only slow down have the result of a platform that is slower
from the start."""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

PROFILE = "{when} {value}\n"


def platform(folder, element, attribute, when, value):
    """Two hosts; the host or link `element` gets a profile that changes its state or speed to `value` at some time."""
    tool.write_mesh(folder / "platform.xml", 2, bandwidth="1GBps")
    (folder / "profile").write_text(PROFILE.format(when=when, value=value))
    text = (folder / "platform.xml").read_text()
    kind = "link" if element.startswith("l-") else "host"
    changed = text.replace(f'<{kind} id="{element}"', f'<{kind} id="{element}" {attribute}="profile"')
    assert changed != text
    (folder / "platform.xml").write_text(changed)


def run(binary, folder, expect, stages="forward: 1s, backward: 2s"):
    tool.write_scenario(folder / "s.yaml", "platform.xml", "1f1b", 2, 4, stages=stages + ", message: 1GB")
    return tool.run(binary, "compare", "s.yaml", "--schedules", "1f1b", "-o", "out", "--format", "csv", cwd=folder,
                    expect=expect)


def seconds(binary, folder, **keywords):
    return float(run(binary, folder, 0, **keywords).stdout.splitlines()[1].split(",")[3])


def fails(check, binary, folder, element, when):
    platform(folder, element, "state_file", when, 0)
    result = run(binary, folder, 3)
    said = f"'{element}' is down when the job starts" if when == 0 and not element.startswith(
        "l-") else f"'{element}' went down at {when:.6f} s"
    check.that(result.stderr.startswith("stagesim: ") and said in result.stderr,
               f"{element} at {when}: message {result.stderr!r}, expected {said!r}")
    check.that(result.stdout == "", f"{element} at {when}: printed {result.stdout}")
    check.that(not (folder / "out").exists(), f"{element} at {when}: left output behind")
    check.that(len(result.stderr.splitlines()) <= 3,
               f"{element} at {when}: a message of {len(result.stderr.splitlines())} lines")


def unreachable(check, binary, folder):
    """A pair without a route is a mistake in the input, for every command and engine."""
    tool.write_mesh(folder / "platform.xml", 2)
    text = (folder / "platform.xml").read_text()
    (folder / "platform.xml").write_text("\n".join(line for line in text.splitlines() if 'src="gpu-1"' not in line))
    tool.write_scenario(folder / "s.yaml", "platform.xml", "1f1b", 2, 4, stages="forward: 1s, backward: 2s")
    errors = {tool.run(binary, *command, "s.yaml", cwd=folder, expect=1).stderr for command in (
        ("check",), ("run", "-o", "out"), ("run", "--engine", "analytic"), ("compare",), ("run", "--engine", "both"))}
    check.that(len(errors) == 1 and "no route from host 'gpu-1' to host 'gpu-0'" in min(errors), f"{errors}")
    check.that(not (folder / "out").exists(), "no route: left output behind")


def slows(check, binary, folder):
    """A profile of half the speed from the start, against stages or a link that are half as fast."""
    platform(folder, "gpu-0", "speed_file", 0, 0.5)
    slow = seconds(binary, folder)
    platform(folder, "gpu-0", "speed_file", 1000, 0.5)
    check.near(slow, seconds(binary, folder, stages="forward: [2s, 1s], backward: [4s, 2s]"),
               "a host of half the speed")
    whole = seconds(binary, folder)
    platform(folder, "l-0-1", "bandwidth_file", 0, 5e8)
    slow = seconds(binary, folder)
    text = (folder / "platform.xml").read_text()
    (folder / "platform.xml").write_text(text.replace('<link id="l-0-1" bandwidth_file="profile" bandwidth="1GBps"',
                                                      '<link id="l-0-1" bandwidth="0.5GBps"'))
    check.near(slow, seconds(binary, folder), "a link of half the bandwidth")
    check.that(slow > whole + 0.5, f"{slow} s with a slow link, {whole} s without")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for when in (0, 1.5, 6):
            fails(check, binary, folder, "l-0-1", when)
            fails(check, binary, folder, "gpu-0", when)
        fails(check, binary, folder, "gpu-1", 7)
        unreachable(check, binary, folder)
        slows(check, binary, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
