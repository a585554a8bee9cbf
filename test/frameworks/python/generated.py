#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""generated PRINT_READERS [--count N] [--seed S]: random configurations in Python, run by Python beside the reader.
What the reader knows is what Python has; what comes from elsewhere does its worst: functions change all that they are
given, and defaults are anything."""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

options = argparse.ArgumentParser()
options.add_argument("print_readers")
options.add_argument("--count", type=int, default=300)
options.add_argument("--seed", type=int, default=1)
options = options.parse_args()
FOLDER = pathlib.Path(tempfile.mkdtemp())
CALLEE = "()"
warnings.simplefilter("ignore")


# ---- what is not in the file ----

class Made:
    """What a constructor made."""

    def __init__(self, callee, items):
        object.__setattr__(self, "callee", callee)
        object.__setattr__(self, "items", items)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in self.items:
            self.items[name] = Default()
        return self.items[name]

    def __setattr__(self, name, value):
        self.items[name] = value

    def method(self, *_):
        self.items["spoilt"] = 13


class Default(Made):
    """A default of a class from elsewhere; once it is changed it counts as given."""

    def __init__(self):
        super().__init__("", {})

    def __bool__(self):
        return True

    def __add__(self, other):
        return 4711

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __iadd__ = __add__

    def append(self, item):
        self.items["appended"] = item

    update = append


class Elsewhere:
    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Elsewhere(f"{self.name}.{name}")

    def __call__(self, *given, **named):
        items = {str(place): value for place, value in enumerate(given)} | named
        last = self.name.rsplit(".", 1)[-1].lstrip("_")
        if last[:1].isupper() or self.name == "harmless":
            return Made(self.name, items)
        for value in items.values():
            spoil(value)
        return 4711


def spoil(value):
    if isinstance(value, Made):
        for item in list(value.items.values()):
            spoil(item)
        value.items["spoilt"] = 13
        for key in list(value.items):
            if not isinstance(value.items[key], (Made, dict, list)):
                value.items[key] = 13
    elif isinstance(value, dict):
        for item in list(value.values()):
            spoil(item)
        value["spoilt"] = 13
        for key in list(value):
            if not isinstance(value[key], (Made, dict, list)):
                value[key] = 13
    elif isinstance(value, list):
        for item in value:
            spoil(item)
        value.append(13)


# ---- random files ----

class Writer:
    def __init__(self, rng):
        self.rng = rng
        self.names = []
        self.functions = []

    def name(self):
        return self.rng.choice(self.names) if self.names and self.rng.random() < 0.9 else self.rng.choice("abcdefgh")

    def number(self):
        return self.rng.choice("1 2 8 4096 0 1_000 0x10 1e-4 2.5 8/3 2**16 -1 3".split())

    def text(self):
        return self.rng.choice(["'x'", '"bf16"', "'a' 'b'", "r'a\\n'", "'a\\tb'", "f'{1 + 1}'", "f'plain'", '"""y"""'])

    def atom(self, depth):
        pick = self.rng.random()
        if pick < 0.25:
            return self.name()
        if pick < 0.45:
            return self.number()
        if pick < 0.55:
            return self.text()
        if pick < 0.62:
            return self.rng.choice(["True", "False", "None", "torch.bfloat16"])
        if depth <= 0:
            return self.number()
        return self.compound(depth)

    def compound(self, depth):
        rng = self.rng
        inner = lambda: self.expression(depth - 1)
        return rng.choice([
            lambda: f"[{inner()}, {inner()}]",
            lambda: f"({inner()}, {inner()})",
            lambda: f"({inner()})",
            lambda: f"dict({rng.choice('pqr')}={inner()}, s={inner()})",
            lambda: "{" + f"'p': {inner()}, 'q': {inner()}" + "}",
            lambda: "{**" + self.name() + f", 'q': {inner()}" + "}",
            lambda: f"dict({self.name()}, q={inner()})",
            lambda: f"Config({rng.choice('pqr')}={inner()}, s={inner()})",
            lambda: f"Other.Config({inner()}, p={inner()})",
            lambda: f"harmless({inner()})",
            lambda: f"spoiler({inner()})",
            lambda: f"util.spoil(x={inner()})",
            lambda: f"{self.name()}['{rng.choice('pqrs')}']",
            lambda: f"{self.name()}[{rng.choice([0, 1, -1])}]",
            lambda: f"{self.name()}.{rng.choice('pqrs')}",
            lambda: f"{self.name()}.{rng.choice('pqrs')}.{rng.choice('pqrs')}",
            lambda: f"{self.name()}.get('p', {inner()})",
            lambda: f"{self.name()}.copy()",
            lambda: f"len({inner()})",
            lambda: f"int({inner()})",
            lambda: f"float({inner()})",
            lambda: f"[x for x in {inner()}]",
            lambda: "{k: v for k, v in " + self.name() + ".items()}",
            lambda: f"(lambda x: x)({inner()})",
            lambda: f"[*{self.name()}, {inner()}]",
            lambda: f"max({inner()}, {inner()})",
            lambda: f"{self.rng.choice(self.functions)}({inner()})" if self.functions else inner(),
            lambda: f"{self.rng.choice(self.functions)}()" if self.functions else inner(),
        ])()

    def expression(self, depth):
        pick = self.rng.random()
        if pick < 0.65 or depth <= 0:
            return self.atom(depth)
        inner = lambda: self.expression(depth - 1)
        if pick < 0.8:
            return f"{inner()} {self.rng.choice(['+', '-', '*', '//', '%', '/'])} {inner()}"
        if pick < 0.86:
            return f"{inner()} {self.rng.choice(['==', '!=', '<', '>=', 'in', 'not in', 'is', 'is not'])} {inner()}"
        if pick < 0.92:
            return f"{inner()} {self.rng.choice(['and', 'or'])} {inner()}"
        if pick < 0.96:
            return f"({inner()} if {inner()} else {inner()})"
        return f"not {inner()}"

    def target(self):
        pick = self.rng.random()
        if pick < 0.55:
            name = self.rng.choice("abcdefgh")
            return name
        if pick < 0.7:
            return f"{self.name()}['{self.rng.choice('pqrs')}']"
        if pick < 0.9:
            return f"{self.name()}.{self.rng.choice('pqrs')}"
        return f"{self.name()}.{self.rng.choice('pqrs')}.{self.rng.choice('pqrs')}"

    def statement(self, depth, indent):
        rng = self.rng
        pad = " " * indent
        pick = rng.random()
        if pick < 0.55 or depth <= 0:
            target = self.target()
            line = f"{pad}{target} = {self.expression(3)}"
            if len(target) == 1 and indent == 0:
                self.names.append(target)
            return [line]
        if pick < 0.6:
            return [f"{pad}{self.name()} {rng.choice(['+=', '-=', '*='])} {self.expression(2)}"]
        if pick < 0.66:
            return [f"{pad}{self.name()}.{rng.choice(['update', 'append'])}({self.expression(2)})"]
        if pick < 0.7:
            return [f"{pad}{self.name()}.method({self.expression(1)})"]
        if pick < 0.73:
            return [f"{pad}{rng.choice('abcd')}, {rng.choice('efgh')} = {self.expression(2)}, {self.expression(2)}"]
        if pick < 0.76:
            return [f"{pad}{rng.choice('abcd')} = {rng.choice('efgh')} = {self.expression(2)}"]
        if pick < 0.78:
            return [f"{pad}{self.expression(3)}"]
        if pick < 0.9:
            return self.branch(depth, indent)
        if pick < 0.95:
            return ([f"{pad}for {rng.choice('abcdxy')} in {self.expression(2)}:"] +
                    self.block(depth - 1, indent + 4))
        return [f"{pad}del {self.name()}"] if rng.random() < 0.1 else [f"{pad}pass; {self.name()} = {self.number()}"]

    def branch(self, depth, indent):
        pad = " " * indent
        lines = [f"{pad}if {self.expression(2)}:"] + self.block(depth - 1, indent + 4)
        if self.rng.random() < 0.3:
            lines += [f"{pad}elif {self.expression(2)}:"] + self.block(depth - 1, indent + 4)
        if self.rng.random() < 0.5:
            lines += [f"{pad}else:"] + self.block(depth - 1, indent + 4)
        return lines

    def block(self, depth, indent):
        lines = []
        for _ in range(self.rng.randint(1, 3)):
            lines += self.statement(depth, indent)
        return lines

    def function(self):
        name = f"make{len(self.functions)}"
        parameters = self.rng.choice(["", "x=1", "x", "x=None, y='a'", "*x", "**x", "x=[]", "x: int = 3"])
        lines = [f"def {name}({parameters}):"]
        if self.rng.random() < 0.2:
            lines.append(f"    global {self.rng.choice('abcdefgh')}")
        lines += self.block(1, 4)
        if self.rng.random() < 0.9:
            lines.append(f"    return {self.expression(3)}")
        self.functions.append(name)
        return lines

    def file(self):
        """Statement by statement: those with which Python gets to the end."""
        lines = ["import torch, util", "from somewhere import (Config, Other, harmless, spoiler)"]
        wanted = self.rng.randint(4, 22)
        for attempt in range(100):
            saved = list(self.names), list(self.functions)
            if attempt < 5:
                name = self.rng.choice("abcdefgh")
                more = [f"{name} = {self.compound(1)}"]
                self.names.append(name)
            else:
                more = self.function() if self.rng.random() < 0.2 else self.statement(2, 0)
            if run("\n".join(lines + more)) is None:
                self.names, self.functions = saved
            else:
                lines += more
            if len(lines) > wanted:
                break
        return "\n".join(lines) + "\n"


# ---- both readings ----

def run(text):
    """The file's names as Python has them; None where Python does not get to its end."""
    names = {name: Elsewhere(name) for name in ("torch", "util", "Config", "Other", "harmless", "spoiler")}
    body = text.split("\n", 2)[2] if text.count("\n") > 1 else ""
    try:
        exec(compile(body, "file", "exec"), names)  # a file of our own
    except Exception:
        return None
    return names


