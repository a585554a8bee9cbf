#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""abi_plugins.py STAGESIM PLUGINS: plug-ins whose structs are of an older layout run as those of today's; sizes that no
version had and larger ones are refused, at the workload's place, by every call that takes such a struct alike."""
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

SCENARIO = """platform: mesh.xml
workload: {plugin}
layouts: {{which: {which}, made: {made}}}
parallel: {{pipeline: 2, data: 2}}
batch: {{micro_batches: 4}}
schedule: 1f1b
"""


def write(folder, plugin, which, made):
    (folder / "s.yaml").write_text(SCENARIO.format(plugin=plugin, which=which, made=made))


def figures(binary, folder, plugin, which, made):
    write(folder, plugin, which, made)
    found = tool.summary(binary, "s.yaml", "out", "--plugins", cwd=folder)
    found.pop("simulation")
    return found


def main():
    check, binary, plugins = tool.Checker(), tool.binary_argument(), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        tool.write_mesh(folder / "mesh.xml", 4)
        today = figures(binary, folder, plugins / "layouts.so", "pipeline", "today")
        # 1F1B on two workers: (4 + 1) times 3 s; all-reduces and messages of a few bytes take next to nothing.
        check.near(today["time"]["iteration_s"], 15, "iteration of the plug-in", 1e-2)
        for which in ("figures", "pipeline", "pace"):
            older = figures(binary, folder, plugins / "layouts.so", which, "older")
            check.that(older == today, f"an older layout of {which} gives another result")
        for which in ("pipeline", "pace"):
            check.that(figures(binary, folder, plugins / "old-workload.so", which, "today")["time"] == today["time"],
                       "an older layout of the workload gives another result")
        for which in ("figures", "pipeline", "pace"):
            for made, words in (("never", "which no version had"), ("newer", "use a newer stagesim")):
                write(folder, plugins / "layouts.so", which, made)
                result = tool.run(binary, "run", "s.yaml", "--plugins", "-o", "refused", cwd=folder, expect=1)
                expected = rf"s\.yaml:3:\d+: error: the workload hands over a struct " \
                           rf"stagesim_{which} of \d+ bytes, .*{words}"
                check.that(re.match(expected, result.stderr), f"{which} {made}: {result.stderr}")
                check.that(not (folder / "refused").exists(), f"{which} {made} left output behind")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
