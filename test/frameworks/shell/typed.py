#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""typed PRINT_READERS [--update]: launch scripts as people type them, in typed.txt, run by bash beside the reader.
Above each stands what has to come of it: `agree`, the words that bash passes to its launch, `refuse` with the
reason, or `said`, where bash launches nothing and the reader says on which condition the launch depends. The programs
are stand-ins, of which `launch` and `torchrun` note their words. --update writes the reasons as they are."""
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

READER = str(pathlib.Path(sys.argv[1]).resolve())
CASES = pathlib.Path(__file__).with_name("typed.txt")
NOTES = "for word; do all+=$word$'\\037'; done; printf '%s\\036' \"$all\" >> \"$CALLS\""
STUBS = {"launch": NOTES, "torchrun": NOTES, "program": "exit 0", "sbatch": 'exec bash --norc --noprofile "$@"',
         "srun": 'while [[ "$1" == -* ]]; do shift; done; exec "$@"'}
FILES = {"env.sh": "TP=4\nARGS='--a b'\n", ".env": "PP=2\n", "args.txt": "--layers 4\n--hidden 8\n",
         "model.sh": 'MODEL_ARGS=(--layers 4 --hidden "8 9")\n', "hostfile": "n1 slots=8\nn2 slots=8\n",
         "conf/a.sh": "source $(dirname ${BASH_SOURCE[0]})/b.sh\nX=1\n", "conf/b.sh": "Y=2\n"}
BEFORE = {b"srun", b"nohup", b"env", b"time", b"command"}  # programs that pass on what stands behind them


def split(text):
    """(what has to come of it, script) of each case."""
    parts = re.split(r"^==== (.*)\n", text, flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


def run(number, script, folder):
    place = folder / str(number)
    for name, text in dict(FILES, **{"script.sh": script}).items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    ours = subprocess.run([READER, "shell", "script.sh"], cwd=place, capture_output=True, timeout=60)
    calls = place / "calls"
    environment = {"PATH": f"{folder}/bin:/usr/bin:/bin", "CALLS": str(calls), "LC_ALL": "C", "HOME": str(place)}
    subprocess.run(["bash", "--norc", "--noprofile", "script.sh"], cwd=place, env=environment, capture_output=True,
                   timeout=60, stdin=subprocess.DEVNULL, start_new_session=True)
    launches = [call.split(b"\x1f")[:-1] for call in calls.read_bytes().split(b"\x1e")[:-1]] if calls.exists() else []
    words = ours.stdout.split(b"\x1f\n")[:-1]
    if words and words[0] in BEFORE:
        words = words[min([words.index(name) for name in (b"launch", b"torchrun") if name in words], default=0):]
    return launches, words[1:], ours.returncode, ours.stderr.decode(errors="replace")


def outcome(launches, words, status, told):
    """agree, differ, refuse with the reason, without places, or said: that it depends on a condition."""
    if status:
        last = [line for line in told.splitlines() if re.match(r"[^ ]*\.sh:\d+", line)][0]
        reason = re.sub(r"^[^ ]*:\d+(:\d+)?: (error: )?", "", last)
        return "refuse: " + re.sub(r" \(line .*|; expected.*", "", reason)
    if (launches and words in launches) or (not launches and not words):
        return "agree"
    return "said" if "depends on a condition" in told and not launches else "differ"


def check(arguments):
    number, expected, script, folder = arguments
    found = run(number, script, folder)
    return expected, script, outcome(*found), found


def main():
    cases = split(CASES.read_text())
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "bin").mkdir()
    for name, text in STUBS.items():
        (folder / "bin" / name).write_text(f"#!/bin/bash\n{text}\n")
        (folder / "bin" / name).chmod(0o755)
    failures, kept = 0, []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        tasks = [(number, *case, folder) for number, case in enumerate(cases)]
        for expected, script, seen, detail in pool.map(check, tasks):
            kept.append(f"==== {seen}\n{script}")
            if seen != expected:
                failures += 1
                print(f"{script}expected: {expected}\nseen: {seen}\n{detail}\n")
    if "--update" in sys.argv:
        CASES.write_text("".join(kept))
    sys.exit(failures > 0)


main()
