#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_for.py BUILD: tools/test-for knows a test for every source, page, model and profile, and the one that tests a
source by its name is among them."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool  # noqa: E402

TOOL = {"__file__": str(tool.ROOT / "tools/test-for"), "__name__": "test_for"}
exec(compile((tool.ROOT / "tools/test-for").read_text(), "test-for", "exec"), TOOL)

# What nothing tests, each with the reason.
UNTESTED = {"LICENSE": "a text", "SECURITY.md": "a text", "CHANGELOG.md": "a text"}


def tracked():
    done = subprocess.run(["git", "-C", tool.ROOT, "ls-files"], capture_output=True, text=True)
    return done.stdout.split()


def main():
    check, build = tool.Checker(), sys.argv[1]
    files = tracked()
    if not files:
        print("skipped: no checkout of git")
        return 77
    tests = TOOL["tests_by_file"](build)
    TOOL["tests_by_file"] = lambda _: tests
    kinds = [path for path in files if path.endswith((".c", ".cpp", ".h", ".md", ".yaml", ".csv"))
             and not path.startswith(("test/", ".ci/", "examples/", "debian/", "abi/workload.h"))]
    check.that(len(kinds) > 800, f"only {len(kinds)} files were looked at")
    for path in kinds:
        names, _ = TOOL["choose"]([path], build)
        check.that(path in UNTESTED or names - set(TOOL["ALWAYS"]), f"{path}: no test is known for it")
    for path, name in (("base/csv.c", "base-csv"), ("doc/search.md", "doc-examples"), ("test/base/csv.c", "base-csv"),
                       ("commands/sweep/sweep.c", "commands-sweep"), ("workloads/models/gpt2.yaml", "doc-counts")):
        check.that(name in TOOL["choose"]([path], build)[0], f"{path}: {name} is not among its tests")
    check.that(TOOL["choose"](["no/such/file.txt"], build) == (set(), ["no/such/file.txt"]), "a file without test")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
