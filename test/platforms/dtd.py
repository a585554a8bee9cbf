#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dtd.py STAGESIM SOURCE_ROOT: generated platforms are valid by SimGrid's document type, where its file ($SIMGRID_DTD,
or installed) and xmllint are at hand; skipped (77) elsewhere."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

stagesim, root = os.path.abspath(sys.argv[1]), sys.argv[2]
places = [os.environ.get("SIMGRID_DTD", ""), *glob.glob("/usr/share/*simgrid*/**/simgrid.dtd", recursive=True),
          "/usr/local/share/simgrid.dtd"]
dtd = next((place for place in places if place and os.path.exists(place)), None)
if not dtd or not shutil.which("xmllint"):
    print("simgrid.dtd or xmllint is not here")
    sys.exit(77)

# The document type itself is not deterministic, of which xmllint complains for every file.
KNOWN = ("Content model of zone is not determinist", "Content model of AS is not determinist")


def mistakes(path):
    result = subprocess.run(["xmllint", "--nonet", "--noout", "--dtdvalid", dtd, path], capture_output=True, text=True)
    return [line for line in result.stderr.splitlines() if "validity error" in line
            and not any(known in line for known in KNOWN)]


failed = False
with tempfile.TemporaryDirectory() as scratch:
    files = sorted(glob.glob(os.path.join(root, "platforms", "*.xml")))
    for name, nodes in [("dgx-1v", "2"), ("dgx-h100", "40"), ("gb200-nvl72", "1"), ("frontier", "1"),
                        ("graphcore-pod64", "4"), ("bow-pod", "2"), ("tpu-v4", "16"), ("piz-daint", "768")]:
        files.append(os.path.join(scratch, name + ".xml"))
        subprocess.run([stagesim, "platform", "generate", name, "--nodes", nodes, "-o", files[-1]], check=True)
    for name, arguments in [("rails", ["dgx-h100", "--nodes", "6", "--pod", "3", "--rails", "nvlink"]),
                            ("joined", ["dgx-a100:3", "dgx-h100:2:roce-200", "--pod", "2", "--join", "ethernet-25"])]:
        files.append(os.path.join(scratch, name + ".xml"))
        subprocess.run([stagesim, "platform", "generate", *arguments, "-o", files[-1]], check=True)
    for path in files:
        found = mistakes(path)
        print(path, found or "valid")
        failed |= bool(found)
    damaged = os.path.join(scratch, "damaged.xml")
    with open(os.path.join(scratch, "piz-daint.xml")) as original, open(damaged, "w") as file:
        file.write(original.read().replace("topo_parameters", "topology_parameters"))
    failed |= not mistakes(damaged)  # the check can fail
sys.exit(1 if failed else 0)
