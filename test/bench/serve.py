#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""serve.py STAGESIM [N]: how many small requests `stagesim serve --stdio` answers in a second: N runs (2,000) of a
pipeline of four stages, asked for without waiting for answers; and how much processor time each takes."""
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

JOB = {"platform": "ideal:4", "workload": "stages", "parallel": {"pipeline": 4}, "schedule": "1f1b",
       "stages": {"forward": "10ms", "backward": "20ms", "message": "30MB"}, "engine": "analytic",
       "batch": {"micro_batches": 8}}


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(json.dumps(JOB))
        file.flush()
        lines = "".join(json.dumps({"id": i, "command": "run", "scenario": file.name,
                                    "set": {"batch.micro_batches": 4 + i % 13}}) + "\n" for i in range(count))
        begin = time.monotonic()
        done = subprocess.run([sys.argv[1], "serve", "--stdio"], input=lines, capture_output=True, text=True,
                              check=True)
        seconds = time.monotonic() - begin
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == count and not any(answer["code"] for answer in answers)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{count / seconds:.0f} requests a second, "
          f"{1e3 * (usage.ru_utime + usage.ru_stime) / count:.2f} ms of processor each")


main()
