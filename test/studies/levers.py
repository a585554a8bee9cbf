#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a run that does not fit says would take less memory: each lever, put into the scenario with `--set`, gives the
memory that it promises and less than the run has; and another schedule comes with what the scenario computes again,
whatever its word is. A network of layers has checkpoints.

usage: levers.py STAGESIM"""
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

JOB = """platform: dgx-a100-2
workload: transformer
model: {{layers: 8, hidden: 12288, heads: 96, sequence: 4096, vocabulary: 32000}}
parallel: {{pipeline: 2, data: 2}}
batch: {{global: 128, micro: 1}}
engine: analytic
schedule: {{name: gpipe, recompute: {word}}}
"""


NETWORK = """platform: graphcore-16
workload: layers
model: resnet-50
parallel: {data: 16}
batch: {global: 3520, micro: 20}
compute: {precision: fp16, efficiency: 0.2}
engine: analytic
"""


def memory_of(binary, folder, *sets):
    options = [part for text in sets for part in ("--set", text)]
    tool.run(binary, "run", "job.yaml", "-o", "out", *options, cwd=folder)
    return json.loads((folder / "out/summary.json").read_text())["memory"]


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for word in ("none", "selective", "full", "operators"):
            (folder / "job.yaml").write_text(JOB.format(word=word))
            memory = memory_of(binary, folder)
            levers = memory["levers"]
            settings = [lever["setting"] for lever in levers]
            check.that(not memory["fits"] and len(levers) > 2, f"{word}: levers {settings}")
            check.that(any(text.startswith("transformer.zero=") for text in settings), f"{word}: no single lever")
            schedules = [text for text in settings if text.startswith("schedule=")]
            check.that(schedules, f"{word}: no other schedule in {settings}")
            for text in schedules:
                check.that(word == "none" or "schedule.recompute=" in text, f"{word}: '{text}' computes nothing again")
            alone = [text for text in schedules if "transformer" not in text and "batch" not in text]
            for text in alone:
                check.that(word == "none" or text.endswith(f" and schedule.recompute={word}"), f"{word}: '{text}'")
            for lever in [levers[0], *(each for each in levers if each["setting"] in alone)]:
                found = memory_of(binary, folder, *lever["setting"].split(" and "))
                check.near(lever["peak_bytes"], found["peak_bytes"], f"{word}: {lever['setting']}")
                check.that(found["peak_bytes"] < memory["peak_bytes"], f"{word}: {lever['setting']} takes more")
        (folder / "job.yaml").write_text(NETWORK)
        memory = memory_of(binary, folder)
        levers = {lever["setting"]: lever["peak_bytes"] for lever in memory["levers"]}
        checkpoints = [text for text in levers if text.startswith("layers.checkpoints=")]
        check.that(not memory["fits"] and len(checkpoints) == 2, f"a network: levers {list(levers)}")
        for text in checkpoints:
            check.near(levers[text], memory_of(binary, folder, text)["peak_bytes"], text)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
