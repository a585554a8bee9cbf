#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""search.py STAGESIM: `search` of a step of reinforcement learning against all splits of its GPUs, listed here, each
with the step that `sweep` finds; its best as `run` has it; what is refused."""
import csv
import itertools
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

CHECK = tool.Checker()
GPUS = 8
MODEL = """{layers: 4, hidden: 1024, heads: 8, kv_heads: 4, head_size: 128, ffn: 2816, vocabulary: 32000,
  sequence: 1024, gated: true, norm: rms, tied: false, biases: false, dropout: false}"""
TRAINER = "{parallel: {tensor: 2, data: 2}, compute: {efficiency: 0.4}}"
KEYS = ("rl.arrangement", "rl.staleness", "trainer.parallel.tensor", "trainer.parallel.pipeline",
        "trainer.parallel.data", "rl.engines", "generation.tensor")
COLUMNS = ("arrangement", "staleness", "tensor", "pipeline", "data", "engines", "engine_tensor")
TENSOR, PIPELINE, ENGINES, STALENESS, SPLITS = (1, 2, 3), (1, 2), (1, 2), (2,), (6, 4)


def scenario(folder, variants, trainer=TRAINER):
    inside = "".join(f'<host id="g{i}" speed="300Tf"><prop id="memory" value="80GB"/><prop id="memory_bandwidth" '
                     f'value="2000GBps"/><prop id="peak_bf16" value="300Tf"/></host><link id="l{i}" '
                     'bandwidth="100GBps" latency="1us"/>' for i in range(GPUS))
    routes = "".join(f'<route src="g{i}" dst="g{k}"><link_ctn id="l{i}"/><link_ctn id="l{k}"/></route>'
                     for i in range(GPUS) for k in range(i + 1, GPUS))
    (folder / "p.xml").write_text(tool.HEAD + f'<zone id="z" routing="Full">{inside}{routes}</zone></platform>\n')
    (folder / "s.yaml").write_text(
        f"platform: p.xml\nmodel: {MODEL}\ntrainer: {trainer}\ngeneration: {{tensor: 1}}\n"
        f"rl: {{prompts: 16, samples: 4, prompt: 100, output: 400, steps: 9}}\n{variants}\n")


def rows_of(file):
    with open(file) as lines:
        return list(csv.DictReader(lines))


def listed():
    """All variants: (arrangement, staleness, tensor, pipeline, data, engines, tensor of an engine)."""
    found = []
    for arrangement in ("colocated", "apart", "async"):
        for staleness, split, tensor, pipeline, engine in itertools.product(
                STALENESS if arrangement == "async" else ("",), (GPUS,) if arrangement == "colocated" else SPLITS,
                TENSOR, PIPELINE, ENGINES):
            left = GPUS if arrangement == "colocated" else GPUS - split
            if split % (tensor * pipeline) == 0 and left >= engine:
                found.append((arrangement, staleness, tensor, pipeline, split // tensor // pipeline, left // engine,
                              engine))
    return found


def swept(stagesim, folder, variants):
    """The step of each, by sweeps over all combinations of the values that are in them."""
    steps = {}
    for arrangement in ("colocated", "apart", "async"):
        values = [sorted({str(v[i]) for v in variants if v[0] == arrangement}) for i in range(len(KEYS))]
        sets = [f"{key}={','.join(of)}" for key, of in zip(KEYS, values) if of != [""]]
        tool.run(stagesim, "sweep", folder / "s.yaml", *(part for text in sets for part in ("--set", text)), "-o",
                 folder / f"sweep-{arrangement}", "--quiet")
        fixed = {key: of[0] for key, of in zip(KEYS, values)}
        for row in rows_of(folder / f"sweep-{arrangement}/sweep.csv"):
            steps[tuple(row.get(key, fixed[key]) for key in KEYS)] = float(row["iteration_s"] or "nan")
    return steps


def check_search(stagesim, folder):
    scenario(folder, f"variants: {{gpus: {GPUS}, arrangement: [colocated, apart, async], staleness: {list(STALENESS)}, "
             f"trainer_gpus: {list(SPLITS)}, tensor: {list(TENSOR)}, pipeline: {list(PIPELINE)}, "
             f"engine_tensor: {list(ENGINES)}}}")
    printed = tool.run(stagesim, "search", folder / "s.yaml", "-o", folder / "found", "--quiet").stdout
    variants, rows = listed(), rows_of(folder / "found/search.csv")
    steps = swept(stagesim, folder, variants)
    CHECK.that(sorted(tuple(map(str, v)) for v in variants) == sorted(tuple(row[c] for c in COLUMNS) for row in rows),
               "all variants, and no others")
    illegal = 0
    for row in rows:
        key = tuple(row[column] for column in COLUMNS)
        if row["answer"] == "fits":
            CHECK.near(float(row["step"]), steps[key], f"{key}: the step of a sweep", 1e-9)
        else:
            illegal += 1
            CHECK.that(row["tensor"] == "3" and steps[key] != steps[key], f"{key}: {row['answer']}")
    CHECK.that(0 < illegal < len(rows) and f"{illegal} are illegal" in printed, f"{illegal} are told: {printed}")
    fits = [float(row["step"]) for row in rows if row["answer"] == "fits"]
    tool.run(stagesim, "run", folder / "found/best.yaml", "-o", folder / "best", "--quiet")
    best = json.loads((folder / "best/summary.json").read_text())
    CHECK.near(best["step_s"], min(fits), "best.yaml", 1e-9)
    top = tool.run(stagesim, "search", folder / "s.yaml", "--top", "3", "--format", "csv", "--quiet").stdout
    shown = [float(row["step"]) for row in csv.DictReader(top.splitlines())]
    CHECK.that(shown == sorted(fits)[:3], f"the three fastest: {shown}")


def check_parts(stagesim, folder):
    """A search that was ended goes on with what its journal has; parts joined are what one process finds."""
    scenario(folder, f"variants: {{gpus: {GPUS}, arrangement: [colocated, apart], trainer_gpus: [4], tensor: [1, 2], "
             "pipeline: [1, 2], engine_tensor: [1, 2]}")
    tool.run(stagesim, "search", folder / "s.yaml", "-o", folder / "whole", "--quiet")
    for part in ("1/3", "2/3"):
        tool.run(stagesim, "search", folder / "s.yaml", "-o", folder / "parts", "--shard", part, "--quiet")
    merge = (stagesim, "search", folder / "s.yaml", "--merge", folder / "parts", "-o", folder / "joined", "--quiet")
    missing = tool.run(*merge, expect=None)
    CHECK.that(missing.returncode != 0 and not (folder / "joined").exists(), f"a part is missing: {missing.stderr}")
    tool.run(stagesim, "search", folder / "s.yaml", "-o", folder / "parts", "--shard", "3/3", "--quiet")
    tool.run(*merge)
    for name in ("search.csv", "search.json", "best.yaml"):
        CHECK.that((folder / "whole" / name).read_text() == (folder / "joined" / name).read_text(), f"joined: {name}")
    CHECK.that(not (folder / "whole.journal").exists(), "an answer needs no journal")
    tool.run(stagesim, "search", folder / "s.yaml", "-o", folder / "ended", "--quiet", "--time-limit", "1ms",
             expect=None)
    CHECK.that((folder / "ended.journal").exists(), "one that was ended leaves its journal")
    tool.run(stagesim, "search", folder / "s.yaml", "-o", folder / "ended", "--quiet", "--resume")
    CHECK.that((folder / "whole/search.csv").read_text() == (folder / "ended/search.csv").read_text(), "went on")
    CHECK.that(not (folder / "ended.journal").exists(), "then it goes")
    # What the journal has is not simulated again: all of it takes no time.
    tool.run(stagesim, "search", folder / "s.yaml", "-o", folder / "one", "--shard", "1/1", "--quiet")
    (folder / "again.journal").write_bytes((folder / "one/part-1-of-1.journal").read_bytes())
    tool.run(stagesim, "search", folder / "s.yaml", "-o", folder / "again", "--quiet", "--resume", "--time-limit",
             "1ms")
    CHECK.that((folder / "whole/search.csv").read_text() == (folder / "again/search.csv").read_text(), "by the journal")


def check_keys_of_some(stagesim, folder):
    """Keys of one arrangement count for its variants, and the others do without them."""
    scenario(folder, "variants: {arrangement: [colocated, apart, async], tensor: [2], pipeline: [1], "
             "engine_tensor: [2], trainer_gpus: [4], gpus: 8}")
    tool.run(stagesim, "search", folder / "s.yaml", "-o", folder / "some", "--quiet", "--set", "rl.staleness=2",
             "--set", "rl.offload=false", "--set", "rl.host_rate=20GBps")
    tool.run(stagesim, "search", folder / "s.yaml", "-o", folder / "rate", "--quiet", "--set", "rl.reference=false",
             "--set", "rl.host_rate=20GBps")
    CHECK.that([row["answer"] for row in rows_of(folder / "rate/search.csv")] == ["fits"] * 3, "a rate of one of them")
    rows = rows_of(folder / "some/search.csv")
    CHECK.that([row["answer"] for row in rows] == ["fits"] * 3, f"all are legal: {rows}")
    CHECK.that([row["staleness"] for row in rows] == ["", "", "2"], f"staleness of async: {rows}")
    tool.run(stagesim, "run", folder / "some/best.yaml", "--quiet", "-o", folder / "again")
    step = json.loads((folder / "again/summary.json").read_text())["step_s"]
    CHECK.near(step, min(float(row["step"]) for row in rows), "the best of them", 1e-6)


def check_default(stagesim, folder):
    """Without the section: the scenario's own arrangement and number of GPUs, all layouts of both sides."""
    scenario(folder, "")
    tool.run(stagesim, "search", folder / "s.yaml", "-o", folder / "own", "--quiet")
    rows = rows_of(folder / "own/search.csv")
    expected = {(t, p, 4 // t // p, e) for t, p, e in itertools.product((1, 2, 4, 8), repeat=3)
                if 4 % (t * p) == 0 and e <= 4}
    CHECK.that({tuple(int(row[c]) for c in ("tensor", "pipeline", "data", "engine_tensor")) for row in rows} == expected
               and len(rows) == len(expected), "layouts of four GPUs that take turns")


BAD = (
    ("variants: {tensors: [2]}", (), "did you mean 'tensor'?"),
    ("variants: {arrangement: beside}", (), "expected"),
    ("variants: {arrangement: [colocated, apart], staleness: [1, 2]}", (), "goes with arrangement: async"),
    ("variants: {arrangement: [async]}", ("--set", "rl.offload=true"), "which the variants do not have"),
    ("variants: {trainer_gpus: [2, 4]}", (), "of colocated the trainer has all GPUs"),
    ("", ("--set", "rl.pool=[1, 1, 1]"), "expected no pool"),
    ("variants: {tensor: [7]}", (), "no layout of trainer and engines fills the GPUs"),
    (f"variants: {{tensor: {[1] * 30}, pipeline: {[1] * 30}, engine_tensor: {[1] * 30}}}", (), "more than 20000"),
    ("variants: {tensor: [1], pipeline: [1], engine_tensor: [1], gpus: 16}", (), "and the platform 8"),
    (f"variants: {{tensor: {[16] * 300}, pipeline: {[16] * 300}, engine_tensor: {[16] * 300}}}", (), "more than 20000"),
    ("", ("--top", "0"), "--top"), ("", ("--picture", "svg"), "--picture"),
    ("", ("--exhaustive",), "--exhaustive is for scenarios of a job"),
    ("", ("--shard", "1/2", "--merge", "x", "-o", "x"), "--shard beside --merge is for scenarios of a job"),
)


def check_refused(stagesim, folder):
    for variants, options, expected in BAD:
        scenario(folder, variants)
        found = tool.run(stagesim, "search", folder / "s.yaml", *options, "--quiet", expect=1).stderr
        CHECK.that(expected in found, f"{variants[:60]} {options}: {found}")
    scenario(folder, "variants: {tensor: [1], pipeline: [1], engine_tensor: [1]}",
             TRAINER[:-1] + ", memory: {reserve: 90%}}")
    found = tool.run(stagesim, "search", folder / "s.yaml", "--quiet", "--set", "rl.pack=65536", "--set",
                     "rl.prompts=64", "--set", "rl.output=1500", expect=1).stderr
    CHECK.that("1 do not" in found and "none of the variants is legal and fits" in found, f"too large: {found}")


def main():
    stagesim = tool.binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_search(stagesim, folder)
        check_parts(stagesim, folder)
        check_keys_of_some(stagesim, folder)
        check_default(stagesim, folder)
        check_refused(stagesim, folder)
    return CHECK.done()


sys.exit(main())
