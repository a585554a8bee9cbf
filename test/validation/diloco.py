#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""diloco STAGESIM: the bandwidths between two islands that papers ask for (diloco.csv), simulated. A small job stands
for each model: the time of its exchange over that of its step is that of the model. Prints the compute utilisation that
each bandwidth gives beside the one that it was published for, in points; fails where they are further apart than a step
of the authors' bandwidths makes them. Nothing is fitted."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import two_sites

STAGESIM = pathlib.Path(sys.argv[1]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
TARGETS = (50, 80, 90, 95, 99)
# A step of 1.21 in bandwidth changes the time of an exchange by as much: a utilisation of 50 % becomes one of 55 %.
BAR = 5.0


def run(folder, *sets):
    command = [STAGESIM, "run", "job.yaml", "-o", "out", "--quiet"]
    for text in sets:
        command += ["--set", text]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{sets}: {done.stderr}")
    return json.loads((folder / "out" / "summary.json").read_text())


def main():
    errors = []
    with tempfile.TemporaryDirectory() as name, open(HERE / "diloco.csv") as table:
        folder = pathlib.Path(name)
        two_sites.write(folder, "1GBps", "2us", "engine: analytic\n")
        alone = run(folder, "parallel.data=1", "transformer.islands=1")
        step, parameters = alone["time"]["iteration_s"], alone["memory"]["parts"]["parameters_bytes"] / 2
        for row in csv.DictReader(line for line in table if not line.startswith("#")):
            found = []
            for target in TARGETS:
                published = float(row["parameters"]) * 2 * 8 / (float(row[str(target)]) * 1e9) / float(row["step"])
                rate = parameters * 2 / (published * step)
                iterations = 2 * int(row["period"]) // int(row["parts"])
                whole = run(folder, f"platform.site_rate={rate}Bps", f"iterations={iterations}",
                            f"transformer.outer_period={row['period']}", f"transformer.outer_parts={row['parts']}",
                            f"transformer.outer_delay={row['delay']}", f"transformer.outer_bytes={row['bytes']}")
                found.append(100 * step / whole["time"]["iteration_s"])
            errors += [value - target for value, target in zip(found, TARGETS)]
            print(f"{row['source']:<10} {float(row['parameters']) / 1e9:4.0f}B {row['method']:<21} "
                  f"every {row['period']:>3}  " + " ".join(f"{value:5.1f}" for value in found))
    mean, bias = sum(map(abs, errors)) / len(errors), sum(errors) / len(errors)
    print(f"{len(errors)} bandwidths: the utilisation is {mean:.1f} points off in the mean, bias {bias:+.1f}")
    return mean > BAR or len(errors) < 90


sys.exit(main())
