#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`stagesim search --slurm`, `sweep --slurm`, `train --slurm`, `plan --slurm` and `run --slurm` on a real Slurm of
Debian's packages: munged, slurmctld and two slurmd on this machine. Of the search one task is killed and one node
drained; the files are those of one process. Skipped, with the reason, where Slurm is not installed or does not start.

usage: search_slurm.py STAGESIM
"""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

SKIPPED = 77
SCENARIO = """platform: dgx-a100-2
workload: transformer
model: {layers: 10, hidden: 8192, heads: 4, sequence: 2048, vocabulary: 32000}
parallel: {pipeline: 2, data: 2}
batch: {global: 12, micro: 1}
schedule: 1f1b
search: {micro: [1, 2], schedules: all, chunks: [2, 3]}
"""
CONFIGURATION = """ClusterName=test
SlurmctldHost={host}
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,sched_min_interval=0
ReturnToService=2
MpiDefault=none
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs=1 State=UNKNOWN
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Slurm:
    """The daemons, as long as the context lasts."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}

    def start(self, *command):
        log = open(self.folder / f"{pathlib.Path(command[0]).name}-{len(self.processes)}.out", "w")
        self.processes.append(
            subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL))

    def run(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True)

    def __enter__(self):
        host, (port, first, second) = socket.gethostname().split(".")[0], free_ports(3)
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(folder=self.folder, host=host, port=port, first=first, second=second))
        (self.folder / "munge.key").write_bytes(os.urandom(1024))
        (self.folder / "munge.key").chmod(0o400)
        (self.folder / "state").mkdir()
        self.start("/usr/sbin/munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket",
                   f"--key-file={self.folder}/munge.key", f"--pid-file={self.folder}/munged.pid",
                   f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munged.seed")
        self.wait_for(lambda: (self.folder / "munge.socket").exists())
        self.start("/usr/sbin/slurmctld", "-D", "-i")
        for node in ("one", "two"):
            (self.folder / f"spool-{node}").mkdir()
            self.start("/usr/sbin/slurmd", "-D", "-N", node)
        self.up = self.wait_for(lambda: self.run("sinfo", "-h", "-t", "idle", "-o", "%D").stdout.strip() == "2")
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @staticmethod
    def wait_for(condition, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.1)
        return False


FILES = ("search.csv", "search.json", "search.svg", "search.html", "best.yaml")


def search(check, binary, folder, slurm):
    arguments = [str(binary), "search", "s.yaml", "--top", "3"]
    subprocess.run([*arguments, "--quiet", "-o", "whole"], cwd=folder, check=True, capture_output=True)
    process = subprocess.Popen([*arguments, "-o", "shared", "--slurm=--requeue"], cwd=folder, env=slurm.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    slurm.wait_for(lambda: slurm.run("squeue", "-h", "-t", "R").stdout.strip())
    task = slurm.run("squeue", "-h", "-t", "R", "-o", "%i").stdout.split()[:1]
    killed = bool(task) and slurm.run("scancel", "--signal=KILL", "--full", *task).returncode == 0
    drained = slurm.run("scontrol", "update", "nodename=two", "state=drain", "reason=test").returncode == 0
    out, error = process.communicate(timeout=240)
    check.that(process.returncode == 0, f"exit {process.returncode}: {out} {error}")
    check.that(killed and drained, f"killed {task}: {killed}, drained: {drained}")
    check.that("submitted again:" in error, f"the killed task is submitted again: {error!r}")
    for name in FILES:
        check.that(process.returncode == 0
                   and (folder / "whole" / name).read_bytes() == (folder / "shared" / name).read_bytes(),
                   f"{name} differs from one process's")
    check.that(not (folder / "shared.parts").exists(), "parts go when all is done")


def sweep(check, binary, folder, slurm):
    """Shares of a sweep, each combination a task; what one process writes."""
    arguments = [str(binary), "sweep", "s.yaml", "--engine", "analytic", "--set", "batch.micro=1,2,3", "--set",
                 "batch.global=12,24", "--quiet"]
    subprocess.run([*arguments, "-o", "swept"], cwd=folder, check=True, capture_output=True)
    done = subprocess.run([*arguments, "-o", "swept-shared", "--slurm"], cwd=folder, env=slurm.environment,
                          capture_output=True, text=True, timeout=240)
    check.that(done.returncode == 0, f"sweep: exit {done.returncode}: {done.stdout} {done.stderr}")
    for name in ("sweep.csv", "sweep.json", "sweep.svg", "sweep.html"):
        check.that(done.returncode == 0
                   and (folder / "swept" / name).read_bytes() == (folder / "swept-shared" / name).read_bytes(),
                   f"{name} differs from one process's")
    check.that(not (folder / "swept-shared.parts").exists(), "parts of the sweep go when all is done")


TRAINING = tool.STAGES_JOB + """training: {steps: 4000000, step: 1s, runs: 400}
failures: {components: [{name: job, unit: job, every: 3600s}], restart: 120s}
checkpoint: {every: 10min, way: blocking, save: 6s, load: 0s, bytes: 1GB}
"""


def train(check, binary, folder, slurm):
    """Shares of the runs; what one process writes."""
    (folder / "t.yaml").write_text(TRAINING)
    arguments = [str(binary), "train", "t.yaml", "--quiet"]
    whole = subprocess.run([*arguments, "-o", "trained"], cwd=folder, check=True, capture_output=True, text=True)
    done = subprocess.run([*arguments, "-o", "trained-shared", "--slurm"], cwd=folder, env=slurm.environment,
                          capture_output=True, text=True, timeout=240)
    check.that(done.returncode == 0, f"train: exit {done.returncode}: {done.stdout} {done.stderr}")
    check.that(done.stdout.endswith(whole.stdout), f"train: {done.stdout}")
    for name in ("forecast.json", "calendar.csv", "calendar.paje", "month.svg"):
        check.that(done.returncode == 0
                   and (folder / "trained" / name).read_bytes() == (folder / "trained-shared" / name).read_bytes(),
                   f"{name} differs from one process's")
    check.that(not (folder / "trained-shared.parts").exists(), "parts of the training go when all is done")


def plan(check, binary, folder, slurm):
    """Clusters shared out; what one process writes."""
    (folder / "p.yaml").write_text(SCENARIO.replace("platform: dgx-a100-2", "platform: dgx-a100:1")
                                   .replace("transformer\n", "transformer\ntransformer: {tokens: 1e9, price: 2}\n")
                                   .split("search:")[0] + """engine: analytic
