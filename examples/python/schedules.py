# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# # Which schedule, and how many micro-batches?
# Cells as Jupyter (with jupytext), VS Code and Spyder know them; or run it: `python3 schedules.py`.

# %%
import stagesim

# %% A job as a dict: four stages on a ring of eight GPUs, two replicas.
job = {
    "platform": "ring-8",
    "workload": "stages",
    "stages": {"forward": "10ms", "backward": "20ms", "message": "4MiB", "gradient": "100MiB"},
    "parallel": {"pipeline": 4, "data": 2},
    "batch": {"micro_batches": 8},
    "schedule": "1f1b",
}
run = stagesim.run(job, trace="csv", picture="svg")
print(f"1f1b: {1000 * run.time.iteration_s:.1f} ms, bubble {run.bubble.ratio:.1%}")

# %% Where a worker waits longest, from the table of all operations.
operations = run.rows("operations")
last = max(operations, key=lambda operation: operation.end_s)
print(f"{len(operations)} operations, the last is {last.kind} on rank {last.rank:.0f}")

# %% Schedules side by side.
rows = stagesim.compare(job, schedules=["gpipe", "1f1b", "chimera", "zb-h1"])
for row in rows:
    print(f"{row.schedule:8} {1000 * row.iteration_s:7.1f} ms, {row.peak_in_flight:g} in flight")
print("best:", rows.best().schedule)

# %% The bubble over the number of micro-batches.
for row in stagesim.sweep(job, {"batch.micro_batches": "4:32:x2"}, schedules=["gpipe", "zb-h1"]):
    print(row.set["batch.micro_batches"], row.set.schedule, f"{row.bubble:.1%}")

# %% A schedule without a platform: 1f1b has a bubble of (D - 1) / (N + D - 1).
plan = stagesim.schedule("1f1b", workers=4, micro_batches=8)
print(f"closed form {3 / 11:.4f}, stagesim {plan.bubble.ratio:.4f}")

# %% What if the links were half as fast?
slow = stagesim.run(job, what_if=["*.bandwidth=0.5"])
print(f"half the bandwidth: {slow.time.iteration_s / run.time.iteration_s:.3f} times the time")

# %% Mistakes are the program's.
try:
    stagesim.run(job, schedule="gpipee")
except stagesim.Error as error:
    print(str(error).splitlines()[0])
