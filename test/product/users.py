#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""users.py STAGESIM: what three users do, and what they must see.

Runs the commands of doc/tutorials.md as they stand there: a student who invents schedules, an engineer who chooses a
layout for a cluster that is not there yet, a SimGrid user with a platform and a workload of his own. Each command has
texts here that its output must show; a command without such texts fails the test, and so does a text without a command.
Then the page for a meeting about a 70B job, by the command that README gives.

users.py --clone: a stranger's way from a clone of this repository to that page, with the commands of README alone,
and how long it takes; not part of the suite, since it builds everything."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import ROOT, Checker  # noqa: E402

sys.path.insert(0, str(ROOT / "tools/html"))
import blocks  # noqa: E402

PAGE = ROOT / "doc/tutorials.md"
# The beginning of a command, and what must be in its output.
SHOWS = [
    ("stagesim schedule 1f1b --workers 4", []),
    ("sed -i", []),
    ("stagesim schedule mine.csv -o mine.pdf", []),
    ("stagesim schedule mine.csv", [r"^0 \|\s*F0.*F4.*B0", r"in flight at most: 5 ", r"bubble 0\.\d+"]),
    ("stagesim compare scenarios/demo.yaml --schedules gpipe",
     [r"above bound", r"^demo\s+zb-h1 .*\n(?:.*\n)*demo\s+mine ", r"best"]),
    ("stagesim schedule best", [r"optimal: no order takes less"]),
    ("stagesim compare scenarios/demo.yaml --schedules 1f1b,mine.csv", [r"^demo\s+mine "]),
    ("stagesim platform show dgx-h100:4", [r"32 GPUs in 4 nodes", r"H100", r"bisection"]),
    ("stagesim import launch.sh", []),
    ("stagesim check job.yaml", [r"job.yaml: ok", r"32 ranks on 32 GPUs", r"fits"]),
    ("stagesim run job.yaml --report", [r"^iteration +\d", r"^idle because of", r": fits"]),
    ("stagesim search job.yaml", [r"^rank +", r"^ +1 ", r"candidates \d+"]),
    ("stagesim run found/best.yaml", [r"^iteration +\d", r": fits"]),
    ("stagesim sweep found/best.yaml", [r"^ +128 ", r"^ +256 ", r"^ +512 "]),
    ("stagesim compare job.yaml found/best.yaml", [r"^job, as is", r"^best, half the network", r"^best, one slow GPU"]),
    ("stagesim export found/best.yaml", [r"--tensor-model-parallel-size", r"--num-layers"]),
    ("stagesim platform show cluster.xml --between", [r"gpu-0", r"2\.5|4\.5"]),
    ("stagesim platform show cluster.xml", [r"8 GPUs", r"19\.5 Tf"]),
    ("make -C examples/plugin", []),
    ("stagesim run own.yaml --plugins --trace", [r"^iteration +\d"]),
    ("stagesim run own.yaml --plugins --set loader=simgrid", [r"^iteration +\d"]),
    ("stagesim run own/scenario.yaml", [r"^iteration +\d"]),
]
check = Checker()


def as_installed(folder, stagesim):
    """An environment in which the program is in the PATH, and pkg-config finds the plug-ins' header."""
    (folder / "include/stagesim").mkdir(parents=True)
    (folder / "include/stagesim/workload.h").symlink_to(ROOT / "abi/workload.h")
    (folder / "stagesim.pc").write_text("Name: stagesim\nDescription: stagesim\nVersion: 0\n"
                                        f"Cflags: -I{folder}/include\n")
    (folder / "stagesim").symlink_to(stagesim)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "PKG_CONFIG_PATH": str(folder),
            "STAGESIM_MODELS": str(ROOT / "workloads/models"),
            "STAGESIM_EFFICIENCY": str(ROOT / "workloads/efficiency"),
            "LC_ALL": "C"}


def tutorials(work, environment):
    unused, outputs = [begin for begin, _ in SHOWS], {}
    for command, rest in [piece for block in blocks.console_blocks(PAGE.read_text()) for piece in blocks.pieces(block)]:
        if command.startswith("cat "):
            (work / command[4:]).write_text(rest)
            continue
        result = subprocess.run(command, shell=True, cwd=work, env=environment, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=120)
        check.that(result.returncode == 0, f"`{command}`: {result.stderr}")
        found = next(((begin, shows) for begin, shows in SHOWS if command.startswith(begin)), None)
        if not check.that(found, f"`{command}` of {PAGE.name} has no line in SHOWS"):
            continue
        outputs[found[0]] = result.stdout
        if found[0] in unused:
            unused.remove(found[0])
        for text in found[1]:
            check.that(re.search(text, result.stdout, re.M), f"`{command}` does not show {text}:\n{result.stdout}")
    check.that(not unused, f"{PAGE.name} has no command {unused}")
    return outputs


