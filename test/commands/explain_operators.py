#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""explain_operators.py STAGESIM: operators of a profile with shapes stand beside what `stagesim kernel` says of the
same kernel, worst first; their sums are the profile's; types and operators without measured kernels are apart."""
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

STAGESIM = tool.binary_argument()
check = tool.Checker()
BF16, FLOAT = "c10::BFloat16", "float"

# (operator, dimensions, types, arguments of `stagesim kernel`, how much longer than that it takes, calls)
CASES = [
    ("aten::mm", [[8192, 1024], [1024, 4096]], [BF16, BF16], "matmul -m 8192 -n 4096 -k 1024", 1.3, 4),
    ("aten::addmm", [[6144], [2048, 8192], [8192, 6144], [], []], [BF16, BF16, BF16, "Scalar", "Scalar"],
     "matmul -m 2048 -n 6144 -k 8192", 1, 3),
    ("aten::linear", [[4, 2048, 8192], [1024, 8192]], [BF16, BF16], "matmul -m 8192 -n 1024 -k 8192", 0.9, 2),
    ("aten::_scaled_mm", [[8192, 8192], [8192, 8192]], ["c10::Float8_e4m3fn", "c10::Float8_e4m3fn"],
     "matmul -m 8192 -n 8192 -k 8192 --type fp8", 1.1, 1),
    ("aten::bmm", [[8, 4096, 2048], [8, 2048, 1024]], [BF16, BF16], "grouped --groups 8 -m 4096 -n 1024 -k 2048", 1.2,
     1),
    ("aten::_scaled_dot_product_flash_attention", [[2, 32, 4096, 128]] * 3 + [[], []], [BF16] * 3 + ["Scalar"] * 2,
     "attention --batch 2 --heads 32 --sequence 4096 --head-size 128", 2, 2),
    ("flash_attn::_flash_attn_backward", [[2, 4096, 32, 128]] * 4, [BF16] * 4,
     "attention --batch 2 --heads 32 --sequence 4096 --head-size 128 --stage backward", 1.01, 2),
    ("aten::add_", [[8192, 8192], [8192, 8192], []], [BF16, BF16, "Scalar"], f"memory --bytes {3 * 2 * 8192 ** 2}", 1,
     2),
    ("aten::add", [[8192, 8192], [8192], []], [FLOAT, FLOAT, "Scalar"], f"memory --bytes {4 * 8192 * 16385}", 1.5, 1),
    ("aten::copy_", [[8192, 8192], [8192, 8192]], [FLOAT, BF16], f"memory --bytes {6 * 8192 ** 2}", 1, 1)]
# Nobody has measured them: another type, operands that do not fit, other operators.
OTHERS = [("aten::mm", [[8192, 1024], [1024, 4096]], [FLOAT, FLOAT]),
          ("aten::mm", [[8192, 1024], [1023, 4096]], [BF16, BF16]),
          ("aten::cumsum", [[8192]], [BF16])]


def kernel(arguments):
    """Seconds of a kernel."""
    result = tool.run(STAGESIM, "kernel", *arguments.split(), "--gpu", "H100", "--format", "json")
    return json.loads(result.stdout)["seconds"]


class Trace:
    def __init__(self):
        self.time, self.external, self.events = 1000.0, 10, []

    def add(self, category, name, begin, seconds, tid, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0 if category == "kernel" else 5,
                            "tid": tid, "ts": begin, "dur": 1e6 * seconds, "args": args})

    def call(self, name, dimensions, types, seconds, named):
        """An operator with two kernels; `named`: these say which operator they come from."""
        self.external += 1
        own, begin = {"External id": self.external} if named else {}, self.time
        self.add("cpu_op", name, self.time - 30, 2e-5, 5, **{"External id": self.external, "Input Dims": dimensions,
                                                             "Input type": types})
        for part, share in ((0, 0.75), (1, 0.25)):
            correlation = 2 * self.external + part + 100000
            self.add("cuda_runtime", "cudaLaunchKernel", begin - 25 + 4 * part, 2e-6, 5, correlation=correlation,
                     **own)
            self.add("kernel", f"kernel_{part}", self.time, seconds * share, 7, stream=7, correlation=correlation,
                     **own)
            self.time += 1e6 * seconds * share
        self.time += 50

    def write(self, name, device):
        self.add("user_annotation", "ProfilerStep#1", 900, 1e-6 * (self.time - 900), 5)
        pathlib.Path(name).write_text(json.dumps({"deviceProperties": [{"id": 0, "name": device}],
                                                  "distributedInfo": {"rank": 0, "world_size": 1},
                                                  "traceEvents": self.events}))


