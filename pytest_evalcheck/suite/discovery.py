"""Which file is a suite and which suite governs a file: names only, nothing is opened.

This runs for files of every pytest run the plugin is installed in, so it uses
`os.path` alone and imports nothing of the package.
"""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import Final

__all__ = [
    "SELF_CONTAINED",
    "SUITE_FILE",
    "find_suite",
    "is_self_contained",
    "is_suite_file",
]

SUITE_FILE: Final = "evalcheck.yaml"
SELF_CONTAINED: Final = (".eval.yaml", ".eval.yml", ".eval.json", ".eval.jsonl", ".eval.csv")
_SUITES_BY_THEMSELVES: Final = (".eval.yaml", ".eval.yml", ".eval.json")


def is_self_contained(name: str) -> bool:
    """Tell whether a file of this name is collected without a suite that lists it."""
    return name.endswith(SELF_CONTAINED)


def is_suite_file(name: str) -> bool:
    """Tell whether a file of this name is (or may be) a suite, and so never a globbed dataset."""
    return name == SUITE_FILE or name.endswith(_SUITES_BY_THEMSELVES)


def find_suite(path: Path, rootdir: Path) -> Path | None:
    """Return the nearest `evalcheck.yaml` above a file, up to and including the rootdir.

    Args:
        path: a file or folder; a folder's own suite file counts.
        rootdir: the folder above which nothing is looked at.

    Returns:
        The absolute path of the suite file, or None when no folder between holds one
        or the path does not lie below the rootdir.
    """
    folder = os.path.abspath(path)
    top = os.path.abspath(rootdir)
    if not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    while folder == top or folder.startswith(top.rstrip(os.sep) + os.sep):
        candidate = os.path.join(folder, SUITE_FILE)
        if os.path.isfile(candidate):
            return Path(candidate)
        if folder == top:
            return None
        folder = os.path.dirname(folder)
    return None
