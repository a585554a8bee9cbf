#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""small_inputs.py STAGESIM [all|NAME...]: nothing below 10 kB of input takes 10 s of a processor or 1 GB without a
word. Inputs that are small and ask for very much either end soon within that memory, with a message where it is no
success, or say on standard error what goes on. Without further arguments a sample of them: most of the others take
their ten seconds."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

SECONDS, BYTES, SLACK = 10, 1e9, 1.1  # the test looks ten times a second


def cluster(radical, more=""):
    cluster = f'<cluster id="c" prefix="g-" suffix="" radical="{radical}" speed="1Tf" bw="10GBps" lat="1us" {more}/>'
    return f"{tool.HEAD}{cluster}</platform>\n"


def profile(text):
    return tool.HEAD + ('<zone id="z" routing="Full"><host id="g-0" speed="1Tf"/><host id="g-1" speed="1Tf"/><link '
                        'id="l" bandwidth="1GBps" latency="1us"/>' f'<route src="g-0" dst="g-1"><link_ctn '
                        f'id="l"/></route><trace id="t" periodicity="-1">{text}</trace>'
                        '<trace_connect kind="SPEED" trace="t" element="g-0"/></zone></platform>\n')


def scenario(data, workers, micro_batches, schedule="1f1b", more=""):
    return ("platform: p.xml\nworkload: stages\nstages: {forward: 1s, backward: 2s, message: 1MB, gradient: 1MB}\n"
            f"parallel: {{data: {data}, pipeline: {workers}}}\nbatch: {{micro_batches: {micro_batches}}}\nschedule: "
            f"{schedule}\n{more}")


SHOW, RUN, CHECK = ("platform", "show", "p.xml"), ("run", "s.yaml"), ("check", "s.yaml")
COLLECTIVE = ("collective", "all-reduce", "--platform", "p.xml", "--sizes", "1MB:1GB:2")
TINY = cluster("0-7")
# name: platform, scenario, arguments
CASES = {"a million hosts": (cluster("0-1000000"), "", SHOW),
         "a million hosts, checked": (cluster("0-1000000"), scenario(1, 2, 2), CHECK),
         "100,000 hosts, collective": (cluster("0-99999"), "", COLLECTIVE),
         "10,000 hosts, shown": (cluster("0-9999"), "", SHOW),
         "a torus of a million": (cluster("0-999999", 'topology="TORUS" topo_parameters="100,100,100"'), "", SHOW),
         "a fat tree with many ways": (cluster("0-999", 'topology="FAT_TREE" topo_parameters="2;100,10;1,30000;1,1"'),
                                       "", SHOW),
         "a fat tree with huge switches": (
    cluster("0-9", 'topology="FAT_TREE" topo_parameters="2;10,1;2000000000,2000000000;1,1"'), "", SHOW),
         "a dragonfly with huge groups": (cluster("0-9", 'topology="DRAGONFLY" topo_parameters="1,1;1,1;10,1;1"'), "",
                                          SHOW),
         "a dragonfly of a million routers": (
    cluster("0-999999", 'topology="DRAGONFLY" topo_parameters="1,1;1,1;1000000,1;1"'), "", SHOW),
         "a speed that changes every us": (profile("PERIODICITY 1e-6\n0 1\n5e-7 0.5"), scenario(1, 2, 100000), RUN),
         "a speed that is drawn every us": (profile("STOCHASTIC LOOP\nEXP 1e6 UNIF 0.5 1"), scenario(1, 2, 100000),
                                            RUN), "16 million micro-batches": (TINY, scenario(1, 8, 1 << 24), CHECK),
         "4 million micro-batches": (TINY, scenario(1, 4, 1 << 22), CHECK),
         "4 million micro-batches, run": (TINY, scenario(1, 2, 1 << 22), RUN),
         "1000 iterations": (TINY, scenario(2, 4, 4096, more="iterations: 1000\n"), CHECK),
         "100,000 replicas": (cluster("0-99999"), scenario(50000, 2, 2), RUN),
         "100,000 replicas that are not folded": (cluster("0-99999"), scenario(50000, 2, 2, more="fold: off\n"), RUN),
         "a plan of zb-v": (TINY, "", ("schedule", "zb-v", "--workers", "4096", "--micro-batches", "4096")),
         "a plan of hanayo": (TINY, "",
                              ("schedule", "hanayo", "--workers", "2048", "--micro-batches", "65536", "--option",
                               "waves=8")),
         "a plan of chimera": (TINY, "", ("schedule", "chimera", "--workers", "1024", "--micro-batches", "1048576")),
         "a plan of 1f1b": (TINY, "", ("schedule", "1f1b", "--workers", "4096", "--micro-batches", "16777216")),
         "all schedules": (cluster("0-2047"), scenario(1, 2048, 2048), ("compare", "s.yaml")),
         "all sizes of a search": (cluster("0-4095"), scenario(2048, 2, 2, more="search: {gpus: 4096}\n"),
                                   ("search", "s.yaml")),
         "65,536 nodes": (TINY, "", ("platform", "generate", "dgx-h100", "--nodes", "65536")),}

SAMPLE = ("a million hosts", "10,000 hosts, shown", "a fat tree with huge switches", "a dragonfly with huge groups",
          "16 million micro-batches", "a plan of zb-v", "a plan of hanayo", "a plan of chimera", "a plan of 1f1b",
          "all sizes of a search", "65,536 nodes")


def used(group):
    """By the processes of the group: processor seconds of all, and bytes of the largest."""
    seconds, most = 0, 0
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.getpgid(int(entry.name)) == group:
                    times = (entry / "stat").read_text().rpartition(")")[2].split()
                    seconds += sum(map(int, times[11:15])) / os.sysconf("SC_CLK_TCK")
                    most = max(most, int((entry / "statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE"))
            except (OSError, IndexError):
                pass
    return seconds, most


def watch(check, name, binary, arguments, folder):
    lines = []
    with open(os.devnull, "wb") as nothing:
        process = subprocess.Popen([binary, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=nothing,
                                   stderr=subprocess.PIPE, start_new_session=True)
    reader = threading.Thread(target=lambda: lines.extend(process.stderr), daemon=True)
    reader.start()
    most, seconds, said = 0, 0, False
    while process.poll() is None and not said:
        time.sleep(0.1)
        seconds, now = used(process.pid)
        most = max(most, now)
        said = any(b" so far" in line for line in list(lines))
        if not said and (seconds > SECONDS * SLACK or most > BYTES * SLACK):
            break
    code = process.poll()
    if code is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    reader.join(5)
    text = b"".join(lines).decode(errors="replace")
    print(f"{name}: exit code {code}, {seconds:.1f} s, {most / 1e6:.0f} MB: {text[:200]!r}")
    check.that(said or code is not None, f"{name}: {seconds:.1f} s and {most / 1e9:.2f} GB without a word: {text!r}")
    check.that(said or code in (0, 1, 3), f"{name}: exit code {code}: {text!r}")
    check.that(said or code == 0 or text.count("\n"), f"{name}: exit code {code} without a word")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    chosen = CASES if sys.argv[2:] == ["all"] else sys.argv[2:] or SAMPLE
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name in chosen:
            platform, text, arguments = CASES[name]
            assert len(platform) + len(text) + sum(map(len, arguments)) < 10000
            (folder / "p.xml").write_text(platform)
            (folder / "s.yaml").write_text(text)
            watch(check, name, binary, arguments, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