def make(name, device, named=True):
    """What is expected of each case: (operator, seconds, expected seconds)."""
    trace, expected = Trace(), []
    for operator, dimensions, types, arguments, factor, calls in CASES:
        seconds = kernel(arguments)
        for _ in range(calls):
            trace.call(operator, dimensions, types, factor * seconds, named)
        expected.append((operator, calls * factor * seconds, calls * seconds))
    for operator, dimensions, types in OTHERS:
        trace.call(operator, dimensions, types, 1e-4, named)
    trace.write(name, device)
    return expected


def explain(name):
    result = tool.run(STAGESIM, "explain", name, "-o", "why")
    return json.loads(pathlib.Path("why/explain.json").read_text()), result.stdout


def check_found(named):
    expected = make("trace.json", "NVIDIA H100 80GB HBM3", named)
    found, text = explain("trace.json")
    known = [one for one in found["operators"] if "expected_s" in one and one["expected_s"] is not None]
    worst = sorted(expected, key=lambda one: one[2] - one[1])
    check.that(found["kernels_of"] == "H100-SXM5-80GB", f"kernels of {found['kernels_of']}")
    check.that(len(known) == len(CASES), f"{len(known)} known operators: {known}")
    for one, (operator, seconds, model) in zip(known[:5], worst):
        check.that(one["name"] == operator, f"{one['name']}, expected {operator}")
        check.near(one["step_s"], seconds, f"{operator}: seconds", 1e-6)
        check.near(one["expected_s"], model, f"{operator}: measured elsewhere", 1e-6)
    check.near(found["operators_known_s"], sum(one[1] for one in expected), "the known", 1e-6)
    check.near(found["operators_expected_s"], sum(one[2] for one in expected), "what they should take", 1e-6)
    check.near(found["operators_unknown_s"], len(OTHERS) * 1e-4, "the others", 1e-6)
    check.near(found["parts"]["computation"], found["operators_known_s"] + found["operators_unknown_s"], "computation",
               1e-6)
    check.that("causal attention, 64 heads of 128, 4096 tokens" in text, text)
    page = pathlib.Path("why/explain.html").read_text()
    check.that("Operators by kind and shape" in page and "matmul 8192 x 4096 x 1024" in page, "the page")


def check_devices():
    for device, table, words in (("NVIDIA A100-PCIE-40GB", "A100-PCIE-80GB", "(the trace says NVIDIA A100-PCIE-40GB)"),
                                 ("NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB", "measured kernels of A100-SXM4-80GB;"),
                                 ("NVIDIA GB200", "GB200-186GB", "")):
        make("other.json", device)
        found, text = explain("other.json")
        check.that(found["kernels_of"] == table and words in text, f"{device}: {found['kernels_of']}, {text}")
    make("other.json", "NVIDIA Tesla V100-SXM2-32GB")
    found, text = explain("other.json")
    check.that("kernels_of" not in found and "no kernels of this GPU are installed" in text, f"V100: {text}")


def check_recomputed():
    """A checkpoint's backward of 1 ms: a forward again, then backwards of their own."""
    trace = Trace()
    for number, (first, last, name) in enumerate(((0, 1000, "CheckpointFunctionBackward"), (10, 100, "aten::mm"),
                                                  (200, 500, "autograd::engine::evaluate_function: MmBackward0"),
                                                  (210, 490, "aten::mm"), (600, 700, "aten::mm"))):
        trace.add("cpu_op", name, 1000 + first, 1e-6 * (last - first), 5, **{"External id": number})
        if name == "aten::mm":
            trace.add("cuda_runtime", "cudaLaunchKernel", 1000 + first + 5, 2e-6, 5, correlation=number)
            trace.add("kernel", "gemm", 3000 + 400 * number, 1e-4 * number, 7, stream=7, correlation=number)
    trace.add("cuda_runtime", "cudaLaunchKernel", 2500, 2e-6, 5, correlation=9)
    trace.add("kernel", "gemm", 6000, 1e-3, 7, stream=7, correlation=9)
    trace.time = 8000
    trace.write("again.json", "NVIDIA H100 80GB HBM3")
    found, text = explain("again.json")
    check.near(found["recomputed_s"], 1e-4 * (1 + 4), "recomputed", 1e-9)
    check.that("activations that checkpoints compute again" in text, text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_found(True)
        check_found(False)
        check_devices()
        check_recomputed()
        os.chdir("/")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
