# SPDX-License-Identifier: Apache-2.0
"""Links of the manual into the playground: which console blocks open there, and what the links hold.

A block of one shipped scenario that is run opens as that scenario, every other one as its commands (block.js of the
page). The page has the analytic engine alone: commands that could take another one are given it."""
import base64
import json
import pathlib
import re
import shlex
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Commands with an option --engine.
ENGINES = {"run", "compare", "sweep", "search", "collective", "train"}
# What keeps a block out, by the pattern of its command lines; the reason is said in the manual's test.
ABSENT = [
    (r"\b(python3|awk|make|pj_dump|cmp)\b|\bsed (?!-n)|\$\(|&&|\| *sort", "other programs"),
    (r"stagesim serve\b", "processes"),
    (r"--picture\b|-o \S+\.(pdf|svg|png)\b|--picture=", "cairo"),
    (r"--engine (both|simgrid)\b|loader=simgrid|engine=(both|simgrid)", "SimGrid"),
    (r"stagesim explain\b|stagesim schedule best --on\b", "SimGrid"),
    (r"stagesim layouts (?!.*--method advice)", "SimGrid"),
    (r"--plugins\b", "plug-ins"),
]
# Kinds of scenarios that have no engine.
NO_ENGINE = ("queue", "idle_nodes", "pairs", "serving", "rl")


def pieces(block):
    """(command, what is shown) of a console block."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return [(command, "".join(line + "\n" for line in shown)) for command, shown in found]


CONSOLE = re.compile(r"^```console\n(.*?)^```$", flags=re.M | re.S)


def console_blocks(text):
    return CONSOLE.findall(text)


def split(line, mark):
    """At marks outside of quotes and of inner loops."""
    parts, quote, depth, at = [""], "", 0, 0
    while at < len(line):
        c = line[at]
        quote = "" if c == quote else c if not quote and c in "'\"" else quote
        if not quote and re.match(r"for \w+ in ", line[at:]) and (at == 0 or line[at - 1] in " ;"):
            depth += 1
        if not quote and re.match(r"done\b", line[at:]):
            depth -= 1
        if c == mark and not quote and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
        at += 1
    return [part.strip() for part in parts if part.strip()]


def number(found):
    """Of $((32*4))."""
    text = found.group(1)
    if not re.fullmatch(r"[\d+*/ -]+", text):
        return found.group(0)
    return str(eval(text))  # digits and signs alone


def expand(line):
    """The command lines that a line comes to: loops over given words run out."""
    loop = re.fullmatch(r"for (\w+) in (.*?); do (.*); done", line.strip())
    if not loop or " done" in loop.group(3) and "for " not in loop.group(3):
        return [line]
    found = []
    for word in shlex.split(loop.group(2)):
        name = loop.group(1)
        body = re.sub(r"\$\(\(([^()]*)\)\)", lambda sum_, name=name: re.sub(rf"\b{name}\b", f"${name}", sum_.group(0)),
                      loop.group(3))
        body = re.sub(rf"\$\{{?{name}\b\}}?", lambda _, word=word: word, body)
        body = re.sub(r"\$\(\(([^()]*)\)\)", number, body)
        for part in split(body, ";"):
            found += expand(part)
    return found


def paths(line):
    """The line with the files that a pattern of a shell stands for, and without a program of Python's at its end."""
    line = re.sub(r" \| python3 [\w.]+\.py\b[^|]*$", "", line)

    def found(pattern):
        names = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(pattern.group(0)))
        return " ".join(names) or pattern.group(0)
    return re.sub(r"(?<= )scenarios/[\w.-]*\*[\w.*-]*", found, line)


def on_analytic(line):
    """The line with the engine that the page has."""
    words = line.split(" ")
    path = ROOT / words[2] if len(words) > 2 else None
    kind = path.read_text(encoding="utf-8") if path and path.suffix == ".yaml" and path.is_file() else ""
    if re.search(rf"^({'|'.join(NO_ENGINE)}):", kind, re.M) or re.search(r"^engine: analytic", kind, re.M):
        return line
    takes = words[1:2] and (words[1] in ENGINES or "--method advice" in line)
    if words[0] == "stagesim" and takes and "--engine" not in words:
        return f"stagesim {words[1]} --engine analytic {' '.join(words[2:])}"
    return line


def pack(state):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(json.dumps(state).encode()) + packer.flush()
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def editor_link(command):
    """Of `stagesim run scenarios/NAME.yaml --set KEY=VALUE ...`; None for others."""
    try:
        words = shlex.split(command.partition("|")[0])
    except ValueError:
        return None
    path = ROOT / words[2] if words[:2] == ["stagesim", "run"] and len(words) > 2 else None
    rest, changes = words[3:], []
    while rest:
        if rest[0] == "--set" and len(rest) > 1 and "=" in rest[1]:
            changes.append(rest[1])
            rest = rest[2:]
        elif rest[0] == "--quiet" or rest[:2] == ["--engine", "analytic"]:
            rest = rest[1 if rest[0] == "--quiet" else 2:]
        else:
            return None
    if not path or path.parent != ROOT / "scenarios" or not path.is_file():
        return None
    text = path.read_text(encoding="utf-8")
    if re.search(rf"^({'|'.join(('jobs', *NO_ENGINE))}):", text, re.M):
        return None
    return "#1." + pack({"a": text, "set": changes})


def lines_of(block, files):
    """The command lines of a block and the files that it reads; `files` are those of the page so far, which grow."""
    lines = []
    for command, shown in pieces(block):
        file = re.fullmatch(r"cat ([\w./-]+)", command)
        if file and shown and not any(f"-o {file.group(1)}" in line for line in lines):
            files[file.group(1)] = shown
        else:
            lines += [on_analytic(paths(line)) for line in expand(command)]
    text = "\n".join(lines)
    return lines, {name: files[name] for name in files if name in text}


def lacks_file(lines, files):
    """Whether a line reads a file that is neither shipped nor among `files` nor written by a line before."""
    made = set(files)
    for line in lines:
        words = re.findall(r"(?<![\w/.])(?:\.\./)?[\w/.-]+\.(?:yaml|csv|xml|json|sh|py|conf|txt|log|swf)\b", line)
        for word in words:
            name = re.sub(r"^\.\./", "", word)
            written = re.search(rf"(-o|>) ?{re.escape(word)}", line)
            known = name in made or name.split("/")[0] in made or any(
                (ROOT / folder / name).is_file() for folder in ("", "scenarios", "platforms"))
            if not written and not known:
                return True
            made.add(name)
        made |= set(re.findall(r"-o ([\w/.-]+)", line))
    return False


def absent(block, files):
    """What of a block the page does not have; None: it has all. `files` as of lines_of, after it."""
    lines = [paths(line) for command, _ in pieces(block) for line in expand(command)]
    text = "\n".join(lines)
    if "stagesim " not in text:
        return "no command of stagesim"
    for pattern, reason in ABSENT:
        if re.search(pattern, text):
            return reason
    return "files of an earlier block" if lacks_file(lines_of(block, dict(files))[0], files) else None


def block_text(lines, files):
    """As block.js reads it."""
    return "".join(f"$ cat {name}\n{text}" for name, text in files.items()) + "".join(f"$ {line}\n" for line in lines)


def link_of(block, files):
    """The link of a block, or None; `files` as of lines_of."""
    commands = [command for command, _ in pieces(block)]
    link = editor_link(commands[0]) if len(commands) == 1 else None
    lines, used = lines_of(block, files)
    return link or (None if absent(block, files) else "#1." + pack({"a": block_text(lines, used)}))
