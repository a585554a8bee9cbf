#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""plan_pytorch.py STAGESIM: schedules as torch.distributed.pipelining's loader takes them. The loader's rules and its
lowering to files with communication are written down here once more; every schedule that the format can hold is run
through them, and those that it cannot hold are refused with the reason. Random files read and write back to the byte
once idle steps and blanks are gone; damaged ones are refused, with line and column, at least where the loader does."""
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool  # noqa: E402

ACTION = re.compile(r"([0-9]+)(F|I|B|W|UNSHARD|RESHARD|REDUCE_GRAD|SEND_F|RECV_F|SEND_B|RECV_B)([0-9]*)$")
BACKWARDS = ("I", "B")


class Refused(Exception):
    """What the loader would not take."""


# ---- the loader ----

def single(text):
    found = ACTION.match(text)
    if not found:
        raise Refused(f"no action: {text!r}")
    return int(found[1]), found[2], int(found[3]) if found[3] else None


def actions_of(cell):
    """The actions of a cell: none, one, or the two of a block."""
    cell = cell.strip()
    if not cell:
        return ()
    if cell.startswith("("):
        inside, _, kind = cell[1:].partition(")")
        if kind != "OVERLAP_F_B":
            raise Refused(f"no block: {cell!r}")
        return tuple(single(part.strip()) for part in inside.split(";"))
    return (single(cell),)


def read(text):
    return [[actions_of(cell) for cell in line.split(",")] for line in text.rstrip("\r\n ").split("\n")]


def validate(rows, ranks, stages, micro_batches):
    """The checks of the loader, and the map from stages to ranks."""
    done = {stage: {kind: set() for kind in "FBIW"} for stage in range(stages)}
    home = {}
    if len(rows) != ranks:
        raise Refused("rows are not ranks")
    for rank, row in enumerate(rows):
        for stage, kind, micro_batch in (action for cell in row for action in cell):
            if kind not in ("F", "B", "I", "W") or micro_batch is None:
                raise Refused(f"{kind} is not computed")
            if stage not in done:
                raise Refused(f"stage {stage}")
            needs = {"F": None, "B": "F", "I": "F", "W": "I"}[kind]
            if needs and micro_batch not in done[stage][needs]:
                raise Refused(f"{kind} before {needs}")
            done[stage][kind].add(micro_batch)
            if home.setdefault(stage, rank) != rank:
                raise Refused(f"stage {stage} on two ranks")
    for stage, kinds in done.items():
        count = {kind: len(kinds[kind]) for kind in kinds}
        if count["F"] != micro_batches or count["I"] != count["W"] or count["B"] + count["I"] != micro_batches:
            raise Refused(f"stage {stage}: {count}")
    return home


def name(action):
    stage, kind, micro_batch = action
    return f"{stage}{kind}{'' if micro_batch is None else micro_batch}"


def written(cell):
    return name(cell[0]) if len(cell) == 1 else "(" + ";".join(map(name, cell)) + ")OVERLAP_F_B"


def next_stages(cells):
    """The three stages that are computed next; a block that is reached counts with both of its stages."""
    found = []
    for cell in cells:
        for stage, _, _ in cell:
            if stage not in found:
                found.append(stage)
        if len(found) >= 3:
            break
    return found


def sharded(row, micro_batches):
    """A row with UNSHARD, RESHARD and REDUCE_GRAD."""
    active, out, ended = set(), [], {}
    for i, cell in enumerate(row):
        coming = next_stages(row[i:])
        out += [((stage, "RESHARD", None),) for stage in sorted(active - set(coming))]
        out += [((stage, "UNSHARD", None),) for stage in coming if stage not in active]
        active = set(coming)
        out.append(cell)
        for stage, kind, _ in cell:
            ended[stage] = ended.get(stage, 0) + (kind in "BW")
            if kind in "BW" and ended[stage] == micro_batches:
                out.append(((stage, "REDUCE_GRAD", None),))
    return out + [((stage, "RESHARD", None),) for stage in sorted(active)]


def lowered(rows, home, stages, micro_batches):
    """Rows with messages: ranks take turns, and what one sends is received at once."""
    waiting = [sharded([cell for cell in row if cell], micro_batches) for row in rows]
    done, facts = [[] for _ in rows], [set() for _ in rows]

    def ready(rank, action):
        stage, kind, micro_batch = action
        if kind == "F" and stage:
            return bool({(stage, "RECV_F", micro_batch), (stage - 1, "F", micro_batch)} & facts[rank])
        if kind in BACKWARDS and stage + 1 < stages:
            return bool({(stage, "RECV_B", micro_batch)} & facts[rank] or
                        {(stage + 1, other, micro_batch) for other in BACKWARDS} & facts[rank])
        return True

    def do(rank, cell):
        done[rank].append(cell)
        for stage, kind, micro_batch in cell:
            facts[rank].add((stage, kind, micro_batch))
            other = stage + 1 if kind == "F" else stage - 1 if kind in BACKWARDS else stage
            if other in (-1, stage, stages) or home[other] == rank:
                continue
            way = "F" if kind == "F" else "B"
            done[rank].append(((stage, f"SEND_{way}", micro_batch),))
            done[home[other]].append(((other, f"RECV_{way}", micro_batch),))
            facts[home[other]].add((other, f"RECV_{way}", micro_batch))

    while any(waiting):
        moved = False
        for rank, row in enumerate(waiting):
            if row and all(ready(rank, action) for action in row[0]):
                do(rank, row.pop(0))
                moved = True
        if not moved:
            raise Refused("malformed: it cannot go on")
    return done


def text_of(rows):
    return "".join(",".join(written(cell) for cell in row if cell) + "\n" for row in rows)


# ---- the product ----

class Product:
    def __init__(self, folder):
        self.binary, self.folder = tool.binary_argument(), pathlib.Path(folder)

    def schedule(self, *arguments):
        return subprocess.run([self.binary, "schedule", *map(str, arguments)], cwd=self.folder, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=120)

    def file(self, text, *arguments):
        (self.folder / "s.csv").write_bytes(text.encode())
        return self.schedule("s.csv", *arguments)


def slots(text):
    """Order of a csv's slots on each worker; those of a block in either order."""
    found = {}
    for line in text.splitlines()[1:]:
        worker, index, kind, stage, micro_batch, *_ = line.split(",")
        found.setdefault(worker, {}).setdefault(int(index), set()).add((kind, stage, micro_batch))
    return {worker: [blocks[index] for index in sorted(blocks)] for worker, blocks in found.items()}


