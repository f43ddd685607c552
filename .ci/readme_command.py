"""Print a set-up command of the README, so that CI runs what a newcomer would.

Usage: readme_command.py example|tests
"""

import os
import re
import sys
from pathlib import Path

WORDS = {"example": "pytest example_project", "tests": ".[test]"}


def main() -> None:
    """Print the one line of the README's code blocks that holds the word for the job."""
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    blocks = "\n".join(re.findall(r"```(?:sh|console)\n(.*?)```", readme, re.DOTALL))
    lines = [line for line in blocks.splitlines() if WORDS[sys.argv[1]] in line and "venv" in line]
    if len(lines) != 1:
        sys.exit(f"the README has {len(lines)} commands for {sys.argv[1]}, expected 1")
    sys.stdout.write(lines[0].replace(".venv", os.environ.get("VENV", ".venv")) + "\n")


if __name__ == "__main__":
    main()
