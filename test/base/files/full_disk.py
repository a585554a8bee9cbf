#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A full disk, or a limit on the size of files, ends a run with exit code 3, a message, and nothing left behind.

usage: full_disk.py STAGESIM SOURCE_ROOT
"""
import os
import resource
import subprocess
import sys
import tempfile

SCENARIO = """platform: %s/platforms/mesh-8.xml
workload: stages
stages: {forward: 1s, backward: 2s, message: 1MB}
parallel: {pipeline: 8}
batch: {micro_batches: 200}
schedule: {name: 1f1b}
engine: analytic
output: {trace: [csv, paje, chrome]}
"""


def files_below(directory):
    return [os.path.join(where, name) for where, names, files in os.walk(directory) for name in names + files]


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000))


def run(stagesim, scenario, out, limit):
    done = subprocess.run([stagesim, "compare", scenario, "--schedules", "gpipe,1f1b", "-o", out, "--quiet"],
                          capture_output=True, text=True, preexec_fn=limit)
    return done.returncode, done.stderr


def expect(condition, text):
    if not condition:
        print(text)
    return not condition


def check(stagesim, scenario, directory, limit, reason):
    code, error = run(stagesim, scenario, os.path.join(directory, "new", "out"), limit)
    failed = expect(code == 3, "exit code %d: %s" % (code, error))
    failed |= expect(reason in error and "cannot be written" in error, "message: " + error)
    failed |= expect(not files_below(directory), "left behind: %s" % files_below(directory))
    return failed


def main():
    stagesim, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        scenario, small, limited = (os.path.join(scratch, name) for name in ("full.yaml", "small", "limited"))
        with open(scenario, "w") as file:
            file.write(SCENARIO % root)
        os.mkdir(small)
        os.mkdir(limited)
        failed |= check(stagesim, scenario, limited, limit_files, "File too large")
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "none", small],
                                 capture_output=True).returncode == 0
        if mounted:
            try:
                failed |= check(stagesim, scenario, small, None, "No space left on device")
            finally:
                subprocess.run(["umount", small], check=True)
        else:
            print("no small file system could be mounted; the limit on the size of files stands for it")
        code, error = run(stagesim, scenario, os.path.join(scratch, "fine"), None)
        failed |= expect(code == 0 and len(files_below(os.path.join(scratch, "fine"))) > 10,
                         "with enough room: %d %s" % (code, error))
    return failed


if __name__ == "__main__":
    sys.exit(main())
