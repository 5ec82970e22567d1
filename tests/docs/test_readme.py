"""The finding that README shows is the one that dracfg says."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_finding_shown_is_what_dracfg_says(tmp_path: Path) -> None:
    """README's example of a mistake, made in a new repository."""
    run = [sys.executable, "-m", "dracfg"]
    subprocess.run([*run, "init", str(tmp_path)], check=True, capture_output=True)
    pools = tmp_path / "catalog" / "pools.yaml"
    text = pools.read_text(encoding="utf-8")
    pools.write_text(text.replace("[whole]", "[whole, memory-slice]", 1))
    policy = tmp_path / "catalog" / "policies.yaml"
    policy.write_text(POLICY, encoding="utf-8")
    done = subprocess.run(
        [*run, "check", "-q", "-C", str(tmp_path)], capture_output=True, text=True, check=False
    )
    shown = re.search(r"^(error\[REF001\].*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    assert shown is not None
    assert shown.group(1).strip() in done.stdout


POLICY = """\
apiVersion: dracfg.dev/v1alpha1
kind: SharingPolicy
metadata: {name: memory-slices}
spec:
  mode: consumable
  capacity: {memory: {min: 5Gi, max: 40Gi}}
  tenancy: sameTenant
  sizes: [5Gi]
"""
