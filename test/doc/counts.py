#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""counts.py README STAGESIM: README says how many schedules and presets there are, and these are the program's."""
import json
import pathlib
import re
import subprocess
import sys

text, stagesim = pathlib.Path(sys.argv[1]).read_text(), str(pathlib.Path(sys.argv[2]).resolve())
faults = 0
for kind, pattern in {"schedules": r"\*\*(\d+) pipeline schedules\*\*", "presets": r"from (\d+) presets"}.items():
    listed = subprocess.run([stagesim, "list", kind, "--format", "json"], capture_output=True, text=True, check=True)
    count, said = len(json.loads(listed.stdout)), re.findall(pattern, text)
    if said != [str(count)]:
        faults += 1
        print(f"there are {count} {kind}; README says {said}")
sys.exit(faults)
