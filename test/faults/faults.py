#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""faults.py STAGESIM INJECT PRELOAD [--full] [--every K] [--only COMMANDS] [--call CALL] [--from N] [--jobs J]: every
command with the n-th call of a kind failing, and killed at the n-th: open, read, write, rename, link, unlink, mkdir,
fork, mmap, malloc, and an exchange of directories that the file system refuses, for n = 1, 2, ... until a run passes
untouched.

A command whose call fails ends with exit code 0, 1 or 3, and with a message where it is not 0; what it prints with
code 0 is what it always prints. Its output files are the old ones or the new ones, never a mixture, and nothing else
is left. After a kill there may be one marked folder or file, which is gone after the next run.

Without --full a sample of n is tried: the first, the last and one between; with --every, each K-th from --from on. The
build's option `samples` halves that sample, say.
Exit code 77: the kernel cannot be asked to fail calls."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

CALLS = ("open", "read", "write", "rename", "exchange", "link", "unlink", "mkdir", "fork", "mmap", "malloc")
KILLED_AT = ("open", "write", "rename", "link", "unlink", "mkdir",
             "fork")  # between two of these nothing changes on the disk
SAMPLE = {"error": 3, "kill": 2}
# Every how many-th n where a sample of three finds too little: hwloc says nothing of what it finds no memory for, and
# texts that are collected in memory could miss something.
STEPS = {("import", "malloc", "error"): 5, ("search", "unlink", "error"): 3, ("run", "malloc", "error"): 499}
FEW = 4  # as many calls are all tried
SKIPPED = 77
# The C library's loader of shared libraries ends a process itself when it finds no memory for a symbol.
LOADER_ENDS, LOADER_SAYS = 127, b"out of memory\n"

# Arguments, and the output directory or file. OUT stands for a time that differs between the old set and the new one.
COMMANDS = {
    "run": (["run", "s.yaml", "-o", "out", "--trace",
             "csv,paje,chrome,chakra,goal", "--report", "--set", "stages.forward=TIME"],
            "out"),
    "steps": (["run", "s.yaml", "-o", "out", "--jobs", "1", "--engine", "analytic", "--set",
               "tails={like: usual, steps: 100}", "--set", "stages.forward=TIME"], "out"),
    "print": (["run", "s.yaml", "--engine", "both"], None),
    "compare": (["compare", "s.yaml", "--schedules", "1f1b,gpipe", "-o", "out", "--trace", "csv", "--picture", "svg",
                 "--set",
                 "stages.forward=TIME"], "out"),
    "train": (["train", "s.yaml", "-o", "out", "--set", "failures=llama3", "--set", "stages.forward=TIME", "--set",
               "training={steps: 1000, runs: 10}"], "out"),
    "search": (["search", "t.yaml", "-o", "out", "--jobs", "1", "--set", "model.sequence=SIZE"], "out"),
    "plan": (["plan", "t.yaml", "-o", "out", "--jobs", "1", "--clusters", "dgx-h100:1", "--tokens", "1e9", "--engine",
              "analytic", "--set", "transformer.price=2", "--set", "model.sequence=SIZE"], "out"),
    "check": (["check", "s.yaml"], None),
    "month": (["month", "fit", "jobs.swf", "-o", "month.yaml"], "month.yaml"),
    "month generate": (["month", "generate", "month.yml", "-o", "drawn.swf"], "drawn.swf"),
    "layouts": (["layouts", "l.yaml", "--top", "1"], None),
    "report": (["report", "saved"], None),
    "explain": (["explain", "s.yaml", "traced/operations.csv", "-o", "out", "--set", "stages.forward=TIME"], "out"),
    "export": (["export", "t.yaml", "--to", "megatron", "-o", "train.sh", "--set", "model.sequence=SIZE"], "train.sh"),
    "schedule": (["schedule", "1f1b", "--workers", "4", "--micro-batches", "8", "--forward", "TIME", "-o",
                  "plan.csv"], "plan.csv"),
    "collective": (["collective", "all-reduce", "--platform", "platform.xml", "--sizes", "SIZE:1MiB:4", "-o",
                    "ring.svg"], "ring.svg"),
    "show": (["platform", "show", "platform.xml"], None),
    "generate": (["platform", "generate", "ring", "--nodes", "SMALL", "-o", "ring.xml"], "ring.xml"),
    "import": (["platform", "import", "node.xml", "--nodes", "SMALL", "-o", "two.xml"], "two.xml"),
    "fit": (["platform", "fit", "measured.txt", "--platform", "platform.xml", "-o", "fitted.xml"], None),
    "list": (["list", "models", "--format", "json"], None),
}
WORDS = {"old": {"TIME": "1", "SIZE": "256", "SMALL": "3"}, "new": {"TIME": "2", "SIZE": "512", "SMALL": "4"}}