REASONS = {"pipedream": "weights are updated while", "pipedream-2bw": "weights are updated while",
           "gems": "each stage is on 2 workers", "bitpipe": "each stage is on 2 workers",
           "chimera": "each stage is on 2 workers", "recycle": "each stage is on 2 workers",
           "dualpipe": "each stage is on 2 workers", "bpipe": "stashes move between workers",
           "pipe-offload": "stashes move to host memory",
           "weipipe": "weights travel", "vocab-1f1b": "workers share the output layer",
           "seq1f1b": "sequences are cut into slices", "slimpipe": "sequences are cut into slices",
           "mepipe": "sequences are cut into slices",
           "mario": "forwards are computed again", "adapipe": "forwards are computed again",
           "stp": "a forward and a weight gradient run as one"}
OPTIONS = {"interleaved": ["chunks=2", "chunks=4"], "hanayo": ["waves=2"], "breadth-first": ["chunks=3"]}
SIZES = ((4, 8), (6, 18))


def check_schedule(check, product, own, *arguments):
    """Both forms of a schedule, by the loader's rules, and read back. `own`: its slots."""
    plain, label = product.schedule(*arguments, "--format", "pytorch"), " ".join(map(str, arguments))
    reason = REASONS.get(arguments[0])
    if reason and (arguments[0] != "bpipe" or ",E," in own):
        check.that(plain.returncode == 1 and reason in plain.stderr and not plain.stdout, f"{label}: {plain.stderr}")
        return
    if not check.that(plain.returncode == 0, f"{label}: {plain.stderr}"):
        return
    stages = 1 + max(int(line.split(",")[3]) for line in own.splitlines()[1:])
    rows, (workers, micro_batches) = read(plain.stdout), (int(arguments[2]), int(arguments[4]))
    home = validate(rows, workers, stages, micro_batches)
    check.that(plain.stdout == text_of(rows), f"{label}: the text is not in normal form")
    wanted = text_of(lowered(rows, home, stages, micro_batches))
    comms = product.schedule(*arguments, "--format", "pytorch-comms")
    check.that(comms.stdout == wanted, f"{label}: lowering differs")
    check.that(product.file(comms.stdout, "--format", "pytorch").stdout == plain.stdout, f"{label}: with communication")
    crlf = plain.stdout.replace("\n", "\r\n")
    check.that(product.file(crlf, "--format", "pytorch-comms").stdout == wanted, f"{label}: read and written again")
    back = product.file(plain.stdout, "--format", "csv")
    check.that(back.returncode == 0 and slots(back.stdout) == slots(own), f"{label}: slots differ {back.stderr}")


