"""What the installed plugin adds to a pytest run without evaluations.

    python tests/benchmarks/bench_startup.py [--runs 21]

Two figures: milliseconds to import what every run imports, each in a fresh interpreter
that has pytest already; and whole runs of one empty test with the plugin and without, in
turn, as the median of the differences.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from measure import BARE, median, run

IMPORT = """
import time, pytest
from _pytest.config import get_config
config = get_config()
started = time.process_time()
import pytest_evalcheck.plugin
from pytest_evalcheck.plugin import hookspecs, options
print((time.process_time() - started) * 1000)
"""


def main() -> None:
    """Print both figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=21)
    runs = parser.parse_args().runs
    imports = [
        float(
            subprocess.check_output(
                [sys.executable, "-c", IMPORT], text=True, env={**os.environ, **BARE}
            )
        )
        for _ in range(runs)
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pytest.ini").write_text("[pytest]\n")
        (folder / "test_empty.py").write_text("def test_empty(): pass\n")
        differences = []
        for _ in range(runs):
            with_plugin = run(["-p", "pytest_evalcheck.plugin"], folder).cpu_s
            differences.append((with_plugin - run([], folder).cpu_s) * 1000)
    sys.stdout.write(
        f"import  {median(imports):5.1f} ms of CPU (least {min(imports):.1f})\n"
        f"run     {median(differences):5.1f} ms of CPU more than bare pytest\n"
    )


if __name__ == "__main__":
    main()
