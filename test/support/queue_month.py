# SPDX-License-Identifier: Apache-2.0
"""A queue whose nodes fail, by the rules of doc/queue.md, written down once more: given what failed when, the same jobs
come to the same ends on the same nodes. Without heaps and without thought of speed."""
import copy
import math


class Progress:
    """Steps and checkpoints of one job (doc/queue.md#failures); times in seconds, work in seconds at full speed."""

    def __init__(self, work, every, save, write):
        self.work, self.every, self.save, self.write = work, every, save, write
        self.safe = self.done = self.computed = self.saving = 0.0
        self.speed = 1.0
        self.begin()

    def begin(self):
        """From what is done on: nothing is being saved."""
        self.next_save, self.pending, self.saved_at = self.done + self.every, None, None

    def settle(self, now):
        if self.pending and self.pending[1] <= now:
            self.safe, self.pending = self.pending[0], None

    def save_until(self, now, until):
        until = min(self.saved_at, until)
        self.saving += until - now
        if until == self.saved_at:
            self.saved_at = None
            self.settle(until)
            self.pending, self.next_save = (self.done, until + self.write), self.done + self.every
        return until

    def step_until(self, now, until):
        mark = min(self.next_save, self.work)
        reached = now + max(0.0, mark - self.done) / self.speed
        if reached > until:
            self.computed += (until - now) * self.speed
            self.done += (until - now) * self.speed
            return until
        self.computed += max(0.0, mark - self.done)
        self.done = max(mark, self.done)
        self.settle(reached)
        if self.done >= self.work and math.isinf(self.every):
            self.safe = self.done
        elif self.pending and self.done < self.work:  # the one before is still on its way
            self.next_save = self.done + (self.pending[1] - reached) * self.speed
        else:
            self.saved_at = reached + self.save
        return reached

    def go(self, since, until):
        """Goes on until the end, which it returns, or until then, where that is first."""
        now = since
        self.settle(now)
        while now < until and self.safe < self.work:
            if self.saved_at is not None:
                now = self.save_until(now, until)
            elif self.pending and self.pending[0] >= self.work:  # only the last state is on its way
                last = min(self.pending[1], until)
                self.saving += last - now
                now = last
            else:
                now = self.step_until(now, until)
            self.settle(now)
        return now if self.safe >= self.work else None

    def end(self, since):
        return copy.copy(self).go(since, math.inf)

    def stop(self):
        self.done = self.safe
        self.begin()

    def keep(self):
        self.safe = self.done
        self.begin()


class Power:
    """What GPUs draw under a budget (doc/queue.md#power), and carbon that follows the hour."""

    def __init__(self, nodes, gpus, idle, full, alpha, bound, budget, hours, pue):
        self.nodes, self.gpus, self.idle, self.full, self.alpha, self.bound = nodes, gpus, idle, full, alpha, bound
        self.budget, self.hours, self.pue = budget, hours, pue
        self.cap = None

    def divide(self, nodes):
        """So many nodes have jobs: each of their GPUs has an equal share of what idle ones leave."""
        if self.budget and nodes:
            self.cap = (self.budget - self.gpus * (self.nodes - nodes) * self.idle) / (self.gpus * nodes)

    def speed(self):
        if not self.cap or self.cap >= self.full:
            return 1.0
        clock = ((self.cap - self.idle) / (self.full - self.idle)) ** (1 / self.alpha)
        return 1 / (self.bound / clock + 1 - self.bound)

    def watts(self, works):
        """Of a node."""
        if not works:
            return self.gpus * self.idle
        return self.gpus * (min(self.cap, self.full) if self.cap else self.full)

    def grams(self, watts, since, until):
        """Hour by hour."""
        grams, now = 0.0, since
        while now < until:
            hour = math.floor(now / 3600)
            after = min(until, (hour + 1) * 3600)
            grams += watts * (after - now) / 3.6e6 * self.pue * self.hours[hour % 24]
            now = after
        return grams


def packed(free, count):
    chosen = []
    while len(chosen) < count:
        runs, left = [], count - len(chosen)
        for node in sorted(set(free) - set(chosen)):
            if runs and runs[-1][-1] == node - 1:
                runs[-1].append(node)
            else:
                runs.append([node])
        fitting = [run for run in runs if len(run) >= left]
        best = min(fitting, key=len) if fitting else max(runs, key=len)
        chosen += best[:left]
    return sorted(chosen)


def first(free, count):
    return sorted(free)[:count]