def check_schedules(check, product):
    names = [entry["name"] for entry in json.loads(
        tool.run(product.binary, "list", "schedules", "--format", "json").stdout)]
    check.that(len(names) >= 20 and set(REASONS) < set(names), f"schedules {names}")
    for schedule in names:
        for workers, micro_batches in SIZES[:1] if schedule == "best" else SIZES:
            for option in [None] + OPTIONS.get(schedule, []):
                arguments = [schedule, "--workers", workers, "--micro-batches", micro_batches]
                arguments += ["--option", option] if option else []
                own = product.schedule(*arguments, "--format", "csv")
                if own.returncode == 0:  # else the schedule does not take these sizes
                    check_schedule(check, product, own.stdout, *arguments)


# ---- random files ----

def random_rows(draw):
    """An order that can run: stages anywhere, some backwards split, some blocks."""
    ranks, micro_batches = draw.randrange(1, 5), draw.randrange(1, 7)
    stages = ranks + draw.randrange(0, 5)
    home = list(range(ranks)) + [draw.randrange(ranks) for _ in range(stages - ranks)]
    draw.shuffle(home)
    split = draw.choice([0, 0, 0.5, 1])
    left, rows, done = set(), [[] for _ in range(ranks)], set()
    for stage in range(stages):
        for micro_batch in range(micro_batches):
            kinds = "FIW" if draw.random() < split else "FB"
            left |= {(stage, kind, micro_batch) for kind in kinds}

    def can(action):
        stage, kind, micro_batch = action
        if kind == "F":
            return stage == 0 or (stage - 1, "F", micro_batch) in done
        if kind == "W":
            return (stage, "I", micro_batch) in done
        return (stage, "F", micro_batch) in done and (
            stage + 1 == stages or any((stage + 1, other, micro_batch) in done for other in BACKWARDS))

    while left:
        action = draw.choice(sorted(filter(can, left)))
        row = rows[home[action[0]]]
        left.discard(action)
        pair = [other for other in sorted(filter(can, left)) if home[other[0]] == home[action[0]] and
                (action[1] == "F") + (other[1] == "F") == 1 and "W" not in (action[1], other[1])]
        if pair and draw.random() < 0.3:
            other = draw.choice(pair)
            left.discard(other)
            row.append(tuple(sorted((action, other), key=lambda a: a[1] != "F")))
            done |= {action, other}
        else:
            row.append((action,))
            done.add(action)
    return rows, home, stages, micro_batches


def decorated(draw, text):
    """The same with idle steps, blanks, zeros before numbers and other line ends."""
    lines = []
    for line in text.splitlines():
        cells = []
        for cell in line.split(","):
            cells += [draw.choice(["", " "])] * (draw.random() < 0.2)
            cells.append(draw.choice(["", "", " ", "\t"]) + cell.replace(";", draw.choice([";", "; "])) +
                         draw.choice(["", " "]))
        lines.append(",".join(cells))
    end = draw.choice(["\n", "\r\n"])
    return end.join(lines) + draw.choice(["", end, end + end])


def damaged(draw, text):
    """With one cell lost, doubled, moved or misspelt."""
    lines = [line.split(",") for line in text.splitlines()]
    row = draw.choice(lines)
    at = draw.randrange(len(row))
    way = draw.randrange(5)
    if way == 0:
        del row[at]
    elif way == 1:
        row.insert(draw.randrange(len(row) + 1), row[at])
    elif way == 2:
        row.insert(draw.randrange(len(row)), row.pop(at))
    elif way == 3:
        draw.choice(lines).append(row.pop(at))
    else:
        row[at] = row[at].replace(draw.choice("FIBW"), draw.choice("FIBWX"), 1)
    return "".join(",".join(line) + "\n" for line in lines)


def loads(text, ranks, stages, micro_batches):
    try:
        rows = read(text)
        lowered(rows, validate(rows, ranks, stages, micro_batches), stages, micro_batches)
    except Refused as refusal:
        return str(refusal)
    return None