def is_given(item, depth=8):
    """Whether something was set of what was a default."""
    return not isinstance(item, Default) or (depth > 0 and
                                             any(is_given(each, depth - 1) for each in item.items.values()))


def differs(known, real, path, seen):
    """Where what the reader knows is not what Python has; '' where it is."""
    if known is None:
        return ""
    if isinstance(known, dict):
        items = real.items if isinstance(real, Made) else real
        if not isinstance(items, dict) or (CALLEE in known) != isinstance(real, Made):
            return f"{path}: {known} for {real!r}"
        if isinstance(real, Made) and known[CALLEE][1] != real.callee:
            return f"{path}: made by {known[CALLEE]} for {real.callee}"
        given = {key for key, item in items.items() if is_given(item)}
        sure = {key for key, value in known.items() if value is not None and key != CALLEE}
        if not given <= set(known) or not sure <= set(items):
            return f"{path}: has {sorted(known)} for {sorted(items)}"
        return next(filter(None, (differs(known[key], items[key], f"{path}.{key}", seen)
                                  for key in sure)), "")
    if known[0] == "list":
        if not isinstance(real, (list, tuple)) or len(real) != len(known) - 1:
            return f"{path}: {known} for {real!r}"
        return next(filter(None, (differs(*pair, f"{path}[]", seen) for pair in zip(known[1:], real))), "")
    seen[0] += 1
    return "" if same_scalar(known, real) else f"{path}: {known} for {real!r}"


