#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""simulated.py STAGESIM PLATFORMS: the simulator against the plan-level times of `stagesim schedule`, for every
schedule and every option, even and uneven shares, with and without latency (also longer than any computation, where
messages are pipelined), named and from a file: the analytic engine on full meshes, and where there is latency SimGrid
too."""
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool  # noqa: E402

STAGESIM, PLATFORMS = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
EVEN = {"forward": [1], "backward": [2], "weight": [1]}
UNEVEN = {"forward": [1, 1.25, 0.75, 1, 1, 1.5, 1, 2.5], "backward": [2, 2.5, 1.5, 2, 2, 3, 2, 5],
          "weight": [0.75, 1, 0.5, 0.875, 1, 1.25, 1, 2]}
OPTIONS = {
    "chimera": [{"pairs": 2}, {"pairs": 4}, {"concatenation": "doubling"}, {"concatenation": "doubling-split"},
                {"concatenation": "halving"}, {"concatenation": "doubling", "pairs": 2}, {"sync": "after"}],
    "interleaved": [{"chunks": 4}, {"chunks": 3, "group": 16}], "breadth-first": [{"chunks": 4}],
    "hanayo": [{"waves": 2}, {"order": "rounds"}], "zb-h2": [{"optimizer": "blocking"}],
    "mario": [{"overlap": "off", "redundant": "keep"}, {"ahead": 2}], "adapipe": [{"memory": 3, "units": 4}],
    "gpipe": [{"backwards": "lifo"}], "vocab-1f1b": [{"barriers": 2}],
    "dualpipe": [{"backward": "separate"}], "dualpipe-v": [{"backward": "separate"}],
    "group-interleaved": [{"chunks": 3, "group": 5}], "zb-v-greedy": [{"optimizer": "blocking"}]}
BATCHES = {"stp": 24}  # schedules that need more than 16 micro-batches
LONG = 3.5  # seconds of latency: several messages of a stream are under way at once


def run(*arguments):
    result = subprocess.run([STAGESIM, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            timeout=120)
    if result.returncode:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: {result.stderr}")
    return result.stdout


def plan_level(name, options, times, latency, *more):
    arguments = ["schedule", name, "--workers", 8, "--micro-batches", BATCHES.get(name, 16), "--latency", latency]
    for key, values in times.items():
        arguments += [f"--{key}", ",".join(map(str, values))]
    for key, value in options.items():
        arguments += ["--option", f"{key}={value}"]
    return run(*arguments, *more)


def simulate(folder, schedule, times, platform, engine, messages, batches):
    """The summary of a run of 8 workers."""
    scenario = folder / f"{engine}.yaml"
    shares = ", ".join(f"{key}: [{', '.join(f'{value}s' for value in values * (8 // len(values)))}]" for key,
                       values in times.items())
    scenario.write_text(f"platform: {PLATFORMS / platform}\nworkload: stages\nstages: {{{shares}}}\nparallel: "
                        f"{{pipeline: 8}}\nbatch: {{micro_batches: {batches}}}\nschedule: {schedule}\ncommunication: "
                        f"{{messages: {messages}}}\n")
    run("run", scenario, "--engine", engine, "--quiet", "-o", folder / engine)
    return json.loads((folder / engine / "summary.json").read_text())


def compare(what, left, right, faults):
    if abs(left - right) > 1e-9 * max(1, abs(right)):
        faults.append(f"{what}: {left} in the simulator, {right} in the plan")


def case(name, options, times, latency, from_file):
    faults = []
    platform = "ideal-8.xml" if latency == 0 else "mesh-8.xml"
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        if latency == LONG:
            platform = folder / "long.xml"
            platform.write_text((PLATFORMS / "mesh-8.xml").read_text().replace('latency="1us"', f'latency="{LONG}s"'))
        plan = json.loads(plan_level(name, options, times, latency, "--format", "json"))
        schedule = json.dumps({"name": name, **options}).replace('"', "")
        if from_file:
            if name == "recycle":
                return []  # it leaves a worker without work, which no file has
            (folder / "mine.csv").write_text(plan_level(name, options, times, latency, "--format", "csv"))
            schedule = "{file: mine.csv}"
            if plan["time"]["iteration_s"] != plan["time"]["makespan_s"]:
                return []  # a file describes one iteration, this schedule's T is one of many
        for engine in ("analytic", "simgrid") if latency else ("analytic",):
            summary = simulate(folder, schedule, times, platform, engine, "pipelined" if latency == LONG else "queued",
                               BATCHES.get(name, 16))
            compare(f"{engine} T", summary["time"]["iteration_s"], plan["time"]["iteration_s"], faults)
            compare(f"{engine} bubble", summary["bubble"]["ratio"], plan["bubble"]["ratio"], faults)
            compare(f"{engine} over_ideal", summary["bubble"]["over_ideal"], plan["bubble"]["over_ideal"], faults)
            for worker in range(8):
                compare(f"{engine} peak of worker {worker}", summary["workers"][worker]["peak_in_flight"],
                        plan["workers"][worker]["peak_in_flight"], faults)
    return faults


def guarded(arguments):
    try:
        return case(*arguments)
    except (RuntimeError, KeyError, OSError) as error:
        return [str(error)]


def main():
    cases = []
    for schedule in json.loads(run("list", "schedules", "--format", "json")):
        name = schedule["name"]
        if name == "pipe-offload":  # its transfers take what links need, not what was typed: platforms/host_memory.py
            continue
        plain = {"chunks": 1} if name == "best" else {}  # what a scenario leaves open is chosen for it
        for options in [plain] + OPTIONS.get(name, []):
            cases.append((name, options, EVEN, 0, False))
        latencies = () if name == "vocab-1f1b" else (1e-6, LONG)  # collectives are one message for the plan only
        cases += [(name, plain, UNEVEN, *rest) for rest in ((0, False), *((late, False) for late in latencies),
                                                            (0, True))]
    cases = tool.sampled(cases)
    print(f"1..{len(cases)}")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for number, (what, faults) in enumerate(zip(cases, pool.map(guarded, cases)), 1):
            name, options, times, latency, from_file = what
            words = [name, str(options) if options else "", "uneven" if times is UNEVEN else "",
                     f"latency {latency}" if latency else "", "from a file" if from_file else ""]
            print("not ok" if faults else "ok", number, "-", ", ".join(filter(None, words)))
            for fault in faults:
                print("\n".join("# " + line for line in fault.splitlines()))


main()
