#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generated PRINT_READERS [--count N] [--seed S]: random scripts over what launch scripts do, run by bash beside the
reader. Both have the same launch, or the reader refuses; it never reads another one. The scripts are made of bash's own
commands and of stand-ins in a folder of their own: `launch` notes its words, `sbatch` runs its input, and `ok`, `bad`
and `number` are programs of which the reader knows nothing."""
import argparse
import concurrent.futures
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import wider  # noqa: E402

STUBS = {"launch": "for word; do all+=$word$'\\037'; done; printf '%s\\036' \"$all\" >> \"$CALLS\"",
         "ok": "exit 0", "bad": "exit 1", "number": "echo 3",
         "sh": "exec bash --norc --noprofile \"$@\"", "torchrun": "exec launch \"$@\"", "program": "exit 0",
         "srun": "until command -v \"$1\" > /dev/null || [ $# = 0 ]; do shift; done; exec \"$@\"",
         "sbatch": "if [ $# = 0 ]; then cat > job.$$; set -- job.$$; fi; "
         "exec bash --norc --noprofile \"$@\" < /dev/null"}
WORDS = ["1", "2", "4", "8", "16", "007", "010", "3", "a", "b c", "fp8", "x*y", "", "10"]


ENDED = "bash ended at an error of a program, under set -e"  # of which the reader cannot know
BEFORE = {"exec", "command", "env", "nohup", "timeout", "nice", "stdbuf", "setsid", "time",
"xargs"}  # they pass on what follows
NOT_THERE = "the launcher is no program"
BUILTINS = {"true", "false", "[", "[[", "((", "test", "let", "return", "exit", ":", "eval", "export", "declare",
"local",
            "unset", "shift", "printf", "echo", "set", "break", "continue", "case", "for", "builtin", "trap"}


class Maker:
    """A script: lines, the names in use, and files beside it."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.files = {}
        self.functions = []
        self.depth = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def name(self):
        return self.pick("A", "B", "C", "D", "E")

    def array(self):
        return self.pick("L", "M", "N")

    def quoted(self, text):
        return "'" + text + "'" if self.random.random() < 0.5 else '"' + text + '"'

    def literal(self):
        word = self.pick(*WORDS)
        return self.quoted(word) if " " in word or "*" in word or not word or self.random.random() < 0.3 else word

    def pattern(self):
        return self.pick("1", "*", "[0-9]*", "?", "a*", "*8", "''", '"$A"', "$B", "[!a]*", "'*'", "fp8|a", "4|8")

    def expansion(self):
        name, array = self.name(), self.array()
        return self.pick(
            f"${name}", f"${{{name}}}", f"${{{name}:-2}}", f"${{{name}-x}}", f"${{{name}:+y}}", f"${{{name}+z}}",
            f"${{#{name}}}", f"${{{name}:=5}}", f"${{{name}#?}}", f"${{{name}##*[0-9]}}", f"${{{name}%?}}",
            f"${{{name}//[0-9]/k}}", f"${{{name}/a/b}}", f"${{{name}//_}}", f"${{{name}^^}}", f"${{{name},}}",
            f"${{{name}:1}}", f"${{{name}:0:1}}", f"${{{name}: -1}}", f"${{{array}[0]}}", f"${{{array}[1]}}",
            f"${{#{array}[@]}}", f"${{{array}[*]}}", f"${{{array}[@]}}", f"${array}", f"${{{array}[-1]}}",
            f"${{{array}[@]:1}}", f"$(({self.sum()}))", f"$(({self.sum()}))", f"$(echo {self.literal()})",
            f"`echo ${name}`", "$#", "$1", "$@", "$*", "$?", f"$(printf %s-%s ${name} q)", f"${{!{name}}}",
            f"$(f{self.random.randrange(3)} 2)", f"$[{self.sum()}]", "${@:2}", "${@: -1}",
            f"${{{array}[@]+\"${{{array}[@]}}\"}}",
            f"${{{array}[@]%?}}", f"${{{array}[*]^^}}", f"${{{array}[@]: -1}}", f"${{{name}:-'q r'}}",
            f"${{{name}:+\"$1\"}}",
            f"${{{name}:-$(echo 3)}}", "$_", "${#}", "${#@}", f"$(echo -n {self.literal()})",
            f"$(printf '%03d' {name})",
            f"${{{name}:?}}", f"$(declare -p {name})", f"${{{name}@Q}}", f"$(echo \"${{{array}[@]}}\" | cat)",
            f"$(case ${name} in (4) echo 5;; (*) echo 6;; esac)", f"${{{name}//\"4\"/y}}", f"${{{name}/#/p}}",
            f"${{{name}/%/s}}",
            "${!A*}", f"$(for i in 1 2; do echo -n $i${name}; done)", "${10}", f"${{{array}[${name}]}}",
            f"${{!{array}[@]}}", f"${{{name}:-${{{self.name()}:-7}}}}", f"$({name}=6; echo ${name})")

    def word(self):
        kind = self.random.randrange(8)
        if kind < 3:
            return self.literal()
        if kind < 5:
            return self.expansion()
        if kind < 7:
            return '"' + self.pick("", "p", "q ") + self.expansion() + self.pick("", "s") + '"'
        return self.pick("u", "v=") + self.expansion()

    def sum(self, depth=0):
        name = self.name()
        if depth > 2 or self.random.random() < 0.4:
            return self.pick("1", "2", "3", "010", "0x1f", "2#101", name, f"${name}", f"{self.array()}[0]", "7")
        left, right = self.sum(depth + 1), self.sum(depth + 1)
        return self.pick(f"{left}+{right}", f"{left} * {right}", f"({left}-{right})", f"{left}%{right}",
        f"{left}/{right}",
                         f"{left}<<1", f"{left} < {right}", f"{left}=={right}", f"{left}?{right}:4", f"!{left}",
                         f"-{left}", f"{left}&&{right}", f"{left}||{right}", f"{name}={left}", f"{name}+={left}",
                         f"{name}++", f"++{name}", f"{left}**2", f"{left}&{right}", f"{left}|{right}",
                         f"{left},{right}", f"{name}*=2", f"~{left}", f"{left}^{right}", f"{name}--")

    def test(self):
        left, right = self.word(), self.word()
        name = self.name()
        return self.pick(
            f"[ \"${name}\" = {self.literal()} ]", f"[[ ${name} == {self.pattern().split('|')[0]} ]]",
            f"[[ ${name} != {self.literal()} ]]", f"[ \"${{{name}}}\" -gt 2 ]", f"[[ ${name} -le 8 ]]",
            f"(( {self.sum()} ))", f"[ -n \"{self.expansion()}\" ]", f"[[ -z ${name} ]]", f"[ {left} = {right} ]",
            f"[ -z {self.expansion()} ]", f"[[ -n {left} && {right} == a* ]]", f"[[ ${name} || -n ${self.name()} ]]",
            f"[[ -v {name} ]]", f"[[ ${name} < b ]]", f"[ ! -n \"${name}\" ]", f"[ \"${name}\" = 4 -o 1 = 2 ]",
            f"[ ${name} ]", f"[[ ! ${name} == 4 && -n ${self.name()} ]]", f"(( {name} == 4 || {self.name()} ))",
            "[ $# -gt 1 ]",
            f"[[ ${name} -eq 010 ]]", f"(( {name} ))", "true", "false", "ok", "bad", f"! [ \"${name}\" = 4 ]",
            f"test {left}",
            f"f{self.random.randrange(3)}", f"[[ {left} == {right} ]]", f"[ 1 -eq ${name} -a 2 = 2 ]", "[ -e env.sh ]",
            f"{{ {name}=1; false; }}", f"[[ \"${name}\" =~ ^[0-9]+$ ]]", f"[ \"${name}\" ]")

    def assignment(self):
        name, array = self.name(), self.array()
        words = " ".join(self.word() for _ in range(self.random.randrange(4)))
        return self.pick(f"{name}={self.word()}", f"{name}={self.word()}", f"{name}+={self.word()}",
        f"{array}=({words})",
                         f"{array}+=({words})", f"{array}[{self.random.randrange(3)}]={self.word()}",
                         f"{name}={self.word()} {self.name()}={self.word()}", f"{array}=([2]={self.literal()} y)",
                         f"{array}[{self.sum()}]+={self.literal()}")

    def plain(self):
        name, other, array = self.name(), self.name(), self.array()
        return self.pick(
            self.assignment(), self.assignment(), self.assignment(), f"export {name}={self.word()}",
            f"declare {name}={self.word()}", f"readonly R{self.random.randrange(1000)}={self.word()}",
            f"declare -i {name}={self.sum().replace('<', '-').replace('(', '').replace(')', '')[:1] or 1}",
            f"local {name}={self.word()}", f"eval '{name}={self.literal().replace(chr(39), '')}'",
            f"eval {name}=\\${other}", f"eval \"{name}='{self.pick('1', '2 3')}'\"",
            f"let {name}={self.pick('2', '3*2', 'A+1')}",
            f"let '{name}*=2'", f"(( {self.sum()} ))", f": $(({self.sum()}))",
            f"printf -v {name} {self.pick('%s', '%d', '%s-%s', 'x')} {self.word()}",
            f"read {name} <<< {self.word()}", f"read -r {name} {other} <<< \"{self.pick('1 2 3', ' a b', '7')}\"",
            f"read -ra {array} <<< \"4 5 6\"", f"IFS=, read -r {name} {other} <<< '1,2,3'",
            f"IFS=: read -ra {array} <<< 'x:y'",
            f"unset {name}", f"unset {array}", f"({name}={self.literal()})", f"{name}={self.literal()} &",
            f"{{ {name}={self.literal()}; }}",
            f"echo {self.literal()} | read {name}", f"{name}={self.literal()} ok",
            f"{name}={self.literal()} f0 {self.word()}",
            f"{name}={self.literal()} eval '{other}=${name}'",
            f"f{self.random.randrange(3)} {self.word()} {self.word()}",
            f"declare -n ref={name}; ref={self.literal()}; unset -n ref", f"declare -u {name}; {name}={self.word()}",
            ". ./env.sh", "source env.sh", "source missing.sh", "set -a; . ./env.sh; set +a",
            "export $(cat .env | xargs)",
            "export $(cat .env)", f"{name}=$(number)", f"{name}=$(number) || {other}=3", "set -e", "set +e",
            "set -- 5 'g h' 6", "shift", "shift 2", "set -u", "set +u", "set -o pipefail", "set -f", "set +f",
            f"export {name}={self.word()} {other}=${name}", f"declare {name}=1 {other}=${name} {array}=(1 ${name})",
            f"local {name}=7 {other}=${name}", f"declare -A H=([x]={self.literal()} [y]=2); {name}=${{H[x]}}; unset H",
            f"{name}=1; {name}+=2; {other}+=${name}", f"declare -i {name}=2; {name}+=3",
            f"IFS=, ; {name}=$(echo ${other})",
            f"read -r {name} < env.txt", f"read -r {name} {other} < env.txt", f"read -d '' {name} < one.txt",
            f"while read -r {name}; do :; done < <(echo 5; echo 6)", f"mapfile -t {array} < <(printf '%s\\n' p q)",
            f"echo {name}=5 > made.sh; . made.sh x y; {other}=$1", "echo 'return 1' > made.sh; . ./made.sh",
            f"unset -f f{self.random.randrange(3)}", f"builtin declare {name}=3", f"command eval {name}=4",
            f"for {name} in {{01..03}} a{{1,2}}; do :; done", f"{name}=$(false; echo $?)",
            f"{name}=$(true | false); {other}=$?",
            f"let {name}++ {other}=2", f"(( {name}++ )) || {other}=1", f"{name}=${{{name}:-3}}",
            f"{array}+=([4]={self.literal()})",
            f"{array}[${name}]=1", f"printf -v {name} '%s,' 1 2", f"{name}=$({other}=1; (exit 3); echo $?)",
            f"while getopts ab: {name}; do {other}=$OPTARG; done", f"exec 3>&1", f"{{ {name}=1; }} > /dev/null",
            f"{name}=1 {other}=${name}", f"{name}=9 {other}=8 bash -c 'exit ${name}'; {other}=$?", "trap - EXIT",
            f"bash -c '{name}=4'", f"{name}=$(bash -c 'echo ${name}')",
            f"export {name}; {other}=$(bash -c 'echo ${name}')",
            f"f{self.random.randrange(3)} | cat", f"! f{self.random.randrange(3)}", f"time {name}=2",
            f"{name}=\"'\\$A'\"", f"eval \"{name}=\\\"${other}\\\"\"", f"cd conf 2>/dev/null && {name}=1 || {name}=2",
            f"{name}=$(< one.txt)", f"mapfile -t {array} < env.txt",
            f"while read -r {name}; do {other}=${name}; done < env.txt",
            f"{name}=\"$(cat one.txt)\"", "echo D=9 > made.sh; . ./made.sh",
            f"cat > made.sh <<X\n{name}=${other}\nX\n. ./made.sh",
            f"[[ -f env.sh ]] && {name}=2", f"command ok && {name}=2", f"{name}=1; exit_later=1",
            f"true && {name}={self.literal()}",
            f"false || {name}={self.literal()}", f"bad && {name}={self.literal()}", f"printf -v {array}[1] %s t",
            f"{name}=${{{array}[@]}}", f"{name}=$'a\\tb'", f"{name}=\"${{{array}[*]}}\"", f"declare -a {array}",
            "cd .",
            f"unset {array}[0]", f"trap 'A=9' EXIT", f"{name}=$(echo \"${{{array}[@]}}\")", f"coproc_{name}=1",
            "number > /dev/null",
            f"export {name}", f"export -n {name}" if self.random.random() < 0.1 else f"export {other}")

    def block(self):
        self.depth += 1
        lines = "\n".join(self.statement() for _ in range(self.random.randint(1, 3)))
        self.depth -= 1
        return lines

    def compound(self):
        name, array = self.name(), self.array()
        kind = self.random.randrange(9)
        if kind == 0:
            return (f"if {self.test()}; then\n{self.block()}\nelif {self.test()}; then\n{self.block()}\nelse\n"
                    f"{self.block()}\nfi")
        if kind == 1:
            return f"if {self.test()}; then {self.block()}\nfi"
        if kind == 2:
            ends = [self.pick(";;", ";;", ";;", ";&", ";;&") for _ in range(3)]
            return f"case {self.word()} in\n{self.pattern()}) {self.block()} {ends[0]}\n" \
                   f"({self.pattern()}) {self.block()} {ends[1]}\n" \
                   f"*) {self.block()} {ends[2]}\nesac"
        if kind == 3:
            body = self.block() + self.pick("", "", f"\n{self.test()} && break",
            f"\nif {self.test()}; then continue; fi\n{self.plain()}")
            return f"for {name} in {self.word()} {self.word()} {self.pick('{1..3}', '$(seq 2)', '')}; do\n{body}\ndone"
        if kind == 4:
            return f"for ((i=0; i<{self.pick('2', '3')}; i++)); do\n{self.block()}\ndone"
        if kind == 5:
            end = self.pick("", "\nbreak", "\nbreak 2", "\ncontinue", "\ncontinue 2")
            return f"W=0; while [ $W -lt {self.pick('2', '3')} ]; do\nW=$((W+1))\n{self.block()}{end}\ndone"
        if kind == 6:
            return f"(\n{self.block()}\n)"
        if kind == 7:
            return f"for x in \"${{{array}[@]}}\"; do {name}+=$x; done"
        return f"until {self.test()}; do {self.block()}\nbreak\ndone"

    def statement(self):
        chance = self.random.random()
        if chance < 0.18 and self.depth < 3:
            return self.compound()
        if chance < 0.24:
            return self.test() + self.pick(" && ", " || ") + self.plain()
        return self.plain()

    def function(self, number):
        local = self.pick("", "local A", "local B=$1", f"local {self.name()}={self.word()}", "declare C=3")
        end = self.pick("", "return", f"{self.test()} && return 1", "echo r", f"return {self.pick('0', '1')}")
        name = self.pick(f"f{number}()", f"function f{number}", f"f{number} ()")
        self.depth += 2
        body = f"{local}\n{self.block()}\n{end}"
        self.depth -= 2
        for other in range(3):  # no recursion without an end
            if other >= number:
                body = body.replace(f"f{other}", ":")
        return f"{name} {{\n{body}\n}}"

    def launch(self):
        words = [self.pick(f"--a ${self.name()}", f'--b "${self.name()}"', f"--c={self.expansion()}",
        f'"${{{self.array()}[@]}}"',
                           f"${{{self.array()}[@]}}", f'--d "${{{self.array()}[*]}}"', f'"{self.expansion()}"',
                           f"--e {self.word()}",
                           f"${self.name()}", '"$@"', f"--f {self.literal()}") for _ in range(self.random.randint(2,
                           6))]
        command = "launch --first " + " ".join(words)
        kind = self.random.randrange(14)
        name = self.name()
        if kind == 0:
            return f"{name}={self.literal()} {command}"
        if kind == 1:
            return f"( {name}=2; {command} )"
        if kind == 2:
            return f"{command} 2>&1 | cat > log.txt"
        if kind == 3:
            return f"{command} &\nwait"
        if kind == 4:
            return f"sbatch <<EOF\nE=5\n{command}\nEOF"
        if kind == 5:
            return f"sbatch <<'EOF'\n{command}\nEOF"
        if kind == 6:
            return f"bash -c '{command.replace(chr(39), '')}' zero one two"
        if kind == 7:
            return f"CMD=\"launch --first ${name} --z ${{{self.array()}[*]}}\"\neval $CMD"
        if kind == 8:
            return f"CMD=\"launch --first ${name} -z\"\n$CMD {self.word()}"
        if kind == 9:
            return f"{command}\nexit 0\nlaunch --first --again --no --no --no"
        if kind == 10:
            self.files["inner.sh"] = command + "\n"
            return f"bash ./inner.sh {self.word()} 3"
        if kind == 11:
            return self.pick(f"exec {command}", f"echo {self.literal()} x | xargs launch --first",
            f"trap '{command.replace(chr(39), '')}' EXIT",
                             f"run() ( {name}=3; {command} )\nrun",
                             f"launch --first {words[0]} \\\n  # --no \\\n  --second")
        if kind == 12:
            return f"run() {{ launch --first \"$@\"; }}\nrun --g {' '.join(words[:2])}"
        return command

    def script(self):
        self.files["env.sh"] = "\n".join(self.pick(f"{self.name()}={self.literal()}", f"export {self.name()}=12",
        self.assignment())
                                         for _ in range(2)) + "\n"
        self.files[".env"] = f"{self.name()}=31\n{self.name()}=32\n"
        self.files["env.txt"] = "k1\nk2 k3\n"
        self.files["one.txt"] = "once\n"
        lines = [self.function(number) for number in range(self.random.randrange(4))]
        for name in "ABCDE":
            if self.random.random() < 0.9:
                lines.append(f"{name}={self.literal()}")
        for name in "LMN":
            if self.random.random() < 0.9:
                lines.append(f"{name}=({' '.join(self.literal() for _ in range(self.random.randrange(4)))})")
        self.random.shuffle(lines)
        lines += [self.assignment() for _ in range(self.random.randint(0, 2))]
        lines += [self.statement() for _ in range(self.random.randint(1, 6))]
        lines.append(self.launch())
        return "#!/bin/bash\n" + "\n".join(lines) + "\n"


