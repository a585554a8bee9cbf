#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rude_plugins.py STAGESIM PLUGINS: no command runs the code of a plug-in unless the user said so; one that crashes,
ends the process, loops or refuses in silence ends the command with a message and nothing written, and is loaded once
for a whole command."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

SCENARIO = "platform: ring-8\nworkload: {}\nrude: {{manners: {}}}\nparallel: {{data: 2}}\n"
COMMANDS = (("check", "s.yaml"), ("run", "s.yaml", "-o", "out"), ("compare", "s.yaml", "s.yaml", "-o", "out"))


class Rude:
    def __init__(self, check, binary, plugins, folder):
        self.check, self.binary, self.folder, self.plugins = check, binary, folder, plugins
        shutil.copy(pathlib.Path(plugins) / "rude.so", folder / "rude.so")

    def loadings(self):
        path = self.folder / "mark"
        return path.stat().st_size if path.exists() else 0

    def run(self, *arguments, workload="./rude.so", manners="good", rude="", installed=False, expect=0):
        (self.folder / "s.yaml").write_text(SCENARIO.format(workload, manners))
        (self.folder / "mark").unlink(missing_ok=True)
        environment = {**os.environ, "RUDE": rude, "RUDE_MARK": str(self.folder / "mark")}
        if installed:
            environment["STAGESIM_PLUGINS"] = str(self.folder)
        result = tool.run(self.binary, *arguments, cwd=self.folder, expect=None, env=environment)
        self.check.that(result.returncode == expect,
                        f"{arguments} {workload} {manners} {rude}: exit code {result.returncode}: {result.stderr}")
        self.check.that(expect == 0 or not (self.folder / "out").exists(), f"{arguments}: left output behind")
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        return result

    def fails(self, said, expect, *arguments, **keywords):
        result = self.run(*arguments, expect=expect, **keywords)
        self.check.that(said in result.stderr and result.stdout == "",
                        f"{arguments} {keywords}: {result.stdout!r} {result.stderr!r}, expected {said!r}")


def nothing_runs_unasked(rude, check):
    for command in COMMANDS:
        rude.fails("s.yaml:2:11: error: workload: ./rude.so is a plug-in, whose code would run with your rights; "
                   "--plugins lets it", 1, *command)
        check.that(rude.loadings() == 0, f"{command}: the plug-in's code ran")
        rude.run(*command, "--plugins")
        check.that(rude.loadings() == 1, f"{command}: the plug-in was loaded {rude.loadings()} times")
        rude.run(*command, workload="rude", installed=True)
        check.that(rude.loadings() == 1, f"{command}: the installed plug-in was loaded {rude.loadings()} times")
        rude.run(*command, "--set", "workload=./rude.so", workload="stages")
        check.that(rude.loadings() == 1, f"{command}: the plug-in that was typed was loaded {rude.loadings()} times")
    listed = rude.run("list", "workloads", installed=True).stdout
    check.that("rude" in listed and "--plugins asks it" in listed and rude.loadings() == 0,
               f"list: {listed}, {rude.loadings()} loadings")
    listed = rude.run("list", "workloads", "--plugins", installed=True).stdout
    check.that("misbehaves" in listed and rude.loadings() == 1, f"list --plugins: {listed}")


def loading_fails(rude, check):
    for how, said in (("crash", "rude.so: it ended the process by signal 11 (Segmentation fault) while it was loaded"),
                      ("exit", "rude.so: it ended the process by exit(0) while it was loaded")):
        for command in COMMANDS:
            rude.fails(said, 1, *command, "--plugins", rude=how)
    started = time.monotonic()
    rude.fails("not loaded within 10 s", 1, "check", "s.yaml", "--plugins", rude="loop")
    check.that(time.monotonic() - started > 9,
               f"a constructor that loops was given {time.monotonic() - started:.1f} s")


def listing_fails(rude, check):
    """One that fails does not hide the others: there is one before it and one behind it."""
    for name in ("a-good", "z-good"):
        shutil.copy(pathlib.Path(rude.plugins) / "sections.so", rude.folder / f"{name}.so")
    for how, said in (("crash", "cannot be loaded: "), ("exit", "cannot be loaded: "), ("loop", "cannot be loaded: ")):
        result = rude.run("list", "workloads", "--plugins", installed=True, rude=how)
        listed = {line.split()[0]: line for line in result.stdout.splitlines()}
        others = all("several sections" in listed[name] for name in ("a-good", "z-good"))
        check.that(said in listed["rude"] and others, f"{how}: {listed}")


def later_failures(rude):
    for command in COMMANDS:
        arguments = (*command, "--plugins")
        rude.fails("refuses the job (its function 'build' returned false) and does not say why", 1, *arguments,
                   manners="silent")
        rude.fails("refuses the job (its function 'check' returned false) and does not say why", 1, *arguments,
                   manners="silent-check")
        rude.fails("called exit(0) before it was done", 3, *arguments, manners="exit")
        rude.fails("egmentation fault", 3, *arguments, manners="crash")
        rude.fails("rude.so: it ended the process by signal 11", 3, *arguments, manners="shape")
        rude.fails("a plug-in closed descriptors that are not its own", 3, *arguments, manners="close")
        rude.fails("rude.so: it closed descriptors that are not its own", 3, *arguments, manners="close-shape")


def endless(rude, check):
    """What does nothing is ended; what is slow but goes on is not."""
    os.environ["STAGESIM_PLUGIN_SECONDS"] = "1"
    for command in COMMANDS:
        rude.fails("rude.so: its function 'build' has done nothing for 1 s: it does not return", 3, *command,
                   "--plugins", manners="loop")
    rude.fails("rude.so: its function 'shape' has done nothing for 1 s: it does not return", 3, "check", "s.yaml",
               "--plugins", manners="loop-shape")
    said = rude.run("check", "s.yaml", "--plugins", manners="slow").stdout
    check.that("26 operations" in said, f"a slow plug-in: {said}")
    del os.environ["STAGESIM_PLUGIN_SECONDS"]


def interrupted(rude, check):
    """A signal to the process that the user started reaches the one that works; none is left."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        (rude.folder / "s.yaml").write_text(SCENARIO.format("./rude.so", "good"))
        (rude.folder / "mark").unlink(missing_ok=True)
        process = subprocess.Popen([rude.binary, "check", "s.yaml", "--plugins"], cwd=rude.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env={**os.environ, "RUDE": "loop", "RUDE_MARK": str(rude.folder / "mark")})
        while not rude.loadings():
            time.sleep(0.01)
        process.send_signal(number)
        process.communicate(timeout=5)  # the pipes close when the last of both processes has ended
        check.that(process.returncode == -number, f"signal {number}: return code {process.returncode}")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        rude = Rude(check, binary, os.path.abspath(sys.argv[2]), pathlib.Path(temporary))
        nothing_runs_unasked(rude, check)
        loading_fails(rude, check)
        later_failures(rude)
        endless(rude, check)
        interrupted(rude, check)
        listing_fails(rude, check)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