def check_random(check, product):
    draw, refused = random.Random(2026), 0
    for _ in range(50):
        rows, home, stages, micro_batches = random_rows(draw)
        text = text_of(rows)
        comms = text_of(lowered(rows, dict(enumerate(home)), stages, micro_batches))
        for form in (text, decorated(draw, text), comms):
            back = product.file(form, "--format", "pytorch")
            check.that(back.stdout == text, f"read and written again: {form!r}: {back.stdout!r} {back.stderr}")
        check.that(product.file(text, "--format", "pytorch-comms").stdout == comms, f"lowering of {text!r}")
        bad = damaged(draw, text)
        why, answer = loads(bad, len(rows), stages, micro_batches), product.file(bad, "--format", "pytorch")
        if why:
            refused += 1
            check.that(answer.returncode == 1 and re.match(r"s\.csv:([0-9]+:[0-9]+:)? error: ", answer.stderr) and
                       not answer.stdout, f"{bad!r} is refused by the loader ({why}): {answer.stderr}{answer.stdout}")
    check.that(refused > 20, f"only {refused} damaged files are refused by the loader")


# ---- known files ----

LOWERED = ("""0F0,0F1,0B0,0F2,0B1,0B2
1F0,1B0,1F1,1B1,1F2,1B2
""", """0UNSHARD,0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0F2,0SEND_F2,0RECV_B1,0B1,0RECV_B2,0B2,0REDUCE_GRAD,0RESHARD
1UNSHARD,1RECV_F0,1F0,1RECV_F1,1B0,1SEND_B0,1F1,1RECV_F2,1B1,1SEND_B1,1F2,1B2,1SEND_B2,1REDUCE_GRAD,1RESHARD
""")
OLDER = {"0F0,0F1,0B0,0W0,0B1,0W1\n": "0F0,0F1,0I0,0W0,0I1,0W1\n", "0F0,0F1,0BW0,0B1,0W1\n": "0F0,0F1,0B0,0I1,0W1\n",
         "0F0,0B0\n": "0F0,0B0\n"}
# Message and place of what is wrong with a file; a test of every rule of the reader.
BAD = {
    "0F0,0B0x\n": "1:5: error: '0B0x' goes on behind the action, which PyTorch would read without a word",
    "0F0,0BW0\n": "1:5: error: '0BW0' is of PyTorch before 2.6",
    "0F0,0G0\n": "1:5: error: '0G0' is no action",
    "0F0,0B0,1\n": "1:9: error: '1' is no action",
    "0F0,0B\n": "1:5: error: '0B' has no micro-batch",
    "0UNSHARD3,0F0,0B0\n": "1:1: error: '0UNSHARD3' has a micro-batch, but is for all of them",
    "0F0,65535B0\n": "1:5: error: '65535B0' has a stage beyond 65534",
    "0F0,0B16777216\n": "1:5: error: '0B16777216' has a micro-batch beyond 16777215",
    "0F0,0F1,(0F1;0B0)OVERLAP,0B1\n": "1:9: error: '(0F1;0B0)OVERLAP' is no block",
    "0F0,0F1,(0F1;0F0)OVERLAP_F_B,0B1\n": "1:9: error: '(0F1;0F0)OVERLAP_F_B' is no block of a forward and a backward",
    "0F0,0B0\n,\n1F0,1B0\n": "2:1: error: rank 1 does nothing",
    "0F0,0I0\n": "1:5: error: 0I0 has no 0W0",
    "0F0,0B0,0W0\n": "1:9: error: 0W0 has no 0I0; files of PyTorch before 2.6 write B for it: --older-pytorch",
    "0F0,0B0\n0F1,0B1\n": "2:1: error: stage 0 of pipeline 0 lives on worker 0, but worker 1 runs",
    "0F0,0F1,0B0,0B1,0B1\n": "1:17: error: the backward of micro-batch 1, stage 0 is there more than once",
    "0B0,0F0\n": "1:1: error: this order can never finish",
    "0F0,0F0,0B0,0B1\n": "the forward of micro-batch 0, stage 0 is there more than once",
    "0F0,5F9,0B0\n": "1:5: error: 6 stages and 10 micro-batches need at least 120 actions; the file has 3",
    "0UNSHARD,0F0,,0B0\n": "1:14: error: an idle step; files with communication have none",
    "0F0,0B0,0SEND_F0\n": "1:9: error: 0SEND_F0 is needless",
    "0F0,1SEND_F0,0B0\n": "1:5: error: 1SEND_F0 is of a stage or micro-batch that nobody computes",
    "0SEND_F0,0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n": "1:1: error: 0SEND_F0 comes before what it sends",
    "0F0,0SEND_F0,0SEND_F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n": "1:14: error: 0SEND_F0 is there more than once",
    "0F0,0RECV_B0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n": "1:1: error: 0F0 has no SEND_F behind it",
    "0F0,0SEND_F0,0B0\n1RECV_F0,1F0,1B0,1SEND_B0\n": "1:14: error: 0B0 has no RECV_B before it",
    "0F0,0SEND_F0,0RECV_B0,0B0,1RESHARD\n1RECV_F0,1F0,1B0,1SEND_B0\n": "1:27: error: stage 1 is on rank 1",
    "0UNSHARD,0F0,0RESHARD,0B0\n": "1:23: error: 0B0 comes after the stage's RESHARD",
    "0F0,0REDUCE_GRAD,0B0\n": "1:5: error: 0REDUCE_GRAD comes before the stage's last backward",
    "0F0,0B0,0REDUCE_GRAD,0REDUCE_GRAD\n": "1:22: error: 0REDUCE_GRAD is there more than once",
}


