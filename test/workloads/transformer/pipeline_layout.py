#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Texts of --pipeline-model-parallel-layout, read by a second implementation: what Megatron-LM takes and what it
refuses, what each stage then holds; and the normal form, which reads back as what it was made of, to the byte.

pipeline_layout.py PRINT-LAYOUTS STAGESIM"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool  # noqa: E402

ROUNDS = 10000


def stages_of(text):
    """The stages' letters, by regular expressions on the whole text."""
    text = text.replace(",", "")
    for pattern in (r"\(([^)]+)\)\*([0-9]+)", r"(.)\*([0-9]+)"):
        text = re.sub(pattern, lambda found: found.group(1) * int(found.group(2)), text)
    return text.split("|")


def expected(text, workers):
    """(counts, stage of E, stage of L, m), or None where the text is refused."""
    stages = stages_of(text)
    flat = "".join(stages)
    good = set(flat) <= set("EtmL") and flat.count("E") == 1 and flat.count("L") == 1
    good = good and flat[0] == "E" and flat[-1] == "L" and "t" not in flat[len(flat.split("m")[0]):]
    with_m = [i for i, stage in enumerate(stages) if "m" in stage]
    good = good and len(with_m) <= 1
    if workers:
        good = good and len(stages) % workers == 0 and all(i >= len(stages) - workers for i in with_m)
    if not good:
        return None
    place = {letter: next(i for i, stage in enumerate(stages) if letter in stage) for letter in "EL"}
    return ([stage.count("t") for stage in stages], place["E"], place["L"],
            (with_m[0], flat.count("m")) if with_m else None)


def ask(program, lines):
    answer = subprocess.run([program], input="".join(f"{workers} {text}\n" for workers, text in lines),
                            capture_output=True, text=True, check=True, timeout=60)
    return answer.stdout.splitlines()


def parsed(line):
    """What the program said of a text: its normal form and the stages."""
    words = line.split(" ")
    if words[0] != "ok":
        return None, None
    counts = [int(word) for word in words[2:] if word.isdigit()]
    places = {word[0]: word[1:] for word in words[2:] if not word.isdigit()}
    prediction = tuple(map(int, places["m"].split("*"))) if "m" in places else None
    return words[1], (counts, int(places["E"]), int(places["L"]), prediction)


def good_text(draw):
    """One that is meant well: stages, brackets, factors and commas at random."""
    parts = ["E"] + [draw.choice(["t", "tt", "t*3", "|", "|", "t|", "(tt|)*3", "(t|)*2", "(t*2,|t)*2", "|*2", ",",
                                  "t*11", "(|)*2", "t*0"]) for _ in range(draw.randrange(9))]
    parts += draw.choice([[], [], [], ["|m"], ["m*2"], ["|", "mm"]])
    return "".join(parts) + draw.choice(["L", "|L", ",L", "|L|", "tL"])


def any_text(draw):
    """Characters in any order, or a good text with one of them changed."""
    letters = "EtmL|,()*0123x t|t|"
    if draw.random() < 0.5:
        return "".join(draw.choice(letters) for _ in range(draw.randrange(12)))
    text, at = good_text(draw), 0
    at = draw.randrange(len(text))
    return text[:at] + draw.choice(["", draw.choice(letters)]) + text[at + 1:]


def check_random(checker, program):
    draw = random.Random(17)
    lines = [(draw.choice([0, 0, 1, 2, 4]), (good_text if i % 2 else any_text)(draw)) for i in range(ROUNDS)]
    found = [parsed(line) for line in ask(program, lines)]
    checker.that(len(found) == ROUNDS, "an answer for every line")
    for (workers, text), (_, stages) in zip(lines, found):
        wanted = expected(text, workers)
        checker.that(stages == wanted, f"{text!r} on {workers} workers: {stages}, expected {wanted}")
    good = [(form, stages) for form, stages in found if form]
    checker.that(ROUNDS / 4 < len(good) < 3 * ROUNDS / 4, f"{len(good)} of {ROUNDS} are layouts: too few or too many")
    for (form, stages), again in zip(good, map(parsed, ask(program, [(0, form) for form, _ in good]))):
        checker.that(again == (form, stages), f"{form!r} reads back as {again}")


