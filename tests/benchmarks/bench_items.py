"""Items against plain parametrised tests: CPU as a ratio, memory in MB.

    python tests/benchmarks/bench_items.py [--rows 10000] [--runs 3]

Both sides hold the same cells: every row with five checks. The plain side is one
parametrised test a cell, the way people write it by hand. The sides are run in turn,
and the ratio is taken run by run, since the speed of a machine drifts.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from measure import Cost, median, run

SUITE = """
datasets: [rows.jsonl]
metrics:
  - {name: cites, check: contains, value: 30 days}
  - {name: blame, check: not_contains, value: your fault}
  - {name: brief, check: length_bounds, max: 200}
  - {name: total, check: numeric_equals, compare_to: expected, pick: last}
  - {name: number, check: regex, pattern: 'order \\d+'}
"""

PLAIN = """
import json, re
import pytest

ROWS = [json.loads(line) for line in open("rows.jsonl", encoding="utf-8")]

def cites(row): assert "30 days" in row["output"]
def blame(row): assert "your fault" not in row["output"]
def brief(row): assert len(row["output"]) <= 200
def total(row): assert float(re.findall(r"[-\\d.]+", row["output"])[-1]) == row["expected"]
def number(row): assert re.search(r"order \\d+", row["output"])

@pytest.mark.parametrize("check", [cites, blame, brief, total, number])
@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_cell(row, check):
    check(row)
"""

PLAIN_ROW = (
    PLAIN.split('@pytest.mark.parametrize("check"', maxsplit=1)[0]
    + """
@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_row(row):
    cites(row); blame(row); brief(row); total(row); number(row)
"""
)

LOOP = """
import json
from pathlib import Path
from pytest_evalcheck.datasets import read_rows
from pytest_evalcheck.suite import load_suite

def test_loop():
    suite = load_suite(Path("evalcheck.yaml").resolve(), Path(".").resolve())
    for row in read_rows(Path("rows.jsonl")):
        for metric in suite.metrics:
            assert metric.score(row).passed
"""


def write_project(folder: Path, rows: int) -> None:
    """Write the dataset and the two ways of checking it."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "evalcheck.yaml").write_text(SUITE)
    for name, text in (("cells", PLAIN), ("rows", PLAIN_ROW), ("loop", LOOP)):
        (folder / f"test_{name}.py").write_text(text)
    with (folder / "rows.jsonl").open("w", encoding="utf-8") as stream:
        for n in range(rows):
            row = {
                "id": f"row-{n}",
                "input": f"What about order {n}?",
                "output": f"You can return order {n} within 30 days; the total is {n % 97}",
                "expected": n % 97,
            }
            stream.write(json.dumps(row) + "\n")


def compare(name: str, ours: list[str], plain: list[str], folder: Path, runs: int) -> None:
    """Run both sides in turn and print the median ratio of their CPU time."""
    pairs: list[tuple[Cost, Cost]] = []
    for _ in range(runs):
        a = run(["-p", "pytest_evalcheck.plugin", *ours], folder)
        b = run(["-p", "pytest_evalcheck.plugin", *plain], folder)
        if a.status or b.status:
            sys.exit(f"{name}: exit {a.status} and {b.status}\n{a.last_line}\n{b.last_line}")
        pairs.append((a, b))
    ratio = median([a.cpu_s / b.cpu_s for a, b in pairs])
    a, b = pairs[-1]
    sys.stdout.write(
        f"{name:8} ratio {ratio:5.2f}   ours {a.cpu_s:7.2f} s {a.peak_mb:6.0f} MB"
        f"   plain {b.cpu_s:7.2f} s {b.peak_mb:6.0f} MB   {a.last_line}\n"
    )


def main() -> None:
    """Print one line for each unit an item may stand for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", choices=("metric", "row", "dataset"))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_project(folder, chosen.rows)
        for unit, plain in (
            ("metric", "test_cells.py"),
            ("row", "test_rows.py"),
            ("dataset", "test_loop.py"),
        ):
            if chosen.only in (None, unit):
                ours = [f"--evalcheck-items={unit}", "rows.jsonl"]
                compare(unit, ours, [plain], folder, chosen.runs)


if __name__ == "__main__":
    main()
