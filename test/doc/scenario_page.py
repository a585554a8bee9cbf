#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds doc/scenario.md to the reader: the tables are those of the field tables, and the examples load.

scenario_page.py PAGE KEYS [--update]: KEYS prints the tables; `KEYS FILE` loads a scenario. `--update` writes the
tables into the page. """
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"<!-- keys: (\S+) -->\n.*?<!-- end -->", re.S)
HEAD = {"workload": "workload: stages", "stages": "stages: {forward: 1s, backward: 2s}"}


def check_tables(page, tables, update):
    blocks = {match[1]: match[0] for match in BLOCK.finditer(tables)}
    text = page.read_text()
    new = BLOCK.sub(lambda match: blocks.get(match[1], match[0]), text)
    if update:
        page.write_text(new)
        return []
    faults = [f"the page has no table of '{name}'" for name in blocks if f"<!-- keys: {name} -->" not in text]
    return faults + ([] if new == text else ["the tables differ from the reader's; run this with --update"])


def check_examples(page, keys):
    faults, count = [], 0
    for match in re.finditer(r"```yaml\n(.*?)```", page.read_text(), re.S):
        text = match[1]
        for key, line in HEAD.items():
            if not re.search(rf"^{key}:|^workload: (transformer|layers|dlrm)", text, re.M):
                text += line + "\n"
        text = re.sub(r"^platform:.*\n", "", text, flags=re.M) + "platform: p.xml\n"
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "p.xml").write_text("<platform/>")
            scenario = pathlib.Path(folder, "s.yaml")
            scenario.write_text(text)
            result = subprocess.run([keys, scenario], capture_output=True, text=True)
        count += 1
        if result.returncode:
            faults.append(f"an example does not load:\n{text}{result.stderr}")
    return faults if count >= 5 else faults + [f"only {count} examples found"]


def main():
    page, keys = pathlib.Path(sys.argv[1]), sys.argv[2]
    tables = subprocess.run([keys], capture_output=True, text=True, check=True).stdout
    faults = check_tables(page, tables, "--update" in sys.argv) + check_examples(page, keys)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
