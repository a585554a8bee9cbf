#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shell PRINT_READERS: words of a launch as the reader finds them, against those that bash passes to the command;
and what is refused, with its reason."""
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

PRINT = str(pathlib.Path(sys.argv[1]).resolve())
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

# What once was read otherwise than bash reads it, in silence. env.sh sets TP=4 and ARGS, .env PP=2.
FOLLOWED = [
    'source env.sh\nlaunch --tp ${TP:-1}', '. ./env.sh; launch --tp ${TP:-1} $ARGS',
    'export $(cat .env | xargs); launch --pp ${PP:-1}', 'export $(grep -v "^#" .env | xargs)\nlaunch --pp ${PP:-1}',
    'set -a; source .env; set +a; launch --pp ${PP:-1}', 'source "$(dirname "$0")/env.sh"; launch --tp ${TP:-1}',
    'HERE="$( cd "$( dirname "${BASH_SOURCE[0]}" )" && pwd )"; . $HERE/env.sh; launch --tp ${TP:-1}',
    'f() { TP=4; }; f; launch --tp $TP', 'f() { local TP=4; }; TP=1; f; launch --tp $TP',
    'f() { echo $(($1 * 2)); }; launch --tp $(f 4)',
    "eval 'TP=4'; launch --tp ${TP:-1}", 'N=TP; eval "$N=4"; launch --tp ${TP:-1}', 'let TP=4; launch --tp $TP',
    'let "TP = 2 * 3"; launch --tp $TP',
    'TP=2; (( TP *= 2 )); launch --tp $TP', 'TP=2; : $((TP*=2)); launch --tp $TP', 'printf -v TP %d 4; launch --tp $TP',
    'read TP <<< 4; launch --tp $TP', 'TP=4; unset TP; launch --tp ${TP:-1}', '(TP=4); launch --tp ${TP:-1}',
    'TP=1; (TP=4); launch --tp $TP',
    'TP=1; TP=4 & launch --tp $TP', 'case a in a) TP=1 ;& b) PP=2 ;; esac; launch --tp $TP --pp $PP',
    'case a in a) TP=1 ;;& b) TP=2 ;; *) PP=3;; esac; launch --tp $TP --pp $PP', 'A=(--x 1); launch --a "${A[*]}"',
    'A="--x 1"; launch --a "$A"',
    'declare -n R=TP; R=4; launch --tp $TP', 'TP=1; TP=4 true; launch --tp $TP',
    'USE=1; if (( USE )); then TP=4; fi; launch --tp ${TP:-1}',
    'launch --tp 1\nexit 0\nlaunch --tp 2 --more --more', 'launch --tp $((010))',
    '[ 010 -eq 10 ] && TP=2; launch --tp $TP', 'N=a_b; launch --n ${N//_}',
    'for i in 1 2 3; do A+=" --x$i"; done; launch $A',
    'i=0; while [ $i -lt 3 ]; do i=$((i+1)); A+=($i); done; launch --a "${A[@]}"',
    'declare -A S=([a]=3 [b]=4); K=b; launch --s ${S[$K]}', 'set -- 7 8; shift; launch --a $1 --n $#',
    'getopts "n:" O; launch --a ${O}',
    'while [[ $# -gt 0 ]]; do shift; done; launch --a 1', 'IFS=, read -ra A <<< "1,2"; launch --a "${A[@]}"',
    'A=(1 2 3); launch --a "${A[@]:1:2}"',
    'A=/x/y.json; launch --a ${A##*/} --b ${A%.json} --c "${A/x/z}"', 'bash -c "launch --a 1 --b 2"',
    'export A=3; bash -c \'launch --a $A\'',
    'A=3; bash -c \'launch --a ${A:-1}\'', 'cat > made.sh <<X\nTP=4\nX\n. ./made.sh; launch --tp $TP',
    'bash inner.sh 5', 'exec launch --a 1',
    'echo "TP=8" > made.sh; source made.sh; launch --tp $TP', 'run() { "$@"; }; run launch --a "b c"',
    'A=$(echo 4 | cat); launch --a $A',
    'set -e; f() { false; true; }; f || TP=2; launch --tp ${TP:-1}',
    'for ((i=0;i<2;i++)); do A+=(-$i); done; launch --a ${A[@]}',
    'A=xAy; launch --a ${A,,} --b ${A^} --c ${A:1:1} --d ${#A}', 'launch --a $\'b\\tc\'',
    'A=(1 2); launch --n ${#A[@]} --l ${A[-1]}',
    'A=4; B=A; launch --a ${!B}', 'if [ -f env.sh ]; then . ./env.sh; fi; launch --tp ${TP:-1}',
    'A="a b"; for x in $A; do launch_x=$x; done; launch --x $launch_x',
]
FOLLOWED += [
    'IFS=, read -ra A <<< "a,,b"; launch --a "${A[@]}" --n ${#A[@]}', 'IFS=, read A <<< "a,b"; launch --a "$A"',
    'read -ra A <<< " a  b "; launch --a "${A[@]}" --n ${#A[@]}',
    'printf "a\\nb\\n" > out\n{ mapfile -t A; mapfile -t B; } < out; rm out\nlaunch --a ${#A[@]} --b ${#B[@]}',
]
FOLLOWED += [
    "launch --a $((" + 24 * "a[" + "0" + 24 * "]" + "+4))", 'A=(1 2 3); launch --a $((A[A[0]]=5)) --b "${A[@]}"',
    'A=(1 2 3); launch --a $((A[A[0]]==2)) --b $((A[A[0]]++)) --c "${A[@]}"',
]
FOLLOWED += [f'for i in $(seq {numbers}); do A+=" $i"; done; launch --a $A --b' for numbers in
             ("3", "2 4", "5 -2 1", "3 1", "1 -1 3", "2 2 7", "-1 1", "1000000000000000 1000000000000000")]
# What files hold: -s is no -e.
FOLLOWED += [f'{write} > out; {test} && A=1; rm out; launch --a ${{A:-2}}' for write in
             (":", "printf ''", "printf %s ''", "echo", "echo 1", 'X=; printf %s "$X"') for test in
             ("[ -s out ]", "[[ -s out ]]", "[ -e out ]", "[[ ! -s out ]]", "test -f out")]
# Who wrote a file that is read in: as bash has it, or not known, for every way to write one. c.cfg sets TP=4, others 8.
WRITES = [
    "(echo TP=8 > c.cfg)", "echo TP=8 > c.cfg & wait", "X=$(echo TP=8 > c.cfg)", "bash -c 'echo TP=8 > c.cfg'",
    "echo TP=8 | cat > c.cfg", "echo TP=8 | tee c.cfg > out", "sed -i s/4/8/ c.cfg", "sed s/4/8/ c.cfg > out",
    "cp o.cfg c.cfg", "mv o.cfg c.cfg", "cp sub/c.cfg .", "sed -i s/4/8/ *.cfg", "sed -i s/4/8/ c*", "rm c.cfg",
    "dd if=o.cfg of=c.cfg 2> err", "ln -sf o.cfg c.cfg", "sh -c 'echo TP=8 >&2' 2> c.cfg", "sh -c 'echo TP=8' &> c.cfg",
    "cd sub; cp c.cfg ..; cd ..", "F=c.cfg; cp o.cfg $F", "(cp o.cfg c.cfg)", "sort --output=c.cfg o.cfg",
    "f() { cp o.cfg c.cfg; }; f", "env cp o.cfg c.cfg", "echo a | xargs -I{} cp o.cfg c.cfg", "cat o.cfg > c.cfg",
    "cat o.cfg >> c.cfg", "if [ -e c.cfg ]; then cp o.cfg c.cfg; fi", "truncate -s 0 c.cfg", "exec 3> c.cfg",
    "{ echo TP=8; } > c.cfg", "for i in 1; do echo TP=8; done > c.cfg", "cp -t . sub/c.cfg", "cp o.cfg $PWD/c.cfg",
    "D=$(pwd); cp sub/c.cfg $D", "cp o.cfg $(dirname $0)/c.cfg", "echo TP=8 > c.cfg > out", "bash c.sh", "./c.sh",
    """python3 -c 'open("c.cfg", "w").write("TP=8")'""", "(echo TP=8 > c.cfg; exit 1)", "( (echo TP=8 > c.cfg) & wait)",
]
READS = ["ls c.cfg > out", "grep TP c.cfg > out", "wc -l c.cfg > out", "mkdir -p x", "(true)", "X=$(cat c.cfg)"]
# Names: a digit does not begin one, and bash goes on behind one that is none.
FOLLOWED += [
    'set -- a b; N=2; launch --a ${!N}', 'unset 1a; read 1a <<< 4; launch --a 1', 'let "A1_b=0x1f"; launch --a $A1_b',
    'export 1a=2 A_1=3; launch --a $A_1', 'declare _a=1; printf -v _b %s 2; [[ -v _a ]] && launch --a ${_a} --b $_b',
    'N=_a; _a=5; launch --a ${!N}', 'declare -n R=_a; R=4; launch --a $_a',
]
# Refused, with what stands in the way.
REFUSED = {
    'source missing.sh; launch --tp ${TP:-1}': "'missing.sh' is read in here, and it is not there (line 1)",
    'TP=$(program); launch --tp $TP': "the output of a command (line 1)",
    'TP=1\nif program; then TP=4; fi\nlaunch --tp $TP': "a condition that is not known (line 2)",
    'eval "$(program)"; launch --tp ${TP:-1}': "commands of which not all is known",
    'for TP in 1 2; do launch --tp $TP; done': "runs more than once, in the loop over TP of line 1, with "
    "different options: '1' and '2'",
    'if program; then launch --tp 1; else launch --tp 2; fi': "depends on line 1, whose condition is not known",
    'ARGS=$(program)\nlaunch $ARGS': "no launch with options of any is known: $ARGS is not known: the output of "
    "a command (line 1)",
    'bash elsewhere.sh 4': "'elsewhere.sh' runs here, and it is not there to be read",
    'while program; do TP=$((TP+1)); done; launch --tp $TP': "not known",
    'read TP; launch --tp $TP': "a line of input that is not known",
    '$UNKNOWN_SO_FAR x\nX=$(p)\n$X TP=4; launch --tp ${TP:-1}': "the command $X",
    'sed -i s/4/8/ env.sh; . ./env.sh; launch --tp $TP': "the script may have written it",
    'A=$((1/0)); launch --a $A': "is arithmetic that bash refuses",
    'A=(1 2; launch --a': "expected the ) of an array", 'if true; then launch --a 1': "expected 'fi'",
    'shopt -s lastpipe; launch --a 1': "'shopt lastpipe'",
    'A=$(seq 1 9223372036854775807 9223372036854775807); launch --a $A': "the output of a command (line 1)",
    'A=$(seq -9223372036854775808 1 -9223372036854775808); launch --a $A': "the output of a command (line 1)",
}
# What grows without bounds in few bytes is refused soon, at the command that grows.
TOO_MUCH = [
    "\n".join([*(f'V{i}="{"+".join(4 * [f"V{i + 1}"])}"' for i in range(16)), "V16=1; launch --a $((V0))"]),
    "A=x\n" + 30 * "A=$A$A\n" + "launch --a $A",
    "\n".join([*(f"f{i}() {{ :; }}" for i in range(20000)), *(20000 * ["program"]), "launch --a 1"]),
    "\n".join([*(f": ${{N{i}:-}}" for i in range(40000)), "launch --a 1"]),
    "A=" + 1000 * "a" + "\n" + 9 * "B=${A//*a*a*a*a*b/}\n" + "launch --b $B",
    "X='" + 20000 * "a " + "'\n" + 60 * 'read -ra A <<< "$X"\n' + "launch --a 1",
    "cat > big.sh <<'X'\n" + 20000 * "# 3456789\n" + "X\n{\n" + 500 * "bash\n" + "} < big.sh\nlaunch --a 1",
]


def words(script):
    path = FOLDER / "script.sh"
    path.write_text(script + ("\n" if len(script) % 2 else ""))
    environment = dict(os.environ, PATH=f"{FOLDER}:{os.environ['PATH']}", LC_ALL="C")
    bash = subprocess.run(["bash", str(path)], capture_output=True, env=environment, cwd=FOLDER, timeout=20)
    ours = subprocess.run([PRINT, "shell", str(path)], capture_output=True, timeout=20)
    return bash.stdout, ours.stdout, ours.stderr


def prepare():
    """The folder as it is before every script."""
    for name, text in {"env.sh": "TP=4\nARGS='--a b'\n", ".env": "PP=2\n", "inner.sh": "launch --a $1\n",
                       "c.cfg": "TP=4\n", "o.cfg": "TP=8\n", "sub/c.cfg": "TP=8\n",
                       "c.sh": "#!/bin/bash\necho TP=8 > c.cfg\n"}.items():
        (FOLDER / name).parent.mkdir(exist_ok=True)
        (FOLDER / name).unlink(missing_ok=True)
        (FOLDER / name).write_text(text)
    (FOLDER / "c.sh").chmod(0o755)
    (FOLDER / "made.sh").unlink(missing_ok=True)


def hurry():
    """Seconds of processor time, of which a busy machine takes none; sanitizers take several times as much."""
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def refuse(script, reason):
    global failures
    prepare()
    (FOLDER / "script.sh").write_text(script + "\n")
    ours = subprocess.run([PRINT, "shell", "script.sh"], capture_output=True, text=True, cwd=FOLDER, preexec_fn=hurry)
    if ours.returncode != 1 or ours.stdout or reason not in ours.stderr:
        failures += 1
        print(f"{script[:2000]}\nexpected: {reason}\nours: {ours}\n")


def expect(script):
    global failures
    prepare()
    bash, ours, errors = words(script)
    for file in ("out", "err"):
        if (FOLDER / file).exists():
            bash = bash or (FOLDER / file).read_bytes()
            (FOLDER / file).unlink()
    ours = b"".join(part + b"\x1f\n" for part in ours.split(b"\x1f\n")[1:-1])  # without the command's own name
    if bash != ours:
        failures += 1
        print(f"{script}\nbash: {bash}\nours: {ours}\n{errors.decode()}\n")


def refuse_soon(script):
    """Within the time that `refuse` has, and at a line from the one that begins to grow."""
    refuse(script, ": error: the script takes more work to follow than 2097152 characters of variables; expected a "
           "launch script")
    refuse(script, "script.sh:")


def as_bash_or_refused(script):
    """The same words as bash, or none with the reason: never others. Whether they are the same."""
    global failures
    prepare()
    bash, ours, errors = words(script)
    seen = b"".join(part + b"\x1f\n" for part in ours.split(b"\x1f\n")[1:-1])
    if not (seen == bash or (not ours and b"/script.sh:" in errors)):
        failures += 1
        print(f"{script}\nbash: {bash}\nours: {ours}\n{errors.decode()}\n")
    return seen == bash


def lines_of_fields(generator):
    """What `read` cuts: empty fields, blanks and separators in each place."""
    text = "".join(generator.choice(["a", "b", ",", ",", " ", ":"]) for _ in range(generator.randrange(7)))
    cut = generator.choice(["IFS=, ", "IFS=: ", "", "IFS=' ' ", "IFS= ", "IFS=', ' "])
    return generator.choice([f"{cut}read -ra A <<< '{text}'\nlaunch --n ${{#A[@]}} --a \"${{A[@]}}\"",
                             f"{cut}read -r A <<< '{text}'\nlaunch --a \"$A\"",
                             f"{cut}read -r A B <<< '{text}'\nlaunch --a \"$A\" --b \"$B\""])


def numbers_at_the_edge(generator):
    """Whole numbers near the ends of 64 bits, wherever a number stands."""
    numbers = ["0", "1", "-1", "2", "3", "9223372036854775807", "-9223372036854775808", "9223372036854775806",
               "99999999999999999999", "1000000000000001"]
    a, b, c = (generator.choice(numbers) for _ in range(3))
    return generator.choice([
        f"X=abcdef; launch --a \"${{X: {a}:{b}}}\"", f"A=(1 2 3); launch --a \"${{A[@]: {a}:{b}}}\"",
        f"A=([{a}]=1 2); launch --a ${{A[-1]}} --n ${{#A[@]}}", f"A[{a}]=1; A+=(2); launch --a ${{A[-1]}} ${{A[{b}]}}",
        f"A=(1 2); A[{a}]=3; A[{b}]+=4; launch --a \"${{A[@]}}\" \"${{A[{c}]}}\"", 
        f"launch --a $(({a}{generator.choice('+-*')}{b}))",
        f"launch --a $(({b}/({a}|1) + {a}%({b}|1))) --b $(({a}<<({b}&63))) --c $((-({a})))",
        f"[ {a} -lt {b} ] && X=1; launch --a ${{X:-2}}", f"set -- 1 2 3; shift {a}; launch --a $#",
        f"launch --a $(printf %d {a}) --b $(({a}))", f"X={a}; ((X++)); ((X-=2)); launch --a $X"])


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


for script in SCRIPTS + FOLLOWED:
    expect(script)
for script, reason in REFUSED.items():
    refuse(script, reason)
for script in TOO_MUCH:
    refuse_soon(script)
refuse("while true; do\n" + "[ -e env.sh ]\n" * 3 + "done", "more than 5000 steps to follow")  # a file is small
most = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
if most > 1 << 30:
    failures += 1
    print(f"a script took {most >> 20} MiB of memory")
for seed in range(60):
    expect(some(random.Random(seed)))
READ_IN = "TP=1; . ./c.cfg; launch --tp ${TP:-0}"
same = [as_bash_or_refused(f"{write}\n{READ_IN}") for write in WRITES]
failures += same.count(True) < 10
for read in READS:
    expect(f"{read}; rm -f out\n{READ_IN}")
same = [as_bash_or_refused(lines_of_fields(random.Random(seed))) for seed in range(80)]
failures += same.count(True) < 25
same = [as_bash_or_refused(numbers_at_the_edge(random.Random(seed))) for seed in range(120)]
failures += same.count(True) < 30
sys.exit(failures > 0)
