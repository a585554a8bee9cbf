#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""calibrate.py STAGESIM: `stagesim calibrate` with measurements that stagesim itself made with known values: these are
found, the profile gives the measured times back, other jobs are predicted by it; logs of another job, another GPU, a
foreign locale and tables with mistakes are refused with their places, and nothing of a log's paths is kept."""
import csv
import io
import json
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

STAGESIM = tool.binary_argument()
check = tool.Checker()
JOB = """platform: {preset: dgx-h100, nodes: 2}
framework: FRAMEWORK
workload: transformer
model: llama3-8b
parallel: {tensor: 2, data: 4, pipeline: 2}
batch: {micro: 1, micro_batches: 8}
schedule: 1f1b
compute: {precision: bf16}
transformer: {sequence_parallel: true}
engine: analytic
"""


def run(*arguments, expect=0):
    result = tool.run(STAGESIM, *arguments, expect=None)
    check.that(result.returncode == expect, f"{arguments}: exit code {result.returncode}, {result.stderr}")
    return result


def seconds(folder, job, *sets):
    """The iteration as stagesim predicts it."""
    options = [word for each in sets for word in ("--set", each)]
    run("run", job, *options, "-o", folder / "out", "--quiet")
    summary = json.loads((folder / "out/summary.json").read_text())
    return summary["time"]["iteration_s"], summary


def write_job(folder, name="job.yaml", framework="megatron"):
    (folder / name).write_text(JOB.replace("FRAMEWORK", framework))
    return folder / name


def table(folder, name, rows):
    """rows: (seconds, {key: value})"""
    keys = sorted({key for _, values in rows for key in values})
    text = ",".join(["scenario", "seconds", *keys]) + "\n"
    text += "".join(",".join(["job.yaml", repr(each), *(str(values.get(key, "")) for key in keys)]) + "\n"
                    for each, values in rows)
    (folder / name).write_text(text)
    return folder / name


def profile_value(path, key):
    found = re.search(rf"^  {key}: ([0-9.e+-]+)", path.read_text(), re.M)
    return float(found[1]) if found else None


def of_timers(folder):
    """Timers tell the fixed time from the clock with one run, also where the framework's profile has one of its own."""
    (folder / "own.yaml").write_text("from: megatron\ncompute: {step: 700ms}\n")
    for number, framework in enumerate(("megatron", "own.yaml")):
        job = write_job(folder, f"timed-{number}.yaml", framework)
        wanted = {"compute.clock": 0.73, "compute.step": 0.31}
        truth, _ = seconds(folder, job, "compute.clock=0.73", "compute.step=310ms")
        (folder / "timed.log").write_text("".join(
            f" [2026-11-20 10:00:0{i}] iteration {i}/ 9 | elapsed time per iteration (ms): {1e3 * truth:.6f} |\n"
            f"(min, max) time across ranks (ms):\n    forward-backward ....: (10.00, {1e3 * truth - 360:.6f})\n"
            "    optimizer ....: (40.00, 50.00)\n" for i in range(3)))
        result = run("calibrate", job, "--measured", folder / "timed.log", "-o", folder / "timed-mine.yaml")
        for key, value in wanted.items():
            found = profile_value(folder / "timed-mine.yaml", key.split(".")[1])
            check.near(found, value, f"{key} by timers, {framework}", 2e-3)
        again, _ = seconds(folder, job, f"framework={folder / 'timed-mine.yaml'}")
        check.near(again, truth, f"the measured time, {framework}", 1e-4)
        check.that("what the timers of logs leave" in result.stdout + result.stderr and
                   "fixed time from" not in result.stdout + result.stderr, f"{framework}: {result.stdout}")


