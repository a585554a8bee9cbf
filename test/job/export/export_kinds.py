#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""export_kinds.py STAGESIM: models whose layers are of several kinds, as options of Megatron-LM and back. Letters,
stages and shapes are kept where Megatron-LM has the kind, to the parameter; others are named."""
import pathlib
import re
import subprocess
import sys
import tempfile

STAGESIM = pathlib.Path(sys.argv[1]).resolve()
FOLDER = pathlib.Path(tempfile.mkdtemp())
failures = 0

JOB = """platform: dgx-h100:8
workload: transformer
model: MODEL
parallel: {pipeline: PIPELINE, data: 8, expert: 8}
batch: {global: 64, micro: 1}
schedule: 1f1b
transformer: {sequence_parallel: true, zero: 1BALANCE}
"""


def expect(good, *what):
    global failures
    if not good:
        failures += 1
        print(*what)


def run(*arguments):
    return subprocess.run([STAGESIM, *map(str, arguments)], capture_output=True, text=True, cwd=FOLDER)


# Model, its stages, letters of the script, and whether Megatron-LM has all of it.
for model, pipeline, balance, letters, whole in (
        ("nemotron-3-nano", 1, "", "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME", True),
        ("nemotron-3-nano", 2, "", "MEMEM*EMEMEM*EMEMEM*EMEMEM|*EMEMEM*EMEMEMEM*EMEMEMEME", True),
        ("nemotron-3-super", 4, ", balance: auto", "|", True),
        ("qwen3.5-35b-a3b", 2, "", "GEGEGE*EGEGEGE*EGEGEGE*EGEGEGE*EGEGEGE*E|GEGEGE*E", True),
        ("deepseek-v3.2", 1, "", "D-D-D-DEDE", True), ("kimi-k3", 1, "", "*-*E*E+E*E", False),
        ("deepseek-v4-flash", 1, "", "*E*E", False)):
    (FOLDER / "first.yaml").write_text(JOB.replace("MODEL", model).replace("PIPELINE", str(pipeline))
                                       .replace("BALANCE", balance))
    out = run("export", "first.yaml", "--to", "megatron", "-o", "job.sh")
    script = (FOLDER / "job.sh").read_text() if out.returncode == 0 else ""
    expect(out.returncode == 0 and letters in script, model, letters, out.stderr, script[:2000])
    expect(("has no letter" in out.stderr) != whole, model, "remarks", out.stderr)
    if not whole:
        continue
    back = run("import", "job.sh", "--platform", "dgx-h100:8", "-o", "second.yaml")
    file = pathlib.Path(__file__).resolve().parents[3] / "workloads/models" / f"{model}.yaml"
    stated = re.search(r"^parameters: (\d+)", file.read_text(), re.M)[1]
    expect(back.returncode == 0 and f"parameters   {stated}\n" in back.stderr, model, stated, back.stderr)
    run("export", "second.yaml", "--to", "megatron", "-o", "again.sh")
    again = (FOLDER / "again.sh").read_text().replace("second.yaml", "first.yaml")
    options = [re.findall("^    --.*$", text, re.M) for text in (script, again)]
    expect(options[0] == options[1], model, "once more", script, again)

# A further token's layer behind the last stage's, and residual streams.
(FOLDER / "first.yaml").write_text(JOB.replace("MODEL", "qwen3.5-35b-a3b").replace("PIPELINE", "2")
                                   .replace("BALANCE", ""))
out = run("export", "first.yaml", "--to", "megatron", "--set", "model.predictions=1", "--set", "model.streams=4",
          "--set", "model.parameters=34676374261", "--set", "model.active_parameters=3470752501")
expect("*E/*E'" in out.stdout and "--mhc-num-residual-streams 4" in out.stdout, out.stdout, out.stderr)
out = run("export", "first.yaml", "--to", "torchtitan")
expect(out.returncode == 0 and "model.mixers" in out.stderr + out.stdout, "torchtitan", out.stderr)

# Exchanges of experts beside another micro-batch, there and back.
(FOLDER / "first.yaml").write_text("""platform: dgx-h100:1
workload: transformer
model: {layers: 8, hidden: 1024, heads: 8, vocabulary: 1024, sequence: 1024, experts: 8}
parallel: {pipeline: 2, data: 4, expert: 4}
batch: {global: 32, micro: 1}
schedule: {name: combined-1f1b, chunks: 2}
""")
for sets, name in (((), "combined-1f1b"), (("--set", "schedule=1f1b"), "1f1b"),
                   (("--set", "parallel.pipeline=1"), "combined-1f1b")):
    out = run("export", "first.yaml", "--to", "megatron", *sets, "-o", "job.sh")
    run("import", "job.sh", "--platform", "dgx-h100:1", "-o", "second.yaml")
    expect(f"name: {name} " in (FOLDER / "second.yaml").read_text(), name, out.stderr)
    expect("is not there" not in out.stderr, sets, out.stderr)
sys.exit(failures > 0)
