"""Beside other plugins: each of these runs where its plugin is installed (extra `manners`)."""

from __future__ import annotations

import json
import re

import pytest

FLAKY_SUITE = """
datasets: ["rows.jsonl"]
metrics:
  - {name: flaky, evaluator: "flaky.py:flaky"}
"""

# Fails the first time it sees a row, passes from then on.
FLAKY = """
seen = {}

def flaky(row, params):
    seen[row.id] = seen.get(row.id, 0) + 1
    return seen[row.id] > 1
"""


@pytest.fixture
def mixed(project):
    """A suite with a pass, a failure that does not gate and a missing verdict."""
    project.suite(
        """
        datasets: ["rows.jsonl"]
        metrics:
          - {name: has_days, check: contains, value: 30 days, gate: {pass_rate: 0.5}}
          - {name: short, check: length_bounds, max: 100}
        """
    )
    project.rows(
        {"id": "good", "output": "30 days"},
        {"id": "bad", "output": "x"},
        {"id": "mute", "input": "q"},
    )
    return project


MIXED = {"passed": 3, "xfailed": 1, "skipped": 2}


def test_a_row_that_was_run_again_is_one_row_and_its_last_attempt_counts(project):
    pytest.importorskip("pytest_rerunfailures")
    project.suite(FLAKY_SUITE)
    project.write("flaky.py", FLAKY)
    project.rows({"id": "a", "output": "x"}, {"id": "b", "output": "x"})
    ran = project.run("--reruns", "2", results=True)
    assert ran.outcomes() == {"passed": 2, "rerun": 2}
    assert ran.status == 0
    assert [(entry["row"], entry["passed"]) for entry in ran.document["results"]] == [
        ("a", True),
        ("b", True),
    ]


def test_a_time_limit_ends_an_item_and_not_the_run(project):
    pytest.importorskip("pytest_timeout")
    project.suite(FLAKY_SUITE)
    project.write(
        "flaky.py",
        """
        import time

        def flaky(row, params):
            time.sleep(30 if row.id == "a" else 0)
            return True
        """,
    )
    project.rows({"id": "a", "output": "x"}, {"id": "b", "output": "x"})
    ran = project.run("--timeout", "1", "--timeout-method", "signal", results=True)
    assert ran.outcomes() == {"failed": 1, "passed": 1}
    assert ran.status == 1


def test_a_random_order_changes_no_figure(mixed):
    pytest.importorskip("pytest_randomly")
    plain = mixed.run(results=True)
    for seed in (1, 2):
        shuffled = mixed.run(f"--randomly-seed={seed}", shuffle=True, results=True)
        assert shuffled.outcomes() == MIXED
        assert shuffled.summary == plain.summary
        assert shuffled.untimed()["results"] == plain.untimed()["results"]


def test_an_html_report_lists_every_item(mixed):
    pytest.importorskip("pytest_html")
    ran = mixed.run("--html=report.html", "--self-contained-html")
    assert ran.outcomes() == MIXED
    report = (mixed.path / "report.html").read_text(encoding="utf-8")
    for row in ("good", "bad", "mute"):
        assert f"rows.jsonl::{row}::has_days" in report


def test_coverage_of_the_application_is_measured_as_ever(mixed):
    pytest.importorskip("pytest_cov")
    mixed.write("app.py", "def answer():\n    return '30 days'\n")
    mixed.write(
        "test_app.py", "from app import answer\n\ndef test_answer():\n    assert answer()\n"
    )
    mixed.pytester.syspathinsert()
    ran = mixed.run("--cov=app", "--cov-report=term")
    assert re.search(r"app\.py +2 +0 .*100%", ran.out)
    assert ran.status == 0


def test_async_tests_run_beside_items(mixed):
    pytest.importorskip("pytest_asyncio")
    mixed.write(
        "test_async.py",
        """
        import pytest

        @pytest.mark.asyncio
        @pytest.mark.metric
        async def test_waits():
            pass
        """,
    )
    assert mixed.run().outcomes() == {**MIXED, "passed": 4}


def test_another_collector_of_yaml_files_keeps_its_files(mixed):
    mixed.write("spec.yaml", "a: 1\n")
    mixed.write(
        "conftest.py",
        """
        import pytest

        class YamlItem(pytest.Item):
            def runtest(self): pass
            def reportinfo(self): return self.path, 0, self.name

        class YamlFile(pytest.File):
            def collect(self): yield YamlItem.from_parent(self, name="theirs")

        def pytest_collect_file(file_path, parent):
            if file_path.name == "spec.yaml":
                return YamlFile.from_parent(parent, path=file_path)
        """,
    )
    assert mixed.run().outcomes() == {**MIXED, "passed": 4}
    assert mixed.run("spec.yaml").outcomes() == {"passed": 1}


def test_a_plugin_called_evalcheck_is_no_clash(mixed):
    mixed.write("evalcheck.py", "def pytest_report_header():\n    return 'the other evalcheck'\n")
    mixed.pytester.syspathinsert()
    ran = mixed.run("-p", "evalcheck")
    assert "the other evalcheck" in ran.out
    assert ran.outcomes() == MIXED


def test_a_console_that_knows_ascii_alone_changes_no_figure(project, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("LC_ALL", "C")
    project.suite()
    project.rows({"id": "größe", "output": "naïve ☺ 30 days"}, {"id": "x", "output": "ünder"})
    ran = project.pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", "--evalcheck-results", "out.json"
    )
    assert int(ran.ret) == 1
    document = json.loads((project.path / "out.json").read_text(encoding="utf-8"))
    assert [entry["row"] for entry in document["results"]] == ["größe", "x"]