def check_known(checker, program):
    """The examples of the documentation, the forms that are written, and where mistakes are."""
    forms = {"Et|(tt|)*6,tL": "Et|(tt|)*6tL", "Ettt|(tt|)*29,m|L": "Ettt|(tt|)*29m|L", "Et*12|L": "Et*12|L",
             "Etttt|tttt|ttttL": "Et*4|t*4|t*4L", "E|||tL": "E||*2tL", "E,t,|,t,t,|,t,t,|,L": "Et|(tt|)*2L"}
    for (text, form), line in zip(forms.items(), ask(program, [(0, text) for text in forms])):
        checker.that(parsed(line)[0] == form, f"{text!r}: {line}, expected {form!r}")
    faults = {(0, "Et|xt|L"): "character 4: expected E, t, m, L or |, not 'x'",
              (0, "t|L"): "character 1: the embedding (E) comes before everything else",
              (0, "Et|L,t"): "character 6: the output (L) comes after everything else",
              (0, "Et|(t|t|)L"):
                  "character 4: '(' does not belong to a repetition; expected (...)*n or x*n, not nested",
              (0, "Et|((t)*2|)*2L"): "character 5: '(' does not belong",
              (0, "Et|t"): "the output (L) at the end is missing",
              (0, "|"): "the embedding (E) is missing",
              (0, "Et|m|tL"): "character 6: a layer (t) does not follow m",
              (0, "Et|m|mL"): "character 6: all m are in one stage",
              (0, "EE|L"): "character 2: there is one embedding (E)",
              (3, "Et|tL"): "2 stages are no multiple of the 3 workers of the pipeline",
              (2, "Et|m||L"): "m is in stage 1; expected it in the last stage of its worker, one of 2 to 3",
              (0, "Et*999999999999|L"): "character 2 repeats to more than 131072 layers and stages",
              (0, "E(t*99999|)*99999L"): "repeats to more than 131072 layers and stages"}
    for ((workers, text), fault), line in zip(faults.items(), ask(program, list(faults))):
        checker.that(line.startswith("refused ") and fault in line, f"{text!r}: {line}, expected {fault!r}")


SCENARIO = """platform: dgx-a100:1
workload: transformer
model: {layers: 14, hidden: 1024, sequence: 512, vocabulary: 32000, heads: 16}
parallel: {pipeline: 4}
batch: {micro: 1, micro_batches: 8}
schedule: {name: interleaved, chunks: 2}
compute: {precision: bf16}
"""


def summary(binary, folder, *arguments):
    run = tool.run(binary, "run", "s.yaml", "-o", "out", "--quiet", "--engine", "analytic", *arguments, cwd=folder)
    found = json.loads((pathlib.Path(folder) / "out/summary.json").read_text())
    return found, run.stdout


def check_scenario(checker, binary):
    """The same layers by list and by text give the same figures; balance: auto says in the text what it chose."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "s.yaml").write_text(SCENARIO)
        by_list, printed = summary(binary, folder, "--set", "transformer.layers_per_stage=[1,2,2,2,2,2,2,1]")
        by_text, _ = summary(binary, folder, "--set", "transformer.pipeline_layout='Et|(tt|)*6,tL'")
        for found in (by_list, by_text):
            del found["simulation"]
        checker.that(by_list == by_text, "a list and a text of the same layers differ")
        checker.that(by_list["scenario"]["pipeline_layout"] == "Et|(tt|)*6tL", by_list["scenario"])
        checker.that("pipeline layout    Et|(tt|)*6tL\n" in printed, printed)
        chosen, _ = summary(binary, folder, "--set", "transformer.balance=auto")
        text = chosen["scenario"]["pipeline_layout"]
        again, _ = summary(binary, folder, "--set", f"transformer.pipeline_layout='{text}'")
        checker.that(sum(expected(text, 4)[0]) == 14 and again["time"] == chosen["time"], f"balance: auto says {text}")
        said = tool.run(binary, "check", "s.yaml", "--set", "transformer.balance=auto", cwd=folder).stdout
        checker.that(f"pipeline layout {text}\n" in said, said)
        even, _ = summary(binary, folder, "--set", "model.layers=16")
        checker.that("pipeline_layout" not in even["scenario"], "equal stages need no layout")


def main():
    checker = tool.Checker()
    check_known(checker, sys.argv[1])
    check_random(checker, sys.argv[1])
    check_scenario(checker, pathlib.Path(sys.argv[2]).resolve())
    return checker.done()


sys.exit(main())
