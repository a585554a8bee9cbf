#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""man.py STAGESIM DOC_DIR DATA_DIR OUTPUT_DIR: the manual pages stagesim(1) and stagesim-COMMAND(1), from what the
program says itself."""
import pathlib
import re
import subprocess
import sys

ENVIRONMENT = [
    ("STAGESIM_PLATFORMS", "directories, separated by colons, in which a scenario's platform, or a product's file, is "
                           "looked for by name"),
    ("STAGESIM_PLUGINS", "the same for workload plug-ins"),
    ("STAGESIM_MODELS", "the same for models"),
    ("STAGESIM_FRAMEWORKS", "the same for the defaults of frameworks"),
    ("STAGESIM_EFFICIENCY", "the same for efficiency tables and measured kernels"),
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
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return re.sub(r"^\.", r"\\&.", text, flags=re.M)


def title(name, version):
    return f'.TH {name.upper().replace("-", chr(92) + "-")} 1 "" "stagesim {version}" "User Commands"\n'


def option_line(line):
    """An option with its text: (option, text, column of the text). None for other lines."""
    match = re.match(r"  (-\S.*?)(  +)(\S.*)$", line)
    return match and (match[1], match[3], 2 + len(match[1]) + len(match[2]))


def body(text):
    """Options become a list of terms, examples stay as they are, all else is paragraphs."""
    out, column = [], 0
    for block in text.strip("\n").split("\n\n"):
        lines = block.split("\n")
        if re.match(r"examples?:$", lines[0]):
            out.append(".SH EXAMPLES\n.nf\n" + escape("\n".join(line.strip() for line in lines[1:])) + "\n.fi\n")
            continue
        out.append(".PP\n")
        for line in lines:
            option = option_line(line)
            if option:
                column = option[2]
                out.append(f".TP\n.B {escape(option[0])}\n{escape(option[1])}\n")
            else:
                column = column if line.startswith(" " * column) else 0
                out.append(escape(line.strip()) + "\n")
    return "".join(out)


def command_page(binary, name, version):
    head, usage, text = text_of(binary, name, "--help").split("\n\n", 2)
    summary = head.split(": ", 1)[1]
    return (title(f"stagesim-{name}", version) + f".SH NAME\nstagesim\\-{name} \\- {escape(summary)}\n"
            f".SH SYNOPSIS\n.B {escape(usage.removeprefix('usage: '))}\n.SH DESCRIPTION\n{body(text)}"
            ".SH SEE ALSO\n.BR stagesim (1)\n")


def command_list(general):
    return re.findall(r"^  ([a-z]+) +(\S.*)$", general.split("commands:\n")[1].split("\n\n")[0], flags=re.M)


def terms(pairs, letter):
    return "".join(f".TP\n.{letter} {escape(name)}\n{escape(text)}\n" for name, text in pairs)


def main_page(general, version, docs, data):
    commands = command_list(general)
    codes = re.search(r"^exit codes: (.*)$", general, flags=re.M).group(1)
    files = [(name.format(docs=docs, data=data), text) for name, text in FILES]
    return (title("stagesim", version) + ".SH NAME\n"
            "stagesim \\- predicts how a deep\\-learning job trains on a GPU cluster\n"
            ".SH SYNOPSIS\n.B stagesim\n.I COMMAND\n[\\fIARGUMENT\\fR]...\n"
            f".SH DESCRIPTION\n{escape(general.split(chr(10) * 2)[0])}\n"
            ".PP\nThe format of a scenario, every output file and every figure are described in the manual,\n"
            f".IR {escape(docs)}/doc/index.md .\n"
            f".SH COMMANDS\nEach has a page of its own, for instance\n.BR stagesim\\-run (1).\n{terms(commands, 'B')}"
            ".SH EXIT STATUS\n" + terms([(part[0], part[2:]) for part in re.split(r", (?=\d )", codes)], "B") +
            f".SH ENVIRONMENT\n{terms(ENVIRONMENT, 'B')}.SH FILES\n{terms(files, 'I')}"
            ".SH SEE ALSO\n" + ",\n".join(f".BR stagesim\\-{name} (1)" for name, _ in commands) + "\n")


def main():
    binary, docs, data, folder = sys.argv[1:]
    version = text_of(binary, "--version").split()[1]
    general = text_of(binary, "--help")
    folder = pathlib.Path(folder)
    (folder / "stagesim.1").write_text(main_page(general, version, docs, data))
    for name, _ in command_list(general):
        (folder / f"stagesim-{name}.1").write_text(command_page(binary, name, version))


if __name__ == "__main__":
    main()
