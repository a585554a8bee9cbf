#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutation testing: would the suite notice a mistake? A sample of small changes to the sources (a comparison flipped, a
statement dropped, a number one larger) is compiled into one build, each behind a switch. Every test runs once without
a change and says which places it reaches. Then each change is switched on, and the tests that reach it run until one
fails: the mutant is killed. The quickest come first, where one that test/README.md names for the source counts as
eight times quicker. The report names the survivors. Those that equivalent.csv lists change no outcome, each with the
reason; the report counts them apart.

usage: mutation.py WORK [--mutants 200] [--seed 1] [--folders schedules,simulator,...] [OPTION]...
       mutation.py WORK --again [--numbers 3,17] [--named] [--sanitize] [OPTION]...

WORK is a directory for a copy of the sources and its build. --again tries the survivors of WORK once more, with the
tests as they are now; --numbers: only these; --named: only with the tests that test/README.md names for their sources;
--sanitize: under address and undefined behaviour sanitizers. Further options:
--jobs 2      tests that run at the same time
--seconds 60  tests of a mutant stop after that much time of the undisturbed suite; a survivor has passed all tests up
              to there, and the report says if more would have reached it
--quick 0     tests slower than this in build/, where the suite has run before, only run if test/README.md names them
              for a source of the sample; 0: all run
Needs clang, which gives the places of expressions."""
import argparse
import concurrent.futures
import csv
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = "base,abi,schedules,platforms,simulator,workloads,job,analysis/figures,studies"
FLIPPED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
# What gives memory and files back, and what tells the user how far it is: no outcome depends on it.
RELEASES = re.compile(r"^\(?(void\)\s*)?(free|fclose|close|munmap|madvise|fflush|guard_\w+|progress_\w+|\w*_destroy|"
                      r"\w*_finish|\w*_release|\w*_free|assert)\s*\(")
# One element more of what is allocated changes nothing.
ALLOCATES = re.compile(r"^(array_grow|array_zeroed|arena_array|arena_alloc|calloc|malloc|realloc)\s*\(")
SLOWEST = 120  # seconds; slower tests are left out
numbers = itertools.count()  # of tests that were run


# ---- places ----

def parse(clang_arguments, source):
    command = ["clang", *clang_arguments, "-w", "-fsyntax-only", "-Xclang", "-ast-dump=json", str(source)]
    done = subprocess.run(command, capture_output=True, cwd=source.parent)
    return json.loads(done.stdout) if done.stdout else {}


def span(node):
    """Offsets of a node's text; None where a macro wrote it."""
    where = node.get("range", {})
    begin, end = where.get("begin", {}), where.get("end", {})
    if "offset" not in begin or "offset" not in end:
        return None
    return begin["offset"], end["offset"] + end["tokLen"]


def is_constant_context(node):
    return (node["kind"] == "VarDecl" and node.get("storageClass") == "static") or node["kind"] in (
        "CaseStmt", "StaticAssertDecl", "UnaryExprOrTypeTraitExpr", "EnumDecl", "RecordDecl", "PredefinedExpr")


def is_null(parent):
    return parent.get("castKind") == "NullToPointer"


def walk(node, parent, found, text):
    """Collects (begin, end, kind, format with the place's number) of all places below a function's body."""
    kind, place = node.get("kind"), span(node)
    if place and kind == "BinaryOperator" and node["opcode"] in FLIPPED:
        left, right = (span(child) for child in node["inner"])
        if left and right:
            found.append((*place, f"{node['opcode']} for {FLIPPED[node['opcode']]}",
                          f"(mutant(%d) ? ({text[left[0]:left[1]]}) {FLIPPED[node['opcode']]} "
                          f"({text[right[0]:right[1]]}) : ({text[place[0]:place[1]]}))"))
    if place and kind == "IntegerLiteral" and not is_null(parent):
        found.append((*place, "+ 1", f"(mutant(%d) ? {text[place[0]:place[1]]} + 1 : {text[place[0]:place[1]]})"))
    body = text[place[0]:place[1]] if place else ""
    is_statement = parent.get("kind") in ("CompoundStmt", "IfStmt", "ForStmt", "WhileStmt") and \
        (kind in ("CallExpr", "CompoundAssignOperator") or (kind == "BinaryOperator" and node["opcode"] == "=") or
         (kind == "UnaryOperator" and node["opcode"] in ("++", "--")))
    if place and is_statement and text[place[1]:place[1] + 1] == ";" and not RELEASES.match(body):
        found.append((*place, "dropped", f"(void)(mutant(%d) || ((void)({body}), 1))"))
    if place and kind == "CallExpr" and ALLOCATES.match(body):
        return
    for child in node.get("inner", []):
        if child.get("kind") and not is_constant_context(child):
            walk(child, node, found, text)
        elif child.get("kind") == "CaseStmt":
            for statement in child["inner"][1:]:
                walk(statement, child, found, text)


