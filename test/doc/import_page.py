#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""import_page PAGE KEYS [--update]: the table of keys that change nothing, in doc/import.md, is the program's."""
import pathlib
import re
import subprocess
import sys

page = pathlib.Path(sys.argv[1])
table = subprocess.run([sys.argv[2], "--ignored"], capture_output=True, text=True, check=True).stdout
text = page.read_text()
new = re.sub(r"<!-- ignored -->\n.*?<!-- end -->", lambda _: f"<!-- ignored -->\n{table}<!-- end -->", text, flags=re.S)
if "--update" in sys.argv:
    page.write_text(new)
elif new != text or table not in text:
    sys.exit(f"{page}: the table differs from the program's; run this with --update")
