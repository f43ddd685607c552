"""Whatever is in the files: one clear message, bounded time, the other rows unharmed."""

from __future__ import annotations

import os
import time

import pytest

SUITE = """
datasets: ["rows.jsonl"]
metrics:
  - {name: has_x, check: contains, value: x}
"""
GOOD = '{"id": "good", "output": "x"}\n'
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(12)
)


def run(project, *arguments):
    """Run, and hold what every run over bad input must hold."""
    started = time.monotonic()
    ran = project.run(*arguments)
    assert time.monotonic() - started < 60
    assert "Traceback" not in ran.out + ran.err
    assert "INTERNALERROR" not in ran.out + ran.err
    return ran


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"", "rows.jsonl: ", id="empty"),
        pytest.param(bytes(range(256)) * 20, "rows.jsonl", id="binary"),
        pytest.param(b'{"output": "\xff"}\n', "rows.jsonl:1: ", id="invalid UTF-8"),
        pytest.param(b'{"output": "a\x00b"}\n', "rows.jsonl:1: ", id="a NUL byte"),
        pytest.param(b'{"output": "x", "output": "y"}\n', "'output'", id="a key twice"),
        pytest.param(b'{"output": ' + b"[" * 10_000 + b"\n", "rows.jsonl:1: ", id="too deep"),
        pytest.param(b"version https://git-lfs.github.com/spec/v1\n", "LFS", id="LFS pointer"),
    ],
)
def test_a_hostile_dataset_is_one_message_and_the_next_one_runs(project, content, said):
    project.suite(SUITE.replace('"rows.jsonl"', '"rows.jsonl", "good.jsonl"'))
    project.write("rows.jsonl", content)
    project.write("good.jsonl", GOOD)
    ran = run(project, "--continue-on-collection-errors")
    assert said in ran.out
    assert ran.status == 1
    assert ran.outcomes() == {"passed": 1, "error": 1}


@pytest.mark.parametrize(
    ("suite", "said"),
    [
        pytest.param(BOMB, "evalcheck.yaml", id="alias bomb"),
        pytest.param(SUITE + "metrics: []\n", "metrics", id="a key twice"),
        pytest.param(b"\x00\xff\xfe" * 99, "evalcheck.yaml", id="binary"),
        pytest.param("", "empty", id="empty"),
        pytest.param("metrics: [" * 5000, "evalcheck.yaml", id="too deep"),
        pytest.param(SUITE.replace("rows", "nowhere"), "nowhere.jsonl", id="a missing file"),
        pytest.param(
            SUITE.replace("rows.jsonl", "../rows.jsonl"), "leads out of", id="out by dots"
        ),
        pytest.param(SUITE.replace("rows.jsonl", "link.jsonl"), "leads out of", id="out by a link"),
        pytest.param(SUITE.replace("rows.jsonl", "folder"), "folder", id="a folder"),
        pytest.param(SUITE + "x: !!python/object:os.system {}\n", "!!python", id="a foreign tag"),
    ],
)
def test_a_hostile_suite_is_one_message(project, suite, said):
    project.write("rows.jsonl", GOOD)
    (project.path / "folder").mkdir()
    outside = project.path.parent / "outside_of_it.jsonl"
    outside.write_text(GOOD)
    os.symlink(outside, project.path / "link.jsonl")
    project.write("evalcheck.yaml", suite)
    ran = run(project)
    assert ran.status == 2
    assert said in ran.out
    assert ran.outcomes() == {"error": 1}


@pytest.mark.parametrize(
    ("metric", "output"),
    [
        pytest.param("{name: m, check: regex, pattern: '(a|aa)+$'}", "a" * 40 + "b", id="for ever"),
        pytest.param("{name: m, check: valid_json}", "[" * 10_000 + "]" * 10_000, id="deep"),
        pytest.param("{name: m, check: contains_json}", "[" * 100_000, id="brackets"),
        pytest.param("{name: m, check: length_bounds, max: 5}", "x" * 50_000_000, id="50 MB"),
        pytest.param("{name: m, check: numeric_equals, value: 1}", "9" * 1_000_000, id="digits"),
    ],
)
def test_a_hostile_output_harms_its_own_row_alone(project, metric, output):
    project.suite(f'datasets: ["rows.jsonl"]\nmetrics:\n  - {metric}\n')
    good = {"regex": "a", "valid": "1", "contains_json": "[1]", "length": "x", "numeric": "1"}
    fitting = next(text for check, text in good.items() if f"check: {check}" in metric)
    project.rows({"id": "bad", "output": output}, {"id": "good", "output": fitting})
    ran = run(project)
    assert ran.outcomes() == {"failed": 1, "passed": 1}
    assert len(ran.out) < 50_000


def test_what_a_model_wrote_cannot_steer_the_terminal_or_a_ci_runner(project):
    project.suite(SUITE)
    project.rows(
        {
            "id": "a",
            "output": "\x1b[2J\x1b]0;title\x07 ::error::pwned\n::set-output name=a::b\n##[error]no",
        }
    )
    ran = run(project)
    assert ran.status == 1
    assert "\x1b[2J" not in ran.out
    assert "\x07" not in ran.out
    assert not any(line.lstrip().startswith(("::", "##[")) for line in ran.out.splitlines())
