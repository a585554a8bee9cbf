# SPDX-License-Identifier: Apache-2.0
"""What must hold of any month of a queue: no job is lost, no node is two jobs' or in repair meanwhile, all work is
done, the nodes' time adds up, and Little's law."""
from queue_tables import nodes_of


def variable(paje, name):
    return [(float(words[1]), float(words[4])) for words in map(str.split, paje.splitlines())
            if len(words) == 5 and words[2:4] == [name, "c"]]


def area(steps):
    return sum(value * (later - time) for (time, value), (later, _) in zip(steps, steps[1:]))


def one_owner(check, label, result, jobs, repairs=()):
    """No job is lost, no node has two owners, and the parts of the nodes' time add up."""
    check.that(len(result.jobs) == len(jobs) and all(float(row["end_s"]) > float(row["start_s"]) >= job[0]
                                                     for row, job in zip(result.jobs, jobs)), f"{label}: a job is lost")
    busy = {}
    for span in result.spans:
        for node in nodes_of(span["nodes"]):
            busy.setdefault(node, []).append((float(span["from_s"]), float(span["to_s"])))
    for node, since, until in repairs:
        busy.setdefault(node, []).append((since, until))
    for node, times in busy.items():
        times.sort()
        check.that(all(a[1] <= b[0] + 1e-6 for a, b in zip(times, times[1:])), f"{label}: node {node} is used twice")
    check.near(sum(result.summary["node_time"].values()), 1, f"{label}: nodes' time adds up", 1e-9)


def identities(check, label, result, nodes, repairs, jobs, slowed):
    """Of a month of jobs (submit, nodes, seconds alone, ...); `slowed`: they may take longer than alone."""
    one_owner(check, label, result, jobs, repairs)
    for row, job in zip(result.jobs, jobs):
        own = [span for span in result.spans if span["job"] == row["job"]]
        worked = sum(float(span["to_s"]) - float(span["from_s"]) - float(span["stalled_s"]) for span in own)
        work = job[2] + float(row["saving_s"]) + float(row["lost_s"])
        check.that(abs(worked - work) <= 1e-8 * work or slowed and worked > work, f"{label}: work of {row['job']}")
        check.that(all(len(nodes_of(span["nodes"])) == job[1] for span in own), f"{label}: nodes of {row['job']}")
    summary = result.summary
    all_time = nodes * summary["makespan_s"]
    useful = sum(own * length for _, own, length, *_ in jobs) / all_time
    counted = summary["node_time"]["useful"]
    check.that(abs(counted - useful) <= 1e-8 or slowed and counted > useful,
               f"{label}: steps that count are those of the log, {counted}, {useful}")
    last = max(float(row["end_s"]) for row in result.jobs)
    away = sum(min(until, last) - since for _, since, until in repairs if since < last) / all_time
    check.that(abs(summary["node_time"]["in_repair"] - away) < 1e-9, f"{label}: time in repair")
    waits = sum(float(row["wait_s"]) for row in result.jobs)
    check.that(abs(area(variable(result.paje, "W")) - waits) <= 1e-6 * max(1, waits), f"{label}: Little's law")
    had = sum((float(span["to_s"]) - float(span["from_s"])) * len(nodes_of(span["nodes"])) for span in result.spans)
    check.near(area(variable(result.paje, "U")), had, f"{label}: nodes in use over time", 1e-8)
