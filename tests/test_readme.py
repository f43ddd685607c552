"""The README says what the code does: every name of one is in the other."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_evalcheck import __all__ as public_names
from pytest_evalcheck.checks import CHECKS, COMMON_OPTIONS
from pytest_evalcheck.datasets.fields import FIELDS, METADATA_FIELDS
from pytest_evalcheck.model import CODES
from pytest_evalcheck.plugin import hookspecs
from pytest_evalcheck.plugin.options import OPTIONS
from pytest_evalcheck.suite.keys import DATASET_KEYS, GATE_KEYS, METRIC_KEYS, SUITE_KEYS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def section(title):
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", README, re.M | re.S).group(1)


def table(text, head):
    """The rows of the table whose header begins with `head`, as lists of cells."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith(f"| {head}"):
            next(lines)
            rows = []
            for row in lines:
                if not row.startswith("|"):
                    break
                rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]])
            return rows
    raise AssertionError(f"no table {head!r}")


def names(rows, cell=0):
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row[cell])}


@pytest.mark.parametrize(
    ("title", "head", "known"),
    [
        pytest.param("Suites", "key of a suite", {key.name for key in SUITE_KEYS}, id="suite keys"),
        pytest.param(
            "Suites", "key of an entry", {key.name for key in DATASET_KEYS}, id="dataset keys"
        ),
        pytest.param("Metrics", "key of a metric", {key.name for key in METRIC_KEYS}, id="metrics"),
        pytest.param("Checks", "check", set(CHECKS), id="checks"),
        pytest.param(
            "Checks", "option", {option.name for option in COMMON_OPTIONS}, id="common options"
        ),
        pytest.param("Scores and outcomes", "code", set(CODES), id="reason codes"),
        pytest.param("Options", "option", {option.flag for option in OPTIONS}, id="options"),
        pytest.param(
            "Datasets and rows", "field", set(FIELDS) - METADATA_FIELDS, id="fields of a row"
        ),
        pytest.param(
            "Hooks",
            "hook",
            {name for name in vars(hookspecs) if name.startswith("pytest_evalcheck_")},
            id="hooks",
        ),
    ],
)
def test_a_table_of_the_readme_names_just_what_the_code_has(title, head, known):
    rows = table(section(title), head)
    assert {re.split(r"[( ]", name)[0] for name in names(rows)} == known


def test_every_check_is_described_with_its_own_options():
    for row in table(section("Checks"), "check"):
        spec = CHECKS[row[0].strip("`")]
        assert names([row], 1) == {option.name for option in spec.options}
        assert row[2].replace("\\|", "|") == spec.summary
        assert row[3] == spec.score


def test_every_option_names_its_ini_twin():
    twins = {row[0].split()[0].strip("`"): row[1] for row in table(section("Options"), "option")}
    assert twins == {option.flag: f"`{option.dest}`" if option.ini else "–" for option in OPTIONS}


def test_every_rule_of_a_gate_is_described():
    assert {key.name for key in GATE_KEYS} <= set(re.findall(r"\w+", section("Gates")))


def test_the_library_section_imports_public_names():
    imported = re.search(r"from pytest_evalcheck import (.*)", section("Library")).group(1)
    assert set(re.split(r",\s*", imported)) <= set(public_names)


def test_no_option_is_named_that_does_not_exist():
    known = {option.flag for option in OPTIONS}
    assert set(re.findall(r"--evalcheck-[a-z-]+", README)) <= known


def test_the_excerpt_is_what_the_example_prints_and_the_example_is_green():
    excerpt = re.search(r"```text\n\$ pytest example_project\n(.*?)```", README, re.S).group(1)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "example_project"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    printed = {untimed(line) for line in ran.stdout.splitlines()}
    shown = [untimed(line) for line in excerpt.splitlines() if line != "…"]
    assert [line for line in shown if line not in printed] == []


def untimed(line):
    return re.sub(r"=+|in [\d.]+s", "", line).strip()
