# SPDX-License-Identifier: Apache-2.0
"""A run as operations.csv and summary.json tell it: times, idle time its causes, memory, critical path and slack."""
import bisect
import csv
import json
import os
from collections import defaultdict


class Operation:
    def __init__(self, row):
        self.rank, self.id, self.position = int(row["rank"]), int(row["id"]), int(row["position"])
        self.kind, self.stream = row["kind"], row["stream"]
        self.type = row["stream"].split(":")[0]
        self.stage, self.micro_batch = row["stage"].split("+"), row["micro_batch"].split("+")
        self.pipeline, self.part = row["pipeline"].split("+"), row["part"].split("+")
        self.group, self.peer = row["group"], row["peer"]
        self.bytes, self.memory = float(row["bytes"]), float(row["memory_delta_bytes"])
        self.waits = [int(x) for x in row["waits_for"].split()]
        self.start, self.data_start, self.end = float(row["start_s"]), float(row["data_start_s"]), float(row["end_s"])
        self.alone = float(row["alone_s"]) if row.get("alone_s") else None
        self.iteration = int(row.get("iteration") or 0)
        self.marker = self.type == "compute" and self.kind == "exchange" and self.start == self.end
        self.communicates = self.type in ("send", "receive", "collective")

    def identities(self):
        """(stage, micro-batch, pipeline, part), once, or twice for a block."""
        fields = [self.stage, self.micro_batch, self.pipeline, self.part]
        count = max(len(field) for field in fields)
        return [tuple(field[i] if i < len(field) else field[0] for field in fields) for i in range(count)]


