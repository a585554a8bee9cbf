#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""jobs_run.py STAGESIM: several jobs on one platform against closed forms of max-min sharing, and against what each job
does by itself."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))
import tool  # noqa: E402

check = tool.Checker()
binary = tool.binary_argument()


def trunk(pairs):
    """Hosts a0.. and b0.., and between a's and b's one link of 1 GB/s in each direction."""
    lines = [tool.HEAD, "<zone id='c' routing='Full'>"]
    lines += [f"<host id='{side}{i}' speed='1Gf'/>" for side in "ab" for i in range(pairs)]
    lines.append("<link id='trunk' bandwidth='1GBps' latency='0s' sharing_policy='SPLITDUPLEX'/>")
    link = "<link_ctn id='trunk' direction='UP'/>"
    lines += [f"<route src='a{i}' dst='b{k}'>{link}</route>" for i in range(pairs) for k in range(pairs)]
    return "\n".join(lines + ["</zone></platform>\n"])


def job(compute, megabytes):
    """Two ranks that compute and then exchange so much, each to the other."""
    return {"workload": "stages", "stages": {"forward": f"{compute}s", "backward": "0s", "message": "0B",
                                             "gradient": f"{megabytes}MB"},
            "parallel": {"data": 2}, "batch": {"global": 2, "micro": 1}, "schedule": "gpipe"}


def run(folder, cluster, *options):
    with open(os.path.join(folder, "cluster.yaml"), "w", encoding="utf-8") as file:
        json.dump(cluster, file)
    got = subprocess.run([binary, "run", "cluster.yaml", "--format", "json", *options], cwd=folder, capture_output=True,
                         text=True, check=False)
    if not check.that(got.returncode == 0, got.stderr):
        return []
    rows = json.loads(got.stdout)[1:]
    check.that(len(rows) >= len(cluster["jobs"]), "a row for each job")
    return rows


def pairs_of(jobs):
    """Jobs as (compute, megabytes, start), each over the trunk."""
    return {"platform": "trunk.xml",
            "jobs": {f"j{i}": {"scenario": job(compute, size), "placement": [f"a{i}", f"b{i}"], "start": f"{start}s",
                               "iterations": 6} for i, (compute, size, start) in enumerate(jobs)}}


def check_periodic(folder):
    for offset, expected in ((0, 1.4), (0.2, 1.2), (0.4, 1.0)):
        for row in run(folder, pairs_of([(0.6, 400, 0), (0.6, 400, offset)])):
            check.near(row["iteration_s"], expected, f"two jobs, offset {offset}", 1e-6)
    for row in run(folder, pairs_of([(0.9, 300, 0)] * 3)):
        check.near(row["iteration_s"], 1.8, "three jobs", 1e-6)


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "trunk.xml"), "w", encoding="utf-8") as file:
            file.write(trunk(3))
        check_periodic(folder)
    return check.done()


sys.exit(main())
