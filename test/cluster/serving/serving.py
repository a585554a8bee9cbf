#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""serving.py STAGESIM: an engine against a second computation of its steps and of continuous batching, written here
from the page; laws that hold for every engine; what is refused."""
import csv
import json
import math
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool

BANDWIDTH, PEAK, MEMORY = 2e12, 300e12, 40 * 2 ** 30
LAYERS, H, HEADS, KV, SIZE, FFN, VOCABULARY = 6, 2048, 16, 4, 128, 5632, 32000
WEIGHT, CACHE, COMPUTE, LAUNCH, ATTENTION, HOST, SEQUENCE, WAITS = 0.8, 0.6, 0.5, 3e-6, 7e-6, 1e-3, 1e-5, 3e-6
MODEL = f"""{{layers: {LAYERS}, hidden: {H}, heads: {HEADS}, kv_heads: {KV}, head_size: {SIZE}, ffn: {FFN},
  vocabulary: {VOCABULARY}, sequence: 4096, gated: true, norm: rms, tied: false, biases: false, dropout: false"""
GENERATION = {"memory_share": WEIGHT, "cache_share": CACHE, "compute_share": COMPUTE, "launch": f"{LAUNCH}s",
              "attention_launch": f"{ATTENTION}s", "host": f"{HOST}s", "sequence": f"{SEQUENCE}s",
              "waits": f"{WAITS}s", "eager": "0s", "kernels": "none", "reserve": "0B"}
HOST_XML = (f'<prop id="memory" value="{MEMORY}B"/><prop id="memory_bandwidth" value="2000GBps"/>'
            '<prop id="peak_bf16" value="300Tf"/><prop id="peak_fp8" value="600Tf"/>')


CHECK = tool.Checker()


def platform(folder, hosts=4):
    inside = "".join(f'<host id="g{i}" speed="300Tf">{HOST_XML}</host><link id="l{i}" bandwidth="100GBps" '
                     'latency="1us"/>' for i in range(hosts))
    routes = "".join(f'<route src="g{i}" dst="g{k}"><link_ctn id="l{i}"/><link_ctn id="l{k}"/></route>'
                     for i in range(hosts) for k in range(i + 1, hosts))
    (folder / "p.xml").write_text(tool.HEAD + f'<zone id="z" routing="Full">{inside}{routes}</zone></platform>\n')


def flow(values):
    return "{" + ", ".join(f"{key}: {value}" for key, value in values.items()) + "}"


def run(stagesim, folder, serving, model=MODEL, **generation):
    """The summary, and a row a request."""
    (folder / "s.yaml").write_text(f"platform: p.xml\nworkload: serving\nmodel: {model}}}\n"
                                   f"generation: {flow({**GENERATION, **generation})}\nserving: {flow(serving)}\n"
                                   "output: {trace: csv}\n")
    tool.run(stagesim, "run", folder / "s.yaml", "-o", folder / "out", "--quiet")
    with open(folder / "out/requests.csv") as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    return json.loads((folder / "out/summary.json").read_text()), rows


# ---- a step, as doc/serving.md has it, of bf16 on one GPU ----


def product(rows, columns, inner, element=2):
    moved = element * columns * inner + 2 * rows * (columns + inner)
    return LAUNCH + max(moved / (BANDWIDTH * WEIGHT), 2 * rows * columns * inner / (PEAK * COMPUTE))


def move(count):
    return LAUNCH + count / (BANDWIDTH * WEIGHT)


def step(decoding, context, prefill=0, pairs=0, sampled=None, eager=0):
    rows, sampled = decoding + prefill, decoding if sampled is None else sampled
    query, keys = HEADS * SIZE, KV * SIZE
    layer = 2 * move(4 * rows * H) + product(rows, query + 2 * keys, H) + move(4 * rows * (query + 2 * keys))
    layer += product(rows, H, query) + product(rows, 2 * FFN, H) + move(6 * rows * FFN) + product(rows, H, FFN)
    if context:
        layer += ATTENTION + max(4 * keys * context / (BANDWIDTH * CACHE), 4 * query * context / (PEAK * COMPUTE))
    if pairs:
        layer += LAUNCH + 4 * query * pairs / (PEAK * COMPUTE)
    computing, operators = LAYERS * layer + move(6 * rows * H), LAYERS * (8 + bool(context) + bool(pairs)) + 1
    if sampled:
        computing += move(4 * sampled * H) + product(sampled, VOCABULARY, H) + move(18 * sampled * VOCABULARY)
        operators += 3
    if prefill:
        computing = max(computing, operators * eager)
    return computing + HOST + sampled * WAITS + max(0, sampled * SEQUENCE - computing)


def room():
    """Tokens of the cache."""
    layer = 2 * H * (HEADS + KV) * SIZE + 3 * H * FFN + 2 * H
    return (0.9 * MEMORY - 2 * (LAYERS * layer + 2 * VOCABULARY * H)) / (LAYERS * 4 * KV * SIZE)


# ---- continuous batching, one step at a time ----


class Batching:
    """An engine whose requests are (arrival, prompt, output). `tools`: (turns, seconds, answer, whether a request that
    waits keeps its tokens in the cache). `server`: (requests that are under way at most, or 0; seconds in which one is
    read, and those of a token of its prompt; steps after which the engine looks for them; whether prompts have steps of
    their own; seconds in which an operator of these is launched)."""

    def __init__(self, requests, tokens, sequences, budget, tools=(1, 0, 0, False), server=(0, 0, 0, 1, False, 0)):
        self.requests, self.tokens, self.sequences, self.budget, self.tools = requests, tokens, sequences, budget, tools
        count = range(len(requests))
        self.now, self.running, self.filling, self.again, self.coming, self.out = 0.0, [], [], [], list(count), {}
        self.away, self.back, self.kept, self.recomputed, self.preempted = [], [], {}, 0, 0
        self.server, self.unread, self.ready, self.read, self.polled, self.since = server, list(count), {}, 0, 0, 0
        self.made, self.calls, self.first = dict.fromkeys(count, 0), dict.fromkeys(count, 0), {}

    def used(self):
        return sum(held for _, held, _ in self.running + self.filling) + sum(self.kept.values())

    def receive(self):
        limit, front, token, polls, _, _ = self.server
        while self.unread and (not limit or len(self.ready) - len(self.out) < limit):
            arrival, prompt, _ = self.requests[self.unread[0]]
            self.read = max(self.read, arrival, self.now if limit else 0) + front + token * prompt
            self.ready[self.unread.pop(0)] = self.read
        if self.since >= polls or not self.running:
            self.polled, self.since = self.now, 0

    def stop(self, who):
        """Tokens of the output before the next tool, or all."""
        turns = min(self.tools[0], self.requests[who][2])
        return (self.calls[who] + 1) * self.requests[who][2] // turns

    def make_room(self):
        if self.kept:
            del self.kept[next(iter(self.kept))]
        elif len(self.running) > 1:
            who, _, left = max(self.running)
            self.made[who] = self.stop(who) - left
            self.running.remove(max(self.running))
            self.again.append(who)
            self.preempted += 1
        else:
            return False
        return True

    def full(self):
        return self.used() + len(self.running) > self.tokens

    def has_room(self, who, held):
        """For one that waits, if need be without what others left."""
        def over(without):
            return self.used() + held - self.kept.get(who, 0) + len(self.running) - without > self.tokens
        others = [other for other in self.kept if other != who]
        if over(sum(self.kept[other] for other in others)) and self.running + self.filling:
            return False
        for other in others:
            if over(0):
                del self.kept[other]
        return True

    def room_for_prompts(self):
        return self.budget - (0 if self.server[4] else len(self.running))

    def admit(self):
        free = self.room_for_prompts() - sum(left for _, _, left in self.filling)
        while free > 0 and len(self.running) + len(self.filling) < self.sequences:
            here = self.coming and self.ready.get(self.coming[0], math.inf) <= self.polled
            queue = self.again or self.back or (self.coming if here else [])
            if not queue:
                return
            who = queue[-1] if queue is self.again else queue[0]
            held = self.requests[who][1] + self.made[who] + self.calls[who] * self.tools[2]
            if not self.has_room(who, held):
                return
            self.recomputed += queue is self.back and who not in self.kept
            fresh = held - self.kept.pop(who, 0)
            queue.remove(who)
            self.filling.append((who, held, fresh))
            free -= fresh

    def fill(self):
        free, prefill, pairs, ends = max(1, self.room_for_prompts()), 0, 0, []
        for i, (who, held, left) in enumerate(self.filling):
            piece, before = min(free, left), held - left
            prefill, pairs, free = prefill + piece, pairs + piece * before + piece * (piece + 1) / 2, free - piece
            self.filling[i] = (who, held, left - piece)
            ends += [(who, held)] if piece and left == piece else []
        self.decode(prefill, pairs, len(ends))
        self.since = self.server[3]
        for who, held in ends:
            self.first.setdefault(who, self.now)
            self.running.append((who, held, self.stop(who) - self.made[who] - 1))
        self.filling = self.filling[len(ends):]

    def decode(self, prefill=0, pairs=0, ended=0):
        running = [] if prefill and self.server[4] else self.running
        count = len(running)
        self.now += step(count, sum(held for _, held, _ in running), prefill, pairs, count + ended, self.server[5])
        self.since += 1
        if running is not self.running:
            return
        self.running = [(who, held + 1, left - 1) for who, held, left in self.running]

    def end(self):
        turns, seconds, _, keeps = self.tools
        for who, held, left in sorted(self.running):
            if left:
                continue
            self.made[who] = self.stop(who)
            if self.calls[who] + 1 == min(turns, self.requests[who][2]):
                self.out[who] = (self.first[who], self.now)
                continue
            self.calls[who] += 1
            self.away.append((self.now + seconds, who))
            if keeps:
                self.kept[who] = held
        self.running = [row for row in self.running if row[2] > 0]

    def run(self):
        """(first, last) of each; the youngest is thrown out where the cache is full."""
        while self.coming or self.again or self.running or self.filling or self.away or self.back:
            self.back += [who for at, who in sorted(self.away) if at <= self.now]
            self.away = [row for row in self.away if row[0] > self.now]
            self.receive()
            self.admit()
            if self.filling:
                while self.full() and self.make_room():
                    pass
                self.fill()
            elif self.running:
                if self.full() and self.make_room():
                    continue
                self.decode()
            else:
                self.now = min([at for at, _ in self.away] + [self.ready[who] for who in self.coming[:1]])
            self.end()
        return [self.out[i] for i in range(len(self.requests))]


def near(value, expected, what):
    CHECK.near(value / expected if expected else value + 1, 1, f"{what}: {value!r}, expected {expected!r}")


def check_constant(stagesim, folder):
    """With equal lengths and room for all the roofline, summed."""
    for count, prompt, output in ((1, 1, 1), (1, 100, 400), (16, 50, 300), (64, 100, 33)):
        summary, rows = run(stagesim, folder, {"requests": count, "prompt": prompt, "output": output})
        budget, pairs, seconds, begin = count * prompt, count * prompt * (prompt + 1) / 2, 0, 0
        assert budget <= 8192
        begin = step(0, 0, budget, pairs, count)
        seconds = begin + sum(step(count, count * (prompt + i)) for i in range(output - 1))
        near(summary["makespan_s"], seconds, f"{count} requests")
        near(summary["first_token_s"]["most"], begin, "the first token")
        near(summary["output_tokens"], count * output, "tokens")
        CHECK.that(len(rows) == count, "rows")
        near(summary["memory"]["cache_tokens"], room(), "room")


def check_batching(stagesim, folder, seed):
    draw = random.Random(seed)
    count, memory = 40, draw.choice((0.9, 0.0196, 0.0192))
    requests, now = [], 0.0
    for _ in range(count):
        now += draw.choice((0, 0, draw.expovariate(20)))
        requests.append((now, draw.randint(1, 600), draw.randint(1, 300)))
    sequences, budget = draw.choice((4, 16, 64)), draw.choice((64, 500, 4096))
    lines = "".join(f"{arrival!r}s,{prompt},{output}\n" for arrival, prompt, output in requests)
    (folder / "log.csv").write_text("arrival,prompt,output\n" + lines)
    summary, rows = run(stagesim, folder, {"log": "log.csv"}, sequences=sequences, tokens=budget, memory=memory)
    expected = Batching(requests, summary["memory"]["cache_tokens"], sequences, budget).run()
    for i, (row, (first, last)) in enumerate(zip(rows, expected)):
        near(row["first_token_s"], first, f"seed {seed}: first token of {i}")
        near(row["last_token_s"], last, f"seed {seed}: last token of {i}")
        CHECK.that(row["arrival_s"] <= row["scheduled_s"] < row["first_token_s"] <= row["last_token_s"], f"order {i}")
    CHECK.that(summary["output_tokens"] == sum(output for _, _, output in requests), "tokens are conserved")
    return summary["preempted"]


def check_server(stagesim, folder, seed):
    """What is between those who ask and the engine: the reading of requests, when it looks for them, steps of prompts
    that wait for launches or are alone."""
    draw = random.Random(seed)
    count, concurrency, front, token = 30, draw.choice((0, 3, 8)), draw.choice((0, 0.02)), draw.choice((0, 1e-4))
    polls, alone, eager = draw.choice((1, 7, 20)), draw.random() < 0.5, draw.choice((0, 3e-4))
    requests = [(0 if concurrency else 0.05 * i, draw.randint(1, 900), draw.randint(1, 60)) for i in range(count)]
    serving = {"front": f"{front}s", "front_token": f"{token}s"}
    if concurrency:
        _, prompts, outputs = (list(column) for column in zip(*requests))
        serving |= {"requests": count, "concurrency": concurrency, "prompt": f"{{samples: {prompts}}}",
                    "output": f"{{samples: {outputs}}}"}
    else:
        serving["log"] = str([dict(zip(("arrival", "prompt", "output"), (f"{row[0]}s", *row[1:]))) for row in requests]
                             ).replace("'", "")
    _, rows = run(stagesim, folder, serving, sequences=16, tokens=500, polls=polls, eager=f"{eager}s",
                  prompts="alone" if alone else "mixed")
    expected = Batching(requests, 1e9, 16, 500, server=(concurrency, front, token, polls, alone, eager)).run()
    for i, (row, (first, last)) in enumerate(zip(rows, expected)):
        near(row["first_token_s"], first, f"server, seed {seed}: first token of {i}")
        near(row["last_token_s"], last, f"server, seed {seed}: last token of {i}")


def check_laws(stagesim, folder):
    lengths = {"requests": 60, "prompt": 200, "output": "{log-normal: {mean: 300, deviation: 400}}", "most": 2000}
    summary, rows = run(stagesim, folder, lengths)
    longest = max(row["output"] for row in rows)
    CHECK.that(longest > 1000, "there is a tail")
    alone, _ = run(stagesim, folder, {"requests": 1, "prompt": 200, "output": int(longest)})
    CHECK.that(summary["makespan_s"] >= alone["makespan_s"], "no generation is shorter than its longest sample alone")
    for extra in ({}, {"weights": "fp8"}, {"cache": "fp8"}, {"tensor": 2}, {"tensor": 4, "pipeline": 1},
                  {"pipeline": 2}, {"data": 2, "expert": 1}, {"speculative": 3}):
        found, _ = run(stagesim, folder, lengths, **extra)
        CHECK.that(0 < found["step"]["roofline"] <= 1, f"{extra}: the roofline is exceeded")
        near(sum(found["step"][part] for part in ("weights", "cache", "transfers", "host")), 1, "parts of a step")
    times = [run(stagesim, folder, {"requests": 8, "prompt": prompt, "output": 50})[0]["further_token_s"]["mean"]
             for prompt in (10, 100, 1000, 5000)]
    CHECK.that(times == sorted(times), "a longer context is not faster")
    rates = [run(stagesim, folder, lengths, memory=memory)[0]["tokens_per_s"] for memory in (0.0196, 0.0202, 0.03, 0.9)]
    CHECK.that(all(b >= a * (1 - 1e-9) for a, b in zip(rates, rates[1:])), f"more memory is not slower: {rates}")


def on_gpu(stagesim, folder, platform, serving, **generation):
    (folder / "g.yaml").write_text(f"platform: {platform}\nmodel: llama3-8b\ngeneration: {flow(generation)}\n"
                                   f"serving: {flow(serving)}\n")
    tool.run(stagesim, "run", folder / "g.yaml", "-o", folder / "gpu", "--quiet")
    return json.loads((folder / "gpu/summary.json").read_text())


def check_measured(stagesim, folder):
    """Attention by measured kernels: as `stagesim kernel` says on the grid's points, on lines between them, never
    faster with more tokens or sequences; where there are none that is said."""
    def beside(batch, tokens):
        found = on_gpu(stagesim, folder, "dgx-h100:1", {"requests": batch, "prompt": tokens, "output": 2},
                       tokens=1000000, sequence="0s")
        CHECK.that(found["step"]["roofline"] <= 1, "the roofline is exceeded")
        CHECK.that(found["attention"].startswith("vllm-"), f"the source: {found['attention']}")
        return found["further_token_s"]["mean"]

    def kernel(batch, tokens):
        return json.loads(tool.run(stagesim, "kernel", "decode", "--gpu", "H100", "--batch", batch, "--heads", 32,
                                   "--kv-heads", 8, "--sequence", tokens, "--head-size", 128, "--format", "json"
                                   ).stdout)["seconds"]

    for batch in (1, 64):
        few, some, many = (beside(batch, tokens) for tokens in (2048, 3072, 4096))
        CHECK.that(few <= some <= many, f"{batch}: more tokens are not faster")
        CHECK.near(2 * some / (few + many), 1, f"{batch}: between two points", 1e-9)
        CHECK.near((many - few) / (32 * (kernel(batch, 4096) - kernel(batch, 2048))), 1, f"{batch}: 32 layers", 1e-6)
    none = on_gpu(stagesim, folder, "dgx-h100:1", {"requests": 1}, kernels="none")
    CHECK.that(none["attention"] == "not measured", "not measured")
    text = tool.run(stagesim, "run", folder / "g.yaml").stdout
    CHECK.that("attention    not measured" in text, f"that is said: {text}")


def check_shapes(stagesim, folder):
    """Cache by kind of layer: windows, latent attention; samples of one prompt; guesses; concurrency."""
    plain, _ = run(stagesim, folder, {"requests": 1, "prompt": 10, "output": 10})
    latent = MODEL + ", query_rank: 512, kv_rank: 448, rope_size: 64, value_size: 128"
    narrow, _ = run(stagesim, folder, {"requests": 1, "prompt": 10, "output": 10}, model=latent)
    near(plain["memory"]["cache_bytes"] / plain["memory"]["cache_tokens"], LAYERS * 4 * KV * SIZE, "bytes of a token")
    near(narrow["memory"]["cache_bytes"] / narrow["memory"]["cache_tokens"], LAYERS * 2 * 512, "bytes of a latent one")
    several = {"requests": 4, "samples": 8, "prompt": 1000, "output": 20}
    shared, _ = run(stagesim, folder, several)
    own, _ = run(stagesim, folder, several, shares_prompts="false")
    CHECK.that(shared["memory"]["cache_used"] < 0.2 * own["memory"]["cache_used"], "prompts are kept once")
    CHECK.that(shared["makespan_s"] < own["makespan_s"], "and computed once")
    guessed, _ = run(stagesim, folder, {"requests": 1, "prompt": 100, "output": 401}, speculative=3, acceptance=1)
    CHECK.that(guessed["steps"] == 1 + 100, f"four tokens a step: {guessed['steps']}")
    closed, rows = run(stagesim, folder, {"requests": 30, "prompt": 100, "output": 50, "concurrency": 5})
    ends, came = (sorted(row[key] for row in rows) for key in ("last_token_s", "arrival_s"))
    CHECK.that(closed["batch"] <= 5 and came == [0.0] * 5 + ends[:25], "five at a time: one comes when another ends")
    waits = [row["first_token_s"] - row["arrival_s"] for row in rows]
    near(closed["first_token_s"]["mean"], sum(waits) / 30, "first tokens, from when requests came")


def check_files(stagesim, folder):
    run(stagesim, folder, {"requests": 30, "rate": 5, "prompt": 100, "output": 50})
    tool.run(stagesim, "run", folder / "s.yaml", "-o", folder / "drawn", "--picture", "svg", "--report", "--quiet")
    page = (folder / "drawn/report.html").read_text()
    CHECK.that("<svg" in (folder / "drawn/timeline.svg").read_text() and "<svg" in page and "Latency" in page, "page")
    found = tool.run(stagesim, "run", folder / "s.yaml", "-o", folder / "none", "--trace", "paje", expect=1)
    CHECK.that("expected csv" in found.stderr and not (folder / "none").exists(), "no operations")


BAD = (
    ("serving: {rate: 3, concurrency: 4}", "expected one of rate and concurrency"),
    ("serving: {prompt: 1e7}", "cache room for"),
    ("serving: {log: [{arrival: 0s, prompt: 5, output: 7}], seed: 3}", "expected one of both"),
    ("serving: {log: [{arrival: 0s, prompt: -5, output: 7}]}", "'-5' is negative"),
    ("serving: {log: [{arrival: 0s, prompt: 5, output: 2.5}]}", "expected a plain integer"),
    ("engine: simgrid\nserving: {}", "expected analytic"),
    ("serving: {request: 3}", "did you mean 'requests'?"),
    ("generation: {tensor: 3}\nserving: {}", "cannot share 16 heads"),
    ("generation: {tensor: 8}\nserving: {}", "the platform 4"),
    ("generation: {expert: 2, tensor: 2}\nserving: {}", "no experts"),
    ("generation: {memory: 0.01}\nserving: {}", "leave no room for a cache"),
    ("workload: stages\nserving: {}", "expected serving"),
)


def check_refused(stagesim, folder):
    for text, expected in BAD:
        (folder / "bad.yaml").write_text(f"platform: p.xml\nmodel: {MODEL}}}\n{text}\n")
        found = tool.run(stagesim, "run", folder / "bad.yaml", expect=1)
        CHECK.that(expected in found.stderr, f"{text}: {found.stderr}")
        CHECK.that("bad.yaml:" in found.stderr, f"{text}: no place in {found.stderr}")


def main():
    stagesim = tool.binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        platform(folder)
        check_constant(stagesim, folder)
        thrown_out = sum(check_batching(stagesim, folder, seed) for seed in range(12))
        CHECK.that(thrown_out > 0, "some case fills the cache")
        for seed in range(12):
            check_server(stagesim, folder, seed)
        check_laws(stagesim, folder)
        check_measured(stagesim, folder)
        check_shapes(stagesim, folder)
        check_files(stagesim, folder)
        check_refused(stagesim, folder)
    return CHECK.done()


if __name__ == "__main__":
    sys.exit(main())
