#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""profile_layers.py STAGESIM measured|torch: tools/profile-layers with a GPU of known efficiencies in PyTorch's place:
what it writes has to say these efficiencies again, and stagesim to compute with it what was measured. With `torch` the
measuring itself, on the processor."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
STAGESIM = os.path.abspath(sys.argv[1])
PEAK, BANDWIDTH, LAUNCH, DISPATCH, FLASH = 312e12, 2039e9, 4e-6, 60e-6, 0.41
LAYERS, HIDDEN, SEQUENCE, VOCABULARY = 6, 512, 256, 8000
MODEL = f"# A model\nlayers: {LAYERS}\nhidden: {HIDDEN}\nheads: 8\nsequence: {SEQUENCE}\n" \
        f"vocabulary: {VOCABULARY}  # padded\ndropout: false\ntied: true\n"
faults = []


def expect(good, what):
    if not good:
        faults.append(what)


def near(value, expected, what, tolerance=1e-9):
    expect(abs(value - expected) <= tolerance * abs(expected), f"{what}: {value!r}, not {expected!r}")


def load():
    path = str(SOURCE / "tools" / "profile-layers")
    spec = importlib.util.spec_from_loader("profile_layers",
                                           importlib.machinery.SourceFileLoader("profile_layers", path))
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    sys.modules["profile_layers"] = module
    spec.loader.exec_module(module)
    return module


def matrix_share(flops):
    return 0.8 / (1 + (2e10 / flops) ** 0.5)


def memory_share(size):
    return 0.85 / (1 + 4e6 / size)


class KnownGpu:
    """Answers as a GPU of the efficiencies above would; micro-batches above 4 do not fit."""

    def __init__(self, tool):
        self.tool, self.shapes = tool, []

    def name(self):
        return "known"

    def overheads(self):
        return LAUNCH, DISPATCH

    def product(self, n):
        if n > 12000:
            raise self.tool.TooLarge
        return LAUNCH + 2 * n**3 / (PEAK * matrix_share(2 * n**3))

    def stream(self, size):
        return LAUNCH + size / (BANDWIDTH * memory_share(size))

    def attention(self, shape):
        return LAUNCH + 2 * shape.sequence**2 * shape.heads * shape.head_size / (PEAK * FLASH)

    def layer(self, kind, shape):
        if shape.samples > 4:
            raise self.tool.TooLarge
        self.shapes.append((kind, shape))
        return layer_times(kind, shape.samples) + (1e6 * shape.samples if kind == "layer" else 0,)


def layer_times(kind, samples):
    scale = {"layer": 1, "embedding": 0.25, "head": 1.5}[kind]
    return scale * (1e-3 + 0.5e-3 * samples), scale * (2e-3 + 1.125e-3 * samples)


def read(path):
    lines = [line.strip().split(",") for line in open(path) if line[0] != "#"]
    return [dict(zip(lines[0], cells)) for cells in lines[1:]]


def check_table(tool, folder):
    words = [str(folder / "model.yaml"), "--table", str(folder / "table.csv"), "--peak", "312Tf", "--bandwidth",
             "2039GBps"]
    expect(tool.main(words, KnownGpu(tool)) == 0, "no table")
    rows = read(folder / "table.csv")
    for what, shares in (("matrix", matrix_share), ("memory", memory_share)):
        sizes = [float(row["size"]) for row in rows if row["what"] == what]
        expect(len(sizes) > 10 and sizes == sorted(set(sizes)), f"sizes of {what} do not rise: {sizes}")
    for row in rows:
        if row["what"] in ("matrix", "memory"):
            known = (matrix_share if row["what"] == "matrix" else memory_share)(float(row["size"]))
            # Below a ninth of its time an operator's work is lost beside its launch.
            work = float(row["size"]) / (PEAK if row["what"] == "matrix" else BANDWIDTH) / known
            if work > (LAUNCH + work) / 10:
                near(float(row["value"]), known, f"{row['what']} of {row['size']}", 2e-3)
    constants = {row["what"]: float(row["value"]) for row in rows if not row["size"]}
    for what, known in (("flash", FLASH), ("launch", LAUNCH), ("dispatch", DISPATCH)):
        near(constants[what], known, what, 1e-4)
    expect("do not fit in memory and are left out" in (folder / "table.csv").read_text(),
           "products that do not fit are not mentioned")


def check_slow(tool, folder):
    """On a slow device products that would take long are not tried."""
    class Slow(KnownGpu):
        def product(self, n):
            expect(2 * n**3 / 1e9 < 1.1 * tool.LONGEST, f"a product of {2 * n**3:g} flop at 1 gigaflop/s")
            return 2 * n**3 / 1e9

    words = [str(folder / "model.yaml"), "--table", str(folder / "slow.csv"), "--peak", "2Gf", "--bandwidth",
             "2039GBps"]
    expect(tool.main(words, Slow(tool)) == 0, "no table of a slow device")
    expect("take longer than 3 s and are left out" in (folder / "slow.csv").read_text(),
           "products that take long are not mentioned")


def run(folder, *sets):
    command = [STAGESIM, "run", folder / "job.yaml", "-o", folder / "out", "--quiet"]
    for value in sets:
        command += ["--set", value]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads((folder / "out" / "summary.json").read_text())


