#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""turns.py STAGESIM: samples that call tools against the second computation of continuous batching in serving.py, and
closed forms: one sample alone, tools that others hide, tokens; what is refused."""
import json
import pathlib
import random
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "support"), str(HERE.parent / "serving")]
import serving
import tool

CHECK = tool.Checker()
TOKEN_BYTES = serving.LAYERS * 4 * serving.KV * serving.SIZE
TRAINER = "{parallel: {data: 1}, compute: {efficiency: 0.4}}"


def write(folder, rl, **generation):
    (folder / "s.yaml").write_text(
        f"platform: p.xml\nmodel: {serving.MODEL}}}\ntrainer: {TRAINER}\n"
        f"generation: {serving.flow({**serving.GENERATION, **generation})}\nrl: {serving.flow({'steps': 1} | rl)}\n")


def run(stagesim, folder, rl, **generation):
    write(folder, rl, **generation)
    tool.run(stagesim, "run", folder / "s.yaml", "-o", folder / "out", "--quiet")
    return json.loads((folder / "out/summary.json").read_text())


def turn(prompt, tokens, fresh):
    """Seconds of a sample alone that reads `fresh` tokens, the last ones of the prompt, and generates some."""
    pairs = fresh * (prompt - fresh) + fresh * (fresh + 1) / 2
    return serving.step(0, 0, fresh, pairs, 1) + sum(serving.step(1, prompt + i) for i in range(tokens - 1))


def check_alone(stagesim, folder):
    """A sample alone: its turns and its tools."""
    for turns, delay, answer, cache in ((1, 0, 0, None), (3, 2.5, 40, "kept"), (3, 2.5, 40, "recomputed"),
                                        (4, 0, 0, "kept"), (7, 1, 300, "recomputed")):
        rl = {"prompts": 1, "samples": 1, "prompt": 100, "output": 420, "turns": turns}
        rl |= {"tool": f"{delay}s", "tool_tokens": answer, "tool_cache": cache} if cache else {}
        found = run(stagesim, folder, rl)
        each, seconds = 420 // turns, (turns - 1) * delay
        for i in range(turns):
            prompt = 100 + i * (each + answer)
            seconds += turn(prompt, each, answer + 1 if cache == "kept" and i else prompt)
        CHECK.near(found["phases"]["generation_s"], seconds, f"{turns} turns, {cache}")
        CHECK.near(found["longest_alone_s"], seconds, f"{turns} turns, {cache}: the longest one")
        CHECK.near(found["tokens"], 520 + (turns - 1) * answer, f"{turns} turns: tokens")
        CHECK.near(found["tool_tokens"], (turns - 1) * answer, f"{turns} turns: tokens of tools")
        CHECK.near(found["tools_s"] + 1, (turns - 1) * delay + 1, f"{turns} turns: seconds of tools")
        CHECK.near(found["recomputed"] + 1, (turns - 1) * (cache == "recomputed") + 1, f"{turns} turns: recomputed")
        CHECK.near(found["engines"]["tools"] * found["step_s"] + 1, (turns - 1) * delay + 1, f"{turns} turns: idle")
        CHECK.near(sum(found["engines"].values()), 1, f"{turns} turns: shares")


def check_hidden(stagesim, folder):
    """Two samples and one place: while one waits for its tool the other one generates."""
    first, second = turn(100, 200, 100), turn(350, 200, 51)
    for delay in (0.0, 0.5 * first, first, 3 * first):
        rl = {"prompts": 2, "samples": 1, "prompt": 100, "output": 400, "turns": 2, "tool": f"{delay!r}s",
              "tool_tokens": 50}
        found = run(stagesim, folder, rl, sequences=1)
        back = first + delay
        begin = max(back, 2 * first) if delay else first  # without a delay it goes on before the other one begins
        expected = begin + second + (first + second if not delay else max(0, back + first - begin - second) + second)
        CHECK.near(found["phases"]["generation_s"], expected, f"two samples, a tool of {delay} s")


def check_random(stagesim, folder, seed):
    """Small caches, few places, unequal outputs."""
    draw = random.Random(seed)
    count, prompt, turns = draw.choice((3, 12, 30)), draw.randint(1, 300), draw.randint(1, 6)
    outputs = sorted(draw.randint(1, 300) for _ in range(count))
    delay, answer, keeps = draw.choice((0.0, 0.125, 2.0)), draw.choice((0, 1, 90)), draw.random() < 0.7
    sequences, budget = draw.choice((2, 8, 64)), draw.choice((64, 500, 4096))
    memory = draw.choice((0.9, 0.0198, 0.0194))
    rl = {"prompts": count, "samples": 1, "prompt": prompt, "output": f"{{samples: {outputs}}}",
          "turns": turns}
    rl |= {"tool": f"{delay}s", "tool_tokens": answer, "tool_cache": "kept" if keeps else "recomputed"} if turns > 1 \
        else {}
    found = run(stagesim, folder, rl, sequences=sequences, tokens=budget, memory=memory)
    engine = serving.Batching([(0, prompt, output) for output in outputs],
                              found["memory"]["cache_bytes"] / TOKEN_BYTES, sequences, budget,
                              (turns, delay, answer, keeps))
    last = max(last for _, last in engine.run())
    what = f"seed {seed}"
    CHECK.near(found["phases"]["generation_s"], last, f"{what}: generation")
    CHECK.near(found["preempted"] + 1, engine.preempted + 1, f"{what}: preempted")
    CHECK.near(found["recomputed"] + 1, engine.recomputed + 1, f"{what}: recomputed")
    answers = sum(min(turns, output) - 1 for output in outputs) * answer
    CHECK.near(found["tokens"], count * prompt + sum(outputs) + answers, f"{what}: tokens")
    return engine.preempted, engine.recomputed * keeps


def check_laws(stagesim, folder):
    """Distributions; groups with one prompt; engines that go on with samples of the next steps."""
    rl = {"prompts": 8, "samples": 4, "prompt": 200, "output": "{log-normal: {mean: 300, deviation: 200}}",
          "turns": "{uniform: [1, 5]}", "tool": "{exponential: 2s}", "tool_tokens": "{uniform: [10, 50]}",
          "arrangement": "async", "seed": 3}
    whole = run(stagesim, folder, rl | {"steps": 9})
    partial = run(stagesim, folder, rl | {"steps": 9, "partial": "true"})
    plain = run(stagesim, folder, rl | {"steps": 9, "tool_tokens": 0})
    none = run(stagesim, folder, {key: value for key, value in rl.items() if not key.startswith("t")} | {"steps": 9})
    CHECK.that(none["phases"]["generation_s"] < whole["phases"]["generation_s"], "tools take time")
    CHECK.that(partial["phases"]["generation_s"] < whole["phases"]["generation_s"], "others hide it")
    CHECK.near(plain["tokens"], none["tokens"], "tools that answer nothing add no tokens")
    CHECK.near(whole["tokens"], plain["tokens"] + whole["tool_tokens"], "what they answer is all that they add")
    CHECK.near(whole["tool_tokens"], 8 * 4 * 2 * 30, "as many as they should", 0.15)
    CHECK.near(whole["tools_s"], 2 * 2, "as long as they should", 0.15)
    for found in (whole, partial):
        for pool in ("engines", "trainer"):
            CHECK.near(sum(found[pool].values()), 1, f"shares of {pool}")


BAD = (
    ({"tool": "3s"}, "'tool' is between turns, and there is one; expected rl.turns"),
    ({"tool_tokens": 3}, "'tool_tokens' is between turns"),
    ({"turns": 1, "tool_cache": "kept"}, "'tool_cache' is between turns"),
    ({"turns": 0.5}, "expected at least 1"),
    ({"turns": 100000}, "expected at most 20000000"),
    ({"turns": 2, "tool_cache": "lost"}, "expected kept or recomputed"),
    ({"turns": 3, "tool_tokens": 1e7}, "the cache room for"),
)


def check_refused(stagesim, folder):
    for rl, expected in BAD:
        write(folder, rl)
        found = tool.run(stagesim, "run", folder / "s.yaml", expect=1).stderr
        CHECK.that(expected in found and "s.yaml:" in found, f"{rl}: {found}")


def main():
    stagesim = tool.binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        serving.platform(folder)
        check_alone(stagesim, folder)
        check_hidden(stagesim, folder)
        seeds = tool.sampled(range(40))
        counts = [check_random(stagesim, folder, seed) for seed in seeds]
        if len(counts) == 40:
            CHECK.that(all(sum(column) for column in zip(*counts)), f"caches are full at times: {counts}")
        check_laws(stagesim, folder)
        check_refused(stagesim, folder)
    return CHECK.done()


sys.exit(main())