search: {gpus: [4, 8], micro: 1, schedules: 1f1b, zero: 1, recompute: none}
plan: {platforms: [dgx-a100, dgx-h100]}
""")
    arguments = [str(binary), "plan", "p.yaml", "--quiet"]
    subprocess.run([*arguments, "-o", "planned"], cwd=folder, check=True, capture_output=True)
    done = subprocess.run([*arguments, "-o", "planned-shared", "--slurm"], cwd=folder, env=slurm.environment,
                          capture_output=True, text=True, timeout=240)
    check.that(done.returncode == 0, f"plan: exit {done.returncode}: {done.stdout} {done.stderr}")
    for name in ("plan.csv", "plan.json", "plan.html", "plan.svg", "best.yaml"):
        check.that(done.returncode == 0
                   and (folder / "planned" / name).read_bytes() == (folder / "planned-shared" / name).read_bytes(),
                   f"{name} differs from one process's")


def steps(check, binary, folder, slurm):
    """Shares of steps that vary; what one process prints."""
    (folder / "q.yaml").write_text(tool.STAGES_JOB + "tails: {like: usual, steps: 2000}\n")
    arguments = [str(binary), "run", "q.yaml", "--quiet"]
    whole = subprocess.run([*arguments, "-o", "drawn"], cwd=folder, check=True, capture_output=True, text=True)
    done = subprocess.run([*arguments, "-o", "drawn-shared", "--slurm"], cwd=folder, env=slurm.environment,
                          capture_output=True, text=True, timeout=240)
    check.that(done.returncode == 0, f"run: exit {done.returncode}: {done.stdout} {done.stderr}")
    check.that(done.stdout.endswith(whole.stdout), f"run: {done.stdout}")
    check.that(not (folder / "drawn-shared.parts").exists(), "parts of the steps go when all is done")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch")
               if not shutil.which(name, path="/usr/sbin:/usr/bin")]
    if missing or os.geteuid() != 0:
        print(f"skipped: {', '.join(missing)} not installed" if missing
              else "skipped: slurmd has to be started by root")
        return SKIPPED
    os.environ["STAGESIM_PLATFORMS"] = str(tool.ROOT / "platforms")
    os.environ["STAGESIM_EFFICIENCY"] = str(tool.ROOT / "workloads/efficiency")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        folder.chmod(0o755)
        (folder / "s.yaml").write_text(SCENARIO)
        with Slurm(folder) as slurm:
            if not slurm.up:
                logs = "".join(path.read_text()[-600:]
                               for path in sorted(folder.glob("*.out")) + sorted(folder.glob("*.log")))
                print(f"skipped: Slurm does not start here: {logs}")
                return SKIPPED
            for part in tool.sampled((search, sweep, train, plan, steps)):
                part(check, binary, folder, slurm)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
