#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""completion.py STAGESIM BASH ZSH FISH: what the completions offer, in bash itself, and in fish where it is installed;
zsh, where it is installed, reads its file. Every option of every --help is offered."""
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

# What is typed, and some of what is offered for the last word; None: nothing is offered.
CASES = [
    (["r"], ["run", "report"]),
    (["run", ""], None),
    (["run", "--engine", ""], ["simgrid", "analytic", "both"]),
    (["run", "--engine", "s"], ["simgrid"]),
    (["run", "--tr"], ["--trace"]),
    (["run", "--trace", "paje,c"], ["paje,chrome", "paje,chrome-gz", "paje,csv"]),
    (["run", "--set", ""], None),
    (["compare", "--schedules", "gpipe,zb-h"], ["gpipe,zb-h1", "gpipe,zb-h2"]),
    (["compare", "--picture", "s"], ["svg"]),
    (["schedule", "zb-"], ["zb-h1", "zb-h2", "zb-auto", "zb-v", "zb-v-greedy"]),
    (["schedule", "1f1b", "--format", ""],
     ["text", "csv", "json", "latex", "markdown", "svg", "png", "pdf", "pytorch", "pytorch-comms"]),
    (["export", "s.yaml", "--to", "m"], ["megatron"]),
    (["collective", "all-g"], ["all-gather"]),
    (["collective", "all-reduce", "--algorithm", "double"], ["double-tree"]),
    (["collective", "all-reduce", "--engine", ""], ["simgrid", "analytic"]),
    (["platform", ""], ["generate", "import", "show", "fit"]),
    (["platform", "generate", "dgx-a"], ["dgx-a100"]),
    (["platform", "import", "x.xml", "--fabric", "dgx-h1"], ["dgx-h100"]),
    (["layouts", "--method", ""], ["axonn", "analytic"]),
    (["list", "pre"], ["presets"]),
    (["help", "sea"], ["search"]),
]


def run(*arguments, script):
    result = subprocess.run([*arguments, script], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return result.stdout.splitlines(), result.stderr


def in_bash(path, words):
    quoted = " ".join(f"'{word}'" for word in ["stagesim", *words])
    return run("bash", "--norc", "-c",
               script=f"compopt() {{ :; }}; . '{path}'; COMP_WORDS=({quoted}); " f"COMP_CWORD={len(words)}; _stagesim; "
               "printf '%s\\n' \"${COMPREPLY[@]}\"")


def check_bash(check, path, texts):
    for words, expected in CASES:
        offered, stderr = in_bash(path, words)
        offered = [word for word in offered if word]
        check.that(not stderr and (set(offered) == set(expected) if expected else not offered),
                   f"bash {words}: {offered}\n{stderr}")
    for name, text in texts.items():
        listed = set(re.findall(r"^  (--[a-z-]+)", text, flags=re.M)) | set(
            re.findall(r"^  -[a-z], (--[a-z-]+)", text, flags=re.M))
        offered = set(in_bash(path, [name, "-"])[0])
        check.that(listed and listed <= offered, f"bash {name}: {sorted(listed - offered)} are not offered")
    registered, stderr = run("bash", "--norc", "-c", script=f". '{path}'; complete -p stagesim")
    check.that(registered == ["complete -o default -F _stagesim stagesim"] and not stderr,
               f"bash: {registered} {stderr}")


def check_fish(check, path):
    for words, expected in CASES:
        if expected and not any("," in word for word in expected):
            line = "stagesim " + " ".join(words)
            offered, stderr = run("fish", "--no-config", "-c", script=f"source '{path}'; complete -C '{line}'")
            found = {word.split("\t")[0] for word in offered}
            check.that(set(expected) <= found and not stderr, f"fish {words}: {sorted(found)}\n{stderr}")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    bash, zsh, fish = sys.argv[2:]
    general = tool.run(binary, "--help").stdout
    names = re.findall(r"^  ([a-z]+) ", general.split("commands:\n")[1].split("\n\n")[0], flags=re.M)
    check_bash(check, bash, {name: tool.run(binary, name, "--help").stdout for name in names})
    if shutil.which("zsh"):
        _, stderr = run("zsh", "-n", script=zsh)
        check.that(not stderr, f"zsh: {stderr}")
    if shutil.which("fish"):
        check_fish(check, fish)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
