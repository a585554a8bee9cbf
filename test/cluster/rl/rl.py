#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rl.py STAGESIM: steps of reinforcement learning against their closed forms: what arrangements of the same phases
come to, engines alone, bytes and tokens; laws; what is refused."""
import csv
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

CHECK = tool.Checker()
MODEL = """{layers: 4, hidden: 1024, heads: 8, kv_heads: 4, head_size: 128, ffn: 2816, vocabulary: 32000,
  sequence: 1024, gated: true, norm: rms, tied: false, biases: false, dropout: false}"""
GENERATION = {"tensor": 2}
RL = {"prompts": 16, "samples": 4, "prompt": 100, "output": 400, "overhead": "1s"}
TRAINER = "{parallel: {tensor: 2, data: 2}, compute: {efficiency: 0.4}}"


def platform(folder, hosts=8):
    inside = "".join(f'<host id="g{i}" speed="300Tf"><prop id="memory" value="80GB"/><prop id="memory_bandwidth" '
                     'value="2000GBps"/><prop id="peak_bf16" value="300Tf"/></host><link id="l{0}" '
                     'bandwidth="100GBps" latency="1us"/>'.replace("{0}", str(i)) for i in range(hosts))
    routes = "".join(f'<route src="g{i}" dst="g{k}"><link_ctn id="l{i}"/><link_ctn id="l{k}"/></route>'
                     for i in range(hosts) for k in range(i + 1, hosts))
    (folder / "p.xml").write_text(tool.HEAD + f'<zone id="z" routing="Full">{inside}{routes}</zone></platform>\n')


def flow(values):
    return "{" + ", ".join(f"{key}: {value}" for key, value in values.items()) + "}"


def run(stagesim, folder, generation=None, trainer=TRAINER, **rl):
    (folder / "s.yaml").write_text(f"platform: p.xml\nmodel: {MODEL}\ntrainer: {trainer}\ngeneration: "
                                   f"{flow(GENERATION | (generation or {}))}\nrl: {flow(RL | rl)}\n"
                                   "output: {trace: csv}\n")
    tool.run(stagesim, "run", folder / "s.yaml", "-o", folder / "out", "--quiet")
    with open(folder / "out/steps.csv") as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    return json.loads((folder / "out/summary.json").read_text()), rows


def served(stagesim, folder, requests, samples, prompt, output):
    requests = flow({"requests": requests, "samples": samples, "prompt": prompt, "output": output})
    (folder / "e.yaml").write_text(f"platform: p.xml\nmodel: {MODEL}\ngeneration: {flow(GENERATION)}\n"
                                   f"serving: {requests}\n")
    tool.run(stagesim, "run", folder / "e.yaml", "-o", folder / "engine", "--quiet")
    return json.loads((folder / "engine/summary.json").read_text())


def parts(found):
    """Generation, what the trainer does, the transfer."""
    p = found["phases"]
    trains = sum(p[key + "_s"] for key in ("old_log_probabilities", "reference", "reward_model", "values", "training",
                                            "swap", "overhead"))
    return p["generation_s"], trains, p["transfer_s"]


def check_arrangements(stagesim, folder):
    together, rows = run(stagesim, folder)
    CHECK.near(together["step_s"], sum(together["phases"].values()), "in turns: the sum of the phases")
    CHECK.that(len(rows) == 4 and rows[0]["generates_s"] > 0, "steps")
    CHECK.near(together["tokens"], 16 * 4 * 500, "tokens")
    CHECK.near(together["phases"]["generation_s"], served(stagesim, folder, 8, 4, 100, 400)["makespan_s"],
               "two engines, each with half of the prompts")
    apart, _ = run(stagesim, folder, arrangement="apart")
    g, t, s = parts(apart)
    CHECK.near(apart["step_s"], g + t + s, "apart: the sum")
    none, _ = run(stagesim, folder, arrangement="async", staleness=0, steps=4)
    CHECK.near(none["step_s"], apart["step_s"], "no step ahead")
    for more in ({}, {"overhead": "0s"}, {"overhead": "20s"}, {"transfer_start": "3s"}):
        ahead, _ = run(stagesim, folder, arrangement="async", **more)
        g, t, s = parts(ahead)
        CHECK.near(ahead["step_s"], max(g, t) + s, f"a step ahead, {more}: the longer of both")
        further, _ = run(stagesim, folder, arrangement="async", staleness=3, **more)
        CHECK.that(further["step_s"] <= ahead["step_s"] * (1 + 1e-9), f"{more}: more lag is not slower")
        CHECK.that(further["step_s"] >= max(g, t) * (1 - 1e-9), f"{more}: not faster than either pool")
    long, _ = run(stagesim, folder, arrangement="async", staleness=3, steps=30, overhead="20s")
    short, _ = run(stagesim, folder, arrangement="async", staleness=3, steps=9, overhead="20s")
    CHECK.near(short["step_s"], long["step_s"], "the fewest steps are enough")
    for found in (together, apart, ahead, short):
        for pool in ("engines", "trainer"):
            CHECK.near(sum(found[pool].values()), 1, f"{found['arrangement']}: shares of {pool}")


def check_engines(stagesim, folder):
    tail = {"output": "{log-normal: {mean: 300, deviation: 400}}", "most": 3000, "arrangement": "apart"}
    times = []
    for engines in (1, 2, 3):
        found, _ = run(stagesim, folder, {"tensor": 1}, engines=engines, **tail)
        times.append(found["step_s"])
        CHECK.that(found["phases"]["generation_s"] >= found["longest_alone_s"] * (1 - 1e-9), "the longest sample")
        CHECK.that(0 < found["tail"] < 1, "there is a tail")
    CHECK.that(times == sorted(times, reverse=True), f"more engines are not slower: {times}")
    partial, _ = run(stagesim, folder, {"tensor": 1}, engines=1, partial="true", **(tail | {"arrangement": "async"}))
    whole, _ = run(stagesim, folder, {"tensor": 1}, engines=1, **(tail | {"arrangement": "async"}))
    CHECK.that(partial["phases"]["generation_s"] < whole["phases"]["generation_s"], "without a tail it is shorter")
    CHECK.that(partial["batch"] > whole["batch"], "and its steps are full")
    more, _ = run(stagesim, folder, kept=0.5)
    plain, _ = run(stagesim, folder)
    CHECK.near(more["phases"]["generation_s"], served(stagesim, folder, 16, 4, 100, 400)["makespan_s"], "twice as many")
    CHECK.near(more["phases"]["training_s"], plain["phases"]["training_s"], "of which half are trained with")
    late, _ = run(stagesim, folder, reward="7s")
    CHECK.near(late["phases"]["reward_s"], 7, "the last sample's reward")
    judged, _ = run(stagesim, folder, reward_model="true", arrangement="apart")
    CHECK.near(judged["phases"]["reward_model_s"], plain["phases"]["reference_s"], "a forward that scores")
    CHECK.near(judged["step_s"], sum(parts(judged)), "and the step has it")
    whole = {"padded": 5000, "padded_rate": "100MBps"}
    for more, times in (({}, 4), ({"reference": "false", "old_log_probabilities": "false"}, 2), ({"critic": "true"}, 6),
                        ({"kept": 0.5}, 5)):
        one, two = (run(stagesim, folder, **more, **padded)[0] for padded in ({}, whole))
        seconds = times * 16 * 4 * 5000 * 48 / 100e6
        CHECK.near(two["phases"]["overhead_s"] - one["phases"]["overhead_s"], seconds, f"{more}: a process that pads")
        CHECK.near(two["step_s"] - one["step_s"], seconds, f"{more}: and the step waits for it")
    critic, _ = run(stagesim, folder, critic="true")
    CHECK.near(critic["phases"]["training_s"], 2 * plain["phases"]["training_s"], "two models")
    CHECK.near(critic["phases"]["values_s"], plain["phases"]["reference_s"], "a forward")


def check_pools(stagesim, folder):
    """Engines of step after step: of equal steps the mean of those that have so many throughout."""
    for arrangement in ("colocated", "apart"):
        more = {"arrangement": arrangement}
        one, two = (run(stagesim, folder, engines=engines, **more)[0] for engines in (1, 2))
        pool, rows = run(stagesim, folder, pool="[1, 2, 2]", **more)
        single = sum(i % 3 == 0 for i in range(len(rows))) / len(rows)
        CHECK.near(pool["phases"]["generation_s"], single * one["phases"]["generation_s"] +
                   (1 - single) * two["phases"]["generation_s"], f"{arrangement}: generation of a pool")
        same = two["step_s"] + (one["phases"]["generation_s"] - two["phases"]["generation_s"]) / 3
        CHECK.near(pool["step_s"], same, f"{arrangement}: a step of a pool")
        CHECK.that(pool["gpus"] == two["gpus"], f"{arrangement}: GPUs")
        CHECK.near(pool["tokens"], two["tokens"], f"{arrangement}: tokens")
        took = [row["generated_s"] - row["generates_s"] for row in rows]
        for i, seconds in enumerate(took):
            CHECK.near(seconds, (two if i % 3 else one)["phases"]["generation_s"], f"{arrangement}: step {i}", 1e-6)
    ahead, rows = run(stagesim, folder, arrangement="async", pool="[1, 2]")
    _, trains, transfer = parts(ahead)
    times = [max(run(stagesim, folder, arrangement="async", engines=engines)[0]["phases"]["generation_s"], trains)
             for engines in (1, 2)]
    CHECK.near(ahead["step_s"], sum(times) / 2 + transfer, "async: the longer of both in each step", 1e-6)


def check_levers(stagesim, folder):
    """Each is the step that a scenario with the change has."""
    base = {"arrangement": "async", "output": "{log-normal: {mean: 300, deviation: 400}}", "most": 3000, "engines": 1}
    found, _ = run(stagesim, folder, **base)
    twice, _ = run(stagesim, folder, **(base | {"engines": 2}))
    later, _ = run(stagesim, folder, **(base | {"staleness": 2}))
    faster, _ = run(stagesim, folder, **(base | {"trainer_time": 0.5}))
    CHECK.near(found["levers"]["engines"], twice["step_s"], "twice as many engines")
    CHECK.near(found["levers"]["staleness"], later["step_s"], "more staleness", 1e-2)
    CHECK.near(found["levers"]["trainer"], faster["step_s"], "a faster trainer")
    CHECK.that(found["levers"]["tail"] < found["step_s"] and "transfer" not in found["levers"], "tail; transfer")


def check_bytes(stagesim, folder):
    layer = 2 * 1024 * 8 * 128 + 2 * 1024 * 4 * 128 + 3 * 1024 * 2816
    whole, ends = 2 * 9 * 1024, 2 * 2 * 1024 * 32000  # norms of layers and the last; input and output
    apart, _ = run(stagesim, folder, arrangement="apart", engines=2)
    CHECK.near(apart["transfer_most_bytes"], (2 * 4 * layer + ends) / 2 + whole, "half of what is shared, all norms")
    CHECK.near(apart["transfer_bytes"], 4 * apart["transfer_most_bytes"], "four GPUs")
    CHECK.that(apart["memory"]["fits"] and apart["memory"]["phases"]["training_bytes"] < 80e9, "the trainer fits")
    small, _ = run(stagesim, folder, trainer=TRAINER[:-1] + ", memory: {reserve: 90%}}", pack=65536,
                   prompts=64, output=1500)
    CHECK.that(not small["memory"]["fits"], "a trainer that does not")
    same, _ = run(stagesim, folder)
    CHECK.near(same["transfer_bytes"], 0, "the same layout on the same GPUs")


def check_models(stagesim, folder):
    """Models beside the policy: a reference has its weights, which a GPU of an engine with the same layout gets; a
    critic its states. On the host they come for their phases, otherwise they are always there."""
    more = {"arrangement": "apart", "engines": 2, "critic": "true", "reward_model": "true", "host_rate": "10GBps"}
    plain, _ = run(stagesim, folder, arrangement="apart", engines=2, reference="false")
    weights, states = plain["transfer_most_bytes"], plain["memory"]["trainer_states_bytes"]
    host, _ = run(stagesim, folder, models="host", **more)
    held, alone = host["memory"]["phases"], plain["memory"]["phases"]
    CHECK.near(plain["phases"]["swap_s"], 0, "no other model")
    CHECK.near(host["phases"]["swap_s"], (2 * weights + 2 * states) / 10e9, "models in and out")
    CHECK.near(host["step_s"], sum(parts(host)), "and the step has it")
    CHECK.that(states < alone["old_log_probabilities_bytes"] < alone["training_bytes"], "a forward has less under way")
    CHECK.that([alone[f"{name}_bytes"] for name in ("reference", "reward_model", "values")] == [0, 0, 0], "none")
    for name, bytes_ in (("old_log_probabilities", 0), ("reference", weights), ("reward_model", weights),
                         ("values", states)):
        CHECK.near(held[f"{name}_bytes"], alone["old_log_probabilities_bytes"] + bytes_, name)
    CHECK.near(held["training_bytes"], alone["training_bytes"] + states, "a critic's training")
    CHECK.near(held["generation_bytes"], host["memory"]["weights_bytes"] + host["memory"]["cache_bytes"], "an engine")
    more.pop("host_rate")
    gpu, _ = run(stagesim, folder, models="gpu", **more)
    for name in ("old_log_probabilities", "reference", "reward_model", "values", "training"):
        own = "training" if name == "training" else "old_log_probabilities"
        CHECK.near(gpu["memory"]["phases"][f"{name}_bytes"], alone[f"{own}_bytes"] + 2 * weights + states,
                   f"gpu, {name}")
    CHECK.near(gpu["phases"]["swap_s"], 0, "nothing moves")
    turns = {"reward_model": "true", "offload": "false"}
    free, _ = run(stagesim, folder, models="host", **turns)
    full, _ = run(stagesim, folder, models="gpu", **turns)
    CHECK.near(free["memory"]["cache_bytes"] - full["memory"]["cache_bytes"], 2 * weights, "the cache has less room")
    CHECK.near(full["memory"]["phases"]["generation_bytes"], free["memory"]["phases"]["generation_bytes"], "all of it")
    wide, fits = {"arrangement": "apart", "engines": 2, "pack": 65536, "prompts": 64, "output": 1500}, []
    for models, reserve in (("host", 0), ("gpu", 88), ("host", 88), ("host", 89)):
        found, _ = run(stagesim, folder, trainer=f"{TRAINER[:-1]}, memory: {{reserve: {reserve}%}}}}", critic="true",
                       models=models, **wide)
        most = max(value for key, value in found["memory"]["phases"].items() if key != "generation_bytes")
        fits.append(found["memory"]["fits"])
        CHECK.that(fits[-1] == (most <= 80e9 * (1 - reserve / 100)), f"fits: {most}, {reserve} %")
    CHECK.that({*fits} == {True, False}, f"some fit: {fits}")


def check_files(stagesim, folder):
    """Pictures, the page and a trace have the boxes of the steps."""
    for arrangement, pools in (("colocated", ("GPUs",)), ("async", ("engines", "trainer"))):
        run(stagesim, folder, arrangement=arrangement)
        out = folder / f"files-{arrangement}"
        tool.run(stagesim, "run", folder / "s.yaml", "-o", out, "--trace", "paje,csv", "--picture", "svg", "--report",
                 "--quiet")
        trace, svg, page = ((out / name).read_text() for name in ("timeline.paje", "timeline.svg", "report.html"))
        for pool in pools:
            CHECK.that(f'"{pool}"' in trace, f"{arrangement}: {pool} in the trace")
        with open(out / "steps.csv") as file:
            steps = len(list(csv.DictReader(file)))
        CHECK.that(trace.count('"generation"') == steps == trace.count('"training"'), f"{arrangement}: phases of steps")
        pushed, popped = (sum(line.startswith(event) for line in trace.splitlines()) for event in ("7 ", "8 "))
        CHECK.that(pushed == popped > 2 * steps - 1, f"{arrangement}: what begins ends")
        levers = json.loads((out / "summary.json").read_text())["levers"]
        table = page.split("What a change would give</h2>")[1].split("</table>")[0]
        shown = [float(row.split("<td class=\"n\">")[2].split("<")[0]) for row in table.split("<tr>")[2:]]
        step = json.loads((out / "summary.json").read_text())["step_s"]
        CHECK.that(len(shown) == len(levers), f"{arrangement}: changes on the page: {shown}")
        for value, seconds in zip(shown, levers.values()):
            CHECK.near(value, step / seconds, f"{arrangement}: a change on the page", 6e-3)
        CHECK.that("<svg" in svg and "<svg" in page and "What GPUs are at" in page, f"{arrangement}: page")
    found = tool.run(stagesim, "run", folder / "s.yaml", "-o", folder / "none", "--trace", "chrome", expect=1)
    CHECK.that("expected paje" in found.stderr and not (folder / "none").exists(), "no operations")


BAD = (
    ("rl: {promptz: 3}", "did you mean 'prompts'?"),
    ("rl: {staleness: 2}", "goes with arrangement: async"),
    ("rl: {arrangement: apart, offload: true}", "goes with arrangement: colocated"),
    ("rl: {arrangement: apart, reference: false, host_rate: 3GBps}", "nothing moves to or from the host"),
    ("rl: {arrangement: apart, models: gpu, host_rate: 3GBps}", "nothing moves to or from the host"),
    ("rl: {reference: false, models: gpu}", "and there is none; expected one"),
    ("rl: {models: disk}", "expected"),
    ("rl: {arrangement: apart, steps: 2}", "expected at least 3"),
    ("rl: {arrangement: async, staleness: 3, steps: 8}", "expected at least 9"),
    ("rl: {mini_batch: 5000}", "expected no more"),
    ("rl: {engines: 9}", "do not fit"),
    ("rl: {pool: [1, 9]}", "do not fit"),
    ("rl: {padded_rate: 1GBps}", "expected rl.padded, too"),
    ("rl: {pool: [1, 0]}", "expected"),
    ("rl: {pool: [1, 2], engines: 2}", "expected no rl.engines beside it"),
    ("rl: {pool: [1, 2], arrangement: async, partial: true}", "expected partial: false"),
    ("rl: {pool: [1, 2, 1], steps: 4}", "expected such as 6"),
    ("rl: {arrangement: apart, engines: 9}", "and the platform 8"),
    ("rl: {arrangement: apart, engines: 3}", "and the platform 8"),
    ("rl: {output: 3e7}", "the cache room for"),
    ("rl: {}\nworkload: stages", "expected rl"),
)

BAD_TRAINERS = (
    ("", "trainer is missing; expected the job"),
    ("trainer: 5", "trainer is the text '5'; expected"),
    ("trainer: [5]", "trainer is a list; expected"),
    ("trainer: {batch: {micro: 1}}", "expected rl.pack and rl.mini_batch"),
    ("trainer: {model: llama3-8b}", "'model' is not a key of trainer"),
    ("trainer: {engine: simgrid}", "'engine' is not a key of trainer"),
    ("trainer: {parallels: {data: 2}}", "did you mean 'parallel'?"),
)


def check_refused(stagesim, folder):
    for text, expected in BAD:
        (folder / "bad.yaml").write_text(f"platform: p.xml\nmodel: {MODEL}\ntrainer: {TRAINER}\ngeneration: "
                                         f"{{tensor: 2}}\n{text}\n")
        found = tool.run(stagesim, "run", folder / "bad.yaml", expect=1)
        CHECK.that(expected in found.stderr and "bad.yaml:" in found.stderr, f"{text}: {found.stderr}")
    wide = TRAINER.replace("data: 2", "data: 8")
    (folder / "bad.yaml").write_text(f"platform: p.xml\nmodel: {MODEL}\ntrainer: {wide}\nrl: {{}}\n")
    for command in ("run", "check"):
        found = tool.run(stagesim, command, folder / "bad.yaml", expect=1).stderr
        CHECK.that("have 16 GPUs, and the platform 8" in found, f"{command}: {found}")
    for trainer, expected in BAD_TRAINERS:
        (folder / "bad.yaml").write_text(f"platform: p.xml\nmodel: {MODEL}\nrl: {{}}\n{trainer}\n")
        found = tool.run(stagesim, "check", folder / "bad.yaml", expect=1).stderr
        CHECK.that(expected in found and "bad.yaml:" in found, f"{trainer}: {found}")


def main():
    stagesim = tool.binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        platform(folder)
        check_arrangements(stagesim, folder)
        check_engines(stagesim, folder)
        check_pools(stagesim, folder)
        check_levers(stagesim, folder)
        check_bytes(stagesim, folder)
        check_models(stagesim, folder)
        check_files(stagesim, folder)
        check_refused(stagesim, folder)
    return CHECK.done()


sys.exit(main())