def spread(free, count):
    ordered = sorted(free)
    return [ordered[i * len(ordered) // count] for i in range(count)]


BLOCK = 5


def block(free, count):
    chosen = []
    while len(chosen) < count:
        blocks, left = {}, count - len(chosen)
        for node in sorted(set(free) - set(chosen)):
            blocks.setdefault(node // BLOCK, []).append(node)
        fitting = [nodes for nodes in blocks.values() if len(nodes) >= left]
        best = min(fitting, key=len) if fitting else max(blocks.values(), key=len)
        chosen += best[:left]
    return sorted(chosen)


PLACEMENTS = {"packed": packed, "first": first, "spread": spread, "block": block}
SAVING, RESUME = 7.0, 11.0
HALF_LIFE, SHARES, QUOTAS, QUOTA = 200.0, {"ann": 2.0}, {"bob": 9}, 11


class Job:
    def __init__(self, number, submit, nodes, expected, progress, user="", priority=0):
        self.number, self.submit, self.asked, self.expected, self.progress = number, submit, nodes, expected, progress
        self.user, self.priority, self.yields, self.changes = user, priority, False, 0
        self.nodes, self.start, self.end, self.since, self.due, self.event = None, None, None, None, None, None
        self.stopped, self.leaving, self.again, self.replacement, self.replaced = False, {}, 0.0, 0.0, 0.0
        self.stops = self.requeues = 0
        self.standing = self.stands = self.charged = self.joules = self.grams = 0.0
        self.slow = self.rate = 1.0
        self.moving, self.moves = False, 0

    def left(self):
        work = self.progress.work
        return self.again + self.expected * ((work - self.progress.done) / work)


class Month:
    """`failures` are (time, nodes, planned, detection, replacement, restart, repairs or None). `beside` says of the
    jobs that work at a time how much longer each takes than alone, `rate` of a job how fast it is on some nodes: then
    jobs move."""

    def __init__(self, nodes, spares, placement, policy, jobs, failures, load, power=None, beside=None, rate=None):
        self.count, self.spares, self.place, self.policy = nodes, spares, PLACEMENTS[placement], policy
        self.jobs, self.failures, self.load = jobs, list(failures), load
        self.free, self.away, self.now, self.waiting, self.spans = set(range(nodes)), {}, 0.0, [], []
        self.repairs, self.power, self.beside, self.rate = [], power, beside, rate

    @staticmethod
    def at_first(placement, nodes, count):
        """Nodes of a job in an empty cluster."""
        return PLACEMENTS[placement](set(range(nodes)), count)

    def available(self):
        busy = self.count - len(self.free) - len(self.away)
        return min(len(self.free), self.count - self.spares - busy)

    def running(self):
        return [job for job in self.jobs if job.nodes is not None and job.end is None]

    def charge(self, job):
        works = min(max(job.stands, job.charged), self.now)
        for since, until, watts in ((job.charged, works, self.power.watts(False)),
                                    (works, self.now, job.watts)):
            job.joules += job.asked * watts * (until - since)
            job.grams += self.power.grams(job.asked * watts, since, until)
        job.charged = self.now

    def divide(self):
        """After all that happens at one time: jobs go on at the speed that the budget leaves now."""
        before = self.power.cap
        self.power.divide(sum(len(job.nodes) for job in self.running()))
        for job in self.running() if self.power.cap != before else ():
            if not job.stopped:
                self.go_on(job)

    def share(self):
        """Then those that work slow each other down."""
        working = [job for job in self.running() if not job.stopped and job.since <= self.now]
        for job, slow in zip(working, self.beside(working) if self.beside else ()):
            if slow != job.slow:
                job.slow = slow
                self.go_on(job)

    def go_on(self, job):
        """At the speed of now."""
        self.charge(job)
        if self.now > job.since:
            job.progress.go(job.since, self.now)
            job.since = self.now
        self.set_speed(job)

    def set_speed(self, job):
        idle = self.power.watts(False)
        job.progress.speed = self.power.speed() * job.rate / job.slow
        job.watts = idle + (self.power.watts(True) - idle) / job.slow
        job.event = job.progress.end(job.since)

    def span(self, job):
        """Its span ends; it stood still at the beginning of it."""
        since, standing = job.begun, min(job.stands, self.now) - job.begun
        self.charge(job)
        if self.now > since:
            self.spans.append((job.number, since, self.now, standing, list(job.nodes)))
        job.standing += standing

    def resume(self, job, nodes):
        self.free -= set(nodes)
        job.nodes, job.begun = nodes, self.now
        job.start = self.now if job.start is None else job.start
        job.since, job.replaced = self.now + job.again, self.now + job.replacement
        job.due, job.stopped = self.now + job.left(), False
        job.stands, job.charged = job.since, self.now
        job.slow, job.rate = 1.0, self.rate(job, nodes) if self.rate else 1.0
        self.set_speed(job)

    def start(self, job):
        self.waiting.remove(job)
        self.resume(job, self.place(self.free, job.asked))

    def send(self, node, repair):
        self.free.discard(node)
        self.away[node] = self.now + repair
        self.repairs.append((node, self.now, self.now + repair))

    def hit(self, job, failure):
        _, nodes, planned, detection, replacement, restart, repairs = failure
        mark = not job.stopped or repairs
        if not job.stopped:
            self.span(job)
            wait = detection
            if self.now < job.since:
                wait = 0 if planned or self.now < job.replaced else detection
            else:
                job.progress.go(job.since, self.now)
                if planned:
                    job.progress.keep()
                    wait = job.progress.save
                else:
                    job.progress.stop()
            job.stopped, job.begun = True, self.now
            job.since = job.event = job.stands = self.now + wait
            job.stops += 1
        if mark:
            for index, node in enumerate(nodes if repairs else ()):
                if node in job.nodes and node not in job.leaving:
                    job.leaving[node] = repairs[index]
            job.replacement, job.again = replacement, replacement + restart + self.load
        job.due = job.since + job.left()

    def notice(self, job):
        self.span(job)
        kept = [node for node in job.nodes if node not in job.leaving]
        for node, repair in job.leaving.items():
            self.send(node, repair)
        moves = job.moving
        if moves:
            self.free |= set(kept)
            kept, job.moving = [], False
        missing, job.leaving = job.asked - len(kept), {}
        if missing <= len(self.free) and not job.yields:
            job.moves += moves
            self.resume(job, sorted(kept + (self.place(self.free, missing) if missing else [])))
        else:
            self.free |= set(kept)
            job.nodes, job.stopped = None, False
            job.requeues += not job.yields
            job.yields = False
            self.waiting = sorted(self.waiting + [job], key=lambda waits: waits.number)

    def fail(self, failure):
        nodes, repairs = failure[1], failure[6]
        jobs = []
        for index, node in enumerate(nodes):
            owner = next((job for job in self.running() if node in job.nodes), None)
            if owner:
                jobs += [owner] if owner not in jobs else []
            elif node in self.free and repairs:
                self.send(node, repairs[index])
        for job in jobs:
            self.hit(job, failure)

    def step(self, coming):
        times = [job.event for job in self.running()] + list(self.away.values()) + [job.submit for job in coming[:1]]
        times += [failure[0] for failure in self.failures[:1]]
        joins = [job.since for job in self.running() if self.beside and not job.stopped and job.since > self.now]
        self.now = min(times + joins)
        if self.now < min(times):  # a job begins to work, and nothing else happens
            self.share()
            return
        while True:
            due = [job for job in self.running() if job.event <= self.now]
            if not due:
                break
            job = min(due, key=lambda job: (job.event, job.number))
            if job.stopped:
                self.notice(job)
                continue
            self.span(job)
            job.progress.go(job.since, math.inf)
            self.free |= set(job.nodes)
            job.end = self.now
        for node in [node for node, back in self.away.items() if back <= self.now]:
            del self.away[node]
            self.free.add(node)
        while self.failures and self.failures[0][0] <= self.now:
            self.fail(self.failures.pop(0))
        while coming and coming[0].submit <= self.now:
            self.waiting.append(coming.pop(0))
        getattr(self, self.policy)()
        self.migrate()
        self.divide()
        self.share()

    def run(self):
        coming = list(self.jobs)
        while any(job.end is None for job in self.jobs):
            self.step(coming)
        return self

    # ---- policies ----

    def fcfs(self):
        while self.waiting and self.waiting[0].asked <= self.available():
            self.start(self.waiting[0])

    def shortest(self):
        while self.waiting:
            job = min(self.waiting, key=lambda job: (job.left(), job.number))
            if job.asked > self.available():
                return
            self.start(job)

    def easy(self):
        self.fcfs()
        if not self.waiting:
            return
        head, free = self.waiting[0], self.available()
        ends = [(max(self.now, job.due), job.asked) for job in self.running()]
        at = next((time for time in sorted({time for time, _ in ends})
                   if free + sum(nodes for due, nodes in ends if due <= time) >= head.asked), math.inf)
        extra = 0 if math.isinf(at) else free + sum(nodes for due, nodes in ends if due <= at) - head.asked
        for job in self.waiting[1:]:
            in_time = self.now + job.left() <= at
            if job.asked <= self.available() and (in_time or job.asked <= extra):
                extra -= 0 if in_time else job.asked
                self.start(job)

    def used(self, user):
        """What the user has used for his share; the older half counts half as much."""
        spans = [(len(nodes), since, until) for number, since, until, _, nodes in self.spans
                 if self.jobs[number].user == user]
        spans += [(job.asked, job.begun, self.now) for job in self.running() if job.user == user]
        rate = math.log(2) / HALF_LIFE
        return sum(nodes / rate * (math.exp(rate * (until - self.now)) - math.exp(rate * (since - self.now)))
                   for nodes, since, until in spans) / SHARES.get(user, 1)

    def fair(self):
        used = {job.user: self.used(job.user) for job in self.waiting}
        head, at, extra = None, None, 0
        for job in sorted(self.waiting, key=lambda job: (used[job.user], job.number)):
            has = sum(other.asked for other in self.running() if other.user == job.user)
            if has + job.asked > QUOTAS.get(job.user, QUOTA):
                continue
            fits = job.asked <= self.available()
            if not head and fits:
                self.start(job)
            elif not head:
                head, free = job, self.available()
                ends = [(max(self.now, other.due), other.asked) for other in self.running()]
                at = next((time for time in sorted({time for time, _ in ends})
                           if free + sum(nodes for due, nodes in ends if due <= time) >= head.asked), math.inf)
                extra = (0 if math.isinf(at) else
                         free + sum(nodes for due, nodes in ends if due <= at) - head.asked)
            elif fits and (self.now + job.left() <= at or job.asked <= extra):
                extra -= 0 if self.now + job.left() <= at else job.asked
                self.start(job)

    def give_way(self, job):
        job.changes += 1
        job.yields = True
        if not job.stopped:
            self.save(job)

    def save(self, job):
        self.span(job)
        wait = 0.0
        if self.now >= job.since:
            job.progress.go(job.since, self.now)
            job.progress.keep()
            wait = SAVING
        job.stopped, job.begun, job.replacement, job.again = True, self.now, 0.0, RESUME
        job.since = job.event = job.stands = self.now + wait
        job.due = job.since + job.left()

    def migrate(self):
        """One at a time, the job that gains most by it moves to the nodes that it would be given now."""
        if not self.rate or not self.free or any(job.moving for job in self.running()):
            return
        best, most = None, 0.0
        for job in self.running():
            if job.stopped or self.now < job.since:
                continue
            rate = self.rate(job, self.place(self.free | set(job.nodes), job.asked))
            progress = copy.copy(job.progress)
            progress.go(job.since, self.now)
            left = progress.work - progress.done
            gain = left / job.rate - left / rate - SAVING - RESUME
            if rate > job.rate and gain > most:
                best, most = job, gain
        if best:
            best.moving = True
            self.save(best)

    def priority(self):
        while self.waiting:
            job = min(self.waiting, key=lambda job: (-job.priority, job.number))
            if job.asked > self.available():
                there = self.available() + sum(other.asked for other in self.running() if other.yields)
                below = sorted((other for other in self.running()
                                if other.priority < job.priority and not other.yields),
                               key=lambda other: (other.priority, -other.number))
                if there + sum(other.asked for other in below) >= job.asked:
                    for other in below:
                        if there >= job.asked:
                            break
                        there += other.asked
                        self.give_way(other)
                return
            self.start(job)

    def conservative(self):
        """Each job that waits is put, in order, where it fits first beside all before it; those for which too few nodes
        are up are passed over."""
        up = self.available() + sum(job.asked for job in self.running())
        taken = [(self.now, job.due, job.asked) for job in self.running() if job.due > self.now]
        for job in list(self.waiting):
            if job.asked > up:
                continue
            length = job.left()
            for time in sorted({self.now} | {end for _, end, _ in taken if end > self.now}):
                points = {time} | {begin for begin, _, _ in taken if time < begin < time + length}
                if all(up - sum(n for begin, end, n in taken if begin <= point < end) >= job.asked for point in points):
                    break
            taken.append((time, time + length, job.asked))
            if time == self.now and job.asked <= self.available():
                self.start(job)
