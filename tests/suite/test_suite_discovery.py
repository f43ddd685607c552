"""Which file is a suite and which suite governs a file."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_evalcheck.suite import find_suite, is_self_contained, is_suite_file

NAMES = {
    "evalcheck.yaml": (False, True),
    "smoke.eval.yaml": (True, True),
    "smoke.eval.yml": (True, True),
    "smoke.eval.json": (True, True),
    "smoke.eval.jsonl": (True, False),
    "smoke.eval.csv": (True, False),
    "smoke.yaml": (False, False),
    "evalcheck.yml": (False, False),
    "smoke.EVAL.YAML": (False, False),
}


@pytest.mark.parametrize(("name", "want"), NAMES.items(), ids=NAMES)
def test_a_name_says_what_a_file_is(name, want):
    assert (is_self_contained(name), is_suite_file(name)) == want


def test_the_nearest_suite_upward_governs_and_nothing_above_the_rootdir(tmp_path):
    root = tmp_path / "project"
    deep = root / "evals" / "golden" / "old"
    deep.mkdir(parents=True)
    (tmp_path / "evalcheck.yaml").touch()
    assert find_suite(deep / "x.jsonl", root) is None
    (root / "evalcheck.yaml").touch()
    assert find_suite(deep / "x.jsonl", root) == root / "evalcheck.yaml"
    (root / "evals" / "evalcheck.yaml").touch()
    assert find_suite(deep / "x.jsonl", root) == root / "evals" / "evalcheck.yaml"
    assert find_suite(root / "evals", root) == root / "evals" / "evalcheck.yaml"
    assert find_suite(root / "x.jsonl", root) == root / "evalcheck.yaml"


def test_a_file_outside_of_the_rootdir_has_no_suite(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "rootless").mkdir()
    (tmp_path / "rootless" / "evalcheck.yaml").touch()
    assert find_suite(tmp_path / "rootless" / "x.jsonl", tmp_path / "root") is None


def test_finding_suites_imports_neither_yaml_nor_the_loader():
    code = (
        "import sys; before = set(sys.modules); "
        "from pytest_evalcheck.suite import find_suite, is_self_contained; "
        "print(sorted(n for n in set(sys.modules) - before if n.startswith('pytest_evalcheck') "
        "or n == 'yaml'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "['pytest_evalcheck', 'pytest_evalcheck.suite', 'pytest_evalcheck.suite.discovery']"
    )
