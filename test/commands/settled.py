#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""settled.py STAGESIM: what compares runs does so with `iterations: settled` where one iteration is not like the next,
of random jobs on both engines, says so, and only there; an explicit `iterations` turns it off; rows that change their
order; what is said where the run that would find out fails."""
import csv
import io
import json
import pathlib
import random
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool
from unlike import CHANGING, STAGES, lengths_of, random_job, write_changing

STAGESIM, check = tool.binary_argument(), tool.Checker()
SAID = "one iteration is not like the next"


def slower(source):
    """Hosts that become slower at some time of the first iterations, or do not."""
    return f"0 1.0\n{source.choice([0.2, 0.3, 0.4, 99])} {source.choice([0.5, 0.7])}\n"


def compared(folder, *sets):
    """The times of the rows, and what was said."""
    options = [word for each in sets for word in ("--set", each)]
    done = tool.run(STAGESIM, "compare", "job.yaml", *options, "--format", "csv", "-o", "out", cwd=folder)
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    return [float(row["iteration_s"]) for row in rows], done.stderr


def iteration(folder, *sets):
    options = [word for each in sets for word in ("--set", each)]
    tool.run(STAGESIM, "run", "job.yaml", *options, "--quiet", "-o", "run", "--trace", "csv", cwd=folder)
    return json.loads((folder / "run/summary.json").read_text())["time"]["iteration_s"]


def is_unlike(folder, engine):
    """Whether lengths of iterations differ, by operations.csv of four."""
    mean = iteration(folder, engine, "iterations=4")
    lengths = lengths_of(folder / "run/operations.csv", 0)
    return max(lengths) - min(lengths) > 1e-5 * mean


def random_jobs(folder):
    source, unlike = random.Random(11), 0
    for i in range(10):
        write_changing(folder, slower(source))
        (folder / "job.yaml").write_text(job := STAGES if i % 2 else random_job(source))
        for engine in ("engine=simgrid", "engine=analytic"):
            (time,), said = compared(folder, engine)
            wanted = is_unlike(folder, engine)
            unlike += wanted
            check.that((SAID in said) == wanted, f"{job}{engine}: unlike {wanted}, said: {said}")
            as_run = iteration(folder, engine, *(["iterations=settled"] if wanted else []))
            check.near(time, as_run, f"{job}{engine}: what compare takes", 1e-12)
            written = tool.run(STAGESIM, "run", next((folder / "out").glob("*/scenario.yaml")), "-o", "run", "--quiet",
                               cwd=folder) and json.loads((folder / "run/summary.json").read_text())
            check.near(written["time"]["iteration_s"], time, f"{job}{engine}: scenario.yaml", 1e-12)
            (time,), said = compared(folder, engine, "iterations=1")
            check.that(SAID not in said, f"{job}{engine}: nobody asked for more than one")
            check.near(time, iteration(folder, engine), f"{job}{engine}: one iteration", 1e-12)
    check.that(0 < unlike < 20, f"{unlike} of 20 jobs have iterations that differ")


def told(folder, member):
    """What rows in JSON and CSV say of iterations that differ, also where nothing else is said."""
    for words in (("compare", "job.yaml", "--quiet"), ("sweep", "job.yaml", "--set", "batch.micro_batches=4,5")):
        for row in json.loads(tool.run(STAGESIM, *words, "--format", "json", cwd=folder).stdout):
            found = {name: row[name] for name in ("settled_iterations", "unsettled") if name in row}
            check.that(list(found) == [member] and (found[member] is True or found[member] > 1), f"{words}: {row}")
        text = tool.run(STAGESIM, *words, "--format", "csv", cwd=folder).stdout
        for row in csv.DictReader(io.StringIO(text)):
            cells = {name: row[name] for name in ("settled_iterations", "unsettled") if row[name]}
            check.that(cells == {name: str(value).lower() for name, value in found.items()}, f"{words}: {row}")


def order(folder):
    """Fast in its first iteration, slow in all others; and one of a speed between them."""
    write_changing(folder, "0 1.0\n0.3 0.5\n")
    (folder / "job.yaml").write_text(STAGES)
    (folder / "other.yaml").write_text(STAGES.replace("10ms", "13ms").replace("20ms", "26ms")
                                       .replace("changing.xml", "steady.xml"))
    (folder / "steady.xml").write_text(re.sub(' speed_file="[^"]*"', "", CHANGING))
    for engine in ("engine=simgrid", "engine=analytic"):
        names = []
        for sets in (("--set", "iterations=1"), ()):
            done = tool.run(STAGESIM, "compare", "job.yaml", "other.yaml", "--sort", "time", "--set", engine, *sets,
                            "--format", "csv", cwd=folder)
            names.append([row["scenario"] for row in csv.DictReader(io.StringIO(done.stdout))])
        # Without contention speeds do not change.
        wanted = ["other", "job"] if engine == "engine=simgrid" else ["job", "other"]
        check.that(names == [["job", "other"], wanted], f"{engine}: by one iteration and settled {names}")
    told(folder, "settled_iterations")
    done = tool.run(STAGESIM, "sweep", "job.yaml", "--set", "batch.micro_batches=4,5", cwd=folder)
    check.that("combinations with iterations that are not alike: 2;" in done.stdout, done.stdout)


def failing(folder):
    """Hosts that stand still from the second iteration on: figures are of one, and all that compares says so."""
    said = "the next iteration may take another time"
    write_changing(folder, "0 1.0\n0.3 0\n")
    (folder / "job.yaml").write_text(STAGES)
    time = iteration(folder, "iterations=1")
    for words in ((), ("--schedules", "gpipe,1f1b"), ("--engine", "both")):
        done = tool.run(STAGESIM, "compare", "job.yaml", *words, "--format", "csv", "-o", "failing", cwd=folder)
        row = list(csv.DictReader(io.StringIO(done.stdout)))[-1]
        check.near(float(row["iteration_s"]), time, f"compare {words}: one iteration", 1e-12)
        about = json.loads((folder / "failing/about.json").read_text())
        check.that(said in done.stderr and said in str(about.get("notes")), f"compare {words}: {done.stderr}")
    told(folder, "unsettled")
    done = tool.run(STAGESIM, "sweep", "job.yaml", "--set", "batch.micro_batches=4,5", cwd=folder)
    check.that("combinations whose next iteration may take another time: 2; " in done.stdout, done.stdout)


def searched(folder):
    """The best layout is that of a run of it; without `iterations` in it as the search was told."""
    write_changing(folder, "0 1.0\n0.3 0.5\n")
    (folder / "search.yaml").write_text(
        "platform: changing.xml\nworkload: transformer\nmodel: {layers: 4, hidden: 64, heads: 4, sequence: 64, "
        "vocabulary: 512}\nparallel: {pipeline: 2}\nbatch: {micro: 1, global: 4}\ncompute: {efficiency: 1}\n"
        "schedule: 1f1b\nsearch: {schedules: [1f1b], tensor: [1], pipeline: [2], micro: [1], zero: [0], "
        "recompute: [none]}\n")
    for sets, unlike in (((), True), (("--set", "iterations=1"), False)):
        said = tool.run(STAGESIM, "search", "search.yaml", *sets, "--quiet", "-o", "best", cwd=folder).stdout
        first = json.loads((folder / "best/search.json").read_text())["best"][0]
        tool.run(STAGESIM, "run", "best/best.yaml", "--quiet", "-o", "run", cwd=folder)
        time = json.loads((folder / "run/summary.json").read_text())["time"]
        check.near(first["verified_iteration_s"], time["iteration_s"], f"a search, unlike {unlike}", 1e-9)
        check.that(("layouts with iterations that are not alike: 1;" in said) == unlike, said)
        check.that((time["iterations"] > 1) == unlike, f"best.yaml, unlike {unlike}: {time['iterations']} iterations")
    write_changing(folder, f"0 1.0\n{1.2 * time['iteration_s']:.3f} 0\n")
    said = tool.run(STAGESIM, "search", "search.yaml", "--quiet", cwd=folder).stdout
    check.that("layouts whose next iteration may take another time: 1;" in said, said)


def notes(folder):
    """What a run of one iteration has to tell is told once, also where another with settled iterations finds none."""
    (folder / "job.yaml").write_text(
        "platform: {preset: dgx-h100, nodes: 2, pod: 1, oversubscription: 4}\nworkload: transformer\n"
        "model: {layers: 8, hidden: 32768, heads: 32, sequence: 2048, vocabulary: 32000, ffn: 11008}\n"
        "parallel: {tensor: 4, pipeline: 2, data: 2}\nbatch: {micro: 1, micro_batches: 4}\nschedule: 1f1b\n"
        "engine: simgrid\n")
    for words in ((), ("--set", "iterations=1"), ("-o", "noted"), ("--quiet",)):
        said = tool.run(STAGESIM, "compare", "job.yaml", *words, cwd=folder).stderr
        check.that(said.count("job/1f1b does not fit in memory") == ("--quiet" not in words), f"{words}: {said}")
        check.that(SAID not in said, f"{words}: {said}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        random_jobs(folder)
        order(folder)
        failing(folder)
        searched(folder)
        notes(folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
