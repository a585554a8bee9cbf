#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""completion.py STAGESIM OUTPUT_DIR: completions for bash (stagesim), zsh (_stagesim) and fish (stagesim.fish), from
the tables of options that `stagesim COMMAND --help` prints and the names that `stagesim list` knows."""
import json
import pathlib
import re
import subprocess
import sys

# What is listed by `stagesim list`, by the option or the command whose argument it is.
LISTED = {"--schedules": "schedules", "--algorithm": "algorithms", "--fabric": "presets", "schedule": "schedules",
          "platform generate": "presets"}
# Words beside the listed ones.
BESIDE = {"--schedules": ["all"], "--algorithm": ["auto", "all"]}
FILES = ("FILE", "DIR")


class Option:
    """One option: `names` with their dashes, `value` what it takes ("" for none), `text`, and the `words` that it may
    take; `several` of them when separated by commas."""

    def __init__(self, names, value, text):
        self.names, self.value, self.text = names, value, text
        self.words, self.several = [], False


def text_of(*arguments):
    return subprocess.run(arguments, check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout


def words_of(value, text):
    """The words that a value or the text behind it lists, and whether several may be given."""
    word = r"[a-z][a-z0-9-]*"
    if re.fullmatch(rf"{word}(\|{word})+", value):
        return value.split("|"), False
    if re.fullmatch(rf"{word}(,{word})+", value):
        return value.split(","), True
    said = re.sub(r"\(.*|:.*", "", text).strip()
    if value.isupper() and re.fullmatch(rf"{word}(, {word})*,? or {word}", said):
        return re.split(r", or |, | or ", said), False
    return [], False


def read_options(help_text, listed):
    options = {}
    for line in help_text.splitlines():
        match = re.match(r"  (-\S.*?)  +(\S.*)$", line)
        if not match:
            continue
        *names, last = match[1].split(", ")
        last, _, value = last.partition(" ")
        last = last.partition("[=")[0]  # a value that may be left out is behind a '=': nothing is offered for it
        option = Option([*names, last], value, match[2])
        option.words, option.several = words_of(value, option.text)
        for name in option.names:
            if name in LISTED:
                option.words = listed[LISTED[name]] + BESIDE.get(name, [])
                option.several = name == "--schedules"
        if value == "" and len(option.names) > 1 and "as " in option.text:
            for name in option.names:  # "--trace, --picture   as for run": told elsewhere
                options.setdefault(name, Option([name], "VALUE", option.text))
            continue
        options.setdefault(option.names[-1], option)
    return list(options.values())


def arguments_of(name, usage, help_text, listed):
    """Words that the command's own arguments may be; none where they are files."""
    if name in LISTED:
        return listed[LISTED[name]]
    if name == "platform":
        return list(dict.fromkeys(re.findall(r"(?:platform|\|) ([a-z]+)", usage)))
    kinds = re.search(r"^KIND is one of (.*?)\.$", help_text, flags=re.M)
    if kinds:
        return kinds[1].split(", ")
    first = usage.split()[3] if len(usage.split()) > 3 else ""
    return words_of(first, "")[0]


def read_commands(binary, listed):
    """name -> (summary, options, words for its arguments)"""
    general = text_of(binary, "--help")
    commands = {}
    for name, summary in re.findall(r"^  ([a-z]+) +(\S.*)$", general.split("commands:\n")[1].split("\n\n")[0],
                                    flags=re.M):
        _, usage, body = text_of(binary, name, "--help").split("\n\n", 2)
        options = read_options(body, listed)
        if name == "compare":
            told = {option.names[-1]: option for option in commands["run"][1]}
            options = [told.get(option.names[-1], option) if option.value == "VALUE" else option for option in options]
        commands[name] = (summary, options, arguments_of(name, usage, body, listed))
    return commands


# ---- bash ----

BASH = """# bash completion for stagesim

_stagesim() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    local options="" arguments="" values="" several=""
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "@COMMANDS@ help --help --version" -- "$current")
        return
    fi
    case $command in
@CASES@
    esac
    case "$command $before" in
@VALUES@
    esac
    if [ "$values" = files ]; then
        return # readline's own
    elif [ "$values" = any ]; then
        compopt +o default # nobody knows
    elif [ -n "$values" ]; then
        local taken=""
        if [ -n "$several" ] && [[ $current == *,* ]]; then
            taken=${current%,*},
        fi
        mapfile -t COMPREPLY < <(compgen -P "$taken" -W "$values" -- "${current#"$taken"}")
        [ -z "$several" ] || compopt -o nospace
    elif [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options --help" -- "$current")
    elif [ "$COMP_CWORD" = 2 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$arguments" -- "$current")
    elif [ "$COMP_CWORD" = 3 ] && [ "$before" = generate ]; then
        mapfile -t COMPREPLY < <(compgen -W "@PRESETS@" -- "$current")
    fi
}

complete -o default -F _stagesim stagesim
"""