class Run:
    def __init__(self, directory):
        with open(os.path.join(directory, "operations.csv"), newline="") as file:
            self.operations = [Operation(row) for row in csv.DictReader(file)]
        with open(os.path.join(directory, "summary.json")) as file:
            self.summary = json.load(file)
        self.directory = directory
        self.ranks = defaultdict(dict)
        for operation in self.operations:
            self.ranks[operation.rank][operation.id] = operation
        # Means count all ranks but those that do nothing but feed others with samples.
        self.counted = [rank for rank in sorted(self.ranks)
                        if any(operation.kind != "input" for operation in self.ranks[rank].values())]
        self.streams = defaultdict(list)  # (rank, stream) -> operations in their order
        for rank in sorted(self.ranks):
            for number in sorted(self.ranks[rank]):
                self.streams[rank, self.ranks[rank][number].stream].append(self.ranks[rank][number])
        self.index = {}  # (rank, id) -> place in its stream
        for operations in self.streams.values():
            for i, operation in enumerate(operations):
                self.index[operation.rank, operation.id] = i
        self.groups = defaultdict(list)  # group -> members' streams
        for (rank, stream), operations in self.streams.items():
            if operations[0].type == "collective":
                self.groups[operations[0].group].append(operations)
        self.iterations = 1 + max(operation.iteration for operation in self.operations)
        self.steady = self.summary["time"].get("steady_state", False)
        self.cycle, self.false_cycle, self.joined = 0, False, False
        self.find_times()

    # ---- T ----

    def find_times(self):
        self.ends = [max(o.end for o in self.operations if o.iteration == i) for i in range(self.iterations)]
        self.starts = [
            min(o.start for o in self.operations if o.iteration == i and o.type != "receive" and not o.marker)
            for i in range(self.iterations)]
        self.whole = None  # the one window of all ranks, and the iterations that pass in it
        if self.summary["time"].get("period"):
            self.find_rounds(self.summary["time"]["period"])
        elif self.summary["time"].get("independent"):
            self.find_paces()
        elif self.steady and self.summary["time"].get("cycle_iterations"):
            self.find_cycle(self.summary["time"])
        elif self.steady:
            end = self.iterations - 1 if self.iterations > 2 else self.iterations
            self.measured = list(range(self.iterations // 2 if self.iterations > 3 else 1, end))
            self.T = (self.ends[end - 1] - self.ends[self.measured[0] - 1]) / len(self.measured)
        else:
            self.joined, self.measured, self.T = self.find_T(self.starts, self.ends)

    def find_T(self, starts, ends):
        """Whether iterations run into each other, which are measured, and T: the time between ends then, the last
        iteration left out where there are three; otherwise their mean length."""
        measured = list(range(1 if self.iterations > 1 else 0, self.iterations))
        if not any(i and starts[i] < ends[i - 1] - 1e-9 * (ends[i] - starts[i]) for i in measured):
            return False, measured, sum(ends[i] - starts[i] for i in measured) / len(measured)
        measured = measured[:-1] if self.iterations > 2 else measured
        return True, measured, (ends[measured[-1]] - ends[measured[0] - 1]) / len(measured)

    def joints(self, rank, measured, starts, end_of, T):
        """Where the rank's windows of iterations that run into each other begin, and the last one ends."""
        joints = []
        for i in measured:
            own = [end_of(o) for o in self.streams.get((rank, "compute"), []) if o.iteration == i - 1 and not o.marker]
            joints.append(max([starts[i], *own]))
        return [*joints, joints[0] + len(measured) * T]

    def find_cycle(self, time):
        """The summary says where the cycle is; as many iterations as it has end as far apart as it is long."""
        start, length, count = time["cycle_start_s"], time["cycle_length_s"], time["cycle_iterations"]
        self.T, self.whole, self.cycle = length / count, (start, start + length, count), length
        first = next((i for i in range(self.iterations - count) if self.ends[i] > start), self.iterations - count)
        self.measured = list(range(first, first + count))
        self.false_cycle = first > 0 and abs(self.ends[first + count - 1] - self.ends[first - 1] -
                                             length) > 1e-6 * length

    def find_rounds(self, period):
        first = period if self.iterations > period else 0
        self.measured = list(range(first, self.iterations))
        start = self.ends[first - 1] if first else self.starts[0]
        self.T = (self.ends[-1] - start) / len(self.measured)
        self.whole = start, self.ends[-1], len(self.measured)

    def find_paces(self):
        """Ends of each rank's iterations; how many of them, and parts of them, lie in the time that all ranks have in
        common."""
        self.measured, paces = list(range(1, self.iterations)), []
        for rank in self.ranks:
            compute = [o for o in self.streams.get((rank, "compute"), []) if not o.marker]
            ends = [max((o.end for o in compute if o.iteration == i), default=None) for i in range(self.iterations)]
            if None not in ends:
                paces.append(ends)
        start, end = max(ends[0] for ends in paces), min(ends[-1] for ends in paces)
        done = sum(max(0, min(b, end) - max(a, start)) / (b - a) for ends in paces for a, b in zip(ends, ends[1:]))
        self.T = len(paces) * (end - start) / done
        self.whole = start, end, (end - start) / self.T

    def windows(self, rank):
        """(start, end, iteration or None) of what the rank is watched for."""
        if self.whole:
            return [(*self.whole[:2], None)]
        if self.joined:
            joints = self.joints(rank, self.measured, self.starts, lambda o: o.end, self.T)
            return [(a, min(b, joints[-1]), i) for a, b, i in zip(joints, joints[1:], self.measured)]
        if not self.steady:
            return [(self.starts[i], self.ends[i], i) for i in self.measured]
        own = [o for o in self.streams[rank, "compute"] if not o.marker]
        first = [o.start for o in own if o.iteration == self.measured[0]]
        last = [o.start for o in own if o.iteration == self.iterations - 1]
        if first and last and self.measured[-1] < self.iterations - 1 and last[0] > first[0]:
            return [(first[0], last[0], None)]
        end = last[0] if last else self.ends[self.measured[0]]
        return [(end - self.T, end, None)]

    def share(self, rank):
        """How many iterations pass in the windows of a rank."""
        if self.whole:
            return self.whole[2]
        if self.steady:
            return sum(end - begin for begin, end, _ in self.windows(rank)) / self.T
        return len(self.measured)

    # ---- the timelines of free transfers and of transfers alone ----

    def replay(self, free):
        """(start, end) of every operation when computations and transfers take alone_s, the latter nothing if `free`:
        each begins when the one before it in its stream and what it waits for are done, a collective when all its
        members have come. Streams are tried until nothing is left."""
        times, arrivals, place = {}, {}, {key: 0 for key in self.streams}

        def ready(o, at):
            before = self.streams[o.rank, o.stream][at - 1] if at else None
            needed = [(o.rank, i) for i in o.waits] + ([(before.rank, before.id)] if before else [])
            return max((times[key][1] for key in needed), default=0.0) if all(k in times for k in needed) else None

        def advance(key):
            at = place[key]
            if at == len(self.streams[key]):
                return False
            o = self.streams[key][at]
            if o.type == "receive":
                send = self.streams[int(o.peer), "send:%d:%s" % (o.position, o.stream.split(":")[2])][at]
                if (send.rank, send.id) not in times:
                    return False
                times[o.rank, o.id] = times[send.rank, send.id]
            elif o.type == "collective":
                start = ready(o, at)
                if start is not None:
                    arrivals[o.rank, o.id] = start
                members = [stream[at] for stream in self.groups[o.group]]
                if any((m.rank, m.id) not in arrivals for m in members):
                    return False
                last = max(arrivals[m.rank, m.id] for m in members)
                times[o.rank, o.id] = arrivals[o.rank, o.id], last + (0 if free else o.alone)
            else:
                start = ready(o, at)
                if start is None:
                    return False
                moves = o.type == "send" or (o.type == "delay" and o.kind == "input")
                times[o.rank, o.id] = start, start + (0 if free and moves else o.alone)
            place[key] += 1
            return True

        moved = True
        while moved:
            moved = False
            for key in place:
                while advance(key):
                    moved = True
        return times if len(times) == len(self.operations) else None

    def idle_run(self, times):
        """T, mean and largest busy time of a replay."""
        starts, ends = {}, {}
        for i in range(self.iterations):
            own = [o for o in self.operations if o.iteration == i]
            starts[i] = min(times[o.rank, o.id][0] for o in own if o.type != "receive" and not o.marker)
            ends[i] = max(times[o.rank, o.id][1] for o in own)
        joined, measured, T = self.find_T(starts, ends)
        count, busy = len(measured), []
        for rank in self.ranks:
            windows = [(starts[i], ends[i]) for i in measured]
            if joined:
                joints = self.joints(rank, measured, starts, lambda o: times[o.rank, o.id][1], T)
                windows = [(a, min(b, joints[-1])) for a, b in zip(joints, joints[1:])]
            busy.append(sum(max(0, min(end, times[rank, o.id][1]) - max(start, times[rank, o.id][0]))
                            for o in self.streams.get((rank, "compute"), []) for start, end in windows) / count)
        return T, sum(busy) / len(self.counted), max(busy)

    # ---- a rank, by elementary intervals ----

    def watch(self, rank):
        """Cuts each window at every time at which anything of the rank changes and asks what is going on between."""
        total = defaultdict(float)
        operations = list(self.ranks[rank].values())
        compute = [o for o in self.streams.get((rank, "compute"), []) if not o.marker]
        compute_starts = [o.start for o in compute]
        for begin, end, iteration in self.windows(rank):
            cuts = {begin, end}
            for o in operations:
                cuts.update(t for t in (o.start, o.data_start, o.end) if begin < t < end)
            cuts = sorted(cuts)
            moving = self.cover(cuts, [(o.data_start, o.end) for o in operations if o.communicates])
            gathering = self.cover(cuts, [(o.start, o.end) for o in operations if o.type == "collective"])
            busy = self.cover(cuts, [(o.start, o.end) for o in compute])
            own = [o for o in compute if iteration is None or o.iteration == iteration]
            for i in range(len(cuts) - 1):
                length = cuts[i + 1] - cuts[i]
                if busy[i]:
                    total["busy"] += length
                else:
                    upcoming = bisect.bisect_left(compute_starts, cuts[i + 1])
                    following = compute[upcoming] if upcoming < len(compute) else None
                    total[self.cause(rank, following, own, gathering[i])] += length
                if moving[i]:
                    total["overlapped" if busy[i] else "exposed"] += length
            if own:
                total["span"] += own[-1].end - own[0].start if iteration is not None else 0
        return {key: value / self.share(rank) for key, value in total.items()}

    @staticmethod
    def cover(cuts, intervals):
        """For each elementary interval whether one of the intervals covers it."""
        change = [0] * (len(cuts) + 1)
        for start, end in intervals:
            low, high = bisect.bisect_left(cuts, start), bisect.bisect_left(cuts, end)
            if end > cuts[0] and start < cuts[-1] and high > low:
                change[low] += 1
                change[min(high, len(cuts) - 1)] -= 1
        covered, depth = [], 0
        for i in range(len(cuts)):
            depth += change[i]
            covered.append(depth > 0)
        return covered

    def cause(self, rank, following, own, gathering):
        if not own or (following is not None and self.key(following) <= self.key(own[0])):
            return "input" if own and self.awaited(rank, following) == "input" else "fill"
        if following is None or self.key(following) > self.key(own[-1]):
            return "collective" if gathering else "drain"
        return self.awaited(rank, following)

    def awaited(self, rank, following):
        """What ends last of what an operation waits for."""
        waits = [self.ranks[rank][i] for i in following.waits]
        waits = [o for o in waits if o.type != "compute"]
        if not waits:
            return "dependency"
        latest = max(o.end for o in waits)
        types = {"input" if o.kind == "input" else o.type.replace("send", "receive") for o in waits if o.end == latest}
        if types == {"input"}:
            return "input"
        return next((t for t in ("receive", "collective") if t in types), "dependency")

    @staticmethod
    def key(operation):
        return operation.id  # ids of one stream are in its order

    # ---- memory ----

    def in_flight(self, rank):
        """Largest number of stashed micro-batches; a forward takes a chunk's share, its last gradient operation gives
        it back. A micro-batch in slices counts as much as a whole one; what is computed again is stashed only then. The
        backward of a block is a weight gradient where its micro-batch has had one before."""
        compute = self.streams.get((rank, "compute"), [])
        stages = 1 + max(int(s) for o in self.operations if o.type == "compute" for s in o.stage if s)
        chunk = (1 + max(o.position for o in self.operations)) / stages
        batches = self.summary["scenario"].get("micro_batches") or 1
        chunk /= max(1, round((1 + max((int(m) for o in compute for m in o.micro_batch if m), default=0)) / batches))
        again = {(i, o.iteration): o.memory for o in compute if o.kind == "other" for i in o.identities()}
        last = {}  # the place of a micro-batch's last gradient operation
        for order, o in enumerate(compute):
            for number, identity in enumerate(o.identities()):
                if o.kind in ("B", "W") or (o.kind == "FB" and number == 1):
                    last[identity, o.iteration] = order
        kept = {(i, o.iteration): o.memory for o in compute if o.kind == "F" for i in o.identities()}

        def share(o, recomputed):
            """Of a stash: a forward keeps what its recomputation, if any, does not bring back. The input that it keeps
            beside, which is small here, is no part of the stash."""
            if recomputed is None:
                return 1
            whole = recomputed + kept[o.identities()[0], o.iteration]
            part = o.memory / whole if whole else o.kind == "other"
            return round(8 * part) / 8 if abs(round(8 * part) / 8 - part) < 0.1 else part

        steps = []
        for order, o in enumerate(compute):
            halves = 2 if o.part[-1] else 1
            for number, identity in enumerate(o.identities()):
                forward = o.kind == "F" or (o.kind == "FB" and number == 0)
                backward = o.kind in ("B", "W") or (o.kind == "FB" and number == 1)
                if forward or o.kind == "other":
                    steps.append((o.start, 2 * order, chunk * share(o, again.get((identity, o.iteration)))))
                elif backward and last[identity, o.iteration] == order:
                    steps.append((o.end, 2 * order + 1, -chunk / halves))
                elif o.kind == "exchange" and o.memory:
                    steps.append((o.end, 2 * order, chunk if o.memory > 0 else -chunk))
        for o in self.operations:  # to host memory, and back: counted where they are sent, what leaves first
            if o.rank == rank and o.type == "send" and o.kind in ("offload", "load"):
                steps.append((o.end, -1, -chunk) if o.kind == "offload" else (o.start, len(compute) * 2 + 2, chunk))
        level = peak = 0
        for _, _, change in sorted(steps):
            level += change
            peak = max(peak, level)
        return peak

    # ---- the critical path ----

    def before(self, operation):
        """The operation whose end let this one end when it did; None at the beginning."""
        if operation.type == "receive":
            kind = operation.stream.split(":")[2]
            operation = self.streams[int(operation.peer), "send:%d:%s" % (operation.position, kind)][self.at(operation)]
        elif operation.type == "collective":
            members = [stream[self.at(operation)] for stream in self.groups[operation.group]]
            members = [o for o in members if self.bears_on(o, operation)]
            latest = max(o.start for o in members)
            if operation.start < latest:
                operation = min((o for o in members if o.start == latest), key=lambda o: o.rank)
        place = self.at(operation)
        candidates = [self.streams[operation.rank, operation.stream][place - 1]] if place else []
        candidates += [self.ranks[operation.rank][i] for i in operation.waits]
        return max(candidates, key=lambda o: o.end) if candidates else None  # max: the first of equals

    @staticmethod
    def bears_on(member, other):
        """Whether a member of a collective can have a part in when another one ends."""
        return member.start < other.end or member.end >= other.end

    def at(self, operation):
        return self.index[operation.rank, operation.id]

    def critical_path(self):
        last = self.measured[-1]
        begin = self.ends[last - 1] if self.steady or self.joined else self.starts[last]
        if self.cycle:
            begin = self.ends[last] - self.cycle
        candidates = [o for o in self.operations if o.iteration == last and o.end == self.ends[last]]
        operation = min(candidates, key=lambda o: (o.rank, o.id))
        chain, shares = [], defaultdict(float)
        while operation is not None:
            chain.append(operation)
            previous = self.before(operation)
            if previous is not None and previous.end <= begin:
                previous = None
            kind = "receive" if operation.type == "send" else operation.type
            shares[kind] += operation.end - (previous.end if previous else begin)
            operation = previous
        return chain[::-1], shares, self.ends[last] - begin

    # ---- slack ----

    def slack(self):
        """Largest delays under which all constraints hold, by relaxing from the back until nothing changes."""
        end = max(self.ends)
        slack = {(o.rank, o.id): end - o.end for o in self.operations}
        order = sorted(self.operations, key=lambda o: (-o.end, -o.start))
        constraints = [((o.rank, o.id), [(key, max(0.0, gap)) for key, gap in self.constraints(o)]) for o in order]
        changed = True
        while changed:
            changed = False
            for last, needed in constraints:
                own = slack[last]
                for key, gap in needed:
                    if own + gap < slack[key]:
                        slack[key] = own + gap
                        changed = True
        return slack

    def constraints(self, o):
        """What must end before: (rank, id), and how long before it does."""
        begin = o.start
        if o.type == "receive":
            kind = o.stream.split(":")[2]
            send = self.streams[int(o.peer), "send:%d:%s" % (o.position, kind)][self.at(o)]
            yield (send.rank, send.id), o.end - send.end
            begin = o.end
        elif o.type == "collective":
            begin = o.data_start
            for stream in self.groups[o.group]:
                other = stream[self.at(o)]
                if self.bears_on(other, o):
                    yield (other.rank, other.id), 0.0
        place = self.at(o)
        if place:
            previous = self.streams[o.rank, o.stream][place - 1]
            yield (previous.rank, previous.id), begin - previous.end
        for number in o.waits:
            yield (o.rank, number), begin - self.ranks[o.rank][number].end
