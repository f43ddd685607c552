"""One item a row and metric: ids, outcomes, reasons, locations."""

from __future__ import annotations

import re

import pytest

ROWS = (
    {"id": "good", "input": "q1", "output": "within 30 days"},
    {"id": "bad", "input": "q2", "output": "within two weeks"},
    {"id": "mute", "input": "q3"},
)


def test_each_row_and_metric_is_an_item_with_file_row_and_metric_in_its_id(project):
    project.suite()
    project.rows(*ROWS)
    ran = project.run("-v")
    for row, word in (("good", "PASSED"), ("bad", "FAILED"), ("mute", "SKIPPED")):
        assert re.search(rf"^rows\.jsonl::{row}::has_days {word}", ran.out, re.M)
    assert ran.outcomes() == {"passed": 1, "failed": 1, "skipped": 1}
    assert ran.status == 1


def test_a_failure_shows_found_and_wanted_at_the_line_of_the_row(project):
    project.suite()
    project.rows(*ROWS)
    ran = project.run()
    assert "rows.jsonl:2: row 'bad': has_days: " in ran.out
    assert "within two weeks" in ran.out
    assert "30 days" in ran.out
    assert re.search(r"^FAILED rows\.jsonl::bad::has_days - .*rows\.jsonl:2", ran.out, re.M)


def test_a_skip_points_at_the_dataset_and_begins_with_its_code(project):
    project.suite()
    project.rows(*ROWS)
    ran = project.run("-rs")
    assert re.search(r"^SKIPPED \[1\] rows\.jsonl:3: missing_output", ran.out, re.M)


def test_a_failure_under_a_gate_on_the_whole_metric_is_xfailed_not_gating(project):
    project.suite(
        """
        datasets: ["rows.jsonl"]
        metrics:
          - {name: has_days, check: contains, value: 30 days, gate: {pass_rate: 0.5}}
        """
    )
    project.rows(*ROWS)
    ran = project.run("-rx")
    assert ran.outcomes() == {"passed": 1, "xfailed": 1, "skipped": 1}
    assert re.search(r"^XFAIL rows\.jsonl::bad::has_days - not gating", ran.out, re.M)
    assert ran.status == 0


def test_selecting_a_row_runs_every_metric_of_it(project):
    project.suite(
        """
        datasets: ["rows.jsonl"]
        metrics:
          - {name: has_days, check: contains, value: 30 days}
          - {name: short, check: length_bounds, max: 100}
        """
    )
    project.rows(*ROWS)
    ran = project.run("rows.jsonl::good", "-v")
    assert ran.outcomes() == {"passed": 2}
    ran = project.run("rows.jsonl::good::short", "-v")
    assert ran.outcomes() == {"passed": 1}


@pytest.mark.parametrize(
    ("arguments", "outcomes"),
    [
        pytest.param(("-k", "good"), {"passed": 1, "deselected": 2}, id="by keyword"),
        pytest.param(("-m", "metric"), {"passed": 1, "failed": 1, "skipped": 1}, id="by marker"),
        pytest.param(("-m", "not metric"), {"deselected": 3}, id="without evaluations"),
        pytest.param(
            ("--deselect", "rows.jsonl::bad"),
            {"passed": 1, "skipped": 1, "deselected": 1},
            id="deselected row",
        ),
        pytest.param(("-x",), {"passed": 1, "failed": 1}, id="stop at the first failure"),
        pytest.param(
            ("--maxfail=2", "-q"), {"passed": 1, "failed": 1, "skipped": 1}, id="maxfail, quiet"
        ),
    ],
)
def test_pytests_own_selection_works(project, arguments, outcomes):
    project.suite()
    project.rows(*ROWS)
    assert project.run(*arguments).outcomes() == outcomes


def test_last_failed_reruns_the_failed_row_alone(project):
    project.suite()
    project.rows(*ROWS)
    project.pytester.runpytest_subprocess()
    again = project.pytester.runpytest_subprocess("--lf")
    again.assert_outcomes(failed=1)


def test_collect_only_shows_the_tree_and_no_figures(project):
    project.suite()
    project.rows(*ROWS)
    ran = project.run("--collect-only")
    assert "<EvalRow bad>" in ran.out
    assert "<EvalItem has_days>" in ran.out
    assert ran.summary == ""
    assert ran.status == 0


def test_tags_of_dataset_row_and_metric_are_markers(project):
    project.suite(
        """
        datasets: [{path: rows.jsonl, tags: [golden]}]
        metrics:
          - {name: has_days, check: contains, value: 30 days, tags: [money]}
        """
    )
    project.rows(
        {"id": "a", "output": "30 days", "tags": ["edge"]}, {"id": "b", "output": "30 days"}
    )
    for marker, passed in (("golden", 2), ("money", 2), ("edge", 1)):
        assert project.run("--strict-markers", "-m", marker).outcomes()["passed"] == passed


def test_a_tag_that_is_a_marker_of_pytest_is_refused(project):
    project.suite()
    project.rows({"id": "a", "output": "x", "tags": ["skip"]})
    ran = project.run()
    assert ran.status == 2
    assert "the tag 'skip' cannot be a marker" in ran.out


def test_a_row_that_asks_to_be_skipped_or_to_fail_says_why(project):
    project.suite()
    project.rows(
        {"id": "later", "output": "x", "skip": "waits for legal"},
        {"id": "known", "output": "x", "xfail": "bug 12"},
        {"id": "good", "output": "30 days"},
    )
    ran = project.run("-rsx")
    assert ran.outcomes() == {"skipped": 1, "xfailed": 1, "passed": 1}
    assert "waits for legal" in ran.out
    assert "bug 12" in ran.out
    assert ran.status == 0


def test_beside_an_unrelated_project_nothing_is_printed_or_created(project):
    project.write("test_plain.py", "def test_ok(): pass\n")
    project.write("data.json", "[]")
    before = set(project.path.iterdir())
    ran = project.run()
    told = [line for line in ran.out.splitlines() if not line.startswith(("plugins:", "rootdir:"))]
    assert "eval" not in "\n".join(told)
    assert ran.summary == ""
    assert ran.status == 0
    new = {path.name for path in set(project.path.iterdir()) - before}
    assert not any("eval" in name for name in new)
