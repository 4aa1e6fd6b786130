"""Commands in a process that has imported nothing, and must import nothing heavy for them."""

import json
import subprocess
import sys

SCRIPT = """
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

from heldout.cli import main

ends = []
for arguments in json.loads(sys.argv[1]):
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as end:
            ends.append([end.code, out.getvalue() + err.getvalue()])
heavy = [name for name in ("sklearn", "pandas", "joblib", "matplotlib") if name in sys.modules]
print(json.dumps([ends, heavy]))
"""


def ends_of(*lines: list[str]) -> list[tuple[int, str]]:
    """The code and the text of each command, all of one process, which has imported nothing heavy."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(lines)], capture_output=True, text=True, check=True, timeout=120
    )
    ends, heavy = json.loads(done.stdout)
    assert heavy == []
    return [(code, text) for code, text in ends]
