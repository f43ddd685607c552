"""Dataset patterns: files below the suite, inside the rootdir, never a suite."""

from __future__ import annotations

import pytest

from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.suite.patterns import match_files

SUFFIXES = frozenset({".jsonl", ".json", ".csv", ".yaml"})
FILES = (
    "evals/evalcheck.yaml",
    "evals/smoke.eval.yaml",
    "evals/tickets.jsonl",
    "evals/orders.csv",
    "evals/notes.md",
    "evals/.hidden.jsonl",
    "evals/golden/a.csv",
    "evals/golden/b.csv",
    "evals/golden/deep/c.csv",
    "evals/golden/[1].csv",
    "evals/other/evalcheck.yaml",
    "evals/other/theirs.jsonl",
    "evals/.git/x.jsonl",
    "shared/common.jsonl",
    "evals/only/readme.md",
)


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "project"
    for name in FILES:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "outside.jsonl").touch()
    (root / "evals" / "linked.csv").symlink_to(tmp_path / "outside.jsonl")
    return root


def matched(tree, pattern, suffixes=SUFFIXES):
    paths = match_files(pattern, base_dir=tree / "evals", rootdir=tree, suffixes=suffixes)
    return [path.relative_to(tree.resolve()).as_posix() for path in paths]


RIGHT = {
    "one file": ("tickets.jsonl", ["evals/tickets.jsonl"]),
    "a dot in front": ("./tickets.jsonl", ["evals/tickets.jsonl"]),
    "one folder, no hidden files": ("*.jsonl", ["evals/tickets.jsonl"]),
    "a folder of its own": (
        "golden/*.csv",
        ["evals/golden/[1].csv", "evals/golden/a.csv", "evals/golden/b.csv"],
    ),
    "a class of characters": ("golden/[ab].csv", ["evals/golden/a.csv", "evals/golden/b.csv"]),
    "a file whose name looks like a pattern": ("golden/[1].csv", ["evals/golden/[1].csv"]),
    "any depth, other suites left out": ("**/*.jsonl", ["evals/tickets.jsonl"]),
    "any depth below a folder": (
        "golden/**/c.csv",
        ["evals/golden/deep/c.csv"],
    ),
    "everything of any depth": (
        "golden/**",
        [
            "evals/golden/[1].csv",
            "evals/golden/a.csv",
            "evals/golden/b.csv",
            "evals/golden/deep/c.csv",
        ],
    ),
    "a suite is no dataset": ("*s.*l*", ["evals/tickets.jsonl"]),
    "above the suite, inside the rootdir": ("../shared/*.jsonl", ["shared/common.jsonl"]),
    "a name above": ("../shared/common.jsonl", ["shared/common.jsonl"]),
}


@pytest.mark.parametrize(("pattern", "want"), RIGHT.values(), ids=RIGHT)
def test_a_pattern_matches_dataset_files_sorted(tree, pattern, want):
    assert matched(tree, pattern) == want


def test_an_entry_with_a_format_takes_any_ending(tree):
    assert matched(tree, "notes.md", suffixes=None) == ["evals/notes.md"]
    assert matched(tree, "only/*", suffixes=None) == ["evals/only/readme.md"]


WRONG = {
    "nothing": (
        "golden/*.jsonl",
        "'golden/*.jsonl' matches no file, expected a dataset file of this suite. "
        "There is '[1].csv' and 'a.csv' and 'b.csv'.",
    ),
    "a near name": (
        "tikets.jsonl",
        "'tikets.jsonl' matches no file, expected a dataset file of this suite. "
        "There is 'tickets.jsonl'.",
    ),
    "no such folder": (
        "nowhere/orders.csv",
        "'nowhere/orders.csv' matches no file, expected a dataset file of this suite. "
        "There is 'orders.csv'.",
    ),
    "a folder": (
        "golden",
        "'golden' is a folder, expected a file or a pattern. Write 'golden/*.jsonl'.",
    ),
    "the suite itself": (
        "evalcheck.yaml",
        "'evalcheck.yaml' is a suite file, expected a dataset. A suite runs by itself.",
    ),
    "another suite's": (
        "other/theirs.jsonl",
        "'other/theirs.jsonl' belongs to the nearer suite 'other/evalcheck.yaml', "
        "expected a dataset of this suite. List it there.",
    ),
    "an ending of no dataset": (
        "notes.md",
        "'notes.md' has no ending of a dataset, expected one of .csv, .json, .jsonl, .yaml. "
        "Name its `format`.",
    ),
    "only files of no dataset": (
        "only/*",
        "'only/*' matches no dataset file, only 'readme.md', expected files with the ending of "
        "a dataset. Name their `format` if they hold rows.",
    ),
    "out of the rootdir": (
        "../../outside.jsonl",
        "'../../outside.jsonl' leads out of the rootdir, expected a file inside it. "
        "Move the data into it.",
    ),
    "out of the rootdir by a pattern": (
        "../../*.jsonl",
        "'../../*.jsonl' leads out of the rootdir, expected a file inside it. "
        "Move the data into it.",
    ),
    "out of the rootdir by a detour": (
        "golden/../../../outside.jsonl",
        "'golden/../../../outside.jsonl' leads out of the rootdir, expected a file inside it. "
        "Move the data into it.",
    ),
    "out of the rootdir behind a wildcard": (
        "*/../../../outside.jsonl",
        "'*/../../../outside.jsonl' has '..' after a wildcard, expected '..' only at the "
        "beginning.",
    ),
    "out of the rootdir by a link": (
        "linked.csv",
        "'linked.csv' leads out of the rootdir, expected a file inside it. Move the data into it.",
    ),
    "out of the rootdir by a matched link": (
        "l*.csv",
        "'l*.csv' leads out of the rootdir, expected a file inside it. Move the data into it.",
    ),
    "absolute": (
        "/etc/passwd",
        "'/etc/passwd' is an absolute path, expected a path relative to the suite file. "
        "Datasets lie inside the rootdir.",
    ),
    "a drive": (
        "C:/data/x.csv",
        "'C:/data/x.csv' is an absolute path, expected a path relative to the suite file. "
        "Datasets lie inside the rootdir.",
    ),
    "backslashes": (
        "golden\\a.csv",
        "'golden\\\\a.csv' has backslashes, expected forward slashes. Write 'golden/a.csv'.",
    ),
    "a NUL": ("a\0.csv", "'a\\x00.csv' has control characters, expected a path."),
}


@pytest.mark.parametrize(("pattern", "text"), WRONG.values(), ids=WRONG)
def test_a_pattern_that_leads_nowhere_or_too_far_is_one_clear_message(tree, pattern, text):
    with pytest.raises(ConfigError) as caught:
        matched(tree, pattern)
    assert str(caught.value) == text


def test_links_in_a_circle_do_not_hang(tree):
    (tree / "evals" / "golden" / "loop").symlink_to(tree / "evals", target_is_directory=True)
    assert matched(tree, "golden/**/a.csv") == ["evals/golden/a.csv"]
