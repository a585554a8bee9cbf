#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weipipe.py STAGESIM PLATFORMS: weights that travel. Times in closed form, compared with ==; schedule files; through
the whole program on both engines: bytes, memory, synchronisation of the owners, overlap, and from which length of the
sequence on it is shorter than 1F1B."""
import json
import pathlib
import subprocess
import sys
import tempfile

STAGESIM, PLATFORMS = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
faults = 0


def expect(good, what):
    global faults
    if not good:
        print(what)
        faults += 1


def run(*words, code=0):
    done = subprocess.run([STAGESIM, *map(str, words)], capture_output=True, text=True, timeout=100)
    expect(done.returncode == code, f"{words} ends with {done.returncode}: {done.stderr}")
    return done.stdout if code == 0 else done.stderr


def plan(workers, batches, forward, backward, gradient="turn", *more):
    return run("schedule", "weipipe", "--workers", workers, "--micro-batches", batches, "--forward", forward,
               "--backward", backward, "--weight", 0.5, "--option", f"gradient={gradient}", *more)


def closed_forms():
    for workers, rounds in ((4, 4), (2, 3), (3, 2), (4, 1), (5, 2), (8, 3)):
        for forward, backward in ((1, 2), (3, 5), (1.25, 0.75), (4, 1)):
            batches = workers * rounds
            turns = (batches + workers - 1) * (forward + backward)
            if rounds == 1:
                turns = workers * forward + (2 * workers - 1) * backward
            at_once = batches * (forward + backward) + (workers - 1) * backward
            for gradient, time in (("turn", turns), ("backward", at_once)):
                data = json.loads(plan(workers, batches, forward, backward, gradient, "--format", "json"))
                expect(data["time"]["makespan_s"] == time,
                       f"{workers} {batches} {gradient}: {data['time']['makespan_s']}, not {time}")
                expect({worker["peak_in_flight"] for worker in data["workers"]} == {workers},
                       f"{workers} {batches}: {data['workers']}")
    expect(json.loads(plan(4, 16, 1, 2, "turn", "--format", "json"))["time"]["makespan_s"] == 57, "not 57")
    message = run("schedule", "weipipe", "--workers", 4, "--micro-batches", 9, code=1)
    expect("multiple of the workers" in message and "nearest is 8" in message, message)


def files(folder):
    """What is written comes back."""
    for workers, batches, gradient in ((4, 8, "turn"), (3, 9, "backward"), (2, 2, "turn")):
        text = plan(workers, batches, 1, 2, gradient, "--format", "csv")
        (folder / "mine.csv").write_text(text)
        expect(run("schedule", folder / "mine.csv", "--weight", 0.5, "--format", "csv") == text,
               f"the file of {workers} {batches} {gradient} is read as another")
        expect({line.split(",")[2] for line in text.splitlines()[1:]} == set("FBPQG"), "kinds of the file")


def simulate(folder, text, platform, *words):
    (folder / "job.yaml").write_text(f"platform: {platform}\n{text}")
    run("run", folder / "job.yaml", "--quiet", "-o", folder / "out", *words)
    return json.loads((folder / "out" / "summary.json").read_text())


def bytes_on_the_ring(workers, batches, weights, gradients):
    """Of every stage s: weights for all micro-batches but the owner's, those of the first over s hops; one gradient a
    micro-batch, the last on to the owner."""
    sent = 0
    for stage in range(workers):
        weight_hops = batches - batches // workers + max(stage - 1, 0)
        gradient_hops = batches - 1 + (1 - stage) % workers
        sent += 2 * weight_hops * weights[stage] + gradient_hops * gradients[stage]
    return sent


def through_the_program(folder):
    weights, gradients, states = [100, 300, 200, 500], [1000, 4000, 2000, 3000], [10000, 20000, 40000, 70000]
    sizes = {key: "[" + ", ".join(f"{value}B" for value in values) + "]"
             for key, values in (("parameters", weights), ("gradient", gradients), ("optimizer_state", states))}
    job = (f"workload: stages\nstages: {{forward: 1s, backward: 2s, activation: 10000000B, message: 16B, "
           + ", ".join(f"{key}: {value}" for key, value in sizes.items()) + "}\n"
           "batch: {micro_batches: 8}\nschedule: weipipe\n")
    for engine in ("analytic", "simgrid"):
        summary = simulate(folder, f"{job}parallel: {{pipeline: 4}}\n", PLATFORMS / "mesh-8.xml", "--engine", engine)
        expect(summary["communication"]["sent_bytes"] == bytes_on_the_ring(4, 8, weights, gradients),
               f"{engine}: {summary['communication']}")
        for worker in summary["workers"]:
            own = states[(4 - worker["position"]) % 4]
            wanted = 4 * max(weights) + 2 * max(gradients) + own + 4 * 10000000
            expect(worker["peak_bytes"] == wanted, f"{engine}: {worker['peak_bytes']} bytes held, expected {wanted}")
    # Two replicas: owners synchronise their own stage, each once, along the ring of two.
    alone = bytes_on_the_ring(4, 8, weights, gradients)
    for engine in ("analytic", "simgrid"):
        both = simulate(folder, f"{job}parallel: {{pipeline: 4, data: 2}}\n", PLATFORMS / "mesh-8.xml", "--engine",
                        engine)
        sent = both["communication"]["sent_bytes"]
        expect(sent == 2 * (alone + sum(gradients)), f"{engine}: two replicas send {sent}")
    for words, part in ((["--set", "communication.messages=blocking"], "not blocking"),
                        (["--set", "batch.micro_batches=10"], "the nearest is 8")):
        message = run("run", folder / "job.yaml", *words, "-o", folder / "none", code=1)
        expect(part in message and not (folder / "none").exists(), message)


def overlap(folder):
    """Weights hide behind the turn that uses them: with gradients of no bytes a link that takes a turn for both weights
    costs nothing once the ring turns, a slower one makes every turn as long as they take."""
    link = (PLATFORMS / "mesh-8.xml").read_text()
    bandwidth = float(link.split('bandwidth="')[1].split("GBps")[0]) * 1e9 if "GBps" in link else None
    expect(bandwidth is not None, "the platform's bandwidth")
    times = {}
    for share in (0, 0.5, 2):  # of a turn, for the two weights
        size = share * 3 * bandwidth / 2
        job = (f"workload: stages\nstages: {{forward: 1s, backward: 2s, parameters: {size}B}}\n"
               "parallel: {pipeline: 4}\nschedule: {name: weipipe, gradient: backward}\n")
        short = simulate(folder, job + "batch: {micro_batches: 32}\n", PLATFORMS / "mesh-8.xml")["time"]["iteration_s"]
        long = simulate(folder, job + "batch: {micro_batches: 64}\n", PLATFORMS / "mesh-8.xml")["time"]["iteration_s"]
        times[share] = (long - short) / 32
    expect(abs(times[0] - 3) < 1e-3 and abs(times[0.5] - 3) < 1e-3, f"a turn takes {times}")
    expect(times[2] > 4.5, f"messages of twice a turn are hidden: {times}")


def crossover(folder):
    """A transformer on slow links, one layer a stage: activations of b s h elements a boundary, there and back, against
    weights of 12 h^2, twice, and their gradient."""
    hidden = 256

    def job(sequence, schedule):
        return simulate(folder, "workload: transformer\n"
                        f"model: {{layers: 4, hidden: {hidden}, heads: 4, sequence: {sequence}, vocabulary: 512}}\n"
                        "parallel: {pipeline: 4}\nbatch: {micro: 1, micro_batches: 32}\n"
                        f"compute: {{efficiency: 0.5}}\nschedule: {{name: {schedule}}}\n", folder / "slow.xml")

    text = (PLATFORMS / "mesh-8.xml").read_text()
    before = text.split('bandwidth="')[1].split('"')[0]
    (folder / "slow.xml").write_text(text.replace(f'bandwidth="{before}"', 'bandwidth="100MBps"')
                                     .replace("peak_fp32", "peak_bf16"))
    ratio, sent = {}, {}
    for sequence in (512, 1024, 32768):
        ours, plain = job(sequence, "weipipe, gradient: backward"), job(sequence, "1f1b")
        sent[sequence] = ours["communication"]["sent_bytes"], plain["communication"]["sent_bytes"]
        ratio[sequence] = (ours["communication"]["sent_bytes"] / plain["communication"]["sent_bytes"],
                           ours["time"]["iteration_s"] / plain["time"]["iteration_s"])
    expect(ratio[512][0] > 1 and ratio[512][1] > 1, f"short sequences: {ratio}")
    expect(ratio[32768][0] < 1 and ratio[32768][1] < 1, f"long sequences: {ratio}")
    expect(len({weights for weights, _ in sent.values()}) == 1, f"bytes of weights depend on the sequence: {sent}")
    # 1F1B's are twice as many for a sequence twice as long, but for the gradient of the tied embedding, in fp32, which
    # the first stage and the last one each send to the other once.
    tied = 2 * 512 * hidden * 4
    expect(sent[1024][1] - tied == 2 * (sent[512][1] - tied), f"bytes of activations: {sent}, with {tied} once")


with tempfile.TemporaryDirectory() as temporary:
    closed_forms()
    for check in (files, through_the_program, overlap, crossover):
        check(pathlib.Path(temporary))
print(f"{faults} faults")
sys.exit(1 if faults else 0)
