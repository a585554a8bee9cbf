#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stagesim for assistants: a server of the Model Context Protocol on standard input and output. Its tools are commands
of stagesim; each call is a request to `stagesim serve --stdio` (doc/serve.md). Standard library only; never a port."""
import json
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import stagesim

PROTOCOLS = ("2025-06-18", "2025-03-26", "2024-11-05")
SECONDS, MEGABYTES = 120, 4000
ID = (str, int, float)
SCENARIO = {"description": "the path of a scenario, or an object with its keys (see the tool schema)",
            "type": ["string", "object"]}
SET = {"description": 'keys that change, such as {"batch.global": 1024}', "type": "object"}
OPTIONS = {"description": 'options of the command without their dashes, such as {"engine": "analytic"}; '
                          'a list stands for several values', "type": "object"}
JOB = {"scenario": SCENARIO, "set": SET, "options": OPTIONS}


def tool(name, what, properties, required=()):
    return {"name": name, "description": what, "inputSchema": {"type": "object", "properties": properties,
            "required": list(required), "additionalProperties": False}}


KINDS = ["scenario", "hardware", "framework", "model", "month", "plan", "prices"]
WORDS = {"description": "words of the command line", "type": "array", "items": {"type": "string"}}
TOOLS = [
    tool("run", "Simulates a training job: iteration time, bubble and its causes, memory.", JOB, ["scenario"]),
    tool("check", "Says what is wrong with a scenario, and where, without simulating it.", JOB, ["scenario"]),
    tool("compare", 'Compares scenarios, or variants of one: options {"schedules": ["gpipe", "1f1b"]}.',
         {**JOB, "scenario": {**SCENARIO, "type": ["string", "object", "array"]}}, ["scenario"]),
    tool("search", "Ranks the layouts of a job: which parallelism, micro-batch and schedule are fastest.", JOB,
         ["scenario"]),
    tool("schedule", 'A pipeline schedule by itself: its order, bubble and memory; options {"workers": 4, '
                     '"micro_batches": 8}.', {"name": {"type": "string"}, "options": OPTIONS}, ["name"]),
    tool("explain", "Says where the time of a measured trace went.", {"arguments": WORDS, "options": OPTIONS},
         ["arguments"]),
    tool("list", "What there is to choose from: "
         "schedules, workloads, models, presets, platforms, collectives, failures, ...",
         {"what": {"type": "string"}}, ["what"]),
    tool("schema", "The JSON Schema of scenarios, or of other files that stagesim reads: which keys there are, what "
                   "they mean, units and bounds. With `key` only of that key.",
         {"kind": {"type": "string", "enum": KINDS}, "key": {"type": "string"}}),
]


def request_of(name, given):
    """The request that a call of a tool is."""
    request = {"command": name, "seconds": SECONDS, "megabytes": MEGABYTES}
    if name == "schema":
        return {**request, "arguments": [given.get("kind", "scenario")]}
    if name in ("schedule", "list"):
        request["arguments"] = [given["name" if name == "schedule" else "what"]]
    return {**request, **{key: value for key, value in given.items() if key not in ("name", "what")}}


def call(name, given, sent):
    """What the tool says, as texts (the result, and messages), and whether it failed. `sent` as of stagesim.ask."""
    known = {each["name"]: each["inputSchema"] for each in TOOLS}
    if name not in known:
        return [f"there is no tool {name!r}; there are {', '.join(known)}"], True
    wrong = sorted(set(given) - set(known[name]["properties"])) or sorted(set(known[name]["required"]) - set(given))
    if wrong:
        return [f"{name}: {', '.join(wrong)}: expected {', '.join(known[name]['properties'])}"], True
    for key, value in given.items():
        if known[name]["properties"][key].get("type") == "string" and not isinstance(value, str):
            return [f"{name}: {key}: expected a text"], True
    answer = stagesim.ask(sent=sent, **request_of(name, given))
    result = answer.get("result")
    if name == "schema" and "key" in given and not answer["code"]:
        result = result.get("properties", {}).get(given["key"])
        if result is None:
            return [f"there is no key {given['key']!r}"], True
    text = result if isinstance(result, str) else "" if result is None else json.dumps(result)
    return list(filter(None, [text, answer.get("messages", "").strip()])), bool(answer["code"])


def mistake_in(method, given):
    """What is wrong with the parameters of a request, in words; '' where nothing is."""
    if not isinstance(given, dict):
        return "params: expected an object"
    if method == "tools/call" and not isinstance(given.get("name"), str):
        return "name: expected the name of a tool"
    if method == "tools/call" and not isinstance(given.get("arguments") or {}, dict):
        return "arguments: expected an object"
    return ""


def reply_to(message, sent=None):
    """The result of a request, or an error as (code, text)."""
    method, given = message.get("method"), message.get("params") or {}
    wrong = mistake_in(method, given)
    if wrong:
        return -32602, wrong
    if method == "initialize":
        asked = given.get("protocolVersion")
        return {"protocolVersion": asked if asked in PROTOCOLS else PROTOCOLS[0], "capabilities": {"tools": {}},
                "serverInfo": {"name": "stagesim", "version": "1"}}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        try:
            texts, failed = call(given["name"], given.get("arguments") or {}, sent)
        except stagesim.Error as error:
            texts, failed = [str(error)], True
        return {"content": [{"type": "text", "text": text} for text in texts], "isError": failed}
    return -32601, f"there is no method {method!r}"


def write(number, reply):
    part = {"error": {"code": reply[0], "message": reply[1]}} if isinstance(reply, tuple) else {"result": reply}
    print(json.dumps({"jsonrpc": "2.0", "id": number, **part}), flush=True)


class Call:
    """A call of a tool, in a thread of its own, so that it can be cancelled: also before its request is on its way.
    Who cancels expects no reply."""

    def __init__(self, client, message):
        self.client, self.message, self.cancel_sent, self.cancelled = client, message, None, False
        self.thread = threading.Thread(target=self.run)

    def sent(self, cancel):
        with self.client.lock:
            self.cancel_sent, late = cancel, self.cancelled
        if late:
            cancel()

    def cancel(self):
        with self.client.lock:
            self.cancelled, cancel = True, self.cancel_sent
        if cancel:
            try:
                cancel()
            except stagesim.Error:
                pass  # the program has ended, and the call with it

    def run(self):
        try:
            reply = reply_to(self.message, self.sent)
        except Exception as error:  # whatever it is, who asked waits for a reply
            reply = -32603, f"{type(error).__name__}: {error}"
        with self.client.lock:
            if not self.cancelled:
                write(self.message["id"], reply)
            del self.client.calls[self.message["id"]]


class Client:
    """Whom replies go to, and the calls that have none yet, by id."""

    def __init__(self):
        self.lock, self.calls = threading.Lock(), {}

    def reply(self, number, reply):
        with self.lock:
            write(number, reply)

    def begin(self, message):
        made = Call(self, message)
        with self.lock:
            if self.calls.setdefault(message["id"], made) is not made:
                write(None, (-32600, f"the call {message['id']!r} has no reply yet: expected another id"))
                return
        made.thread.start()

    def notice(self, message):
        """A message that has no reply, whatever it is."""
        given = message.get("params")
        number = given.get("requestId") if isinstance(given, dict) else None
        found = self.calls.get(number) if isinstance(number, ID) else None
        if found and message.get("method") == "notifications/cancelled":
            found.cancel()

    def take(self, message):
        if not isinstance(message, dict) or not isinstance(message.get("id", 0), ID):
            self.reply(None, (-32600, "expected an object with a text or a number as its id"))
        elif "id" not in message:
            self.notice(message)
        elif message.get("method") == "tools/call":
            self.begin(message)
        else:
            self.reply(message["id"], reply_to(message))


def main():
    client = Client()
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            client.reply(None, (-32700, f"this is no JSON: {error}"))
        else:
            client.take(message)
    for each in list(client.calls.values()):
        each.thread.join()


if __name__ == "__main__":
    main()
