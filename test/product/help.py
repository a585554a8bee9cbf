#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""help.py STAGESIM [PAGE]...: every command has a help text with examples that run as they are printed, in the source
folder; manual pages name every command and option; usage mistakes end with exit code 2 and a usage line."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool


# What NCCL_TOPO_DUMP_FILE writes on a node of eight GPUs behind four switches.
NODE = "".join(['<system version="1"><cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49">',
                *
                [f'<pci busid="0000:{switch}0:00.0" class="0x060400" link_speed="16 GT/s" link_width="16">' +
                 "".join(f'<pci ' f'busid="0000:{switch}{gpu}:00.0" ' f'class="0x030200" ' f'link_speed="16 ' f'GT/s" '
                         f'link_width="16">' f'<gpu dev="{2 * switch + gpu - 2}" sm="80" rank="{2 * switch + gpu - 2}" '
                         f'gdr="1"/></pci>' for gpu in (0, 1)) + "</pci>" for switch in range(1, 5)],
                "</cpu></system>"])


def options_in(text):
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text))


def examples(check, binary, name, text, folder):
    """Runs them in order: one may make a file that the next one reads. Who reads requests is asked nothing here."""
    parts = re.split(r"^examples?:\n", text, flags=re.M)
    if not check.that(len(parts) == 2, f"{name} --help has no example"):
        return
    lines = [line.strip() for line in parts[1].splitlines() if line.startswith("  ")]
    check.that(lines and all(line.startswith("stagesim ") for line in lines), f"{name}: examples {lines}")
    for line in lines:
        result = tool.run(binary, *shlex.split(line)[1:], cwd=folder, expect=None)
        check.that(result.returncode == 0 and (result.stdout or "-o" in line or "--stdio" in line),
                   f"{line}: exit code {result.returncode}\n{result.stderr}")


def manual(check, paths, texts):
    """A page for each command with all its options, all named by stagesim(1), in the language of manual pages."""
    pages = {path.stem: path.read_text().replace("\\-", "-").replace("\\(aq", "'") for path in map(pathlib.Path, paths)}
    check.that(set(pages) == {"stagesim", *(f"stagesim-{name}" for name in texts)}, f"manual pages {sorted(pages)}")
    for name, text in texts.items():
        page = pages.get(f"stagesim-{name}", "")
        check.that(f"stagesim-{name} (1)" in pages["stagesim"], f"stagesim(1) does not name stagesim-{name}(1)")
        check.that(options_in(text) <= options_in(page),
                   f"stagesim-{name}(1) lacks {sorted(options_in(text) - options_in(page))}")
    if shutil.which("man"):
        for path in paths:
            shown = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", path], stdin=subprocess.DEVNULL,
                                   capture_output=True, text=True, env={**os.environ, "MANWIDTH": "100"})
            check.that(shown.returncode == 0 and not shown.stderr and "NAME" in shown.stdout,
                       f"man {path}: {shown.stderr}")


def usage_mistakes(check, binary, names):
    for arguments in [[], ["rum"], *[[name, "--no-such-option"] for name in names],
                      *[[name] for name in names if name not in ("help",)]]:
        result = tool.run(binary, *arguments, expect=2)
        check.that(result.stdout == "" and "stagesim" in result.stderr, f"{arguments}: {result.stdout}{result.stderr}")
    check.that("did you mean 'run'?" in tool.run(binary, "rum", expect=2).stderr, "no suggestion for `rum`")


def misspelt(check, binary, texts):
    """Every option that a command's help names, with two letters swapped: each command names the one that is meant."""
    calls = {name: [name] for name in texts}
    calls |= {f"platform {part}": ["platform", part] for part in ("generate", "import", "show", "fit")}
    for name, call in calls.items():
        known = sorted(set(re.findall(r"--[a-z][a-z-]{3,}", texts[call[0]])) - {"--help"})
        if name == "platform":
            continue
        answers = [tool.run(binary, *call, option[:-2] + option[-1] + option[-2], expect=None) for option in known
                   if option[-1] != option[-2]]
        check.that(all(answer.returncode == 2 for answer in answers), f"{name}: exit codes of misspelt options")
        check.that(any("did you mean '--" in answer.stderr for answer in answers),
                   f"{name}: no misspelt option gets the one that is meant")
        check.that(not any("unrecognized" in answer.stderr or "not understood" in answer.stderr for answer in answers),
                   f"{name}: words of getopt's own")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    general = tool.run(binary, "--help").stdout
    names = re.findall(r"^  ([a-z]+) ", general.split("commands:\n")[1].split("\n\n")[0], flags=re.M)
    check.that({"run", "compare", "check", "schedule", "platform", "list"} <= set(names), f"commands {names}")
    check.that(re.fullmatch(r"stagesim \d+\.\d+\.\d+\n", tool.run(binary, "--version").stdout), "--version")
    texts = {name: tool.run(binary, name, "--help").stdout for name in names}
    for name, text in texts.items():
        check.that(tool.run(binary, "help", name).stdout == text, f"`help {name}` is not what `{name} --help` prints")
    check.that(tool.run(binary, "help").stdout == tool.run(binary, "help", "--help").stdout == general, "`help`")
    check.that("did you mean 'run'?" in tool.run(binary, "help", "rum", expect=2).stderr,
               "no suggestion for `help rum`")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name in ("scenarios", "platforms"):
            shutil.copytree(tool.ROOT / name, folder / name)
        (folder / "node.xml").write_text(NODE)
        topologies = pathlib.Path(__file__).resolve().parents[1] / "platforms" / "import" / "topologies"
        (folder / "matrix.txt").write_text((topologies / "a100.txt").read_text())
        (folder / "topology.conf").write_text((topologies / "tree.conf").read_text())
        examples(check, binary, "stagesim", re.sub(r"\n\nexit codes:.*", "\n", general), folder)
        for name, text in texts.items():
            examples(check, binary, name, text, folder)
    if len(sys.argv) > 2:
        manual(check, sys.argv[2:], texts)
    usage_mistakes(check, binary, names)
    misspelt(check, binary, texts)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
