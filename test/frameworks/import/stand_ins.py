#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stand_ins STAGESIM: a user's script runs with the stand-ins of `stagesim import --shim` first in PATH. The launchers
behind them, which leave a file, never run; the words that a launcher would have got are those that `import` reads."""
import os
import pathlib
import subprocess
import sys
import tempfile

STAGESIM = str(pathlib.Path(sys.argv[1]).resolve())
FOLDER = pathlib.Path(tempfile.mkdtemp())
REAL = FOLDER / "real"
failures = 0


def expect(good, what, detail=""):
    global failures
    if not good:
        failures += 1
        print(f"FAILED {what}\n{detail}")


def stagesim(*arguments):
    return subprocess.run([STAGESIM, *arguments], cwd=FOLDER, capture_output=True, text=True, timeout=60)


def run(script, **variables):
    """A fresh folder of stand-ins, and a script with them first in PATH."""
    made = stagesim("import", "--shim", "shim")
    expect(made.returncode == 0 and "run nothing" in made.stderr, "--shim", made.stderr)
    for call in (FOLDER / "shim" / "calls").glob("*"):
        call.unlink()
    (FOLDER / "train.sh").write_text(script)
    environment = dict({"PATH": f"{FOLDER / 'shim'}:{REAL}:{os.environ['PATH']}", "HOME": str(FOLDER)}, **variables)
    return subprocess.run(["bash", "train.sh"], cwd=FOLDER, env=environment, capture_output=True, text=True, timeout=60)


def calls():
    return [path.read_text() for path in sorted((FOLDER / "shim" / "calls").glob("*.sh"))]


def launched():
    return (FOLDER / "launched").exists()


REAL.mkdir()
for name in ("torchrun", "python", "python3", "srun", "mpirun", "deepspeed", "accelerate"):
    (REAL / name).write_text(f"#!/bin/sh\ncase $1 in -c) echo 4; exit 0 ;; esac\ntouch '{FOLDER}/launched'\n")
    (REAL / name).chmod(0o755)
expect({path.name for path in REAL.iterdir()} == {path.name for path in (FOLDER / "shim").iterdir()}
       if stagesim("import", "--shim", "shim").returncode == 0 else False, "one stand-in for each launcher")

# Two nodes' calls; arithmetic is passed on; words with quotes, blanks and ends of lines arrive as they are.
MODEL = "--num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 --micro-batch-size 1"
SCRIPT = f"""TP=$(python3 -c 'print(2 * 2)')
for RANK in 0 1; do
    torchrun --nproc_per_node 8 --nnodes 2 --node_rank $RANK pretrain_gpt.py {MODEL} --tensor-model-parallel-size $TP \\
        --tensorboard-dir "it's
two lines " --wandb-api-key 12345 --hf-token=678 --global-batch-size 32 &
done
wait
srun hostname
python evaluate.py
"""
result = run(SCRIPT, MY_SECRET="top", CUDA_DEVICE_MAX_CONNECTIONS="1", NNODES="2", API_KEY="abc", OTHER="x")
text = "".join(calls())
expect(result.returncode == 0 and not launched(), "nothing runs", result.stderr)
expect(len(calls()) == 3 and "noted as" in result.stderr and "srun: neither noted nor run: hostname" in result.stderr,
       "three calls are noted, one is said not to be", result.stderr + text)
expect("'it'\\''s\ntwo lines '" in text, "words to the byte", text)
expect("12345" not in text and "678" not in text and "--hf-token=left-out" in text, "secrets of options", text)
expect("CUDA_DEVICE_MAX_CONNECTIONS='1'" in text and "NNODES='2'" in text, "variables of launches", text)
expect("top" not in text and "abc" not in text and "OTHER" not in text, "other variables stay away", text)
imported = stagesim("import", "shim", "--platform", "dgx-h100:2", "--set", "model.vocabulary=50304")
expect(imported.returncode == 0 and "tensor: 4 " in imported.stdout and "data: 4 " in imported.stdout and
       "3 noted, of which 2 launch this job, and 1 nothing" in imported.stderr, "both nodes' calls are one launch",
       imported.stdout + imported.stderr)

# What srun starts by a shell reaches the launcher; variables that its words name are kept.
result = run(f"export LAYERS=12 LEFT=3\nsrun -N 2 bash -c 'torchrun x.py {MODEL.replace('24', '$LAYERS')}'\n")
expect("'--num-layers' '12'" in calls()[0] and not launched(), "srun bash -c", "".join(calls()))
result = run("export LAYERS=12 LEFT=3\nmpirun -np 8 python3 x.py --micro-batch-size 1 '--num-layers=$LAYERS'\n")
expect("export LAYERS='12'" in calls()[0] and "LEFT" not in calls()[0] and calls()[0].startswith("#!/bin/sh\n"),
       "variables that words name", "".join(calls()))

# Calls of two jobs are refused with the word that differs; a folder without calls, with how to get some.
run("torchrun x.py --num-layers 2 --micro-batch-size 1\ntorchrun x.py --num-layers 3 --micro-batch-size 1\n")
refused = stagesim("import", "shim")
expect(refused.returncode == 1 and not refused.stdout and "'3' differs from the call of" in refused.stderr and
       "which has '2'" in refused.stderr, "two jobs", refused.stderr)
run("true\n")
refused = stagesim("import", "shim")
expect(refused.returncode == 1 and "a folder without noted calls" in refused.stderr, "no calls", refused.stderr)
run("python train.py --config x.yaml\n")
refused = stagesim("import", "shim")
expect(refused.returncode == 1 and "none of the 1 noted calls has options of Megatron-LM" in refused.stderr,
"other calls",
       refused.stderr)
expect(stagesim("import", "--shim", "other", "train.sh").returncode == 2, "--shim reads no job")
sys.exit(failures > 0)