def iteration(text):
    return re.search(r"^iteration +(.*)", text, re.M).group(1)


def files(work, outputs):
    """What the commands wrote."""
    check.that((work / "mine.pdf").read_bytes()[:5] == b"%PDF-", "mine.pdf")
    for name in ("comparison.pdf", "comparison.svg", "demo-mine/scenario.yaml", "about.json"):
        check.that((work / "mine" / name).stat().st_size > 200, f"mine/{name}")
    for name in ("as-is", "best"):
        page = (work / name / "report.html").read_text()
        check.that("<svg" in page and "src=\"http" not in page and "MFU" in page, f"{name}/report.html")
    names = ("as-is", "best", "own", "own-again")
    summaries = [json.loads((work / name / "summary.json").read_text()) for name in names]
    check.that(summaries[1]["time"]["iteration_s"] < summaries[0]["time"]["iteration_s"], "the search found nothing")
    check.that(summaries[2]["time"] == summaries[3]["time"], "own/scenario.yaml gives another time")
    rows = json.loads((work / "batches/sweep.json").read_text())
    check.that(len(rows) == 3 and rows[0]["mfu"] < rows[2]["mfu"], f"MFU over batches: {rows}")
    trace = (work / "own/timeline.paje").read_text()
    check.that(trace.startswith("%EventDef") and trace.count("\n") > 100, "the Paje trace")
    ours, simgrids = (iteration(outputs[f"stagesim run own.yaml --plugins {rest}"]) for rest in
                      ("--trace", "--set loader=simgrid"))
    check.that(ours == simgrids, f"{ours} and, with SimGrid's loader, {simgrids}")


def meeting_command():
    """README's command for the page, on one line."""
    shell = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text().replace("\\\n", " "), flags=re.M | re.S)
    commands = [line for block in shell for line in block.splitlines() if "--report -o meeting" in line]
    check.that(len(commands) == 1, f"README has {len(commands)} commands for the page of the meeting")
    return commands[0].partition(" #")[0]


def check_page(folder):
    page = (folder / "meeting/report.html").read_text()
    text = re.sub(r"<[^>]+>", " ", page)
    for shown in (r"llama3?-70b|Llama 3 70B|llama3-70b", r"512", r"MFU", r"days", r"USD|dollars", r"fits"):
        check.that(re.search(shown, text, re.I), f"the page for the meeting does not show {shown}")
    check.that("http://" not in page.replace("http://www.w3.org", "") or "src=\"http" not in page, "it asks for files")


def meeting(work, stagesim):
    command = meeting_command().replace("build/stagesim", stagesim, 1)
    result = subprocess.run(command + " --quiet", shell=True, cwd=work, capture_output=True, text=True, timeout=120)
    if check.that(result.returncode == 0, f"{command}: {result.stderr}"):
        check_page(work)


def from_a_clone():
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        clone = pathlib.Path(temporary) / "stagesim"
        for command, folder in ((f"git clone -q {ROOT} {clone}", temporary), ("./demo", clone),
                                (meeting_command(), clone)):
            print(f"$ {command}", flush=True)
            subprocess.run(command, shell=True, cwd=folder, check=True, stdin=subprocess.DEVNULL)
        check_page(clone)
    took = time.monotonic() - began
    check.that(took < 600, f"{took:.0f} s are more than ten minutes")
    print(f"from a clone to the page of the meeting: {took:.0f} s")


def main():
    if sys.argv[1] == "--clone":
        from_a_clone()
        return check.done()
    stagesim = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as temporary:
        work, prefix = pathlib.Path(temporary) / "work", pathlib.Path(temporary) / "prefix"
        work.mkdir()
        for name in ("scenarios", "platforms", "examples"):
            shutil.copytree(ROOT / name, work / name, ignore=shutil.ignore_patterns("*.so"))
        files(work, tutorials(work, as_installed(prefix, stagesim)))
        meeting(work, stagesim)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