def same_scalar(known, real):
    kind, text = known
    if isinstance(real, str):
        return kind == "string" and text == real
    if kind == "string":
        return False
    if isinstance(real, bool) or real is None:
        return text == {True: "true", False: "false", None: "null"}[real]
    if isinstance(real, (int, float)):
        return text not in ("true", "false", "null") and float(text) == real and (
            isinstance(real, float) or text == str(real))
    return isinstance(real, Elsewhere) and text == real.name


def main():
    seen = names_known = failures = 0
    rng = random.Random(options.seed)
    for _ in range(options.count):
        text = Writer(rng).file()
        real = run(text)
        path = FOLDER / "config.py"
        path.write_text(text)
        done = subprocess.run([options.print_readers, "python", str(path)], capture_output=True, text=True)
        if done.returncode:
            print(f"{text}\nrefused: {done.stderr}")
            failures += 1
            continue
        known = json.loads(done.stdout)
        values = [0]
        wrong = next(filter(None, (differs(value, real.get(name, "<no such name>"), name, values)
                                   for name, value in known.items())), "")
        gone = [name for name, value in real.items() if len(name) == 1 and name not in known
                and not isinstance(value, Elsewhere)]
        seen += values[0]
        names_known += sum(value is not None for value in known.values())
        if wrong or gone:
            failures += 1
            if failures < 4:
                print(f"{text}\ndiffers: {wrong or gone}\n")
    print(f"{options.count} files, {names_known} names and {seen} values known, {failures} differ")
    return failures or seen < 2 * options.count


sys.exit(1 if main() else 0)