def of_one_run(folder):
    """One time settles the clock; the profile gives it back exactly, and says with what it was calibrated."""
    job = write_job(folder)
    truth, _ = seconds(folder, job, "compute.clock=0.73")
    other, _ = seconds(folder, job, "compute.clock=0.73", "batch.micro_batches=24")
    profile = folder / "mine.yaml"
    said = run("calibrate", job, "--measured", f"{truth!r}s", "-o", profile).stdout
    check.that(abs(profile_value(profile, "clock") - 0.73) < 2e-4, f"clock {profile_value(profile, 'clock')}")
    check.that("one run settles one value" in said and "twice the micro-batches" in said, said)
    mine = write_job(folder, "mine-job.yaml", "mine.yaml")
    again, summary = seconds(folder, mine)
    check.that(abs(again / truth - 1) < 1e-6, f"{again} for {truth}")
    check.that(summary["scenario"]["calibration"] == "1 run", summary["scenario"].get("calibration"))
    check.that("calibrated         with 1 run" in run("run", mine, "--quiet").stdout, "the run does not say it")
    for command in (["compare", mine, "--schedules", "1f1b,gpipe"], ["search", mine, "--top", "1"]):
        check.that("\ncalibrated with 1 run\n" in run(*command, "--quiet").stdout, f"{command[0]} does not say it")
    more, _ = seconds(folder, mine, "batch.micro_batches=24")
    check.that(abs(more / other - 1) < 1e-3, f"{more} for {other}")