def check_profile(tool, folder):
    gpu = KnownGpu(tool)
    words = [str(folder / "model.yaml"), "--profile", str(folder / "profile.csv"), "--micro", "1,2,4,8,16", "--tensor",
             "2"]
    expect(tool.main(words, gpu) == 0, "no profile")
    expect((gpu.shapes[0][1].heads, gpu.shapes[0][1].ffn, gpu.shapes[0][1].vocabulary) ==
           (4, 4 * HIDDEN // 2, VOCABULARY // 2), "not a rank's part")
    expect([row["micro_batch"] for row in read(folder / "profile.csv")] == ["1", "2", "4"] * 3, "rows of the profile")
    expect("micro-batches of 8 and more of 'layer' do not fit" in (folder / "profile.csv").read_text(),
           "what does not fit is not mentioned")
    parameters = LAYERS * (12 * HIDDEN**2 + 13 * HIDDEN) + VOCABULARY * HIDDEN + 2 * HIDDEN
    for samples in (1, 3, 4):
        forward, backward = (LAYERS * layer_times("layer", samples)[i] + layer_times("embedding", samples)[i] +
                             layer_times("head", samples)[i] for i in (0, 1))
        summary = run(folder, f"batch.micro={samples}", "compute.profile=profile.csv")
        # Adam in mixed precision moves 30 bytes of each parameter.
        near(summary["time"]["iteration_s"], 5 * (forward + backward) + 30 * parameters / BANDWIDTH,
             f"5 micro-batches of {samples}")
        output = samples * SEQUENCE * (2 * 2 * HIDDEN + 4 * VOCABULARY)
        near(summary["memory"]["peak_bytes"], 18 * parameters + LAYERS * 1e6 * samples + output,
             "memory with measured activations")
    run(folder, "batch.micro=2", "compute.table=table.csv")


def check_refusals(tool, folder):
    model, profile = str(folder / "model.yaml"), ["--profile", str(folder / "none.csv")]
    (folder / "experts.yaml").write_text(MODEL + "experts: 8\n")
    (folder / "short.yaml").write_text("layers: 3\nheads: 2\n")
    (folder / "list.yaml").write_text("layers: [1, 2]\n")
    (folder / "word.yaml").write_text("layers: many\n")
    table = ["--table", str(folder / "none.csv"), "--bandwidth", "2039GBps", "--peak"]
    for words, text in (([model, *profile, "--tensor", "3"], "heads 8 cannot be divided over 3"),
                        ([model, *profile, "--micro", "8"], "not even the smallest"),
                        ([str(folder / "experts.yaml"), *profile], "experts.yaml:9: 'experts' is not measured"),
                        ([str(folder / "short.yaml"), *profile], "hidden, sequence, vocabulary are missing"),
                        ([str(folder / "list.yaml"), *profile], "list.yaml:1: expected a key and a value"),
                        ([str(folder / "word.yaml"), *profile], "word.yaml:1: layers is 'many'; expected a number"),
                        ([str(folder / "absent.yaml"), *profile], "absent.yaml"),
                        ([model, *table, "100Tf"], "ran at 1."), ([model], "nothing to write"),
                        ([model, *table, "312"], "no number with the unit f"),
                        ([model, *profile, "--micro", "4,2"], "no rising sizes"),
                        ([model, *profile, "--micro", "0"], "no rising sizes")):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            try:
                code = tool.main(words, KnownGpu(tool))
            except SystemExit as end:
                code = end.code
        expect(code in (1, 2) and text in said.getvalue(), f"{words}: {code}, {said.getvalue()}")
    expect(not (folder / "none.csv").exists(), "something was written")


def check_torch(tool, folder):
    tool.MATRIX_SIZES, tool.MEMORY_SIZES, tool.REPEATS = [1e6, 1e7], [1e5, 1e6], 2
    (folder / "small.yaml").write_text("layers: 2\nhidden: 64\nheads: 4\nkv_heads: 2\nffn: 96\ngated: true\nnorm: rms\n"
                                       "biases: false\nsequence: 32\n"
                                       "vocabulary: 500\npositions: 32\nhead_transform: true\n")
    words = [str(folder / "small.yaml"), "--device", "cpu", "--precision", "fp32", "--attention", "standard", "--micro",
             "1,2", "--tensor", "2", "--profile", str(folder / "profile.csv"), "--table", str(folder / "table.csv"),
             "--peak", "100Tf", "--bandwidth", "10TBps"]
    expect(tool.main(words) == 0, "measuring on the processor")
    for row in read(folder / "profile.csv"):
        expect(float(row["forward_s"]) > 0 and float(row["backward_s"]) > 0, f"no time: {row}")
    expect({row["what"] for row in read(folder / "table.csv")} == {"matrix", "memory", "launch", "dispatch"},
           "rows of the table")


def main():
    tool = load()
    if sys.argv[2] == "torch" and not importlib.util.find_spec("torch"):
        print("PyTorch is not installed")
        return 77
    checks = (check_torch,) if sys.argv[2] == "torch" else (check_table, check_slow, check_profile, check_refusals)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([STAGESIM, "platform", "generate", "dgx-a100", "--nodes", "1", "-o", folder / "gpus.xml"],
                       check=True)
        (folder / "model.yaml").write_text(MODEL)
        (folder /
         "job.yaml").write_text("platform: gpus.xml\nworkload: transformer\nmodel: model.yaml\nschedule: 1f1b\n"
                                "batch: {micro: 1, micro_batches: 5}\ncompute: {precision: bf16}\nengine: analytic\n")
        for check in checks:
            check(tool, folder)
    print("\n".join(faults) or "all hold")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