def places(source, clang_arguments):
    text = source.read_bytes().decode("latin-1")  # offsets count bytes
    found = []
    for declared in parse(clang_arguments, source).get("inner", []):
        inner = [part for part in declared.get("inner", []) if part.get("kind") == "CompoundStmt"]
        if declared.get("kind") == "FunctionDecl" and inner and "includedFrom" not in declared.get("loc", {}):
            walk(inner[0], declared, found, text)
    return text, found


# ---- the build ----

def copy_sources(work):
    shutil.rmtree(work / "src", ignore_errors=True)
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in names.split("\0")[:-1]:
        target = work / "src" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    return work / "src"


def compile_arguments(work):
    """Of every source, without those that name outputs."""
    arguments, folder = {}, work / "src/build"
    for entry in json.loads((folder / "compile_commands.json").read_text()):
        words = [word for word in entry["command"].split() if re.match(r"-[ID]", word)]
        words = [f"-I{folder / word[2:]}" if word.startswith("-I") and not word.startswith("-I/") else word
                 for word in words]
        arguments[(folder / entry["file"]).resolve()] = [word.replace("'", "") for word in words] + \
            ["-std=gnu11", "-D_GNU_SOURCE"]
    return arguments


def choose(work, source, options):
    """The sample: every line of the folders' sources is as likely as any other."""
    chooser = random.Random(options.seed)
    files = sorted(path for folder in options.folders.split(",") for path in (source / folder).rglob("*.c"))
    lines = [len(path.read_text().splitlines()) for path in files]
    wanted = {}
    for path in chooser.choices(files, lines, k=options.mutants):
        wanted[path] = wanted.get(path, 0) + 1
    arguments, mutants = compile_arguments(work), []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        parsed = dict(zip(sorted(wanted), pool.map(lambda path: places(path, arguments[path.resolve()]),
                                                   sorted(wanted))))
    for path in sorted(wanted):
        text, found = parsed[path]
        by_kind, lines_of = {}, text.split("\n")
        for place in found:
            by_kind.setdefault(place[2].split()[0] if place[2] in ("dropped", "+ 1") else "flip", []).append(place)
        chosen = []
        for _ in range(20 * wanted[path]):
            if len(chosen) == wanted[path] or not by_kind:
                break
            place = chooser.choice(by_kind[chooser.choice(sorted(by_kind))])
            if all(place[1] <= other[0] or other[1] <= place[0] for other in chosen):
                chosen.append(place)
        for begin, end, kind, change in sorted(chosen):
            mutants.append({"number": len(mutants), "file": str(path.relative_to(source)),
                            "line": text.count("\n", 0, begin) + 1, "kind": kind, "begin": begin, "end": end,
                            "change": change, "within": lines_of[text.count("\n", 0, begin)].strip(),
                            "text": " ".join(text[begin:end].split())[:90]})
    return mutants


def insert(source, mutants):
    for name in sorted({mutant["file"] for mutant in mutants}):
        text = (source / name).read_bytes().decode("latin-1")
        for mutant in sorted((m for m in mutants if m["file"] == name), key=lambda m: -m["begin"]):
            text = text[:mutant["begin"]] + mutant["change"].replace("%d", str(mutant["number"]), 1) + \
                text[mutant["end"]:]
        (source / name).write_bytes(('#include "test/mutation/mutant.h"\n' + text).encode("latin-1"))
    # SimGrid's part is a library of its own.
    for folder, name in (("base", "sources"), ("simulator/engines/simgrid", "simgrid_sources")):
        list_file = source / folder / "meson.build"
        switch = os.path.relpath(source / "test/mutation/mutant.c", source / folder)
        list_file.write_text(f"{list_file.read_text()}\n{name} += files('{switch}')\n")


