#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""framework: a job with a profile runs like the same job with the profile's values written out; the scenario's own
values win; conditions hold where they say; every value of a shipped profile has its source and is a key.

usage: scenario_framework.py STAGESIM SOURCE"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

STAGESIM = os.path.abspath(sys.argv[1])
PROFILES = pathlib.Path(sys.argv[2]) / "frameworks" / "profiles"
faults = []
JOB = """platform: dgx-h100:2
workload: transformer
model: llama3-8b
parallel: {tensor: 2, pipeline: 2, data: 4}
batch: {global: 32, micro: 1}
transformer: {sequence_parallel: true}
schedule: 1f1b
engine: analytic
"""
STAGES = """platform: dgx-h100:1
workload: stages
stages: {forward: 1ms, backward: 2ms, message: 64MiB}
parallel: {pipeline: 4}
batch: {micro_batches: 8}
schedule: 1f1b
engine: analytic
"""


def note(good, text):
    if not good:
        faults.append(text)


def run(folder, text, *options):
    path = folder / "job.yaml"
    path.write_text(text)
    out = folder / "out"
    done = subprocess.run([STAGESIM, "run", path, "-o", out, "--quiet", *options], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        return None, done.stderr
    return json.loads((out / "summary.json").read_text())["time"]["iteration_s"], (out / "scenario.yaml").read_text()


def sets(*values):
    return [word for value in values for word in ("--set", value)]


def same_as_written_out(folder):
    """What nemo says, written out by hand from its file."""
    spelt = sets("compute.kernels=auto", "communication.overlap=true", "communication.messages=blocking",
                 "transformer.zero=1", "transformer.tensor_overlap=true")
    plain, _ = run(folder, JOB)
    profile, resolved = run(folder, JOB, *sets("framework=nemo"))
    expected, _ = run(folder, JOB, *spelt)
    note(profile == expected, f"nemo: {profile} with the profile, {expected} with its values written out")
    note(profile != plain, "nemo changes nothing")
    for line in ("framework: nemo", "  kernels: auto", "  messages: blocking", "  zero: 1", "  tensor_overlap: true"):
        note(f"\n{line}\n" in resolved, f"scenario.yaml lacks '{line}'")
    note("nemo.yaml: " in resolved, "scenario.yaml does not name the profile among its inputs")
    again = folder / "again.yaml"
    again.write_text((folder / "out" / "scenario.yaml").read_text())
    done = subprocess.run([STAGESIM, "run", folder / "out" / "scenario.yaml", "-o", folder / "second", "--quiet"],
                          capture_output=True, text=True, check=False)
    second = json.loads((folder / "second" / "summary.json").read_text())["time"]["iteration_s"]
    note(not done.returncode and second == profile, f"scenario.yaml gives {second}, not {profile}")


def own_values_win(folder):
    kept, _ = run(folder, JOB, *sets("framework=nemo", "communication.messages=queued"))
    expected, _ = run(folder, JOB, *sets("compute.kernels=auto", "transformer.zero=1",
                                         "transformer.tensor_overlap=true", "communication.messages=queued"))
    note(kept == expected, f"own messages: {kept}, not {expected}")
    share, _ = run(folder, JOB, *sets("framework=nemo", "compute.efficiency=0.5"))
    note(share is not None, "an efficiency of the scenario's own is refused beside a profile")
    none, _ = run(folder, JOB, *sets("framework=none"))
    note(none == run(folder, JOB)[0], "none changes something")


def conditions(folder):
    """Without a tensor axis, and with chunks, two of nemo's rules do not hold."""
    flat = JOB.replace("tensor: 2, ", "tensor: 1, ")
    note(run(folder, flat, *sets("framework=nemo"))[0] == run(
        folder, flat, *sets("compute.kernels=auto", "communication.messages=blocking", "transformer.zero=1"))[0],
         "without a tensor axis")
    # A profile says nothing that changes nothing, and nothing that is refused.
    shared = JOB.replace("data: 4", "data: 2, context: 2")
    for job, method in ((JOB, None), (shared, "ring")):
        for name in ("megatron", "nemo"):
            text = run(folder, job, *sets(f"framework={name}"))[1]
            note(("context_method: ring" in text) == (method == "ring"), f"{name}: {method}")
    experts = JOB.replace("{tensor: 2, pipeline: 2, data: 4}", "{data: 16, expert: 8}").replace(
        "1f1b", "{name: combined-1f1b, chunks: 2, recompute: full}").replace(
        "llama3-8b", "{layers: 4, hidden: 512, heads: 8, vocabulary: 1024, sequence: 512, experts: 8}")
    for job, hidden in ((experts, "1"), (experts.replace("full", "none"), "0.37")):
        text = run(folder, job, *sets("framework=nemo"))[1]
        note(f"expert_hidden: {hidden}\n" in text, f"hidden: {text[-2000:]}")
    chunks = JOB.replace("1f1b", "{name: interleaved, chunks: 2}")
    note("  messages: queued\n" in run(folder, chunks, *sets("framework=nemo"))[1], "messages block with chunks")
    short = folder / "mine.yaml"
    # A platform by the beginning of its preset's name; one of no such name, and a file, are none.
    short.write_text("when:\n  - {if: {platform: [dgx-h200*, dgx-h1*]}, communication: {messages: pipelined}}\n")
    preset = JOB.replace("dgx-h100:2", "{preset: dgx-h100, nodes: 2}")
    for job, expected in ((JOB, "pipelined"), (preset, "pipelined"), (JOB.replace("h100", "b200"), "queued")):
        note(f"  messages: {expected}\n" in run(folder, job, *sets("framework=mine.yaml"))[1], f"{job}: not {expected}")
    short.write_text("when:\n  - {if: {schedule.name: [gpipe, 1f1b], parallel.data: '>3'},"
                     " communication: {messages: pipelined}}\n")
    for job, expected in ((JOB, "pipelined"), (JOB.replace("data: 4", "data: 2"), "queued")):
        note(f"  messages: {expected}\n" in run(folder, job, *sets("framework=mine.yaml"))[1],
             f"a profile by its path: not {expected}")


def other_workloads(folder):
    """Keys of a workload that the job does not have are passed over; stagesim's own are taken."""
    plain, _ = run(folder, STAGES)
    profile, text = run(folder, STAGES, *sets("framework=megatron"))
    expected, _ = run(folder, STAGES, *sets("communication.messages=blocking"))
    note(profile == expected > plain, f"stages: {profile}, expected {expected}, without {plain}: {text[:200]}")


def host_of_experts(folder):
    """Of no release the host's time for experts grows without end with the experts of a rank, nor does it vanish where
    all of them are on each rank."""
    shape = "{layers: 4, hidden: 512, heads: 8, vocabulary: 1024, sequence: 512, experts: 128, top_k: 8}"
    for system in ("h100", "b200"):
        for name in ("nemo", "nemo@26.04", "nemo@25.11"):
            times = [run(folder, JOB.replace("h100", system).replace("llama3-8b", shape).replace(
                "{tensor: 2, pipeline: 2, data: 4}", f"{{data: 16, expert: {experts}}}"), *sets(f"framework={name}"))[0]
                for experts in (1, 2, 4, 8)]
            note(max(times[:3]) < 1.1 * min(times[:3]) and times[3] < 1.05 * times[2] < 2.1 * times[3],
                 f"{name} on {system}: {times} with all, a half, a quarter and an eighth of the experts")


def releases(folder):
    """A release has its own profile, a patch of it the same, the name alone the newest; runs say which it was."""
    (folder / "job.yaml").write_text(JOB.replace("data: 4", "data: 4, expert: 2").replace("h100", "b200").replace(
        "model: llama3-8b", "model: {layers: 4, hidden: 512, heads: 8, vocabulary: 1024, sequence: 512, experts: 8}"))
    wanted = {"nemo": ("nemo@26.08", "0s"), "nemo@26.06": ("nemo@26.06", "0s"), "nemo@26.02.01":
              ("nemo@26.02.01", "0.00018s"), "nemo@26.04": ("nemo@26.04", "0.00018s"), "nemo@25.09":
              ("nemo@25.09", "0.25ms"), "megatron": ("megatron@0.20", None),
              "megatron@0.15": ("megatron@0.15", None), "megatron@0.15.2": ("megatron@0.15.2", None)}
    for name, (release, dispatch) in wanted.items():
        done = subprocess.run([STAGESIM, "run", "job.yaml", "--set", f"framework={name}", "-o", "out"], cwd=folder,
                              capture_output=True, text=True)
        note(re.search(rf"^framework +{re.escape(release)}$", done.stdout, re.M), f"{name}: {done.stdout}{done.stderr}")
        summary = json.loads((folder / "out" / "summary.json").read_text())["scenario"]
        note(summary["framework"] == release, f"{name}: summary.json says {summary.get('framework')}")
        text = (folder / "out" / "scenario.yaml").read_text()
        taken = re.search(f'^framework: "?{name}"?$', text, re.M)
        note(taken and (not dispatch or f"expert_dispatch: {dispatch}\n" in text),
             f"{name}: {text}")
    host_of_experts(folder)
    (folder / "own.yaml").write_text("from: nemo@26.02\ncommunication: {overlap: false}\n")
    done = subprocess.run([STAGESIM, "run", "job.yaml", "--set", "framework=own.yaml"], cwd=folder,
                          capture_output=True, text=True)
    note("framework          nemo@26.02\n" in done.stdout, f"a profile that starts from a release: {done.stdout}")
    for name in ("nemo@24.01", "megatron@0.1", "megatron@", "megatron@0.150"):
        done = subprocess.run([STAGESIM, "check", "job.yaml", "--set", f"framework={name}"], cwd=folder,
                              capture_output=True, text=True)
        note(done.returncode == 1 and f"there is no profile of '{name}'; expected one of the releases" in done.stderr,
             f"{name}: {done.stderr}")


def sources():
    """Every value has a comment in its line or in those before it, up to the value before."""
    for path in sorted(PROFILES.glob("*.yaml")):
        lines, commented = path.read_text().splitlines(), False
        note(lines[0].startswith("# "), f"{path.name}: the first line does not describe it")
        for number, line in enumerate(lines[1:], 2):
            value = re.match(r"\s+(\w+): ([^#{]+)", line)
            commented |= "#" in line
            if value and not line.strip().startswith("#"):
                note(commented, f"{path.name}:{number}: a value without a source")
                commented = False


def listed():
    done = subprocess.run([STAGESIM, "list", "frameworks", "--format", "json"], capture_output=True, text=True,
                          check=True)
    names = [entry["name"] for entry in json.loads(done.stdout)]
    note(names == sorted(path.stem for path in PROFILES.glob("*.yaml")) + ["none"], f"list: {names}")
    return names


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        same_as_written_out(folder)
        own_values_win(folder)
        conditions(folder)
        other_workloads(folder)
        releases(folder)
        for framework in listed():
            time, text = run(folder, JOB, *sets(f"framework={framework}"))
            note(time is not None, f"{framework}: {text}")
    sources()
    print("\n".join(faults) or "ok")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
