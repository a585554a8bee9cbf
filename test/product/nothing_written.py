#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nothing_written.py STAGESIM PLUGINS: every bad input of test/bad through `run -o`.

It must say the same as `check` does, end with exit code 1, print no result and make no file.
"""
import concurrent.futures
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

BAD = tool.ROOT / "test" / "bad"


def run_case(binary, folder, command, name):
    extra = folder / f"{name}.args"
    arguments = [command, f"{name}.yaml", "-o", f"out-{command}-{name}",
                 *(shlex.split(extra.read_text()) if extra.exists() else [])]
    result = subprocess.run([binary, *arguments], cwd=folder,
                            env=dict(os.environ, STAGESIM_PLUGINS="PLUGINS", LC_ALL="C"), stdin=subprocess.DEVNULL,
                            capture_output=True, timeout=60)
    errors = result.stderr.decode("utf-8", "backslashreplace")
    errors = re.sub(r"^stagesim: .* s so far, .* of memory\n", "", errors, flags=re.MULTILINE)  # on a slow machine
    return command, name, result.returncode, result.stdout, errors


def main():
    check, binary, plugins = tool.Checker(), tool.binary_argument(), os.path.abspath(sys.argv[2])
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "bad"
        shutil.copytree(BAD, folder)
        for script in folder.glob("*.sh"):
            with open(script.with_suffix(".yaml"), "wb") as out:
                subprocess.run(["sh", script], stdout=out, check=True)
        names = sorted(path.stem for path in folder.glob("*.yaml") if not path.with_suffix(".command").exists())
        names = [name for name in names if (BAD / f"{name}.stderr").exists()]
        (folder / "PLUGINS").symlink_to(plugins)  # as in test/bad/run.py: a line breaks by the path's length
        before = sorted(folder.rglob("*"))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            work = [pool.submit(run_case, binary, folder, command, name) for command,
                    name in (("run", name) for name in names)]
        for command, name, code, printed, errors in (future.result() for future in work):
            check.that(code == 1, f"{command} {name}: exit code {code}\n{errors}")
            check.that(printed == b"", f"{command} {name}: printed {printed[:200]}")
            check.that(errors == (BAD / f"{name}.stderr").read_text(),
                       f"{command} {name} says something else than check:\n{errors}")
        check.that(sorted(folder.rglob("*")) == before, "files appeared or vanished")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
