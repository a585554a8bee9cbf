#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""serve.py STAGESIM: each answer of `stagesim serve --stdio` against what the program itself prints for the same words:
figures, messages and exit codes; scenarios as files, lists and objects; the same again from one process that answers
all of them in another order. Which requests a process takes after another, and that it sees files as they are now.
Requests that cannot be meant, each with its message; cancelling what runs and what waits; limits on time and memory; a
killed server leaves no process behind. Then the server for assistants, against the same."""
import contextlib
import io
import json
import os
import pathlib
import random
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import stagesim_mcp  # noqa: E402
from tool import ROOT, Checker, binary_argument, run

JOB = {"platform": "ideal:4", "workload": "stages", "parallel": {"pipeline": 4}, "batch": {"micro_batches": 8},
       "stages": {"forward": ["10ms", "12ms", "10ms", "10ms"], "backward": "20ms"}, "schedule": "1f1b",
       "engine": "analytic"}
LONG = {"scenario": str(ROOT / "scenarios/gpt-7.5b.yaml"), "command": "search", "options": {"top": 0},
        "set": {"search": {"micro": [1, 2, 4, 8], "schedules": ["1f1b", "interleaved", "gpipe"]}}}
check = Checker()


def ask(binary, *lines, options=(), code=0):
    """The answers by id; of those without one a list."""
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    done = subprocess.run([binary, "serve", "--stdio", *options], input=text, capture_output=True, text=True,
                          timeout=120)
    check.that(done.returncode == code and not done.stderr, f"exit code {done.returncode}: {done.stderr}")
    answers = {None: []}
    for answer in map(json.loads, done.stdout.splitlines()):
        if answer["id"] is None:
            answers[None].append(answer)
        else:
            check.that(answer["id"] not in answers, f"two answers to {answer['id']}")
            answers[answer["id"]] = answer
    return answers


def same_as_commands(binary, folder):
    job, other = folder / "job.yaml", folder / "other.yaml"
    job.write_text(json.dumps(JOB))
    other.write_text(json.dumps({**JOB, "batch": {"micro_batches": 16}}))
    cases = [
        ({"command": "run", "scenario": str(job)}, ["run", job, "--format", "json"]),
        ({"command": "run", "scenario": str(job), "set": {"batch": {"micro_batches": 12}, "name": "é \"x\": 1"}},
         ["run", job, "--format", "json", "--set", "batch.micro_batches=12", "--set", 'name="é \\"x\\": 1"']),
        ({"command": "run", "scenario": JOB, "set": {"name": "job"}}, ["run", job, "--format", "json"]),
        ({"command": "compare", "scenario": [str(job), str(other)], "options": {"engine": "both"}},
         ["compare", job, other, "--engine", "both", "--format", "json"]),
        ({"command": "compare", "scenario": str(job), "options": {"schedules": ["gpipe", "1f1b"], "quiet": True,
          "what_if": ["slow: gpu-1=0.5", "gpu-2=0.9"], "format": "csv", "report": False}},
         ["compare", job, "--schedules", "gpipe,1f1b", "--what-if", "slow: gpu-1=0.5", "--what-if", "gpu-2=0.9",
          "--quiet", "--format", "csv"]),
        ({"command": "schedule", "arguments": "zb-h1", "options": {"workers": 4, "micro_batches": 8}},
         ["schedule", "zb-h1", "--workers", "4", "--micro-batches", "8", "--format", "json"]),
        ({"command": "list", "arguments": ["schedules", "--format", "json"]},
         ["list", "schedules", "--format", "json"]),
        ({"command": "schema", "arguments": ["scenario"]}, ["schema", "scenario"]),
        ({"command": "run", "scenario": str(job), "set": {"schedul": "x"}}, ["run", job, "--set", "schedul=x"]),
        ({"command": "run", "scenario": str(folder / "none.yaml")}, ["run", folder / "none.yaml"]),
        ({"command": "run", "scenario": str(job), "options": {"enginx": "analytic"}},
         ["run", job, "--enginx=analytic"]),
        ({"command": "plan", "scenario": str(ROOT / "scenarios/plan.yaml"), "set": {"search.gpus": 32},
          "options": {"clusters": "dgx-h100", "quiet": True, "engine": "analytic"}},
         ["plan", str(ROOT / "scenarios/plan.yaml"), "--clusters", "dgx-h100", "--quiet", "--engine", "analytic",
          "--format", "json", "--set", "search.gpus=32"]),
    ]
    requests = [{"id": f"a{i}", **request} for i, (request, _) in enumerate(cases)]
    answers = ask(binary, *requests, "", "  ")
    check.that(len(answers) == len(cases) + 1, f"{len(answers)} answers to {len(cases)} requests")
    again = [{**request, "id": f"{request['id']}/{turn}"} for request in requests for turn in range(3)]
    random.Random(1).shuffle(again)
    for name, answer in ask(binary, *again, options=["--jobs", "1"]).items():
        first = name and answers[name.partition("/")[0]]
        check.that(not name or answer == {**first, "id": name}, f"{name} in a process with others: {answer}")
    for i, (request, words) in enumerate(cases):
        alone, answer = run(binary, *words, expect=None), answers[f"a{i}"]
        what = f"{request['command']} ({i})"
        printed = answer.get("result", "")
        if not check.that(isinstance(printed, str) or alone.stdout, f"{what}: the command fails: {alone.stderr}"):
            continue
        expected = alone.stdout if isinstance(printed, str) else json.loads(alone.stdout)
        check.that(printed == expected, f"{what}: the result is {str(printed)[:200]}")
        check.that(answer["code"] == alone.returncode, f"{what}: code {answer['code']}, not {alone.returncode}")
        check.that(answer.get("messages", "") == alone.stderr, f"{what}: {answer.get('messages')!r}")
    check.that([type(answers[name]["result"]) for name in ("a0", "a4")] == [list, str], "kinds of results")
    check.that([answers[f"a{i}"]["code"] for i in (8, 9, 10)] == [1, 1, 2], "codes of mistakes")


def what_cannot_be_meant(binary):
    cases = {
        '{"id": 1, "command": "rum"}': "'rum' is no command; did you mean 'run'?",
        '{"id": 1, "commands": "run"}': "'commands' is no member of a request; did you mean 'command'?",
        '{"id": 1}': "names no command",
        '{"id": 1, "command": "cancel"}': "names no command; to cancel another, expected its id in 'of'",
        '{"id": 1, "command": "serve"}': "'serve' is no command",
        '{"id": 1, "command": "run", "scenario": 7}': "expected a path, a list of paths",
        '{"id": 1, "command": "run", "scenario": ["a", 7]}': "expected a list of texts",
        '{"id": 1, "command": "run", "options": ["a"]}': "expected an object with options",
        '{"id": 1, "command": "run", "set": "a=1"}': "expected an object with the keys",
        '{"id": 1, "command": "run", "seconds": -1}': "expected a number above zero",
        '{"id": 1, "command": "run"} {}': "column 29",
        '{"id": 1, "command": "run"': "column",
        '{"id": 1, "command": "cancel", "of": 5}': "no such request waits or runs",
    }
    for line, message in cases.items():
        answer = ask(binary, line)
        answer = answer.get(1) or answer[None][0]
        check.that(message in answer["messages"] and answer["code"] in (1, 2), f"{line}: {answer}")
    answers = ask(binary, "nonsense", "[1]", '"x' + "y" * (5 << 20) + '"', {"id": 2, "command": "list",
                                                                            "arguments": "models"})
    check.that(len(answers[None]) == 3 and "longer than 4 MiB" in answers[None][2]["messages"], "lines without an id")
    check.that(answers[2]["code"] == 0, "a request behind mistakes")
    for words in ([], ["--stdio", "more"], ["--stdio", "--jobs", "0"], ["--stdio", "--seconds", "x"]):
        check.that(run(binary, "serve", *words, expect=2).stderr.startswith("stagesim serve: "), f"serve {words}")


def limits(binary):
    begin = time.monotonic()
    answers = ask(binary, {"id": 1, **LONG, "seconds": 0.2}, {"id": 2, "command": "list", "arguments": "models"})
    check.that(answers[1]["code"] == 3 and "time" in answers[1]["messages"], f"late: {answers[1]}")
    check.that(answers[2]["code"] == 0 and time.monotonic() - begin < 20, "another request beside a late one")
    answers = ask(binary, {"id": 1, **LONG, "seconds": 50}, options=["--seconds", "0.2"])
    check.that("time" in answers[1]["messages"], "the server's limit")
    if b"__asan_init" not in pathlib.Path(binary).read_bytes():  # it reserves far more than it uses
        large = {**JOB, "batch": {"micro_batches": 60000}}
        answers = ask(binary, {"id": 1, "command": "run", "scenario": large, "megabytes": 20})
        check.that(answers[1]["code"] == 3 and "memory" in answers[1]["messages"], f"memory: {answers[1]}")
        answers = ask(binary, {"id": 1, "command": "list", "arguments": "engines", "megabytes": 20},
                      {"id": 2, "command": "run", "scenario": large}, options=["--jobs", "1"])
        check.that([answers[i]["code"] for i in (1, 2)] == [0, 0], f"another request's memory: {answers}")


def one_after_the_other(binary, folder):
    """A request whose process is as it was before leaves it to the next; all others end it."""
    hardware = ROOT / "platforms/hardware"
    device = (hardware / "devices/H100-SXM5-80GB.yaml").read_text().replace("name: H100-SXM5-80GB", "name: my-gpu")
    product = (hardware / "products/dgx-h100.yaml").read_text().replace("name: dgx-h100", "name: my-node")
    (folder / "my-node.yaml").write_text(product.replace("device: H100-SXM5-80GB", "device: my-gpu"))
    job = {"platform": {"preset": "my-node", "nodes": 1}, "workload": "transformer", "model": "llama3-8b",
           "parallel": {"tensor": 8}, "batch": {"micro": 1, "micro_batches": 1}, "engine": "analytic",
           "compute": {"efficiency": 0.5}, "schedule": "1f1b"}
    talk = Talk(binary, "--jobs", "1", environment={"STAGESIM_PLATFORMS": str(folder)})

    def process_of(**request):
        talk.say({"id": 1, **request})
        answer = talk.hear()
        return (children(talk.process.pid) or [None])[0], answer

    first, _ = process_of(command="run", scenario=JOB)
    check.that(first, "the process has ended")
    figures = []
    for peak in (989, 450):
        (folder / "my-gpu.yaml").write_text(device.replace("bf16: 989Tf", f"bf16: {peak}Tf"))
        process, answer = process_of(command="run", scenario=job)
        figures.append(answer["result"][0]["iteration_s"] if answer["code"] == 0 else answer)
        check.that(process == first, f"after {peak}: process {process}, not {first}: {answer}")
    check.that(1.3 < figures[1] / figures[0] < 989 / 450, f"a file that changed is not read again: {figures}")
    for request in ({"command": "run", "scenario": {**JOB, "schedule": "no"}},
                    {"command": "run", "scenario": JOB, "options": {"output": str(folder / "out"), "trace": "csv"}}):
        before, _ = process_of(command="list", arguments="engines")
        wait_for(lambda: len(children(talk.process.pid)) < 2)
        after, answer = process_of(**request)
        after, _ = process_of(command="list", arguments="engines")
        check.that(before and after and before != after, f"{before} goes on after {answer}")
    sweep = {"command": "sweep", "scenario": JOB, "options": {"set": "batch.micro_batches=4,8", "format": "json"}}
    _, whole = process_of(**sweep)
    part = {"output": str(folder / "part"), "shard": "1/2", "time-limit": "100ms", "top": 0, "quiet": True}
    process_of(command="search", scenario=job, options=part)
    time.sleep(0.2)
    check.that(process_of(**sweep)[1] == whole, "a sweep after a search whose time was over")
    before, _ = process_of(command="list", arguments="engines")
    process_of(command="list", arguments="engines", megabytes=500)
    check.that(before in children(talk.process.pid), "a request with a limit on memory took another's process")
    os.kill(int(before), signal.SIGKILL)
    wait_for(lambda: before not in children(talk.process.pid))
    check.that(process_of(command="list", arguments="engines")[1]["code"] == 0, "a process that waited was killed")
    talk.process.stdin.close()
    check.that(talk.process.wait(30) == 0, f"exit code {talk.process.returncode}")


def stopped_and_killed(binary):
    """A process that waits and was stopped by somebody takes no long request, and that has another; a server whose
    processes were stopped or killed while they waited ends as always."""
    for number in (signal.SIGSTOP, signal.SIGKILL, signal.SIGTERM):
        talk = Talk(binary, "--jobs", "1")
        long = {"command": "run", "scenario": JOB, "set": {"name": "x" * 2_000_000}}
        for request in ({"command": "list", "arguments": "engines"}, long, long):
            talk.say({"id": 1, **request})
            if check.that(talk.answers(), f"{number.name}: no answer"):
                check.that((answer := talk.hear())["code"] == 0, f"{number.name}: {answer}")
            wait_for(lambda server=talk.process.pid: len(children(server)) < 2)
            for process in children(talk.process.pid):
                os.kill(int(process), number)
        talk.process.stdin.close()
        check.that(talk.process.wait(30) == 0, f"{number.name}: exit code {talk.process.returncode}")


class Talk:
    """A server with which lines are exchanged one by one."""

    def __init__(self, binary, *options, environment=None):
        self.process = subprocess.Popen([binary, "serve", "--stdio", *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})

    def say(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def answers(self, seconds=30):
        return select.select([self.process.stdout], [], [], seconds)[0]

    def hear(self):
        return json.loads(self.process.stdout.readline())


def children(process):
    """Of a process, and theirs; none of one that ends meanwhile."""
    try:
        threads = pathlib.Path(f"/proc/{process}/task").glob("*/children")
        found = [child for each in threads for child in each.read_text().split()]
    except OSError:
        return []
    return [number for child in found for number in [child, *children(child)]]


def lives(number):
    try:
        return pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(holds, seconds=30):
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.01)
    return time.monotonic() < until


def cancelling(binary):
    talk = Talk(binary, "--jobs", "1")
    talk.say({"id": "runs", **LONG})
    wait_for(lambda: children(talk.process.pid))
    talk.say({"id": "waits", **LONG})
    talk.say({"id": 3, "command": "cancel", "of": "waits"})
    check.that([talk.hear(), talk.hear()] == [{"id": "waits", "code": 3, "messages": "cancelled"},
                                              {"id": 3, "code": 0}], "one that waits")
    talk.say({"id": 4, "command": "cancel", "of": "runs"})
    heard = sorted((talk.hear() for _ in range(2)), key=lambda answer: str(answer["id"]))
    check.that(heard == [{"id": 4, "code": 0}, {"id": "runs", "code": 3, "messages": "cancelled"}], f"{heard}")
    check.that(not children(talk.process.pid), "a cancelled request has left processes")
    talk.say({"id": 5, **LONG})
    wait_for(lambda: children(talk.process.pid))
    left = children(talk.process.pid)
    talk.process.send_signal(signal.SIGKILL)
    talk.process.wait()
    check.that(wait_for(lambda: not any(map(lives, left))), "a killed server has left processes")


def assistant(binary, folder, *messages):
    """The replies of the server for assistants to messages."""
    text = "".join((each if isinstance(each, str) else json.dumps({"jsonrpc": "2.0", **each})) + "\n"
                   for each in messages)
    done = subprocess.run([sys.executable, ROOT / "python/stagesim_mcp.py"], input=text, capture_output=True,
                          text=True, env={**os.environ, "STAGESIM": binary}, cwd=folder, timeout=60)
    check.that(not done.stderr, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def assistants(binary, folder):
    def call(number, tool, **given):
        return {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": given}}

    replies = assistant(binary, folder,
                        {"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}},
                        {"method": "notifications/initialized"}, {"id": 1, "method": "tools/list"},
                        call(2, "run", scenario=JOB), call(3, "run", scenario="none.yaml"), call(4, "rum"),
                        call(5, "schema", key="engine"), call(6, "run", scenari="x"), {"id": 7, "method": "no"},
                        "nonsense", call(8, "schedule", name="1f1b", options={"workers": 2, "micro_batches": 4}),
                        call(9, "list", what="schedules"), call(10, "check", scenario=JOB),
                        call(11, "schema", kind="hardware", key="kind"), {"id": [1], "method": "ping"})
    broken = [reply["error"]["code"] for reply in replies if reply["id"] is None]
    check.that(sorted(broken) == [-32700, -32600], f"mistakes of the protocol: {broken}")
    replies = {reply["id"]: reply for reply in replies if reply["id"] is not None}  # calls are answered when they end
    check.that(sorted(replies) == [*range(12)], f"{sorted(replies)}")
    check.that(replies[0]["result"]["protocolVersion"] == "2025-03-26", "the protocol's version")
    tools = {each["name"]: each for each in replies[1]["result"]["tools"]}
    check.that({"run", "compare", "search", "schedule", "explain", "list", "schema"} <= set(tools), f"{list(tools)}")
    (folder / "job.yaml").write_text(json.dumps(JOB))
    alone = json.loads(run(binary, "run", folder / "job.yaml", "--format", "json", "--set", "name=scenario").stdout)

    def text(number):
        reply = replies[number]["result"]
        return reply["content"][0]["text"], reply["isError"]

    check.that((json.loads(text(2)[0]), text(2)[1]) == (alone, False), "a run")
    check.that(text(3)[1] and "none.yaml" in text(3)[0], "a mistake")
    check.that(text(4)[1] and text(6)[1] and "scenario" in text(6)[0], "an unknown tool, an unknown argument")
    schema = json.loads(run(binary, "schema", "scenario").stdout)
    check.that(json.loads(text(5)[0]) == schema["properties"]["engine"], "a part of the schema")
    check.that(replies[7]["error"]["code"] == -32601, "an unknown method")
    kinds = json.loads(run(binary, "schema", "hardware").stdout)["properties"]["kind"]
    check.that(json.loads(text(11)[0]) == kinds, "a part of another schema")
    known = tools["schema"]["inputSchema"]["properties"]["kind"]["enum"]
    check.that(all(run(binary, "schema", kind).stdout.startswith("{") for kind in known), "a schema of each kind")
    said = run(binary, "schema", expect=2).stderr
    check.that(f"one word, {', '.join(known[:-1])} or {known[-1]}, got 0" in said, f"{known} are not all: {said}")
    plan = json.loads(text(8)[0])
    check.that(plan["time"]["iteration_s"] == (4 + 1) * 3, "a schedule: (m + p - 1) (f + b)")
    check.that(not text(9)[1] and not text(10)[1], "list and check")


def assistant_cancels(binary):
    """A call that is cancelled ends, and has no reply; the next one is answered."""
    server = subprocess.Popen([sys.executable, ROOT / "python/stagesim_mcp.py"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True, env={**os.environ, "STAGESIM": binary})

    def say(**message):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        server.stdin.flush()

    say(id=1, method="tools/call", params={"name": "search", "arguments":
                                           {key: LONG[key] for key in ("scenario", "options", "set")}})
    check.that(wait_for(lambda: len(children(server.pid)) > 1), "the search does not begin")  # serve, and its request
    say(method="notifications/cancelled", params={"requestId": 1})
    check.that(wait_for(lambda: len(children(server.pid)) == 1), "a cancelled call has left processes")
    say(id=2, method="tools/call", params={"name": "list", "arguments": {"what": "engines"}})
    check.that(json.loads(server.stdout.readline())["id"] == 2, "a reply to the cancelled call")
    server.stdin.close()
    check.that(server.wait(30) == 0 and server.stdout.read() == "", "the end")


def assistant_errs(binary, folder):
    """Messages of no known form are each told so once, and the server stays."""
    call = {"method": "tools/call"}
    wrong = [({**call, "params": ["run"]}, -32602), ({**call, "params": {"name": ["run"]}}, -32602),
             ({**call, "params": {"name": "run", "arguments": [1]}}, -32602), ({**call}, -32602),
             ({"method": "initialize", "params": [1]}, -32602),
             ({**call, "params": {"name": "schema", "arguments": {"key": ["engine"]}}}, None),
             ({**call, "params": {"name": "run", "arguments": {"scenario": JOB, "options": "x"}}}, None)]
    cancels = [{"method": "notifications/cancelled", "params": given}
               for given in ({"requestId": [1]}, {"requestId": {}}, [1], "x", {"requestId": 99}, None)]
    replies = assistant(binary, folder, "[" * 200000, *cancels, *({"id": number, **message}
                                                                  for number, (message, _) in enumerate(wrong)),
                        {"id": "last", "method": "ping"})
    check.that(replies[0]["error"]["code"] == -32700, f"what is nested too deep: {replies[0]}")
    found = {reply["id"]: reply for reply in replies[1:]}
    check.that(len(replies) == len(wrong) + 2 == len(found) + 1, f"{len(replies)} replies to {list(found)}")
    for number, (message, code) in enumerate(wrong):
        reply = found.get(number, {})
        check.that(reply.get("error", {}).get("code") == code if code else reply.get("result", {}).get("isError"),
                   f"{message}: {reply}")


def assistant_races():
    """A cancellation that comes before the request is on its way, one that fails, and errors of no known kind."""
    server = stagesim_mcp.Client()
    free, cancelled, ask = threading.Event(), [], stagesim_mcp.stagesim.ask
    request = {"id": 1, "method": "tools/call", "params": {"name": "list", "arguments": {"what": "engines"}}}
    cancel = {"method": "notifications/cancelled", "params": {"requestId": 1}}

    def late(sent, **_):
        free.wait(20)
        sent(lambda: cancelled.append(1))
        return {"code": 3, "messages": "cancelled"}

    def broken(sent, **_):
        sent(fails)
        free.wait(20)
        raise RuntimeError("of no known kind")

    def fails():
        raise stagesim_mcp.stagesim.Error("the program ended without an answer", 3)

    def replies(asked, *messages):
        """To messages that come while the call waits, and then to nothing more."""
        free.clear()
        stagesim_mcp.stagesim.ask, written = asked, io.StringIO()
        with contextlib.redirect_stdout(written):
            for message in messages:
                server.take(message)
            free.set()
            check.that(wait_for(lambda: not server.calls), f"calls are kept: {server.calls}")
        return [json.loads(line) for line in written.getvalue().splitlines()]

    check.that(replies(late, request, cancel) == [] and cancelled == [1], "a cancellation before the request is lost")
    found = replies(late, request)
    check.that(len(found) == 1 and found[0]["id"] == 1 and "result" in found[0], f"the same id again: {found}")
    found = replies(late, request, request)
    check.that([(each["id"], "error" in each) for each in found] == [(None, True), (1, False)],
               f"one id twice: {found}")
    found = replies(broken, request)
    check.that(len(found) == 1 and found[0]["error"]["code"] == -32603, f"an error of no known kind: {found}")
    found = replies(broken, request, cancel, {"id": 2, "method": "ping"})
    check.that([each["id"] for each in found] == [2], f"a cancellation that fails: {found}")
    stagesim_mcp.stagesim.ask = ask


def memory(binary):
    """What waits and what ended leaves nothing behind: as much memory after 600 requests as after 100."""
    # A sanitizer keeps what was freed, to see who still uses it.
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=0"
    talk, sizes = Talk(binary, "--jobs", "2"), []
    for number in range(600):
        talk.say({"id": number, "command": "list", "arguments": "engines"} if number % 3 else
                 {"id": number, "command": "rum"})
        talk.hear()
        if number in (100, 599):
            sizes.append(int(pathlib.Path(f"/proc/{talk.process.pid}/statm").read_text().split()[1]) * 4096)
    check.that(sizes[1] - sizes[0] < 500_000, f"memory grows: {sizes}")
    talk.process.stdin.close()
    talk.process.wait()


def main():
    binary = binary_argument()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        same_as_commands(binary, folder)
        what_cannot_be_meant(binary)
        limits(binary)
        one_after_the_other(binary, folder)
        stopped_and_killed(binary)
        cancelling(binary)
        assistants(binary, folder)
        assistant_cancels(binary)
        assistant_errs(binary, folder)
    assistant_races()
    memory(binary)
    return check.done()


sys.exit(main())
