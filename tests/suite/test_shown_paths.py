"""Paths are shown with forward slashes, on Windows too, where the code decides."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from pytest_evalcheck.suite.plan import shown_path


@pytest.mark.parametrize(
    ("path", "rootdir", "shown"),
    [
        (PurePosixPath("/p/evals/a.csv"), PurePosixPath("/p"), "evals/a.csv"),
        (PureWindowsPath(r"C:\p\evals\a.csv"), PureWindowsPath(r"C:\p"), "evals/a.csv"),
        (PureWindowsPath(r"c:\P\evals\a.csv"), PureWindowsPath(r"C:\p"), "evals/a.csv"),
        (PureWindowsPath(r"D:\x\a.csv"), PureWindowsPath(r"C:\p"), "D:/x/a.csv"),
        (PureWindowsPath(r"\\host\share\p\a.csv"), PureWindowsPath(r"\\host\share"), "p/a.csv"),
        (PurePosixPath("/other/a.csv"), PurePosixPath("/p"), "/other/a.csv"),
    ],
)
def test_a_path_is_shown_relative_to_the_rootdir_with_forward_slashes(path, rootdir, shown):
    assert shown_path(path, rootdir) == shown
    assert "\\" not in shown_path(path, rootdir)
