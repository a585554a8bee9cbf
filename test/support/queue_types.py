# SPDX-License-Identifier: Apache-2.0
"""Queues of jobs of types on eight nodes, two behind a switch: the files of a month."""
import json

NODES = 8
EVERY, SAVE, WRITE, LOAD = 20.0, 0.5, 4.0, 3.0
IDLE, FULL = 60.0, 700.0
FAILURES = {"components": [{"name": "software", "unit": "node", "every": "1500s", "replace": False},
                           {"name": "leaf", "unit": "switch", "every": "2000s", "replace": False, "detect": "5s"},
                           {"name": "firmware", "unit": "node", "every": "4000s", "effect": "planned"}],
            "switch": 2, "detect": {"uniform": ["0s", "10s"]}, "restart": {"uniform": ["2s", "20s"]}}
AWAY = {**FAILURES, "components": [*FAILURES["components"], {"name": "GPU", "unit": "gpu", "every": "20000s"}],
        "repair": "60s", "replacement": {"uniform": ["1s", "6s"]}}
CHECKPOINT = {"every": f"{EVERY}s", "save": f"{SAVE}s", "write": f"{WRITE}s", "load": f"{LOAD}s"}
POLICIES = ("fcfs", "easy", "conservative", "shortest", "fair", "priority")


def job_type(slower=1.0, gradient="2GB"):
    return {"workload": "stages", "stages": {"forward": f"{0.05 * slower!r}s", "backward": f"{0.1 * slower!r}s",
                                             "gradient": gradient},
            "parallel": {"pipeline": 1, "data": 8}, "batch": {"micro_batches": 2, "micro": 1}, "schedule": "gpipe",
            "platform": "dgx-h100:1"}


def platform(oversubscription):
    return {"preset": "dgx-h100", "nodes": NODES, "pod": 2, "oversubscription": oversubscription}


def write(folder, jobs, oversubscription=8, types=None, **keys):
    """Jobs as (submit, nodes, iterations, type, priority)."""
    for name, described in {"wide": job_type(), **(types or {})}.items():
        (folder / f"{name}.yaml").write_text(json.dumps(described))
    (folder / "log.csv").write_text("submit,nodes,run,type,iterations,priority\n" + "".join(
        f"{submit!r},{nodes},,{kind},{iterations},{priority or ''}\n"
        for submit, nodes, iterations, kind, priority in jobs))
    queue = {"log": "log.csv", "placement": "spread", "contention": True,
             "types": {name: {"scenario": f"{name}.yaml", "iterations": 1} for name in {"wide": None, **(types or {})}}}
    beside = {key: keys.pop(key) for key in ("failures", "checkpoint", "power") if key in keys}
    (folder / "month.yaml").write_text(json.dumps(
        {"platform": platform(oversubscription), "engine": "simgrid", "queue": {**queue, **keys}, **beside}))
