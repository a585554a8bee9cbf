#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""large_inputs.py STAGESIM: files of 0.9 and 2 GB are refused by each command that reads one, at once and without their
size in memory. They begin as such files do, and have holes behind that."""
import itertools
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool  # noqa: E402

SIZES = (900 << 20, 2 << 30)
SECONDS, BYTES = 2, 200 << 20
BEGINNINGS = {
    "scenario.yaml": "platform: dgx-a100:1\nworkload: stages\n",
    "platform.xml": "<?xml version='1.0'?>\n<platform version=\"4.1\">\n",
    "log.csv": "submit,nodes,run\n1,2,3\n", "plan.csv": "worker,kind,stage,micro_batch\n0,forward,0,0\n",
    "profile.csv": "name,forward,backward\nlayer,1ms,2ms\n",
    "run.sh": "#!/bin/bash\ntorchrun pretrain_gpt.py --num-layers 2\n",
    "config.json": '{"hidden_size": 4096,\n', "operations.csv": "submit,nodes,run\n1,2,3\n",
}
BESIDE = {
    "platform.yaml": "platform: platform.xml\nworkload: stages\nstages: {forward: 1ms, backward: 2ms}\n",
    "queue.yaml": "platform: dgx-a100:16\nqueue: {log: log.csv}\n",
    "plan.yaml": "platform: dgx-a100:1\nworkload: stages\nschedule: {file: plan.csv}\n"
                 "stages: {forward: 1ms, backward: 2ms}\n",
    "profile.yaml": "platform: dgx-a100:1\nworkload: transformer\nmodel: gpt2-64\ncompute: {profile: profile.csv}\n",
}
COMMANDS = [
    ["run", "scenario.yaml", "-o", "out"], ["check", "scenario.yaml"], ["run", "platform.yaml", "-o", "out"],
    ["run", "queue.yaml", "-o", "out"], ["run", "plan.yaml", "-o", "out"], ["run", "profile.yaml", "-o", "out"],
    ["import", "run.sh", "-o", "out.yaml"], ["import", "config.json", "-o", "out.yaml"],
    ["explain", "operations.csv", "-o", "out"], ["platform", "import", "platform.xml", "-o", "out.xml"],
]


def fill(folder, size):
    for name, text in BEGINNINGS.items():
        with open(folder / name, "w") as out:
            out.write(text)
            out.truncate(size)
    for name, text in BESIDE.items():
        (folder / name).write_text(text)


def run(binary, words, folder):
    """(status, what it said, seconds of processor, bytes of memory at most) of a command of its own."""
    process = os.fork()
    if not process:
        os.chdir(folder)
        said = os.open("said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.execv(binary, [binary, *words])
    _, status, used = os.wait4(process, 0)
    return (os.waitstatus_to_exitcode(status), (folder / "said").read_text(errors="replace"),
            used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def long_tag(binary, checker, folder):
    """30 MB of one tag: releases of expat before 2.6 read it from its beginning again with every piece."""
    (folder / "platform.xml").write_text(BEGINNINGS["platform.xml"] + "<zone id=\"" + "a" * 30_000_000)
    for words in (["run", "platform.yaml", "-o", "out"], ["platform", "show", "platform.xml"]):
        status, said, seconds, _ = run(binary, words, folder)
        checker.that(status == 1 and "goes on for more than 1 MiB" in said, f"{words}, a long tag: {status}, {said!r}")
        checker.that(seconds < SECONDS, f"{words} of a long tag takes {seconds:.1f} s of the processor")


def main():
    binary = tool.binary_argument()
    checker = tool.Checker()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for size, words in itertools.product(SIZES, COMMANDS):
            fill(folder, size)
            status, said, seconds, memory = run(binary, words, folder)
            text = f"{' '.join(words)} of {size >> 20} MiB"
            checker.that(status == 1 and re.search(r"\.(yaml|xml|csv|sh|json):", said), f"{text}: {status}, {said!r}")
            checker.that(seconds < SECONDS, f"{text} takes {seconds:.1f} s of the processor")
            checker.that(memory < BYTES, f"{text} takes {memory >> 20} MiB")
            checker.that(not (folder / "out").exists(), f"{text} leaves an output")
            print(text, "->", said.splitlines()[0][:110] if said else "", f"{seconds:.2f} s {memory >> 20} MiB")
        long_tag(binary, checker, folder)
    return checker.done()


if __name__ == "__main__":
    sys.exit(main())
