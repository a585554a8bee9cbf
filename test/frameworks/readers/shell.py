#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shell PRINT_READERS: words of a launch as the reader finds them, against those that bash passes to the command."""
import os
import pathlib
import random
import subprocess
import sys
import tempfile

PRINT = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())
LAUNCH = FOLDER / "launch"
LAUNCH.write_text("#!/bin/sh\nfor word; do printf '%s\\037\\n' \"$word\"; done\n")
LAUNCH.chmod(0o755)
failures = 0

SCRIPTS = [
    'launch --a 1 --b=2 -- 3', 'launch --a \'1 2\' "3 4" 5\\ 6', 'A=4; launch --a $A --b "$A$A" --c ${A}x',
    'A=4\nB=$((A * 2 + 10 % 4 - (A / 3)))\nlaunch --a $B --b "$((B*-1))"',
    'launch --a ${NO:-7} --b ${NO-"8 9"} --c "${NO:-x y}"', 'A=; launch --a "${A:-d}" --b "${A-d}" --c ${A:+e} --d',
    'A=5; launch --a ${A:+e} ${A:=3}', 'A=(--x 1 "2 3" # comment\n  --y=4\n)\nlaunch "${A[@]}"',
    'A=(--x 1 "2 3"); A+=(--z); launch ${A[@]} --end', 'A="--x 1"; A+=" --y 2"; launch $A',
    'A=3; [ $A -gt 2 ] && B=yes; launch --b $B',
    'A=fp8; if [[ "$A" == "fp8" ]]; then C=1; else C=2; fi; launch --c $C',
    'A=a; if [ "$A" = b ]; then C=1; elif [ "$A" != a ]; then C=2; else C=3; fi; launch --c $C',
    'A=70b; case $A in 8b) L=32;; 70b|72b) L=80 ;; *) L=0;; esac\nlaunch --l $L',
    'A=7; case $A in [0-3]) L=1;; ?) L=2;; esac; launch --l $L',
    'if [[ -z "" && ( 3 -lt 4 || -n "" ) ]]; then A=1; fi; launch --a ${A:-2}',
    'if ! [ 1 -eq 2 ]; then A=1; fi; launch --a $A', '# launch --no\nlaunch --a \\\n  1 \\\n  --b 2 # --c',
    'export A=1 B="2 3"\nreadonly C=4; launch --a $A --b "$B" --c $C', 'A=1 # no\nlaunch --a $A#x --b',
    'A="x\\"y\\$z"; launch --a "$A"', 'true && launch --a 1 > out 2>&1', 'false || launch --a 1 2> err',
    'cat <<EOF > out\nlaunch --no --such --thing\nEOF\nlaunch --a', 'f() {\n  X=1\n}\nf\nlaunch --a $X',
    '{ Y=2; }; launch --a $Y', 'A="l1\nl2"; launch --a "$A" --b $A', "A='--a 1 --b 2'\nlaunch $A --c",
    'N=8; M="${N}"; launch --a "${M}"/b --c', 'A=1;B=2;launch --a $A$B;',
    'A=1\nif [ "$A" -eq 1 ]; then\n  if [ "$A" -ge 2 ]; then B=1; else B=2; fi\nfi\nlaunch --b $B',
    'launch --a "" --b \'\' --c',
]


def words(script):
    path = FOLDER / "script.sh"
    path.write_text(script + ("\n" if len(script) % 2 else ""))
    environment = dict(os.environ, PATH=f"{FOLDER}:{os.environ['PATH']}", LC_ALL="C")
    bash = subprocess.run(["bash", str(path)], capture_output=True, env=environment, cwd=FOLDER, timeout=20)
    ours = subprocess.run([PRINT, "shell", str(path)], capture_output=True, timeout=20)
    return bash.stdout, ours.stdout, ours.stderr


def expect(script):
    global failures
    bash, ours, errors = words(script)
    for file in ("out", "err"):
        if (FOLDER / file).exists():
            bash = bash or (FOLDER / file).read_bytes()
            (FOLDER / file).unlink()
    ours = b"".join(part + b"\x1f\n" for part in ours.split(b"\x1f\n")[1:-1])  # without the command's own name
    if bash != ours:
        failures += 1
        print(f"{script}\nbash: {bash}\nours: {ours}\n{errors.decode()}\n")


def some(generator):
    """A script of assignments, arrays and conditions on them."""
    lines, names = [], []
    for number in range(generator.randint(2, 8)):
        name = f"V{number}"
        value = generator.choice(["1", "23", "'a b'", '"c d"', "", "e\\ f", *(f'"${n}"' for n in names[-3:]),
                                  *(f"x${{{n}}}y" for n in names[-3:]),
                                  *(f"${{{n}:-z}}" for n in names[-2:]), "${NONE:-q}"])
        kind = generator.randrange(4)
        if kind == 0:
            lines.append(f"{name}=({value or 1} o{number} {generator.randrange(9)} # c\n)")
            lines.append(f'{name}="${{{name}[*]}}"')
        elif kind == 1 and names:
            other = generator.choice(names)
            pattern = generator.choice(["1", "23", "a*", "z"])
            lines.append(f'if [[ "${other}" == {pattern} ]]; then {name}={value or 3}; else {name}=n; fi')
        else:
            lines.append(f"{name}={value}")
        names.append(name)
    lines.append("launch " + " ".join(generator.choice([f"--{n} ${n}", f'--{n} "${n}"', f"--{n}=${{{n}}}"])
                                      for n in names))
    return "\n".join(lines)


for script in SCRIPTS:
    expect(script)
for seed in range(60):
    expect(some(random.Random(seed)))
sys.exit(failures > 0)
