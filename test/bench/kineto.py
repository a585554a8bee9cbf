#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kineto.py STAGESIM [GIGABYTES]: how long `stagesim explain` takes for a profile of 2 GB, and how much memory. The
profile is made for that in the temporary folder and not kept."""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

STEP, GAP = 20000, 12  # launches in a step, us between them
NAMES = ["void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int, float*, float*)",
         "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nt_align4>(Params)",
         "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"]


def event(category, name, track, start, length, arguments):
    return (f'{{"ph": "X", "cat": "{category}", "name": "{name}", "pid": {track[0]}, "tid": {track[1]}, '
            f'"ts": {1700000000000000 + start}.250, "dur": {length}, "args": {{{arguments}}}}}')


def launch(number):
    """The events of one launch: an operator, its call of the runtime, its kernel, and the arrow between them."""
    start, which = number * GAP, 2 if number % 50 == 0 else number % 2
    stream = 40 if which == 2 else 7
    dims = '"Input Dims": [[4096, 4096], [4096, 4096], []], "Input type": ["float", "float", "Scalar"]'
    found = [event("user_annotation", f"ProfilerStep#{number // STEP}", (10, 10), start, STEP * GAP, "")] \
        if number % STEP == 0 else []
    found.append(event("cpu_op", "aten::add_", (10, 10), start, 9.5, f'"External id": {number}, {dims}'))
    found.append(event("cuda_runtime", "cudaLaunchKernel", (10, 10), start, 4, f'"correlation": {number}'))
    found.append(event("kernel", NAMES[which], (0, stream), start + 20, 7.25,
                       f'"External id": {number}, "device": 0, "stream": {stream}, "correlation": {number}, '
                       '"registers per thread": 40, "shared memory": 400, "blocks per SM": 4.740741, '
                       '"grid": [512, 1, 1], "block": [512, 1, 1], "est. achieved occupancy %": 75'))
    found += [f'{{"ph": "{phase}", "id": {number}, "pid": 10, "tid": 10, "ts": {1700000000000000 + start}, '
              '"cat": "ac2g", "name": "ac2g"}' for phase in "sf"]
    return ",\n".join(found)


def write(path, size):
    written = number = 0
    with open(path, "w") as file:
        file.write('{"distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2}, "traceEvents": [\n')
        while written < size:
            written += file.write((",\n" if number else "") + launch(number))
            number += 1
        file.write("]}\n")
    return written


def main():
    binary, size = os.path.abspath(sys.argv[1]), float(sys.argv[2] if len(sys.argv) > 2 else 2) * 1e9
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "profile.json")
        written = write(path, size)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([binary, "explain", path, "--quiet"], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{written / 1e9:.2f} GB: {seconds:.1f} s of the processor, {after.ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