def confine():
    """A script that was changed at random ends, fills no disk, and takes no memory."""
    for kind, most in ((resource.RLIMIT_CPU, 10), (resource.RLIMIT_FSIZE, 1 << 24), (resource.RLIMIT_AS, 1 << 30)):
        resource.setrlimit(kind, (most, most))


def run_bash(folder, calls, trace=subprocess.DEVNULL):
    environment = {"PATH": f"{folder.parents[1] / 'bin'}:/usr/bin:/bin", "CALLS": str(calls), "LC_ALL": "C",
    "NOBODY": "\035",
                   "HOME": str(folder),
                   "BASH_FUNC_command_not_found_handle%%": '() { launch "$NOBODY$@"; return 127; }'}
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.getuid() == 0 else {}
    options, files = [], ()
    if trace != subprocess.DEVNULL:
        options, files = ["-x"], (trace.fileno(), )
        environment["SHELLOPTS"] = "xtrace"  # of shells within it, too
        environment["BASH_XTRACEFD"] = str(trace.fileno())
    process = subprocess.Popen(["bash", "--norc", "--noprofile", *options, "script.sh"], cwd=folder, env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True, pass_fds=files, preexec_fn=confine, **nobody)
    try:
        status = process.wait(timeout=20)
        for _ in range(40):  # until what runs behind has ended
            os.killpg(process.pid, 0)
            time.sleep(0.05)
        return status
    except ProcessLookupError:
        return status
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def ended_at_program(folder):
    """Whether a program that fails ended bash, or a part of it, under set -e: bash says of each what it runs."""
    for name in ("script.sh", "whole.sh"):  # `set -` and `set +x` would end what bash says
        if (folder / name).exists():
            text = (folder / name).read_text()
            text = re.sub(r"\bset (-|\+x|\+o xtrace)(?=[ \t]*([;\n)]|$))", ": \\1", text)
            (folder / name).write_text(re.sub(r"\bset -(?=[ \t]+[^-+\s])", "set --", text))
    with open(folder / "trace", "wb") as trace:
        run_bash(folder, folder / "calls-again", trace)
    lines = [line.lstrip("+ ") for line in (folder / "trace").read_text(errors="replace").splitlines()
             if line.startswith("+")]
    names = [line.split(" ")[0] for line in lines[-4:]]
    fails = any(line in ("bad", "cat missing.txt", "return 127") for line in lines)
    return any(re.match(r"(set|bash) (-\w+ )*-\w*e|set -o errexit", line) for line in lines) and (
        fails or any(name not in BUILTINS and "=" not in name for name in names))