def configure(work, folder, sanitize):
    environment = {**os.environ, "CC": "ccache gcc" if shutil.which("ccache") else "gcc"}
    options = ["-Db_sanitize=address,undefined", "-Dmimalloc=disabled"] if sanitize else []
    again = ["--reconfigure"] if (work / "src" / folder / "build.ninja").exists() else []
    subprocess.run(["meson", "setup", *again, work / "src" / folder, work / "src", 
                    f"-Dbuildtype={'debugoptimized' if sanitize else 'release'}", "-Dtests=enabled", "-Dwerror=false",
                    *options], check=True, env=environment, stdout=subprocess.DEVNULL)


def compile_all(work, folder):
    subprocess.run(["ninja", "-C", work / "src" / folder], check=True, stdout=subprocess.DEVNULL)


# ---- tests ----

def tests(work, folder):
    listed = json.loads(subprocess.run(["meson", "introspect", "--tests", work / "src" / folder], capture_output=True,
                                       text=True, check=True).stdout)
    return [{**test, "workdir": test["workdir"] or str(work / "src" / folder)} for test in listed
            if not {"stagesim:fuzz", "fuzz"} & set(test["suite"])]


def named_tests():
    """By source, what test/README.md says of its tests: files without their endings."""
    named, folder = {}, ""
    for line in (ROOT / "test/README.md").read_text().splitlines():
        if line.startswith("## "):
            folder = line[3:].strip()
        cells = line.split("|")
        if len(cells) > 3:
            for source in re.findall(r"`([^`]+)`", cells[1]):
                named[f"{folder}/{source}"] = [re.sub(r"\.\w+$", "", test)
                                               for test in re.findall(r"`([^`]+)`", cells[2])]
    return named


def is_named(test, file, named):
    stem = re.sub(r"\.c$", "", file)
    command = " ".join(test["cmd"])
    for word in [stem, *named.get(stem, [])]:
        last = word.split("/")[-1]
        if f"/test/{word}." in command or test["cmd"][0].endswith("-" + last) or \
                last.replace("_", "-") in test["name"].replace("_", "-"):
            return True
    return False


def slow_tests(limit):
    """Names of the tests that took longer when the suite ran last."""
    log = ROOT / "build/meson-logs/testlog.json"
    if not limit or not log.exists():
        return set()
    entries = [json.loads(line) for line in log.open()]
    return {entry["name"].split(" / ")[-1] for entry in entries if entry["duration"] > limit}


def choose_tests(listed, tried, options):
    """Those that may kill one of the mutants."""
    named, slow = named_tests(), slow_tests(options.quick)
    files = {mutant["file"] for mutant in tried}
    return [test for test in listed if (not options.named and test["name"] not in slow) or
            any(is_named(test, file, named) for file in files)]