def check_known(check, product):
    check.that(product.file(LOWERED[0], "--format", "pytorch-comms").stdout == LOWERED[1], "the example's lowering")
    for text, today in OLDER.items():
        back = product.file(text, "--older-pytorch", "--format", "pytorch")
        check.that(back.stdout == today, f"{text!r} of an older PyTorch: {back.stdout}{back.stderr}")
    for text, error in BAD.items():
        answer = product.file(text)
        check.that(answer.returncode == 1 and error in answer.stderr and not answer.stdout,
                   f"{text!r}: {answer.stderr}, expected {error!r}")
    older = product.file("0F0,0I0,0W0\n", "--older-pytorch")
    check.that("1:5: error: '0I0' is not of an older file" in older.stderr, older.stderr)
    several = product.schedule("zb-h2", "--workers", 2, "--micro-batches", 4, "--iterations", 2, "--format", "pytorch")
    check.that(several.returncode == 1 and "one iteration, this has 2" in several.stderr, several.stderr)
    halves = product.schedule("chimera", "--workers", 4, "--micro-batches", 8, "--format", "pytorch", "-o", "x.csv")
    check.that(halves.returncode == 1 and not (product.folder / "x.csv").exists(), "a refused schedule left a file")


def check_large(check, product):
    """100,000 actions in less than a second of computing, either way."""
    text = product.schedule("1f1b", "--workers", 8, "--micro-batches", 6250, "--format", "pytorch").stdout
    check.that(text.count(",") == 8 * 12499, "100,000 actions")
    before = sum(os.times()[2:4])
    again = product.file(text, "--format", "pytorch-comms")
    spent = sum(os.times()[2:4]) - before
    check.that(spent < 1, f"{spent} s for 100,000 actions with communication")
    check.that(product.file(again.stdout, "--format", "pytorch").stdout == text, "100,000 actions and back")


def check_scenario(check, product):
    """As a schedule of a scenario, in both forms, it takes what the schedule takes."""
    arguments = ("zb-h1", "--workers", 4, "--micro-batches", 8)
    found = []
    tool.write_mesh(product.folder / "mesh.xml", 4, latency="1us", bandwidth="10GBps")
    for schedule, form in (("zb-h1", None), ("{file: f.csv}", "pytorch"), ("{file: f.csv}", "pytorch-comms")):
        if form:
            product.schedule(*arguments, "--format", form, "-o", "f.csv")
        tool.write_scenario(product.folder / "s.yaml", "mesh.xml", schedule, 4, 8,
                            stages="forward: 1s, backward: 2s, weight: 1s, message: 1GB")
        found.append(tool.summary(product.binary, "s.yaml", "out", cwd=product.folder)["time"])
    check.that(found[0] == found[1] == found[2], f"times {found}")


def main():
    check = tool.Checker()
    with tempfile.TemporaryDirectory() as folder:
        product = Product(folder)
        check_known(check, product)
        check_schedules(check, product)
        check_random(check, product)
        check_large(check, product)
        check_scenario(check, product)
    return check.done()


sys.exit(main())