def behind(words):
    """What stands behind the launcher; programs before it pass on what follows: env, nohup."""
    first = words[0].decode(errors="replace").lstrip("\035") if words else ""
    names = [words.index(name) for name in (b"launch", b"torchrun") if name in words and first in (*BEFORE, "srun")]
    return words[min(names, default=0) + 1:]


def run_one(reader, folder, script, files):
    """What bash launches, and what the reader finds or why it refuses."""
    shutil.rmtree(folder.parent, ignore_errors=True)
    for name, text in dict(files, **{"script.sh": script}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for path in (folder.parent, *folder.parent.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    ours = subprocess.run([reader, "shell", "script.sh"], cwd=folder, capture_output=True, timeout=60)
    calls = folder / "calls"
    run_bash(folder, calls)
    launches = [call.split(b"\x1f")[:-1] for call in calls.read_bytes().split(b"\x1e")[:-1]] if calls.exists() else []
    launches = [behind(call) if call and call[0].startswith(b"\x1d") else call for call in launches
                if not call or not call[0].startswith(b"\x1d-")]
    words = behind(ours.stdout.split(b"\x1f\n")[:-1])
    told = ours.stderr.decode(errors="replace")
    program = next((word for word in ours.stdout.decode(errors="replace").split("\x1f\n")
                    if word not in BEFORE and "=" not in word and not word.startswith("-")), "")
    if program and program not in STUBS:
        told += NOT_THERE
    if words not in launches and ours.returncode == 0 and ended_at_program(folder):
        told += ENDED
    if ours.returncode not in (0, 1):
        told += f"the reader ends with {ours.returncode}"
        words = [b"crash"]
        return [], words, told
    return launches, words if ours.returncode == 0 else None, told


def verdict(launches, words, told):
    """agree, refuse, none (neither launches), said (a launch that a failing program prevents), or differ."""
    if words is None:
        return "refuse"
    launches = [launch for launch in launches if any(word.startswith(b"--") for word in launch)]
    if not words:
        return "none" if not launches else "differ"
    if words in launches:
        return "agree"
    depends = "depends on a condition" in told and not any(launch[:3] == words[:3] for launch in launches)
    return "said" if depends or ENDED in told or NOT_THERE in told else "differ"


def prepare(folder):
    (folder / "bin").mkdir()
    for name, text in STUBS.items():
        (folder / "bin" / name).write_text(f"#!/bin/bash\n{text}\n")
        (folder / "bin" / name).chmod(0o755)


def check(arguments):
    reader, folder, seed = arguments
    maker = (wider.widen(Maker) if seed % 3 else Maker)(seed)
    script = maker.script()
    try:
        launches, words, told = run_one(reader, folder / str(os.getpid()) / "work", script, maker.files)
    except subprocess.TimeoutExpired as error:
        return seed, "late" if "print-readers" in str(error.cmd[0]) else "none", script, str(error)
    return seed, verdict(launches, words,
    told), script, f"files: {maker.files}\nbash: {launches}\nours: {words}\n{told}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("reader")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="these seeds alone")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", default="differ,late")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    prepare(folder)
    counts = {}
    reader = str(pathlib.Path(options.reader).resolve())
    seeds = range(options.seed * 1000000, options.seed * 1000000 + options.count)
    seeds = [int(seed) for seed in options.only.split(",")] if options.only else seeds
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for seed, state, script, detail in pool.map(check, [(reader, folder, seed) for seed in seeds], chunksize=10):
            counts[state] = counts.get(state, 0) + 1
            if state in options.show.split(","):
                print(f"---- {state}: seed {seed}\n{script}\n{detail}\n")
    shutil.rmtree(folder)
    print(counts)
    failed = counts.get("differ", 0) + counts.get("late", 0)
    sys.exit(failed > 0 or counts.get("agree", 0) < options.count // 5)


if __name__ == "__main__":  # other processes may load this file
    main()