def bash(commands, presets):
    cases, values = [], []
    for name, (_, options, arguments) in commands.items():
        names = " ".join(word for option in options for word in option.names)
        cases.append(f'    {name}) options="{names}" arguments="{" ".join(arguments)}" ;;')
        for option in options:
            if option.value:
                pattern = " | ".join(f'"{name} {word}"' for word in option.names)
                words = " ".join(option.words) or ("files" if option.value in FILES else "any")
                values.append(f'    {pattern}) values="{words}"{" several=yes" if option.several else ""} ;;')
    cases.append(f'    help) arguments="{" ".join(commands)}" ;;')
    parts = {"@COMMANDS@": " ".join(commands), "@CASES@": "\n".join(cases), "@VALUES@": "\n".join(values),
             "@PRESETS@": " ".join(presets)}
    return re.sub("|".join(parts), lambda match: parts[match[0]], BASH)


# ---- zsh ----

ZSH = """#compdef stagesim
# zsh completion for stagesim

_stagesim() {
    local -a commands
    commands=(
@COMMANDS@
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
@CASES@
    help) _describe command commands ;;
    esac
}

_stagesim "$@"
"""


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_option(option):
    text = re.sub(r"([\[\]:\\])", r"\\\1", option.text)
    action = ""
    if option.value:
        what = option.value.replace(":", "\\:")
        if option.several:
            action = f":{what}:_values -s , value {' '.join(option.words)}"
        elif option.words:
            action = f":{what}:({' '.join(option.words)})"
        else:
            action = f":{what}:_files" if option.value in FILES else f":{what}: "
    return [quoted(f"*{name}[{text}]{action}") for name in option.names]


def zsh(commands, presets):
    lines, cases = [], []
    for name, (summary, options, arguments) in commands.items():
        lines.append("        " + quoted(f"{name}:{summary}"))
        words = [word for option in options for word in zsh_option(option)]
        if arguments:
            words.append(quoted(f"1:argument:({' '.join(arguments)})"))
        if name == "platform":
            words.append(f'"2:preset or file:{{ if [[ \\$words[2] == generate ]]; then compadd {" ".join(presets)}; '
                         f'else _files; fi }}"')
        words.append(quoted("*:file:_files"))
        cases.append(f"    {name})\n        _arguments \\\n            " + " \\\n            ".join(words) +
                     "\n        ;;")
    return ZSH.replace("@COMMANDS@", "\n".join(lines)).replace("@CASES@", "\n".join(cases))


# ---- fish ----

def fish(commands, presets):
    lines = ["# fish completion for stagesim", f"set -l commands {' '.join(commands)} help"]
    for name, (summary, _, _) in commands.items():
        lines.append(f'complete -c stagesim -n "not __fish_seen_subcommand_from $commands" -f -a {name} -d '
                     f'{quoted(summary)}')
    lines.append('complete -c stagesim -n "__fish_seen_subcommand_from help" -f -a "$commands"')
    for name, (_, options, arguments) in commands.items():
        here = f'complete -c stagesim -n "__fish_seen_subcommand_from {name}"'
        if arguments:
            lines.append(f'{here} -a "{" ".join(arguments)}"')
        for option in options:
            flags = " ".join(f"-l {word[2:]}" if word.startswith("--") else f"-s {word[1:]}" for word in option.names)
            takes = ""
            if option.words:
                takes = f' -x -a "{" ".join(option.words)}"'
            elif option.value:
                takes = " -r" if option.value in FILES else " -x"
            lines.append(f"{here} {flags}{takes} -d {quoted(option.text)}")
    lines.append(f'complete -c stagesim -n "__fish_seen_subcommand_from generate" -f -a "{" ".join(presets)}"')
    return "\n".join(lines) + "\n"


def main():
    binary, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    listed = {what: [entry["name"] for entry in json.loads(text_of(binary, "list", what, "--format", "json"))]
              for what in sorted(set(LISTED.values()))}
    commands, presets = read_commands(binary, listed), listed["presets"]
    (folder / "stagesim").write_text(bash(commands, presets))
    (folder / "_stagesim").write_text(zsh(commands, presets))
    (folder / "stagesim.fish").write_text(fish(commands, presets))


if __name__ == "__main__":
    main()
