#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""serve.py STAGESIM [N]: how many small requests `stagesim serve --stdio` answers in a second: N runs (2,000) of a
pipeline of four stages, asked for with some hundred under way, as a program that has many questions does; how much
processor time each takes, and, as what the machine can give, what a process costs that does nothing. Then what the
server's memory is after a fiftieth of the requests and at their end."""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import threading
import time

JOB = {"platform": "ideal:4", "workload": "stages", "parallel": {"pipeline": 4}, "schedule": "1f1b",
       "stages": {"forward": "10ms", "backward": "20ms", "message": "30MB"}, "engine": "analytic",
       "batch": {"micro_batches": 8}}
UNDER_WAY = 200


def resident(process):
    """Bytes of its memory."""
    return int(pathlib.Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def bare():
    """Milliseconds of a process that ends at once."""
    begin = time.monotonic()
    for _ in range(200):
        child = os.posix_spawn("/bin/true", ["true"], {})
        os.waitpid(child, 0)
    return 1e3 * (time.monotonic() - begin) / 200


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    room, early, codes = threading.Semaphore(UNDER_WAY), 0, []
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(json.dumps(JOB))
        file.flush()
        lines = [json.dumps({"id": i, "command": "run", "scenario": file.name,
                             "set": {"batch.micro_batches": 4 + i % 13}}) + "\n" for i in range(count)]
        begin = time.monotonic()
        server = subprocess.Popen([sys.argv[1], "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True)

        def ask():
            for line in lines:
                room.acquire()
                server.stdin.write(line)
                server.stdin.flush()

        threading.Thread(target=ask, daemon=True).start()
        for _ in range(count):
            codes.append(json.loads(server.stdout.readline())["code"])
            room.release()
            if len(codes) == max(count // 50, 1):
                early = resident(server.pid)
        seconds, late = time.monotonic() - begin, resident(server.pid)
        server.stdin.close()
        server.wait()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert not any(codes)
    print(f"{count / seconds:.0f} requests a second, "
          f"{1e3 * (usage.ru_utime + usage.ru_stime) / count:.2f} ms of processor each; "
          f"a process that does nothing: {bare():.2f} ms; memory {early / 1e6:.1f} MB, then {late / 1e6:.1f} MB")


main()
