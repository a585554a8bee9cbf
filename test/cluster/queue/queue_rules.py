# SPDX-License-Identifier: Apache-2.0
"""The policies of doc/queue.md written down once more, without heaps and without thought of speed."""
import math

NODES = 12
SLICE, SWITCH, ROWS = 40, 7, 3
GROW, SHRINK = 9, 4


def fcfs(jobs):
    """Jobs are (submit, nodes, run, expected) in order of submission."""
    return by_events(jobs, lambda now, waiting, running, free: in_order(jobs, sorted(waiting), free))


def shortest(jobs):
    return by_events(jobs, lambda now, waiting, running, free: in_order(
        jobs, sorted(waiting, key=lambda job: (jobs[job][3], job)), free))


def in_order(jobs, order, free):
    chosen = []
    for job in order:
        if jobs[job][1] > free:
            break
        chosen.append(job)
        free -= jobs[job][1]
    return chosen


def easy(jobs):
    def choose(now, waiting, running, free):
        order = sorted(waiting)
        chosen = in_order(jobs, order, free)
        running = running + [(now + jobs[job][3], jobs[job][1]) for job in chosen]
        free -= sum(jobs[job][1] for job in chosen)
        order = order[len(chosen):]
        if not order:
            return chosen
        # The head's reservation: the first of all times at which enough is free, were all due to end when expected.
        head = jobs[order[0]][1]
        times = sorted({max(now, due) for due, _ in running})
        at = next(time for time in times
                  if free + sum(nodes for due, nodes in running if max(now, due) <= time) >= head)
        extra = free + sum(nodes for due, nodes in running if max(now, due) <= at) - head
        for job in order[1:]:
            _, nodes, _, expected = jobs[job]
            if nodes <= free and (now + expected <= at or nodes <= extra):
                if now + expected > at:
                    extra -= nodes
                free -= nodes
                chosen.append(job)
        return chosen
    return by_events(jobs, choose)


def conservative(jobs):
    """Each job that waits is put, in order, where it fits first beside all before it."""
    def choose(now, waiting, running, free):
        taken = [(now, due, nodes) for due, nodes in running if due > now]
        chosen = []
        for job in sorted(waiting):
            _, nodes, _, expected = jobs[job]
            for time in sorted({now} | {end for _, end, _ in taken if end > now}):
                points = {time} | {begin for begin, _, _ in taken if time < begin < time + expected}
                if all(NODES - sum(n for begin, end, n in taken if begin <= point < end) >= nodes for point in points):
                    break
            taken.append((time, time + expected, nodes))
            if time == now and nodes <= free:
                chosen.append(job)
                free -= nodes
        return chosen
    return by_events(jobs, choose)


def by_events(jobs, choose):
    start, end = [None] * len(jobs), [None] * len(jobs)
    times = {job[0] for job in jobs}
    while times:
        now = min(times)
        times.remove(now)
        running = [(start[j] + jobs[j][3], jobs[j][1]) for j in range(len(jobs))
                   if start[j] is not None and end[j] > now]
        waiting = [j for j in range(len(jobs)) if start[j] is None and jobs[j][0] <= now]
        for job in choose(now, waiting, running, NODES - sum(nodes for _, nodes in running)):
            start[job], end[job] = now, now + jobs[job][2]
            times.add(end[job])
    return start, end


def gang(jobs):
    """Rows are lists of jobs; the nodes of a row are counted only, since any free ones do."""
    left = [run_ for _, _, run_, _ in jobs]
    start, end = [None] * len(jobs), [None] * len(jobs)
    rows, active, ready, over, now = [], 0, 0, math.inf, 0
    work_from = {}
    waiting, coming = [], list(range(len(jobs)))

    def turn_to(index):
        nonlocal active, ready, over
        active, ready, over = index, now + SWITCH, now + SLICE
        for job in rows[index]:
            work_from[job] = ready
            start[job] = now if start[job] is None else start[job]

    while coming or waiting or any(rows):
        running = rows[active] if rows else []
        times = [work_from[job] + left[job] for job in running] + [over] + [jobs[job][0] for job in coming[:1]]
        now = min(times)
        for job in [job for job in running if work_from[job] + left[job] <= now]:
            running.remove(job)
            end[job] = now
        while coming and jobs[coming[0]][0] <= now:
            waiting.append(coming.pop(0))
        if rows and not rows[active]:
            del rows[active]
            if rows:
                turn_to(active % len(rows))
            else:
                active = 0
        while waiting:
            job = waiting[0]
            place = next((i for i, row in enumerate(rows)
                          if sum(jobs[k][1] for k in row) + jobs[job][1] <= NODES), None)
            if place is None:
                if len(rows) == ROWS:
                    break
                rows.append([])
                place = len(rows) - 1
                ready = now if len(rows) == 1 else ready
            rows[place].append(waiting.pop(0))
            if place == active:
                start[job], work_from[job] = now, max(now, ready)
        if len(rows) > 1 and now >= over:
            for job in rows[active]:
                left[job] -= max(0, now - work_from[job])
                if start[job] == now:
                    start[job] = None
            turn_to((active + 1) % len(rows))
        elif len(rows) > 1 and over == math.inf:
            over = now + SLICE
        elif len(rows) < 2:
            over = math.inf
    return start, end


def elastic(jobs, sizes, rate):
    """Jobs are (submit, sizes, work); the rate of n nodes is given."""
    left = [work for _, _, work in jobs]
    start, end, size, since = [None] * len(jobs), [None] * len(jobs), [0] * len(jobs), [0.0] * len(jobs)
    inside, coming, waiting, now, before = [], list(range(len(jobs))), [], 0.0, 0.0
    while coming or waiting or inside:
        ends = {job: max(since[job], before) + left[job] / rate[size[job]] for job in inside}
        now = min(list(ends.values()) + [jobs[job][0] for job in coming[:1]])
        for job in list(inside):
            if ends[job] <= now:
                end[job] = now
                inside.remove(job)
            else:
                left[job] -= rate[size[job]] * max(0, now - max(since[job], before))
        while coming and jobs[coming[0]][0] <= now:
            waiting.append(coming.pop(0))
        while waiting and sum(min(sizes) for _ in inside) + min(sizes) <= NODES:
            inside.append(waiting.pop(0))
        target = {job: 0 for job in inside}
        spare = NODES - len(inside) * sizes[0]
        growing = sorted(inside)
        while growing:
            job = min(growing, key=lambda j: (sizes[target[j]], j))
            if target[job] + 1 < len(sizes) and sizes[target[job] + 1] - sizes[target[job]] <= spare:
                spare -= sizes[target[job] + 1] - sizes[target[job]]
                target[job] += 1
            else:
                growing.remove(job)
        for job in inside:
            wanted = sizes[target[job]]
            if size[job] == 0:
                start[job], since[job] = now, now
            elif wanted != size[job]:
                since[job] = max(since[job], now + (GROW if wanted > size[job] else SHRINK))
            size[job] = wanted
        before = now
    return start, end
