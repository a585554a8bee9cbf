#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perfetto.py STAGESIM: timeline.perfetto-trace, read by a decoder of protocol buffers of this file's own, holds what
operations.csv says; the gzipped Chrome trace holds the plain one; in timeline.paje messages have their bytes, names are
short, and the utilization of links adds up to summary.json's."""
import csv
import gzip
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
from collections import defaultdict

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "test/support"))
from protobuf import fields


def one(data):
    return dict(fields(data))


class Trace:
    """What Perfetto makes of the file: tracks, slices, flows, counters."""

    def __init__(self, path):
        self.tracks, self.slices, self.counters = {}, defaultdict(list), defaultdict(list)
        self.starts, self.ends, self.names = {}, {}, {1: {}, 2: {}, 3: {}}
        open_slices, first = {}, True
        for number, data in fields(path.read_bytes()):
            assert number == 1, "a trace is packets"
            packet = one(data)
            assert packet[10] == 1 and packet[13] == (1 if first else 2), "sequence and its state"
            first = False
            if 60 in packet:
                track = one(packet[60])
                self.tracks[track[1]] = track
            for kind, entry in fields(packet.get(12, b"")):
                name = one(entry)
                self.names[kind][name[1]] = name[2].decode()
            if 11 in packet:
                self.event(packet[8] if 8 in packet else 0, packet[11], open_slices)
        assert not open_slices, "slices without end"

    def event(self, time, data, open_slices):
        event, arguments = one(data), {}
        for number, value in fields(data):
            if number == 4:
                argument = one(value)
                arguments[self.names[3][argument[1]]] = argument[3]
        track = event[11]
        assert track in self.tracks, "an event on no track"
        if event[9] == 1:
            assert track not in open_slices, "slices of a track overlap"
            open_slices[track] = {"start": time, "name": event[23].decode(), "category": self.names[1][event[3]],
                                  **arguments}
            for number, ends in ((47, self.starts), (48, self.ends)):
                if number in event:
                    assert event[number] not in ends
                    ends[event[number]] = (track, arguments["id"])
        elif event[9] == 2:
            self.slices[track].append({**open_slices.pop(track), "end": time})
        else:
            self.counters[track].append((time, struct.unpack("<d", event[44])[0]))


def check(out, scenario):
    trace = Trace(out / "timeline.perfetto-trace")
    with open(out / "operations.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    processes = {one(t[3])[1] - 1: uuid for uuid, t in trace.tracks.items() if 3 in t}
    rank_of = {uuid: rank for rank, uuid in processes.items()}
    threads = {}
    for uuid, track in trace.tracks.items():
        if 4 in track:
            threads[rank_of[track[5]], one(track[4])[5].decode()] = uuid
    assert set(processes) == {int(row["rank"]) for row in rows}
    count = 0
    for (rank, stream), uuid in threads.items():
        own = sorted((row for row in rows if int(row["rank"]) == rank and row["stream"] == stream),
                     key=lambda row: int(row["id"]))
        slices = trace.slices[uuid]
        assert len(own) == len(slices), (scenario, rank, stream)
        for row, item in zip(own, slices):
            start = float(row["data_start_s" if stream.startswith("receive") else "start_s"])
            assert abs(item["start"] - start * 1e9) <= 1 and abs(item["end"] - float(row["end_s"]) * 1e9) <= 1, item
            assert item["id"] == int(row["id"]) and item["category"] == row["kind"]
            assert item["name"].startswith(row["kind"]), item
            assert str(item.get("micro_batch", "")) == row["micro_batch"] and str(item.get("stage", "")) == row["stage"]
            count += 1
    assert count == len(rows)
    sends = {(threads[int(row["rank"]), row["stream"]], int(row["id"])) for row in rows if
             row["stream"].startswith("send") and int(row["peer"]) in processes}
    assert set(trace.starts.values()) == sends and set(trace.starts) == set(trace.ends), "flows"
    by_id = {(threads[int(row["rank"]), row["stream"]], int(row["id"])): row for row in rows}
    for flow, sender in trace.starts.items():
        a, b = by_id[sender], by_id[trace.ends[flow]]
        assert a["end_s"] == b["end_s"] and a["peer"] == b["rank"] and b["peer"] == a["rank"], flow
    with open(out / "memory.csv", newline="") as file:
        peaks = defaultdict(float)
        for row in csv.DictReader(file):
            peaks[int(row["rank"])] = max(peaks[int(row["rank"])], float(row["in_flight"]))
    counters = {rank_of[track[5]]: uuid for uuid, track in trace.tracks.items() if 8 in track}
    for rank, peak in peaks.items():
        if rank in counters:
            assert abs(max([level for _, level in trace.counters[counters[rank]]] + [0]) - peak) < 1e-9
    return count


def check_paje(out):
    lines = [line.split(" ") for line in (out / "timeline.paje").read_text().splitlines() if line[0] != "%"]
    names = {line[2]: " ".join(line[5:]).strip('"') for line in lines if line[0] == "5"}
    assert max(map(len, names.values())) <= 20, names
    assert len({name for key, name in names.items() if key[0] == "g"}) == sum(key[0] == "g" for key in names)
    with open(out / "operations.csv", newline="") as file:
        sends = {f"k{row['rank']}.{row['id']}": row for row in csv.DictReader(file) if row["stream"].startswith("send")}
    started = {line[6]: float(line[7]) for line in lines if line[0] == "10"}
    assert started and all(float(sends[key]["bytes"]) == size for key, size in started.items()), "bytes of messages"
    summary = json.loads((out / "summary.json").read_text())
    changes = defaultdict(list)
    for line in lines:
        if line[0] == "9" and line[2] == "U":
            changes[line[3]].append((float(line[1]), float(line[4])))
    found = sorted(sum(value * (after - time) for (time, value), (after, _) in zip(list_, list_[1:])) /
                   summary["time"]["iteration_s"] for list_ in changes.values())
    expected = sorted(kind["utilization"] for kind in summary["link_kinds"])
    assert len(found) == len(expected), (found, expected)
    for a, b in zip(found, expected):
        assert abs(a - b) < 1e-6 * max(expected), (found, expected)
    assert all(list_[-1][1] == 0 for list_ in changes.values()), "links are idle at the end"


def main(stagesim):
    with tempfile.TemporaryDirectory() as scratch:
        for name, more in (("demo", []), ("llama3-70b", ["--set", "batch.global=16"]),
                           ("demo", ["--engine", "analytic", "--set", "fold=off"])):
            out = pathlib.Path(scratch) / "out"
            subprocess.run([stagesim, "run", str(ROOT / f"scenarios/{name}.yaml"), "-o", str(out), "--trace",
                            "perfetto,csv,chrome,chrome-gz,paje", "--quiet", *more], check=True,
                           stdout=subprocess.DEVNULL)
            count = check(out, name)
            check_paje(out)
            plain = (out / "timeline.chrome.json").read_bytes()
            packed = (out / "timeline.chrome.json.gz").read_bytes()
            assert gzip.decompress(packed) == plain and packed[4:8] == bytes(4), "gzip, without a time"
            json.loads(plain)
            size = (out / "timeline.perfetto-trace").stat().st_size
            assert size < len(plain) / 2, (size, len(plain))
            print(f"{name}: {count} slices in {size} bytes, Chrome's {len(plain)}, gzipped {len(packed)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
