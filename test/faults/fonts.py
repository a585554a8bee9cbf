#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fonts.py STAGESIM PRELOAD: commands that draw end with a message where fontconfig does not come back. What they
leave is gone after the next command."""
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

CHECK = tool.Checker()
COMMANDS = (["run", "s.yaml", "-o", "out", "--picture", "svg"], ["run", "s.yaml", "-o", "out", "--picture", "png"],
            ["compare", "s.yaml", "--schedules", "1f1b,gpipe", "-o", "out", "--picture", "pdf"],
            ["schedule", "1f1b", "--workers", "2", "--micro-batches", "2", "-o", "out.svg"])


def main():
    stagesim, preload = tool.binary_argument(), os.path.abspath(sys.argv[2])
    environment = dict(os.environ, LD_PRELOAD=preload, STAGESIM_PLUGIN_SECONDS="1")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tool.write_inputs(folder)
        before = sorted(folder.iterdir())
        for command in COMMANDS:
            found = tool.run(stagesim, *command, cwd=folder, expect=3, env=environment).stderr
            CHECK.that("fontconfig" in found and "does not return" in found, f"{command}: {found}")
            left = [path.name for path in folder.iterdir() if path not in before]
            CHECK.that(all(name.startswith(".") and name.endswith(".stagesim") for name in left), f"{command}: {left}")
            tool.run(stagesim, *command, cwd=folder)
            left = [path.name for path in folder.iterdir() if path not in before]
            CHECK.that(left == [command[command.index("-o") + 1]], f"{command}, again: {left}")
            for path in folder.iterdir():
                if path not in before:
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
    return CHECK.done()


sys.exit(main())