def kill_all(mark):
    """Children of a test may be in sessions of their own: found by their environment."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)
        except OSError:
            continue  # it has ended, or is somebody else's


def run_test(test, seconds, environment):
    """Whether it passes (None after `seconds` of this machine when nothing else runs on it), and its processor time."""
    mark, printed = f"MUTANT_TEST={os.getpid()}-{next(numbers)}", tempfile.TemporaryFile()
    process = subprocess.Popen(test["cmd"], cwd=test["workdir"], stdin=subprocess.DEVNULL,
                               stdout=printed, stderr=subprocess.DEVNULL, start_new_session=True,
                               env={**os.environ, **test["env"], **environment, **dict([mark.split("=")])})
    end = time.monotonic() + seconds * max(1, os.getloadavg()[0] / os.cpu_count())
    while time.monotonic() < end:
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
        if ended:
            process.returncode = os.waitstatus_to_exitcode(status)
            printed.seek(0)
            failed = test["protocol"] == "tap" and re.search(rb"^not ok", printed.read(), re.M)
            return process.returncode in (0, 77) and not failed, usage.ru_utime + usage.ru_stime
        time.sleep(0.01)
    kill_all(mark)
    process.wait()
    return None, seconds


def look(test, work, count):
    """Runs it undisturbed: its time, and the numbers of the mutants that it reaches."""
    reached = work / f"reached-{test['name'].replace('/', '-')}"
    reached.write_bytes(bytes(count))
    passed, seconds = run_test(test, SLOWEST, {"MUTANT_REACHED": str(reached)})
    reaches = [number for number, byte in enumerate(reached.read_bytes()) if byte]
    reached.unlink()
    return {"test": test, "seconds": seconds, "passed": passed, "reaches": reaches}


def try_mutant(mutant, looks, limit):
    """Fills in which test kills it."""
    named = named_tests()
    spent, reaching = 0, sorted((one for one in looks if mutant["number"] in one["reaches"]), key=lambda one:
                                one["seconds"] / (8 if is_named(one["test"], mutant["file"], named) else 1))
    mutant.pop("not_run", None)
    mutant["tests"] = len(reaching)
    mutant["killed_by"] = None
    for number, one in enumerate(reaching):
        if spent > limit:
            mutant["not_run"] = len(reaching) - number
            break
        passed, _ = run_test(one["test"], 10 + 8 * one["seconds"], {"MUTANT": str(mutant["number"])})
        spent += one["seconds"]
        if not passed:
            mutant["killed_by"] = one["test"]["name"] + (" (by its time)" if passed is None else "")
            break
    return mutant


# ---- the report ----

def equivalent():
    """Mutants that change no outcome, and why: by source, kind, text, and the line that it is in."""
    with open(ROOT / "test/mutation/equivalent.csv", newline="") as file:
        return {(row["source"], row["kind"], row["text"], row["line"]): row["reason"] for row in csv.DictReader(file)}


def key_of(mutant):
    return mutant["file"], mutant["kind"], mutant["text"], mutant["within"]


def why_it_lives(mutant):
    if not mutant["tests"]:
        return "no test reaches it"
    return f"{mutant['tests']} tests reach it" + (f", {mutant['not_run']} were not run" if "not_run" in mutant else "")


def report(mutants, looks):
    reasons = equivalent()
    lives = [mutant for mutant in mutants if not mutant["killed_by"]]
    same = [mutant for mutant in lives if key_of(mutant) in reasons]
    able, killed = len(mutants) - len(same), len(mutants) - len(lives)
    print(f"{killed} of {able} mutants killed: {100 * killed / max(1, able):.1f} %; {len(same)} more change no outcome")
    left_out = [one["test"]["name"] for one in looks if one["passed"] is not True]
    if left_out:
        print(f"tests left out (slower than {SLOWEST} s, or they fail undisturbed): {', '.join(left_out)}")
    for mutant in lives:
        where = f"{mutant['number']}: {mutant['file']}:{mutant['line']}: {mutant['kind']}: {mutant['text']}"
        if mutant in same:
            print(f"no change {where} ({reasons[key_of(mutant)]})")
        else:
            print(f"survivor {where} ({why_it_lives(mutant)})")


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folders", default=FOLDERS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--quick", type=float, default=0)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--numbers", type=lambda text: set(map(int, text.split(","))))
    parser.add_argument("--named", action="store_true")
    parser.add_argument("--sanitize", action="store_true")
    return parser.parse_args()


def begin(work, options):
    """A new sample, in new sources."""
    source = copy_sources(work)
    configure(work, "build", False)
    mutants = choose(work, source, options)
    insert(source, mutants)
    (work / "mutants.json").write_text(json.dumps(mutants, indent=1))
    return mutants


def main():
    options = read_options()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    folder = "build-asan" if options.sanitize else "build"
    if options.again:
        mutants = json.loads((work / "mutants.json").read_text())
        for mutant in mutants:
            mutant.update({"tests": 0, "killed_by": None, **mutant})
        shutil.copytree(ROOT / "test", work / "src/test", dirs_exist_ok=True)
        configure(work, folder, options.sanitize)
    else:
        mutants = begin(work, options)
    compile_all(work, folder)
    print(f"{len(mutants)} mutants built", flush=True)
    tried = [mutant for mutant in mutants if not mutant.get("killed_by") and
             (not options.numbers or mutant["number"] in options.numbers)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        looks = list(pool.map(lambda test: look(test, work, len(mutants)),
                              choose_tests(tests(work, folder), tried, options)))
        useful = [one for one in looks if one["passed"] and one["reaches"]]
        reached = set().union(*(one["reaches"] for one in useful))
        print(f"{len(useful)} of {len(looks)} tests reach {len(reached)} mutants", flush=True)
        for mutant in pool.map(lambda one: try_mutant(one, useful, options.seconds), tried):
            print(f"  {mutant['number']} {mutant['file']}:{mutant['line']} {mutant['kind']}: "
                  f"{mutant['killed_by'] or 'SURVIVES'}", flush=True)
            (work / "mutants.json").write_text(json.dumps(mutants, indent=1))
    report(mutants, looks)
    return 0


if __name__ == "__main__":
    sys.exit(main())
