#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""same_bytes.py [--scenarios | --processors] [--analytic] [--outlines] STAGESIM [STAGESIM...]: the same scenario gives
the same bytes twice, and from every build given. One for another processor is given with the program that runs it, in
one word: "qemu-aarch64 build-arm64/stagesim".

--scenarios: every scenario that is shipped, in place of the runs below; for comparing a build with an older one.
--processors: a build with itself, where the C library takes the code for processors without FMA and AVX.
--analytic: on the analytic engine.
--outlines: of letters in SVG only the kind of each line is compared, not where it ends: cairo computes that, with
products and sums contracted where the architecture can, and may round it to another 1/256 pixel.

Runs the demo (contention, all-reduces, every output format) and one schedule of every kind on small platforms, and
compares all files. Only the block `simulation` of summary.json, which holds the time a run took, may differ. """
import argparse
import hashlib
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUTPUTS = ["--trace", "paje,chrome,chrome-gz,perfetto,csv,chakra,goal", "--picture", "svg,png,pdf",
           "--report", "--quiet"]
SCENARIO = """platform: {root}/platforms/{platform}
workload: stages
stages: {{forward: [10ms, 11ms, 12ms, 13.7ms], backward: 21ms, weight: 9.3ms, message: 3MiB, gradient: 100MiB,
  activation: 1GiB}}
parallel: {{data: 2, pipeline: 4}}
batch: {{micro_batches: 8}}
schedule: 1f1b
"""
ONLY_SHAPES = []  # of letters
# Costs that take logarithms and powers: efficiencies between measured sizes, lookups of tables, watts.
CURVES = ("gpt-7.5b", "dlrm-default", "power-capped")
# glibc.cpu.hwcaps of x86-64; other processors have one code for each function.
OLD_PROCESSOR = "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX2_Usable,-FMA_Usable,-FMA4_Usable"
RUNS = {
    "demo": ["{root}/scenarios/demo.yaml", "--schedules", "gpipe,1f1b,chimera", *OUTPUTS],
    "ring": ["ring.yaml", "--schedules", "all", "--trace", "csv", "--quiet", "--engine", "both"],
    "node": ["node.yaml", "--schedules", "all", "--picture", "svg", "--trace", "paje", "--quiet"],
}


def shipped():
    """A run for each job that is shipped."""
    return {path.stem: [str(path), *OUTPUTS] for path in sorted((ROOT / "scenarios").glob("*.yaml"))
            if tool.is_job(path)}


def content(path):
    data = path.read_bytes()
    if ONLY_SHAPES and path.suffix in (".svg", ".html"):
        data = re.sub(rb'<path d="[^"]*"/>', lambda found: re.sub(rb"[-\d.]+", b"#", found[0]), data)
    if path.name == "summary.json":
        data, count = re.subn(rb'"simulation": *\{[^}]*\}', b"", data)
        assert count == 1, f"{path} has {count} blocks `simulation`"
    return data


def digest(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(content(path)).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "about.json"}  # names the compiler


def run(binary, name, folder):
    output = folder / "output"
    arguments = [argument.format(root=ROOT) for argument in RUNS[name]]
    command = [*shlex.split(binary), "compare", *arguments, "-o", str(output)]
    result = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
    if result.returncode:
        raise SystemExit(f"{binary} compare {arguments}: exit code {result.returncode}\n{result.stderr.decode()}")
    found = digest(output)
    assert len(found) > 3, f"hardly any output: {list(found)}"
    found["standard output"] = hashlib.sha256(result.stdout).hexdigest()
    for path in output.rglob("*"):
        if path.is_file():
            path.unlink()
    return found


def resolved(binary):
    """The last word is a path, and runs are in folders of their own."""
    *before, path = shlex.split(binary)
    return shlex.join([*before, str(pathlib.Path(path).resolve())])


def main():
    parser = argparse.ArgumentParser()
    for name in ("scenarios", "processors", "analytic", "outlines"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("binaries", nargs="+")
    asked = parser.parse_args()
    ONLY_SHAPES.extend(["outlines"] * asked.outlines)
    if asked.scenarios:
        RUNS.clear()
        RUNS.update(shipped())
    elif asked.processors or asked.analytic:
        RUNS.update((name, [f"{ROOT}/scenarios/{name}.yaml", *OUTPUTS]) for name in CURVES)
    if asked.analytic:
        for arguments in RUNS.values():
            arguments[:] = [{"both": "analytic"}.get(argument, argument) for argument in arguments]
            arguments += [] if "--engine" in arguments else ["--engine", "analytic"]
    binaries = [resolved(binary) for binary in asked.binaries]
    if asked.processors:
        binaries.append(f"env GLIBC_TUNABLES={OLD_PROCESSOR} {binaries[0]}")
    if len(binaries) == 1:
        binaries *= 2
    faults = 0
    for name in RUNS:
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            for platform in ("ring", "node"):
                file = {"ring": "ring-8.xml", "node": "pcie-a100-8.xml"}[platform]
                (folder / f"{platform}.yaml").write_text(SCENARIO.format(root=ROOT, platform=file))
            first = run(binaries[0], name, folder)
            for other in binaries[1:]:
                found = run(other, name, folder)
                differing = sorted(key for key in first.keys() | found.keys() if first.get(key) != found.get(key))
                faults += len(differing)
                for key in differing:
                    print(f"{name}: {key} of {other} differs from that of {binaries[0]}")
        print(f"{name}: {len(first)} outputs of {len(binaries)} runs compared")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
