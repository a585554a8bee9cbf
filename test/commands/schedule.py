#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command `stagesim schedule` from outside: STAGESIM is the program. Every listed schedule's csv reads back as
itself, and its json figures follow from the slots by a second computation; drawings equal the files in golden/
(--update writes them); wrong command lines end with 2 and leave no output."""
import csv
import io
import json
import pathlib
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import sampled, wait_until_computed  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parents[1] / "schedules"
STAGESIM = str(pathlib.Path(sys.argv[1]).resolve())
UPDATE = "--update" in sys.argv
results = []


def run(*arguments, folder=None):
    return subprocess.run([STAGESIM, "schedule", *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60)


def check(name, faults):
    results.append((name, [fault for fault in faults if fault]))


def differs(what, left, right, tolerance=1e-12):
    good = left == right or abs(left - right) <= tolerance * max(1, abs(left), abs(right))
    return None if good else f"{what}: {left} instead of {right}"


def delivered(rows, workers, latency):
    """When the last gradients that are handed on have come to the owners of their stages, around the ring."""
    owners = {row["stage"]: row["worker"] for row in rows if row["kind"] == "P" and row["micro_batch"] == 0}
    last = max(row["micro_batch"] for row in rows)
    return max((row["end"] + latency * ((owners.get(row["stage"], 0) - row["worker"]) % workers) for row in rows
                if row["kind"] == "G" and row["micro_batch"] == last), default=0)


def figures(rows, stages):
    """Figures from csv rows: worker -> blocks with start and end, then busy, T, ratio, over_ideal, span_max and
    peaks."""
    workers, late = {}, delivered(rows, 6, 0.125)
    for row in rows:
        if row["kind"] in "PQG":
            continue
        workers.setdefault(row["worker"], {}).setdefault(row["index"], []).append(row)
    busy, spans, peaks = [], [], []
    split = {(row["stage"], row["micro_batch"]) for row in rows if row["kind"] == "W"}
    home = {(row["stage"], row["pipeline"]): row["worker"] for row in rows if row["kind"] in "FBW"}
    again = {row["stage"]: row.get("share", 1) for row in rows if row["kind"] == "R"}
    for worker in sorted(workers):
        blocks = [workers[worker][index] for index in sorted(workers[worker])]
        busy.append(sum(block[0]["end"] - block[0]["start"] for block in blocks if block[0]["kind"] not in "EL"))
        spans.append((blocks[0][0]["start"], blocks[-1][0]["end"]))
        held, peak = 0.0, 0.0
        for block in blocks:
            gains, losses = 0.0, 0.0
            for row in block:
                share = len(workers) / stages * (0.5 if row["part"] else 1) * row.get("share", 1)
                own = home[row["stage"], row["pipeline"]] == worker
                kind = row["kind"]
                if kind == "F":
                    share *= 1 - again.get(row["stage"], 0)
                if kind in "FR" or (kind == "L" and own) or (kind == "E" and not own):
                    gains += share
                elif kind in "ST":  # shares of the output layer hold nothing
                    continue
                elif kind == "W" or kind in "EL" or (row["stage"], row["micro_batch"]) not in split:
                    losses += share
            held += gains
            peak = max(peak, held)
            held -= losses
        peaks.append(peak)
    begin, end = min(start for start, _ in spans), max([late] + [end for _, end in spans])
    mean = sum(busy) / len(busy)
    return {"T": end - begin, "ratio": 1 - mean / (end - begin), "over_ideal": (end - begin) / mean - 1, "busy": busy,
            "peaks": peaks, "span_max": max(1 - b / (last - first) for b, (first, last) in zip(busy, spans))}


def steady(own, name, size):
    """Where iterations overlap: T is the interval between the ends of the last two of many."""
    many = run(name, *size, "--iterations", "14", "--format", "csv")
    if many.returncode:
        return
    ends = [0.0] * 14
    for row in read_rows(many.stdout):
        ends[row["micro_batch"] // 12] = max(ends[row["micro_batch"] // 12], row["end"])
    own["T"] = ends[13] - ends[12]
    mean = sum(own["busy"]) / len(own["busy"])
    own["ratio"], own["over_ideal"] = 1 - mean / own["T"], own["T"] / mean - 1


def read_rows(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    for row in rows:
        for key in ("worker", "index", "stage", "micro_batch", "pipeline"):
            row[key] = int(row[key])
        if "slice" in row:
            row["slice"] = int(row["slice"])
        for key in ("start", "end", "share", "transfer"):
            if row.get(key):
                row[key] = float(row[key])
    return rows


def every_schedule(folder):
    listed = json.loads(
        subprocess.run([STAGESIM, "list", "schedules", "--format", "json"], capture_output=True, check=True).stdout)
    for schedule in sampled(listed):
        name = schedule["name"]
        instants(name)
        batches = {"stp": "17"}.get(name, "12")  # the least
        size = ("--workers", "6", "--micro-batches", batches, "--latency", "0.125", "--backward", "2.5", "--weight",
                "1")
        text, data = run(name, *size, "--format", "csv"), run(name, *size, "--format", "json")
        if text.returncode or data.returncode:
            refused = name == "recycle" and "runs nothing" in text.stderr and not text.stdout and not data.returncode
            check(name, [] if refused else [text.stderr + data.stderr])
            continue
        file = pathlib.Path(folder) / f"{name}.csv"
        file.write_text(text.stdout)
        again = run(str(file), "--latency", "0.125", "--backward", "2.5", "--weight", "1", "--format", "csv")
        faults = [None if again.stdout == text.stdout else f"csv does not read back as itself: {again.stderr}"]
        rows, data = read_rows(text.stdout), json.loads(data.stdout)
        slots = [dict(row) for row in data["slots"]]
        faults.append(None if slots == rows else "json slots differ from csv rows")
        own = figures(rows, data["schedule"]["stages"])
        faults.append(differs("makespan", data["time"]["makespan_s"], own["T"]))
        steady(own, name, size)
        faults.append(differs("T", data["time"]["iteration_s"], own["T"]))
        faults += [differs(key, data["bubble"][key], own[key]) for key in ("ratio", "over_ideal", "span_max")]
        faults += [differs(f"busy {w}", data["workers"][w]["busy_s"], own["busy"][w]) for w in range(6)]
        faults += [differs(f"peak {w}", data["workers"][w]["peak_in_flight"], own["peaks"][w]) for w in range(6)]
        check(name, faults)


def instants(name):
    """Passes that take no time, each or all: a plan, with figures, or a refusal."""
    for forward, backward in (("0", "0"), ("1", "0"), ("0", "1")):
        done = run(name, "--workers", "4", "--micro-batches", "8", "--forward", forward, "--backward", backward,
                   "--latency", "1", "--format", "json")
        refused = done.returncode == 1 and not done.stdout
        endless = "inf" in run(name, "--workers", "4", "--micro-batches", "16" if name == "best" else "8", "--forward",
                               forward, "--backward", backward, "--latency", "1").stdout
        sound = done.returncode == 0 and json.loads(done.stdout)["time"]["makespan_s"] >= 3
        check(f"{name} of passes {forward} and {backward}",
              [None if refused or sound else done.stderr + done.stdout[:200], "inf" if endless else None])


def golden(name, *arguments):
    result = run(*arguments)
    file = HERE / "golden" / name
    if UPDATE:
        file.write_text(result.stdout)
    same = file.exists() and file.read_text() == result.stdout
    check(name, [result.stderr, None if same else f"differs from {file}; it is:\n{result.stdout}"])


def wrong(name, code, expected, *arguments):
    result = run(*arguments)
    check(name, [None if result.returncode == code else f"exit code {result.returncode}, not {code}", result.stdout,
                 None if expected in result.stderr else f"'{expected}' is not in: {result.stderr}"])


def wrong_command_lines():
    size = ("--workers", "4", "--micro-batches", "8")
    wrong("no name", 2, "which schedule?", *size)
    wrong("two names", 2, "one schedule at a time", "1f1b", "gpipe", *size)
    wrong("misspelt name", 2, "did you mean 'gpipe'?", "gpipee", *size)
    wrong("no workers", 2, "--workers is missing", "gpipe", "--micro-batches", "8")
    wrong("no micro-batches", 2, "--micro-batches is missing", "gpipe", "--workers", "8")
    for value in ("0", "-1", "4x", "", "4294967296", "99999999999999999999", "1e3", " 4"):
        wrong(f"workers '{value}'", 2, "is no count", "gpipe", "--workers", value, "--micro-batches", "8")
    for value in ("-1", "nan", "inf", "1s", "", "1e400", "0x10"):
        wrong(f"forward '{value}'", 2, "is no time", "gpipe", *size, "--forward", value)
    wrong("list of times", 2, "gives 2 times", "gpipe", *size, "--forward", "1,2")
    for value in ("1,,2,3", "1,2,3,", ",1,2,3", "1,2,3,4 "):
        wrong(f"forward '{value}'", 2, "is no time", "gpipe", *size, "--forward", value)
    wrong("weight above backward", 2, "cannot take longer", "zb-h1", *size, "--weight", "3")
    wrong("format", 2, "expected", "gpipe", *size, "--format", "xml")
    wrong("option without value", 2, "KEY=VALUE", "chimera", *size, "--option", "pairs")
    wrong("unknown option", 2, "did you mean 'pairs'?", "chimera", *size, "--option", "pair=1")
    wrong("option of a schedule without", 2, "expected none", "1f1b", *size, "--option", "pair=1")
    wrong("unknown word", 1, "did you mean 'doubling'?", "chimera", *size, "--option", "concatenation=doublin")
    wrong("option no number", 1, "plain integer", "chimera", *size, "--option", "pairs=-1")
    wrong("option too large", 1, "at most 32767", "chimera", *size, "--option", "pairs=9223372036854775807")
    wrong("odd workers", 1, "even number of workers", "chimera", "--workers", "5", "--micro-batches", "5")
    wrong("iterations", 2, "do not overlap", "gpipe", *size, "--iterations", "2")
    wrong("too large", 1, "too many to plan", "gpipe", "--workers", "60000", "--micro-batches", "60000")
    wrong("file with size", 2, "says itself", "mine.csv", "--workers", "4")
    wrong("unknown argument", 2, "usage: stagesim schedule", "gpipe", *size, "--colour")


def searched():
    """A search ends at its effort, a limit or an interruption, always with an order that holds what is said of it."""
    hard = ("best", "--workers", "6", "--micro-batches", "9", "--option", "chunks=3", "--option", "placement=wave",
            "--option", "memory=2", "--format", "json")
    endless = (*hard, "--effort", "1000000000000")

    def faults(text):
        answer = json.loads(text)
        told, end = answer["time"], max(slot["end"] for slot in answer["slots"])
        return [differs("above_bound", told["above_bound"], told["makespan_s"] / told["bound_s"] - 1, 1e-9),
                differs("makespan", told["makespan_s"], end),
                None if told["optimal"] == (told["above_bound"] == 0) and told["bound_s"] > 0 else "optimal is wrong",
                None if max(w["peak_in_flight"] for w in answer["workers"]) <= 2 else "over the limit"]

    little, again = run(*hard, "--effort", "3000"), run(*hard, "--option", "effort=3000")
    check("--effort", [little.stderr, None if little.stdout == again.stdout else "not as --option effort",
                       *faults(little.stdout)])
    limited = run(*endless, "--time-limit", "1s")
    check("--time-limit", [None if "stopped by --time-limit" in limited.stderr else "the limit is not said",
                           differs("exit code", limited.returncode, 0), *faults(limited.stdout)])
    process = subprocess.Popen([STAGESIM, "schedule", *endless], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    wait_until_computed(process, 1)
    process.send_signal(signal.SIGINT)
    written, said = process.communicate(timeout=60)
    check("interrupted", [None if "best order so far" in said else f"the interruption is not said: {said}",
                          differs("exit code", process.returncode, -signal.SIGINT), *faults(written)])
    size = ("--workers", "4", "--micro-batches", "8")
    wrong("effort of no search", 2, "searched for", "1f1b", *size, "--effort", "5")
    wrong("limit of no search", 2, "searched for", "1f1b", *size, "--time-limit", "5s")
    wrong("no limit", 2, "such as 60s", "best", *size, "--time-limit", "5")
    wrong("no effort", 1, "plain integer", "best", *size, "--effort", "much")


def rates():
    """What further micro-batches take. Of one stage a worker and room for one micro-batch each is alone in the way,
    with room for any the busiest worker works without a pause; between them no order of N micro-batches takes less than
    N of the bound, nor more than N of the rate and the way of one micro-batch around it."""
    limits = (4, ("--option", "memory=1"), 9), (3, ("--option", "memory=1"), 7), (4, (), 3), (
        4, ("--option", "memory=2"), None), (6, ("--option", "memory=3"), None)
    for workers, memory, known in limits:
        for batches in (16, 40):
            done = run("best", "--workers", str(workers), "--micro-batches", str(batches), "--option", "chunks=1",
                       *memory, "--effort", "20000", "--format", "json")
            time, what = json.loads(done.stdout)["time"], f"rate of {batches} on {workers} with {memory}"
            rate, bound, way = time["rate_s"], time["rate_bound_s"], 3 * workers
            check(what, [None if known is None else differs("rate", rate, known) or differs("bound", bound, known),
                         None if bound <= rate else f"rate {rate} below {bound}",
                         None if batches * bound <= time["makespan_s"] <= batches * rate + 2 * way else
                         f"{time['makespan_s']} is not between {batches} of {bound} and of {rate}"])


def output_file(folder):
    folder = pathlib.Path(folder)
    size = ("--workers", "2", "--micro-batches", "2", "--format", "csv")
    plain, written = run("gpipe", *size), run("gpipe", *size, "-o", "out.csv", folder=folder)
    check("-o",
          [written.stderr, written.stdout,
           None if (folder / "out.csv").read_text() == plain.stdout else "other content"])
    (folder / "blocked").mkdir()
    (folder / "blocked" / "x").write_text("")
    (folder / "file").write_text("")
    before = sorted(path.name for path in folder.iterdir())
    for target in ("blocked", "file/out.csv"):
        result = run("gpipe", *size, "-o", target, folder=folder)
        check(f"-o {target}",
              [None if result.returncode in (1, 3) and result.stderr else f"exit code {result.returncode}",
               None if sorted(path.name for path in folder.iterdir()) == before else "files appeared"])


def main():
    with tempfile.TemporaryDirectory() as folder:
        every_schedule(folder)
        golden("1f1b.txt", "1f1b", "--workers", "4", "--micro-batches", "8")
        golden("chimera.txt", "chimera", "--workers", "4", "--micro-batches", "8", "--option", "concatenation=doubling")
        golden("halving.txt", "chimera", "--workers", "4", "--micro-batches", "4", "--option", "concatenation=halving")
        golden("dualpipe.txt", "dualpipe", "--workers", "4", "--micro-batches", "8", "--weight", "1")
        golden("interleaved.txt", "interleaved", "--workers", "2", "--micro-batches", "4", "--latency", "0.25")
        golden("pipedream.txt", "pipedream", "--workers", "3", "--micro-batches", "3", "--iterations", "3")
        golden("nothing-takes-time.txt", "gpipe", "--workers", "2", "--micro-batches", "2", "--forward", "0",
               "--backward", "0")
        golden("uneven.txt", "gpipe", "--workers", "2", "--micro-batches", "3", "--forward", "0.001", "--backward",
               "10")
        golden("uneven-shares.txt", "1f1b", "--workers", "4", "--micro-batches", "4", "--forward", "1,1,1,2",
               "--backward", "2,2,2,4")
        golden("small.json", "gems", "--workers", "2", "--micro-batches", "2", "--format", "json")
        wrong_command_lines()
        searched()
        rates()
    with tempfile.TemporaryDirectory() as folder:
        output_file(folder)
    print(f"1..{len(results)}")
    for number, (name, faults) in enumerate(results, 1):
        print("not ok" if faults else "ok", number, "-", name.replace("#", ""))
        for fault in faults:
            print("\n".join("# " + line for line in str(fault).splitlines()))


main()