def of_several_runs(folder):
    """Clock and fixed time from runs of two layouts and several batches, which one run alone could not settle."""
    job = write_job(folder)
    values = [{"batch.micro_batches": n, "parallel.tensor": t, "parallel.data": 8 // t}
              for t in (2, 4) for n in (4, 8, 16, 32)]
    rows = []
    for each in values:
        sets = [f"{key}={value}" for key, value in each.items()]
        rows.append((seconds(folder, job, "compute.clock=0.81", "compute.step=700ms", *sets)[0], each))
    profile = folder / "two.yaml"
    text = run("calibrate", "--measured", table(folder, "runs.csv", rows), "-o", profile, "--format", "csv").stdout
    check.that(abs(profile_value(profile, "clock") - 0.81) < 2e-3, f"clock {profile_value(profile, 'clock')}")
    check.that(abs(profile_value(profile, "step") - 0.7) < 5e-3, f"step {profile_value(profile, 'step')}")
    read = list(csv.DictReader(io.StringIO(text)))
    titles = text.splitlines()[0].split(",")
    check.that(len(set(titles)) == len(titles), f"columns with one name: {titles}")
    check.that(len(read) == len(rows), text)
    check.that(all(abs(float(row["left_out_error"])) < 5e-3 for row in read), text)
    rows[3] = (rows[3][0] * 1.6, rows[3][1])
    said = run("calibrate", "--measured", table(folder, "odd.csv", rows)).stdout
    odd = [line for line in said.splitlines() if "contradicts the others" in line]
    check.that(len(odd) == 1 and "batch.micro_batches=32" in odd[0], said)
    quoted = folder / "quoted.csv"
    quoted.write_text(table(folder, "plain.csv", rows[:2]).read_text().replace("parallel.data", '"parallel.data"', 1))
    check.that(run("calibrate", "--measured", quoted).stdout.replace("quoted.csv", "plain.csv") ==
               run("calibrate", "--measured", folder / "plain.csv").stdout, "a quoted name of a column")
    measured = str(table(folder, "same.csv", [(rows[0][0], rows[0][1])] * 4))
    said = run("calibrate", "--measured", measured).stdout
    check.that("do not tell fixed time from clock" in said, said)


def own_band(folder):
    """From nine runs on the band is that of the runs themselves, each predicted from the others; of eight it is not."""
    job = write_job(folder)
    rows = [(seconds(folder, job, "compute.clock=0.8", f"batch.micro_batches={n}")[0] * (1 + 0.01 * (n * 7 % 9 - 4)),
             {"batch.micro_batches": n}) for n in range(4, 14)]
    for count in (8, 9, 10):
        profile = folder / "own.yaml"
        measured = table(folder, "own.csv", rows[:count])
        text = run("calibrate", "--measured", measured, "-o", profile, "--format", "csv").stdout
        ratios = sorted(1 / (1 + float(row["left_out_error"])) for row in csv.DictReader(io.StringIO(text)))
        _, summary = seconds(folder, write_job(folder, "own-job.yaml", "own.yaml"))
        band, iteration = summary["time"]["band"], summary["time"]["iteration_s"]
        check.that(("own_runs" in band) == (count > 8) and ("published_jobs" in band) == (count < 9), band)
        if count > 8:
            check.that(band["own_runs"] == count, band)
            check.that(abs(band["low_s"] / iteration / ratios[0] - 1) < 1e-4, f"{band}, {ratios}")
            check.that(abs(band["high_s"] / iteration / ratios[-1] - 1) < 1e-4, f"{band}, {ratios}")
    said = run("run", folder / "own-job.yaml", "--quiet").stdout
    check.that("10 runs of the calibration, each predicted from the others" in said, said)
    check.that("dense, megatron" in said, f"the class of the framework that it starts from: {said}")
    (folder / "own.yaml").write_text(profile.read_text().replace("left_out: ", "left_out: x", 1))
    told = run("check", folder / "own-job.yaml", expect=1).stderr
    check.that("own.yaml:" in told and "expected the time of an iteration such as 9.0s" in told, told)


def own_memory(folder):
    """The same of memory: extra memory is the median of the runs, each left out once."""
    job, rows = write_job(folder), []
    for n in range(4, 13):
        time, summary = seconds(folder, job, "compute.clock=0.8", f"batch.micro_batches={n}")
        memory = summary["memory"]
        tensors = memory["peak_bytes"] - memory["beside_bytes"]
        rows.append((time, {"batch.micro_batches": n, "bytes": tensors + (3 + n * 5 % 9 / 4) * 2**30}, tensors))
    for count in (8, 9):
        profile, measured = folder / "own.yaml", folder / "memory.csv"
        measured.write_text(table(folder, "plain.csv", [row[:2] for row in rows[:count]]).read_text())
        run("calibrate", "--measured", measured, "-o", profile)
        _, summary = seconds(folder, write_job(folder, "own-job.yaml", "own.yaml"))
        memory = summary["memory"]
        band = memory["band"]
        check.that(("own_runs" in band) == (count == 9), band)
    ratios = []
    for i, (_, values, tensors) in enumerate(rows):
        others = sorted(row[1]["bytes"] - row[2] for k, row in enumerate(rows) if k != i)
        ratios.append(values["bytes"] / (tensors + (others[3] + others[4]) / 2))
    ratios.sort()
    check.that(abs(band["low_bytes"] / memory["peak_bytes"] / ratios[0] - 1) < 1e-6, f"{band}: {ratios}")
    check.that(abs(band["high_bytes"] / memory["peak_bytes"] / ratios[-1] - 1) < 1e-6, f"{band}: {ratios}")
    fit = sum(memory["peak_bytes"] * each <= memory["capacity_bytes"] for each in ratios)
    check.that(abs(band["fits_share"] - fit / 10) < 1e-9, band)
    # Where a GPU's memory less what is held back lies in the middle of the band, it fits in half of such jobs.
    reserve = 1 - memory["peak_bytes"] * (ratios[4] + ratios[5]) / 2 / (80 * 2**30)
    _, summary = seconds(folder, folder / "own-job.yaml", f"memory.reserve={100 * reserve:.6f}%")
    check.that(abs(summary["memory"]["band"]["fits_share"] - 0.5) < 1e-9, summary["memory"])
    said = run("run", folder / "own-job.yaml", "--quiet").stdout
    check.that("fits in 90 of 100 such jobs (9 runs of the calibration, each predicted from the others)" in said, said)


def page(folder):
    """The page has every run with its times before, after and left out, what was fitted, and needs no other file."""
    job = write_job(folder)
    rows = [(seconds(folder, job, "compute.clock=0.8", f"batch.micro_batches={n}")[0], {"batch.micro_batches": n})
            for n in (4, 9, 16)]
    measured, html, svg = table(folder, "<runs>.csv", rows), folder / "page.html", folder / "runs.svg"
    text = run("calibrate", "--measured", measured, "--page", html, "--picture", svg, "--format", "csv").stdout
    found = html.read_text()
    for row in csv.DictReader(io.StringIO(text)):
        cells = [float(cell) for cell in re.findall(r'data-v="([0-9.e+-]+)"', found)]
        for column in ("measured", "predicted", "calibrated", "left_out"):
            value = [float(row[key]) for key in row if key.removesuffix("_s") == column]
            check.that(any(abs(cell / value[0] - 1) < 1e-6 for cell in cells), f"{column} of {row}: not on the page")
    check.that("&lt;runs&gt;.csv:2" in found and "<runs>" not in found, "a name of a file as it is")
    check.that("compute.clock" in found and "where the row itself was left out" in found, "what was fitted")
    check.that(not re.search(r'(src|href)="(?!#|data:)', found), "the page refers to another file")
    check.that("<svg" in svg.read_text(), "the picture")
    run("calibrate", job, "--measured", "1s", "--picture", folder / "runs.gif", expect=2)
    run("calibrate", job, "--measured", "0s", "--page", folder / "none.html", expect=1)
    check.that(not (folder / "none.html").exists(), "a page was written after a mistake")


def links_of(path):
    return {name: float(value) for name, value in re.findall(r'- "([a-z]+)=([0-9.]+)"', path.read_text())}


def of_collectives(folder):
    """Tables that stagesim itself made with slower links give these back, before the clock is fitted to a run."""
    job = write_job(folder)
    job.write_text(job.read_text().replace("nodes: 2", "nodes: 4").replace("data: 4", "data: 8"))
    for name, kind, ranks, change in (("inter.csv", "all-reduce", 32, "nic=0.7"), ("intra.csv", "all-gather", 8,
                                                                                "nvlink=0.9")):
        text = run("collective", kind, "--platform", "dgx-h100:4", "--ranks", ranks, "--scale", change, "--sizes",
                   "64KiB:4GiB:4", "--format", "csv").stdout
        (folder / name).write_text(text)
    own = "communication.links=[nic=0.7,nvlink=0.9]"
    truth, _ = seconds(folder, job, own, "compute.clock=0.77")
    profile = folder / "net.yaml"
    said = run("calibrate", job, "--measured", folder / "inter.csv", "--measured", f"{truth!r}s", "--measured",
               folder / "intra.csv", "-o", profile).stdout
    links = links_of(profile)
    check.that(abs(links.get("nic", 0) - 0.7) < 0.01 and abs(links.get("nvlink", 0) - 0.9) < 0.01, f"{links}: {said}")
    check.that(abs(profile_value(profile, "clock") - 0.77) < 2e-3, profile.read_text())
    check.that("rows of collectives say nothing of rates of links" in said, said)
    mine = folder / "mine.yaml"
    mine.write_text(job.read_text().replace("megatron", "net.yaml"))
    again, summary = seconds(folder, mine)
    check.that(abs(again / truth - 1) < 2e-3, f"{again} for {truth}")
    check.that(summary["scenario"]["calibration"] == "1 run and 2 tables", summary["scenario"].get("calibration"))
    run("calibrate", job, "--measured", folder / "intra.csv", "-o", profile, "--page", folder / "page.html")
    _, summary = seconds(folder, mine)
    check.that("published_jobs" in summary["time"]["band"] and "each calibrated" not in
               summary["time"]["band"]["alike"], "tables alone make no calibrated band")
    # No wire carries more than it can, and a table that is faster than that says so.
    fast = (folder / "inter.csv").read_text().splitlines()
    fast = [",".join([row.split(",")[0], str(float(row.split(",")[1]) / 9), "", ""]) if row[0].isdigit() else row
            for row in fast]
    (folder / "fast.csv").write_text("\n".join(fast) + "\n")
    said = run("calibrate", job, "--measured", folder / "fast.csv", "-o", profile).stdout
    check.that("(at its limit)" in said and max(links_of(profile).values()) <= 1.25, said)
    for arguments, expected in (
            ((job, "--set", own), "communication.links is given here, before which a profile's does not count"),
            ((write_job(folder, "small.yaml"),), "the table has 32 ranks, and the scenario's platform 16 GPUs"),
            ((), "no scenario says what platform this is of")):
        told = run("calibrate", *arguments, "--measured", folder / "inter.csv", "-o", folder / "nothing.yaml",
                   expect=1).stderr
        check.that(expected in told, told)
    (folder / "bad.csv").write_text((folder / "inter.csv").read_text().replace("65536,", "65536,x", 1))
    told = run("calibrate", job, "--measured", folder / "bad.csv", "-o", folder / "nothing.yaml", expect=1).stderr
    check.that("bad.csv:" in told and "error:" in told, told)
    check.that(not (folder / "nothing.yaml").exists(), "a profile was written after a mistake")


def of_operators(folder):
    """A table of operators goes into the profile, from whose directory its path starts; the clock is fitted on top."""
    job, table_file = write_job(folder), folder / "gpu.csv"
    table_file.write_text("what,size,value\nmatrix,1e8,0.2\nmatrix,1e10,0.5\nmatrix,1e12,0.7\nmemory,1e6,0.3\n"
                          "memory,1e9,0.8\nlaunch,1,3e-6\nflash,1,0.5\n")
    truth, _ = seconds(folder, job, f"compute.table={table_file}", "compute.clock=0.8")
    (folder / "elsewhere").mkdir()
    profile = folder / "elsewhere" / "mine.yaml"
    run("calibrate", job, "--measured", table_file, "--measured", f"{truth!r}s", "-o", profile)
    check.that('table: "../gpu.csv"' in profile.read_text(), profile.read_text())
    check.that(abs(profile_value(profile, "clock") - 0.8) < 1e-3, profile.read_text())
    again, summary = seconds(folder, write_job(folder, "mine-job.yaml", "elsewhere/mine.yaml"))
    check.that(abs(again / truth - 1) < 1e-6, f"{again} for {truth}")
    check.that(summary["scenario"]["calibration"] == "1 run and 1 table", summary["scenario"].get("calibration"))
    (folder / "layers.csv").write_text("kind,micro_batch,forward_s,backward_s,activation_bytes\nlayer,1,1,2,3\n")
    for arguments, expected in (
            (("--set", "compute.table=gpu.csv", "--measured", table_file), "compute.table is given here"),
            (("--measured", table_file, "--measured", table_file), "is a table of operators, too; expected one"),
            (("--measured", folder / "layers.csv"), "times of one model's layers leave nothing to fit")):
        told = run("calibrate", job, *arguments, "-o", folder / "nothing.yaml", expect=1).stderr
        check.that(expected in told, told)
    check.that(not (folder / "nothing.yaml").exists(), "a profile was written after a mistake")


def of_traces(folder):
    """A trace counts as a run, beside others and beside tables: all of one clock give this clock."""
    job = write_job(folder)
    run("run", job, "--set", "compute.clock=0.8", "--trace", "csv", "-o", folder / "slow", "--quiet")
    trace, profile = folder / "slow" / "operations.csv", folder / "mine.yaml"
    more, _ = seconds(folder, job, "compute.clock=0.8", "batch.micro_batches=24")
    text = run("calibrate", job, "--measured", trace, "--measured", table(folder, "runs.csv",
               [(more, {"batch.micro_batches": 24})]), "-o", profile, "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(text)))
    check.that([row["measured_from"].split(":")[0] for row in rows] == ["operations.csv", "runs.csv"], text)
    check.that(abs(profile_value(profile, "clock") - 0.8) < 2e-3, profile.read_text())
    check.that("operations.csv" in profile.read_text() and str(folder) not in profile.read_text(), profile.read_text())
    gathers = run("collective", "all-gather", "--platform", "dgx-h100:2", "--ranks", 8, "--scale", "nvlink=0.9",
                  "--sizes", "64KiB:4GiB:4", "--format", "csv").stdout
    (folder / "intra.csv").write_text(gathers)
    run("calibrate", job, "--measured", trace, "--measured", folder / "intra.csv", "-o", profile)
    check.that(abs(links_of(profile).get("nvlink", 0) - 0.9) < 0.01, f"tables count before: {profile.read_text()}")
    for arguments, expected in (((job, job), "a trace is of one job"), ((), "a trace is of one job"),
                                ((job, "--set", "parallel.data=2", "--set", "parallel.pipeline=4"), "pipeline")):
        measured = ("--measured", trace, "--measured", "1s", "--measured", "2s") if arguments[:2] == (job, job) else (
            "--measured", trace)
        told = run("calibrate", *arguments, *measured, "-o", folder / "nothing.yaml", expect=1).stderr
        check.that(expected in told, f"{arguments}: {told}")
    check.that(not (folder / "nothing.yaml").exists(), "a profile was written after a mistake")


def of_logs(folder):
    """A log's steps, memory and layout; neither its path nor what it says of a machine is kept."""
    job = write_job(folder)
    truth, summary = seconds(folder, job, "compute.clock=0.73")
    secret = folder / "home-of-alice"
    secret.mkdir()
    log = secret / "train.log"
    lines = ["using world size: 16, data-parallel size: 4, tensor-model-parallel size: 2, "
             "pipeline-model-parallel size: 2", "host node-17.internal: NVIDIA H100 80GB HBM3",
             "  seq_length ...................................... 8192"]
    for step in range(1, 13):
        took = truth * (3 if step == 1 else 1) * 1e3
        lines.append(f" [2026-11-20 10:00:{step:02}] iteration {step}/ 100 |"
                     f" elapsed time per iteration (ms): {took!r} |"
                     " global batch size: 32 | lm loss: 2.0 |")
    peak = summary["memory"]["peak_bytes"] + 3 * 2**30
    lines.append(f"[Rank 0] (after 12 iterations) memory (MB) | allocated: 1.0 | max allocated: {peak / 2**20!r}")
    log.write_text("\n".join(["#       size         count      type   time   algbw   busbw", *lines]) + "\n")
    profile = folder / "log.yaml"
    said = run("calibrate", job, "--measured", log, "-o", profile).stdout
    check.that("train.log: Megatron-LM, 11 steps count; 1 warm-up left out" in said, said)
    check.that(abs(profile_value(profile, "clock") - 0.73) < 2e-4, profile.read_text())
    extra = profile_value(profile, "extra_memory")
    check.that(extra is not None and abs(extra - (2.1 + 2.1 + 3) * 2**30) < 2**20, profile.read_text())
    text = profile.read_text()
    check.that("2026-11-20" in text and "train.log" in text, text)
    check.that(not any(word in text for word in ("alice", "node-17", str(folder))), f"what is nobody's: {text}")
    for old, new, expected in (
            ("world size: 16", "world size: 64", "this log is of another job: GPUs is 64 in the log and 16 in"),
            ("tensor-model-parallel size: 2", "tensor-model-parallel size: 8", "tensor is 8 in the log and 2 in"),
            ("batch size: 32", "batch size: 32,5", "is no number"),
            ("seq_length ...................................... 8192", "  seq_length .... 4096", "sequence is 4096"),
            ("NVIDIA H100", "NVIDIA A100", "of another GPU: A100 in the log and H100-SXM5-80GB"),
            (" (ms): ", " (ms): x", "is no number")):
        wrong = folder / "wrong.log"
        wrong.write_text("\n".join(lines).replace(old, new))
        told = run("calibrate", job, "--measured", wrong, "-o", folder / "nothing.yaml", expect=1).stderr
        check.that(expected in told and "wrong.log:" in told, f"{new}: {told}")
        check.that(not (folder / "nothing.yaml").exists(), "a profile was written after a mistake")


def mistakes(folder):
    job = write_job(folder)
    for text, expected in (
            ("seconds,scenario\n", "the table has no row"), ("scenario\njob.yaml\n", "seconds"),
            ("seconds,scenario\n0,job.yaml\n", "bad.csv:2:1: error: an iteration takes time"),
            ("seconds,scenario\nfast,job.yaml\n", "bad.csv:2:1: error:"),
            ("seconds,scenario\n1,none.yaml\n", "none.yaml"),
            ("seconds,scenario\n1,\n", "the row names no scenario"),
            ("seconds,scenario,parallel.tenso\n1,job.yaml,4\n", "tensor"),
            ("seconds,scenario,compute.clock\n1,job.yaml,0.9\n", "compute.clock is given here")):
        (folder / "bad.csv").write_text(text)
        told = run("calibrate", "--measured", folder / "bad.csv", "-o", folder / "nothing.yaml", expect=1).stderr
        check.that(expected in told, f"{text!r}: {told}")
    check.that(not (folder / "nothing.yaml").exists(), "a profile was written after a mistake")
    (folder / "layers.yaml").write_text("from: megatron\ncalibrated: nothing\ncompute: {clock: 0.9}\n")
    told = run("check", write_job(folder, "bad.yaml", "layers.yaml"), expect=1).stderr
    check.that("layers.yaml:2:13: error: calibrated is the text 'nothing'" in told, told)
    (folder / "circle.yaml").write_text("from: circle.yaml\n")
    told = run("check", write_job(folder, "bad.yaml", "circle.yaml"), expect=1).stderr
    check.that("circle.yaml:1:7: error: more than 8 profiles start from each other" in told, told)
    for arguments in ((job,), (job, job, "--measured", "1s"), (job, "--measured", "1s", "--set", "engine")):
        run("calibrate", *arguments, expect=2)
    told = run("calibrate", job, "--measured", "0s", expect=1).stderr
    check.that("expected a time such as 9.0s" in told, told)
    told = run("calibrate", write_job(folder, "stages.yaml"), "--measured", folder / "none.log", expect=1).stderr
    check.that("none.log" in told, told)


def main():
    for part in (of_one_run, of_timers, of_several_runs, own_band, own_memory, page, of_collectives, of_operators,
                 of_traces, of_logs, mistakes):
        with tempfile.TemporaryDirectory() as folder:
            part(pathlib.Path(folder))
    sys.exit(check.done())


main()
