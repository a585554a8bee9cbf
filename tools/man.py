#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""man.py STAGESIM DOC_DIR DATA_DIR: the manual page stagesim(1), from what the program says itself, on standard output."""
import re
import subprocess
import sys

ENVIRONMENT = [
    ("STAGESIM_PLATFORMS", "directories, separated by colons, in which a scenario's platform is looked for by name"),
    ("STAGESIM_PLUGINS", "the same for workload plug-ins"),
    ("STAGESIM_MODELS", "the same for models"),
    ("STAGESIM_EFFICIENCY", "the same for efficiency tables"),
]
FILES = [
    ("{docs}/doc/index.md", "the manual: the format of a scenario, every output file and every figure"),
    ("{docs}/examples", "a workload plug-in and a schedule"),
    ("{data}/scenarios", "scenarios to copy, demo.yaml first"),
    ("{data}/platforms", "platforms, also found by name"),
    ("{data}/models", "models, also found by name"),
    ("{data}/tools/profile-layers", "measures the layers of a model on a GPU"),
]


def text_of(*arguments):
    return subprocess.run(arguments, check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def literal(text):
    return f".nf\n{escape(text.strip(chr(10)))}\n.fi\n"


def command_section(binary, name):
    title, usage, body = text_of(binary, name, "--help").split("\n\n", 2)
    return f'.SS "{escape(title)}"\n.B {escape(usage.removeprefix("usage: "))}\n.PP\n{literal(body)}'


def main():
    binary, docs, data = sys.argv[1:]
    version = text_of(binary, "--version").split()[1]
    general = text_of(binary, "--help")
    description = general.split("\n\n")[0]
    commands = re.findall(r"^  ([a-z]+) ", general.split("commands:\n")[1].split("\n\n")[0], flags=re.M)
    codes = re.search(r"^exit codes: (.*)$", general, flags=re.M).group(1)
    out = [f'.TH STAGESIM 1 "" "stagesim {version}" "User Commands"\n.SH NAME\n',
           "stagesim \\- predicts how a deep\\-learning job trains on a GPU cluster\n",
           f".SH SYNOPSIS\n.B stagesim\n.I COMMAND\n[\\fIARGUMENT\\fR]...\n.SH DESCRIPTION\n{escape(description)}\n",
           ".PP\nThe format of a scenario, every output file and every figure are described in the manual, "
           f"{escape(docs)}/doc/index.md.\n.SH COMMANDS\n"]
    out += [command_section(binary, name) for name in commands]
    out.append(".SH EXIT STATUS\n" + "".join(f".TP\n{part[0]}\n{escape(part[2:])}\n" for part in re.split(r", (?=\d )", codes)))
    out.append(".SH ENVIRONMENT\n" + "".join(f".TP\n.B {name}\n{escape(text)}\n" for name, text in ENVIRONMENT))
    out.append(".SH FILES\n" + "".join(f".TP\n.I {escape(name.format(docs=docs, data=data))}\n{escape(text)}\n" for name, text in FILES))
    sys.stdout.write("".join(out))


if __name__ == "__main__":
    main()