def words(arguments, which):
    filled = []
    for argument in arguments:
        for word, value in WORDS[which].items():
            unit = "s" if word == "TIME" and "=" in argument else ""
            argument = argument.replace(word, value + unit)
        filled.append(argument)
    return filled


NUMBER = re.compile(rb"\d+\.\d{8,}(e-?\d+)?")


def clean(text):
    """Without what depends on the clock. Replicas that could not be folded for want of memory are simulated one by one,
    which rounds otherwise: eight digits."""
    text = NUMBER.sub(lambda number: b"%.8g" % float(number.group()), text)
    return b"\n".join(line for line in text.split(b"\n") if not any(word in line for word in (b"wall", b"per_second",
                                                            b"rss")))


PICTURE = re.compile(rb"<svg.*?</svg>", re.DOTALL)


def without_pictures(files):
    """A font that cannot be opened, or for which there is no memory, is another font, as where there is only that one:
    texts have other widths."""
    return {name: PICTURE.sub(b"", text) for name, text in files.items()}


def content(path):
    if path.is_dir():
        return {str(each.relative_to(path)): clean(each.read_bytes()) for each in sorted(path.rglob("*"))
                if each.is_file()}
    return {"": clean(path.read_bytes())} if path.exists() else {}


class Sweep:
    """One command in a folder of its own."""

    def __init__(self, tools, folder, name):
        self.binary, self.inject, self.preload = tools
        self.folder, self.name = folder, name
        self.arguments, self.out = COMMANDS[name]
        self.temporary = folder.with_name(folder.name + ".tmp")
        self.kept = folder.with_name(folder.name + ".old")
        self.faults, self.runs, self.counts = [], 0, {}
        self.prepare()

    def prepare(self):
        self.folder.mkdir()
        self.temporary.mkdir()
        tool.write_inputs(self.folder)
        if self.name == "report":
            tool.run(self.binary, "run", "s.yaml", "-o", "saved", "--trace", "csv", "--report", cwd=self.folder)
            self.out = "saved"
        if self.name == "explain":
            tool.run(self.binary, "run", "s.yaml", "-o", "traced", "--trace", "csv", cwd=self.folder)
        if self.name == "fit":
            self.out = "fitted.xml"
        self.expected, self.printed = {}, {}
        for which in ("new", "old"):
            self.runs += 1
            done = self.start("open", 0, "error", which)
            if done[0] == SKIPPED:
                raise SystemExit(SKIPPED)
            if done[0] != 0:
                raise SystemExit(f"{self.name}: exit code {done[0]} without a fault\n{done[2].decode()}")
            self.expected[which] = content(self.folder / self.out) if self.out else {}
            self.printed[which] = clean(done[1])
        if self.out:
            self.copy(self.folder / self.out, self.kept)
        self.listing = sorted(path.name for path in self.folder.iterdir())

    @staticmethod
    def copy(source, target):
        if target.is_dir():
            shutil.rmtree(target)
        shutil.copytree(source, target) if source.is_dir() else shutil.copy2(source, target)

    def start(self, call, number, action, which, plain=False):
        """Exit code (negative: a signal), standard output, standard error, number of calls."""
        counter, result = self.temporary.with_suffix(".count"), self.temporary.with_suffix(".result")
        counter.write_bytes(bytes(8))
        malloc = call == "malloc"
        environment = dict(os.environ, TMPDIR=str(self.temporary), FAULT_ACTION=action, FAULT_COUNT=str(counter),
                           FAULT_MALLOC=str(number if malloc else 0))
        command = [self.binary, *words(self.arguments, which)]
        if not plain:
            command = [self.inject, call, "0" if malloc else str(number), action, str(result), "env",
                       f"LD_PRELOAD={self.preload}", *command]
        with tempfile.TemporaryFile() as errors:
            try:
                done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=errors,
                                      env=environment, timeout=120)
            except subprocess.TimeoutExpired:
                return -1000, b"", b"", 0
            errors.seek(0)
            said = errors.read()
        if plain or done.returncode:
            return done.returncode, done.stdout, said, 0
        calls, status = map(int, result.read_text().split())
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        return code, done.stdout, said, int.from_bytes(counter.read_bytes(), "little") if malloc else calls

    def fault(self, text):
        self.faults.append(text)

    def left(self):
        """What did not end keeps its journal, to go on from."""
        kept = {"out.journal"} if self.name in ("search", "plan", "train", "steps") else set()
        return sorted(set(path.name for path in self.folder.iterdir()) - set(self.listing) - kept) + [path.name
                                                            for path in self.temporary.iterdir()]

    def reset(self):
        (self.folder / "out.journal").unlink(missing_ok=True)
        for name in self.left():
            path = self.folder / name if (self.folder / name).exists() else self.temporary / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if self.out and content(self.folder / self.out) != self.expected["old"]:
            self.copy(self.kept, self.folder / self.out)

    def is_one_set(self, what):
        found = content(self.folder / self.out) if self.out else {}
        which = [each for each in ("new", "old") if found == self.expected[each]]
        if not which and (" open " in what or " malloc " in what):
            which = [each for each in ("new", "old")
                     if without_pictures(found) == without_pictures(self.expected[each])]
        if not which:
            self.fault(f"{what}: the output files are a mixture: {sorted(found)}")
        return which

    def try_error(self, call, number):
        code, printed, said, count = self.start(call, number, "error", "new")
        what = f"{self.name}: {call} {number} of {count} fails, exit code {code}"
        killed = code == LOADER_ENDS and call == "malloc" and said == LOADER_SAYS
        if killed:
            code = 3
        if code not in (0, 1, 3):
            self.fault(f"{what}\n{said.decode('utf-8', 'replace')[-400:]}")
        if code and not said:
            self.fault(f"{what}, no message")
        which = self.is_one_set(what)
        if code == 0 and "new" not in which:
            self.fault(f"{what}, but the files are the old ones")
        if code == 0 and clean(printed) != self.printed["new"]:
            self.fault(f"{what}, but it prints something else:\n{printed.decode('utf-8', 'replace')[:300]}")
        if self.left() and not (killed and self.has_one_temporary()):
            self.fault(f"{what}, left: {self.left()}\n{said.decode('utf-8', 'replace')[-300:]}")

    def has_one_temporary(self):
        """Which a process leaves that is ended in the middle, and the next one that writes there removes."""
        left = self.left()
        return len(left) == 1 and left[0].startswith(".") and left[0].endswith(".stagesim")

    def try_kill(self, call, number):
        code, _, _, _ = self.start(call, number, "kill", "new")
        what = f"{self.name}: killed at {call} {number} (exit code {code})"
        self.is_one_set(what)
        if self.left() and not self.has_one_temporary():
            self.fault(f"{what}, left: {self.left()}")
        if not self.out:
            return
        code, _, said, _ = self.start(call, 0, "error", "new", plain=True)
        if code or content(self.folder / self.out) != self.expected["new"] or self.left():
            said = said.decode("utf-8", "replace")[-300:]
            self.fault(f"{what}; the next run: exit code {code}, left {self.left()}\n{said}")

    def sweep(self, call, action, options):
        """n from 1 on until a run passes untouched, or a sample of these."""
        if call not in self.counts:
            self.counts[call] = self.start(call, 0, "error", "new")[3]
        count = self.counts[call]
        some, step = SAMPLE[action], STEPS.get((self.name, call, action))
        if options.full or options.every > 1 or count <= FEW:
            numbers = range(options.first, count + 1, options.every)
        elif step:
            numbers = tool.sampled(range(1, count + 1, step))
        else:
            numbers = tool.sampled(1 + (count - 1) * i // (some - 1) for i in range(some))
        for number in numbers:
            self.reset()
            self.runs += 1
            (self.try_error if action == "error" else self.try_kill)(call, number)
        self.reset()
        return count


def run_command(tools, folder, name, options):
    sweep = Sweep(tools, pathlib.Path(folder) / name, name)
    counts = []
    for call in CALLS:
        if options.call and call != options.call:
            continue
        counts.append(f"{call} {sweep.sweep(call, 'error', options)}")
        if call in KILLED_AT:
            sweep.sweep(call, "kill", options)
    return sweep, f"{name}: {sweep.runs} runs; calls: {', '.join(counts)}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools", nargs=3)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(COMMANDS))
    parser.add_argument("--call")
    parser.add_argument("--from", dest="first", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    tools = [os.path.abspath(path) for path in options.tools]
    faults = runs = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = [pool.submit(run_command, tools, folder, name, options) for name in options.only]
        for future in work:
            sweep, text = future.result()
            print(text, *sweep.faults, sep="\n  ", flush=True)
            faults, runs = faults + len(sweep.faults), runs + sweep.runs
    print(f"{runs} runs, {faults} failed")
    return 1 if faults or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
