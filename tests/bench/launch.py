"""Runs a program from a small process and writes its exit code, seconds and peak, as JSON.

Usage: launch.py OUTPUT PROGRAM [ARGUMENT ...]; what the program writes goes to OUTPUT. The kernel counts
into a program's peak what the process that started it held until then, so that a benchmark that
has read a large fleet would be measured in its stead.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

start = time.perf_counter()
with Path(sys.argv[1]).open("wb") as output:
    child = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=output)
_, status, usage = os.wait4(child.pid, 0)
wall = time.perf_counter() - start
child.returncode = os.waitstatus_to_exitcode(status)
# Linux counts kibibytes, macOS bytes.
peak = usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
found = {
    "code": child.returncode,
    "wall": wall,
    "cpu": usage.ru_utime + usage.ru_stime,
    "peak": peak,
}
json.dump(found, sys.stdout)
