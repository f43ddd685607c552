"""Run a command and say what it cost: CPU seconds and peak memory, from the system itself."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

# The one plugin under test and no other, so that both sides carry the same load; compiled
# modules kept from run to run, as in an installed package.
BARE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": ""}


@dataclass(frozen=True)
class Cost:
    """What one process used: CPU seconds (user and system) and peak memory in MB."""

    cpu_s: float
    peak_mb: float
    last_line: str
    status: int


def run(arguments: list[str], folder: Path) -> Cost:
    """Run pytest with the arguments in a folder and return what it cost."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    out = folder / "out.txt"
    with out.open("wb") as stream:
        process = subprocess.Popen(
            command, cwd=folder, stdout=stream, stderr=stream, env={**os.environ, **BARE}
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    lines = out.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return Cost(
        cpu_s=usage.ru_utime + usage.ru_stime,
        peak_mb=usage.ru_maxrss / 1024,
        last_line=lines[-1] if lines else "",
        status=process.returncode,
    )


def median(values: list[float]) -> float:
    """Return the middle value of an odd number of values."""
    return sorted(values)[len(values) // 2]
