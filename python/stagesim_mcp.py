#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stagesim for assistants: a server of the Model Context Protocol on standard input and output. Its tools are commands
of stagesim; each call is a request to `stagesim serve --stdio` (doc/serve.md). Standard library only; never a port."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import stagesim

PROTOCOLS = ("2025-06-18", "2025-03-26", "2024-11-05")
SECONDS, MEGABYTES = 120, 4000
SCENARIO = {"description": "the path of a scenario, or an object with its keys (see the tool schema)",
            "type": ["string", "object"]}
SET = {"description": 'keys that change, such as {"batch.global": 1024}', "type": "object"}
OPTIONS = {"description": 'options of the command without their dashes, such as {"engine": "analytic"}; '
                          'a list stands for several values', "type": "object"}
JOB = {"scenario": SCENARIO, "set": SET, "options": OPTIONS}


def tool(name, what, properties, required=()):
    return {"name": name, "description": what, "inputSchema": {"type": "object", "properties": properties,
            "required": list(required), "additionalProperties": False}}


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
    tool("schema", "The JSON Schema of scenarios: which keys there are, what they mean, units and bounds. With `key` "
                   "only of that key.", {"key": {"type": "string"}}),
]


def request_of(name, given):
    """The request that a call of a tool is."""
    request = {"command": name, "seconds": SECONDS, "megabytes": MEGABYTES}
    if name == "schema":
        return {**request, "arguments": ["scenario"]}
    if name in ("schedule", "list"):
        request["arguments"] = [given["name" if name == "schedule" else "what"]]
    return {**request, **{key: value for key, value in given.items() if key not in ("name", "what")}}


def call(name, given):
    """What the tool says, as texts (the result, and messages), and whether it failed."""
    known = {each["name"]: each["inputSchema"] for each in TOOLS}
    if name not in known:
        return [f"there is no tool {name!r}; there are {', '.join(known)}"], True
    wrong = sorted(set(given) - set(known[name]["properties"])) or sorted(set(known[name]["required"]) - set(given))
    if wrong:
        return [f"{name}: {', '.join(wrong)}: expected {', '.join(known[name]['properties'])}"], True
    answer = stagesim.ask(**request_of(name, given))
    result = answer.get("result")
    if name == "schema" and "key" in given and not answer["code"]:
        result = result["properties"].get(given["key"])
        if result is None:
            return [f"there is no key {given['key']!r}"], True
    text = result if isinstance(result, str) else "" if result is None else json.dumps(result)
    return list(filter(None, [text, answer.get("messages", "").strip()])), bool(answer["code"])


def reply_to(message):
    """The result of a request, or an error as (code, text)."""
    method, given = message.get("method"), message.get("params") or {}
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
            texts, failed = call(given.get("name"), given.get("arguments") or {})
        except stagesim.Error as error:
            texts, failed = [str(error)], True
        return {"content": [{"type": "text", "text": text} for text in texts], "isError": failed}
    return -32601, f"there is no method {method!r}"


def main():
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            message = json.loads(line)
        except ValueError as error:
            reply, number = (-32700, f"this is no JSON: {error}"), None
        else:
            if not isinstance(message, dict):
                reply, number = (-32600, "expected an object"), None
            elif "id" not in message:
                continue  # a notification
            else:
                reply, number = reply_to(message), message["id"]
        answer = {"jsonrpc": "2.0", "id": number}
        if isinstance(reply, tuple):
            answer["error"] = {"code": reply[0], "message": reply[1]}
        else:
            answer["result"] = reply
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
