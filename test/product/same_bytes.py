#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""same_bytes.py [--scenarios] STAGESIM [STAGESIM...]: the same scenario gives the same bytes twice, and from every
build given.

--scenarios: every scenario that is shipped, in place of the runs below; for comparing a build with an older one.

Runs the demo (contention, all-reduces, every output format) and one schedule of every kind on small platforms, and
compares all files. Only the block `simulation` of summary.json, which holds the time a run took, may differ. """
import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUTPUTS = ["--trace", "paje,chrome,chrome-gz,perfetto,csv", "--picture", "svg,png,pdf", "--report", "--quiet"]
SCENARIO = """platform: {root}/platforms/{platform}
workload: stages
stages: {{forward: [10ms, 11ms, 12ms, 13.7ms], backward: 21ms, weight: 9.3ms, message: 3MiB, gradient: 100MiB,
  activation: 1GiB}}
parallel: {{data: 2, pipeline: 4}}
batch: {{micro_batches: 8}}
schedule: 1f1b
"""
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
    result = subprocess.run([binary, "compare", *arguments, "-o", str(output)], cwd=folder, stdin=subprocess.DEVNULL,
                            capture_output=True)
    if result.returncode:
        raise SystemExit(f"{binary} compare {arguments}: exit code {result.returncode}\n{result.stderr.decode()}")
    found = digest(output)
    assert len(found) > 3, f"hardly any output: {list(found)}"
    found["standard output"] = hashlib.sha256(result.stdout).hexdigest()
    for path in output.rglob("*"):
        if path.is_file():
            path.unlink()
    return found


def main():
    paths = [path for path in sys.argv[1:] if path != "--scenarios"]
    if len(paths) < len(sys.argv) - 1:
        RUNS.clear()
        RUNS.update(shipped())
    binaries = [str(pathlib.Path(path).resolve()) for path in paths]
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
