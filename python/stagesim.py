# SPDX-License-Identifier: Apache-2.0
"""stagesim from Python: run, compare, sweep, schedule and search, each a request to one process of the program.

    import stagesim
    run = stagesim.run("scenarios/demo.yaml", schedule="chimera")
    run.time.iteration_s, run.bubble.ratio

A scenario is the path of a file, or a dict with the keys of one. Keyword arguments set keys: parallel={"pipeline": 8},
or parallel__pipeline=8. What the program refuses raises stagesim.Error with its message. Only the standard library is
needed; Rows.frame gives a pandas.DataFrame where pandas is installed."""
import atexit
import csv
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading

__all__ = ["Error", "Figures", "Rows", "Run", "ask", "binary", "compare", "run", "schedule", "search", "sweep"]


class Error(RuntimeError):
    """The program's message; `code` is its exit code: 1 bad input, 2 wrong usage, 3 the simulation failed."""

    def __init__(self, message, code):
        super().__init__(message)
        self.code = code


class Figures(dict):
    """A JSON object whose members are attributes, too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r}; there are {', '.join(map(str, self))}") from None

    def __dir__(self):
        return [*super().__dir__(), *self]


class Rows(list):
    """A table: a list of Figures."""

    @property
    def frame(self):
        """The table as a pandas.DataFrame; members of members become columns such as "set.batch.global"."""
        import pandas
        return pandas.json_normalize([dict(row) for row in self])

    def best(self, figure="iteration_s"):
        """The row with the least of a figure, among those that have it and fit in memory."""
        return min((row for row in self if figure in row and row.get("fits", True)), key=lambda row: row[figure])


class Run(Figures):
    """summary.json of a run, and its directory. `run.time.iteration_s` is run["time"]["iteration_s"]."""

    def __init__(self, folder, temporary):
        super().__init__(_figures((folder / "summary.json").read_text()))
        self.__dict__.update(folder=folder, _temporary=temporary)  # removed with the last reference to the run

    def rows(self, name):
        """A CSV file of the directory, such as "operations" after trace="csv"; numbers are floats, empty cells None."""
        with open(self.folder / f"{name}.csv", newline="") as file:
            return Rows(Figures({key: _number(value) for key, value in row.items()}) for row in csv.DictReader(file))

    @property
    def resolved(self):
        """The text of scenario.yaml: every key with its value."""
        return (self.folder / "scenario.yaml").read_text()

    def _repr_html_(self):
        """The timeline, in a notebook, after picture="svg"."""
        picture = self.folder / "timeline.svg"
        return picture.read_text() if picture.exists() else None


def binary():
    """The program: $STAGESIM, else the one of the same installation or source tree, else the one in the PATH."""
    here = pathlib.Path(__file__).resolve().parent
    installed = [above / "bin/stagesim" for above in list(here.parents)[2:3]]  # none close to the root
    candidates = [os.environ.get("STAGESIM"), *installed, here.parent / "build/stagesim", shutil.which("stagesim")]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK) and not os.path.isdir(candidate):
            return str(candidate)
    raise Error("the program stagesim was not found; put it into the PATH, or its path into $STAGESIM", 2)


def run(scenario, *, out=None, trace=(), picture=(), report=False, plugins=False, **keys):
    """Simulates a scenario. `out`: the directory of its files; without it, one that goes with the result."""
    temporary = None if out else tempfile.TemporaryDirectory(prefix="stagesim-")
    folder = pathlib.Path(out or temporary.name + "/out")
    options = [*_list("--trace", trace), *_list("--picture", picture), *["--report"][:report]]
    _call("run", scenario, keys, options + ["-o", str(folder)], plugins)
    return Run(folder, temporary)


def compare(scenarios, *, schedules=(), what_if=(), plugins=False, **keys):
    """Scenarios, or variants of one, as Rows. `what_if`: a text for each changed platform, such as "slow: nic=0.5"."""
    options = [*_list("--schedules", schedules), *_each("--what-if", what_if), "--format", "json"]
    return Rows(_call("compare", scenarios, keys, options, plugins))


def sweep(scenario, vary=None, *, schedules=(), what_if=(), jobs=None, plugins=False, **keys):
    """Every combination of values, as Rows. `vary` has for each key a list of values, or a text such as "64:512:x2"."""
    axes = [f"{key}={_values(values)}" for key, values in (vary or {}).items()]
    options = [*_each("--set", axes), *_list("--schedules", schedules), *_each("--what-if", what_if),
               *(["--jobs", str(jobs)] if jobs else []), "--format", "json"]
    return Rows(_call("sweep", scenario, keys, options, plugins))


def schedule(name, workers=None, micro_batches=None, *, option=None, **options):
    """A schedule without a platform: Figures with time, bubble, workers and slots. `name` may be a CSV file; `options`
    are those of `stagesim schedule`: forward=1, backward=[2, 2, 2, 3], latency=0.1."""
    options = {"workers": workers, "micro_batches": micro_batches, **options}
    words = []
    for key, value in options.items():
        if value is not None and value is not False:
            words.append(f"--{key.replace('_', '-')}")
            words += [] if value is True else [",".join(map(str, value)) if isinstance(value, (list, tuple)) else
                                               str(value)]
    words += _each("--option", [f"{key}={value}" for key, value in (option or {}).items()])
    return _program(["schedule", str(name), *words, "--format", "json"])


def search(scenario, *, space=None, top=None, plugins=False, **keys):
    """The fastest layouts: Figures with `best` and `pareto`. `space`: keys of the section `search`."""
    options = [] if top is None else ["--top", str(top)]
    if space:
        keys = {**keys, **{f"search__{key}": value for key, value in space.items()}}
    return _call("search", scenario, keys, options + ["--format", "json"], plugins)


# ---- words of a command line ----

def _word(value):
    """A value as YAML, of which JSON is a part."""
    return value if isinstance(value, str) and value and not set(value) & set("'\"{}[],:#&*!|>%@`") else json.dumps(
        os.fspath(value) if isinstance(value, os.PathLike) else value)


def _values(values):
    return values if isinstance(values, str) else ",".join(map(_word, values))


def _list(option, values):
    values = [values] if isinstance(values, (str, os.PathLike)) else list(values)
    return [option, ",".join(map(os.fspath, values))] if values else []


def _each(option, values):
    return [word for value in ([values] if isinstance(values, str) else values) for word in (option, value)]


def _sets(keys, before=""):
    """--set KEY=VALUE for each value; of a dict for each member, so that the others of its section stay."""
    words = []
    for key, value in keys.items():
        path = before + key.replace("__", ".")
        if isinstance(value, dict) and value:
            words += _sets(value, path + ".")
        else:
            words += ["--set", f"{path}={_word(value)}"]
    return words


def _whole(scenario):
    """A scenario that is a dict, on a file without a key of its own: paths in it are seen from the current folder."""
    words = []
    for key, value in {"name": "scenario", **scenario}.items():
        words += ["--set", f"{key}={_word(value)}"]
    return words


def _call(command, scenario, keys, options, plugins):
    options = [*options, "--quiet", *["--plugins"][:plugins]]
    if isinstance(scenario, dict):
        with tempfile.TemporaryDirectory(prefix="stagesim-") as folder:
            empty = pathlib.Path(folder) / "scenario.yaml"
            empty.write_text("{}\n")
            return _program([command, str(empty), *_whole(scenario), *_sets(keys), *options])
    files = [scenario] if isinstance(scenario, (str, os.PathLike)) else scenario
    return _program([command, *map(os.fspath, files), *_sets(keys), *options])


def _program(words):
    answer = ask(command=words[0], arguments=words[1:])
    if answer["code"]:
        raise Error(answer.get("messages", "").strip() or f"exit code {answer['code']}", answer["code"])
    return answer.get("result")


# ---- the process that answers ----

class _Server:
    """`stagesim serve --stdio`, kept warm: any thread may ask, and gets the answer with its number."""

    def __init__(self, key):
        self.key, self.count, self.answers, self.ended = key, 0, {}, False
        self.changed = threading.Condition()
        self.process = subprocess.Popen([key[0], "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, encoding="utf-8", bufsize=1)
        threading.Thread(target=self.receive, daemon=True).start()
        atexit.register(self.close)

    def receive(self):
        for line in self.process.stdout:
            answer = json.loads(line, object_hook=Figures)
            with self.changed:
                self.answers[answer["id"]] = answer
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def send(self, request):
        """The number under which a request was sent."""
        with self.changed:
            self.count += 1
            try:
                self.process.stdin.write(json.dumps({"id": self.count, **request}) + "\n")
                self.process.stdin.flush()
            except OSError:
                self.ended = True
            return self.count

    def ask(self, request, sent=None):
        number = self.send(request)
        if sent:
            sent(lambda: self.ask({"command": "cancel", "of": number}))
        with self.changed:
            self.changed.wait_for(lambda: self.ended or number in self.answers)
            if number not in self.answers:
                raise Error("the program ended without an answer", 3)
            return self.answers.pop(number)

    def close(self):
        atexit.unregister(self.close)
        if self.key[1] == os.getpid() and not self.process.stdin.closed:
            self.process.stdin.close()
            self.process.wait()


_server, _starting = None, threading.Lock()


def ask(*, sent=None, **request):
    """The answer to a request to `stagesim serve --stdio` (its manual page is doc/serve.md), as Figures: code, result,
    messages. The process lives as long as folder and environment stay what they are. `sent` is called when the request
    is on its way, with a function that cancels it, for another thread."""
    global _server
    key = (binary(), os.getpid(), os.getcwd(), tuple(sorted(os.environ.items())))
    with _starting:
        if not _server or _server.key != key or _server.ended:
            if _server:
                _server.close()
            _server = _Server(key)
        server = _server
    return server.ask(request, sent)


# ---- what comes back ----

def _figures(text):
    return json.loads(text, object_hook=Figures)


def _number(text):
    try:
        return float(text) if text else None
    except ValueError:
        return text
