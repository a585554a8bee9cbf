#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""simgrid_versions.py SOURCE MESON...: what `meson setup` says of a SimGrid that is older or newer than those that were
tested. The installed one is taken, under another version; one that calls things differently stands beside it."""
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE, MESON = pathlib.Path(sys.argv[1]), sys.argv[2:]


def ask(*arguments):
    command = ["pkg-config", *arguments, "simgrid"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def configured(folder, version, flags=""):
    """The exit code and the output of meson with a SimGrid of that version."""
    folder.mkdir()
    (folder / "simgrid.pc").write_text(f"Name: simgrid\nDescription: of another version\nVersion: {version}\n"
                                       f"Libs: {ask('--libs')}\nCflags: {flags} {ask('--cflags')}\n")
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PKG_CONFIG_PATH")]))
    command = [*MESON, "setup", "-Dtests=disabled", folder / "build", SOURCE]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PKG_CONFIG_PATH": path})
    return done.returncode, done.stdout + done.stderr


def main():
    faults = []

    def expect(result, code, *texts):
        missing = [text for text in texts if text not in result[1]]
        if result[0] != code or missing:
            faults.append(f"exit code {result[0]}, not {code}; missing: {missing}\n{result[1][-3000:]}")

    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        expect(configured(scratch / "old", "3.31"), 1, "SimGrid 3.31 is too old; expected 3.32 or newer")
        expect(configured(scratch / "new", "4.2"), 0, "SimGrid 4.2 is newer than what stagesim was tested with",
               "it compiles")
        headers = scratch / "changed/simgrid"
        headers.mkdir(parents=True)
        (headers / "s4u.hpp").write_text("namespace simgrid { namespace s4u { class Engine; } }\n")
        expect(configured(scratch / "changed-new", "5.0", f"-I{headers.parent}"), 1,
               "SimGrid 5.0 is newer than what stagesim was tested with", "does not compile with it")
    print("\n".join(faults))
    return bool(faults)


sys.exit(main())
