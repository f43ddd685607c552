"""What happens at the edges: broken files, early ends, crashes, other plugins."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from xml.etree import ElementTree

import pytest

GATED = """
datasets: ["rows.jsonl"]
metrics:
  - {name: has_days, check: contains, value: 30 days, gate: {pass_rate: 0.5}}
"""


def many(count=40, output="30 days"):
    return [{"id": f"row-{n}", "input": f"q {n}", "output": output} for n in range(count)]


def test_a_broken_suite_is_one_collection_error_with_all_its_problems(project):
    project.suite(
        """
        datasets: ["rows.jsonl"]
        metrics:
          - {name: a, check: contians, value: x}
          - {name: b, check: contains, vlaue: x}
        """
    )
    project.rows(*many(2))
    ran = project.run()
    assert ran.status == 2
    assert re.search(r"^evalcheck\.yaml:3: .*'contians'.*contains", ran.out, re.M)
    assert re.search(r"^evalcheck\.yaml:4: .*vlaue.*value", ran.out, re.M)
    assert ran.out.count("'contians'") == 1
    assert "Traceback" not in ran.out + ran.err


def test_a_broken_dataset_lists_every_row_at_fault_with_its_line(project):
    project.suite()
    project.write(
        "rows.jsonl", '{"id": "a", "output": "x"}\n{"id": "b", \n\n{"id": "a", "output": "y"}\n'
    )
    ran = project.run()
    assert ran.status == 2
    assert "rows.jsonl:2: " in ran.out
    assert re.search(r"rows\.jsonl:4: .*'a'.*line 1", ran.out)


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "rows.jsonl"), ("\n\n", "rows.jsonl"), ("not json\n", "rows.jsonl:1: ")],
    ids=["empty", "blank", "no JSON"],
)
def test_a_dataset_without_rows_is_an_error_not_a_green_run(project, text, said):
    project.suite()
    project.write("rows.jsonl", text)
    ran = project.run()
    assert ran.status == 2
    assert said in ran.out


def test_a_dataset_no_suite_lists_says_what_to_write(project):
    project.suite()
    project.rows(*many(1))
    project.rows(*many(1), name="other.jsonl")
    ran = project.run("other.jsonl")
    assert ran.status == 2
    assert "Add `other.jsonl` to `datasets:` in evalcheck.yaml" in ran.out
    assert project.run().status == 0


def test_a_selector_that_matches_no_row_of_the_suite_is_refused(project):
    project.suite(
        """
        datasets: ["rows.jsonl"]
        metrics:
          - {name: has_days, check: contains, value: 30 days}
          - {name: vip, check: contains, value: sir, applies_to: {tier: gold}}
        """
    )
    project.rows(*many(2))
    ran = project.run()
    assert ran.status == 2
    assert re.search(r"evalcheck\.yaml:4: metric 'vip': applies_to: .*selects no row", ran.out)


def test_a_gate_without_any_evaluable_row_fails_closed(project):
    project.suite(GATED)
    project.rows({"id": "mute", "input": "q"})
    ran = project.run()
    assert ran.outcomes() == {"skipped": 1}
    assert ran.status == 1
    assert "blocked" in ran.summary


def test_a_run_narrowed_by_keyword_speaks_of_the_metrics_that_ran_alone(project):
    project.suite(GATED + "  - {name: short, check: length_bounds, max: 3}\n")
    project.rows(*many(2))
    ran = project.run("-k", "has_days")
    assert ran.status == 0
    assert "short" not in ran.summary


def test_stopping_at_the_first_failure_shows_what_was_done_as_incomplete(project, run_every_way):
    project.suite(GATED + "  - {name: short, check: length_bounds, max: 3}\n")
    project.rows(*many(6))
    ran = project.run("-x", results=True)
    assert ran.status == 1
    assert "incomplete" in ran.summary
    assert ran.document["run"]["complete"] is False
    assert len(ran.document["results"]) == 2


def test_ctrl_c_shows_what_was_done_marked_incomplete(project):
    project.suite(
        GATED.replace("check: contains, value: 30 days", "evaluator: 'slow.py:slow', threshold: 1")
    )
    project.write(
        "slow.py", "import time\n\ndef slow(row, params):\n    time.sleep(0.05)\n    return 1\n"
    )
    project.rows(*many(200))
    out = project.path / "out.json"
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--evalcheck-results", str(out)],
        cwd=project.path,
        stdout=subprocess.PIPE,
        text=True,
    )
    time.sleep(5)
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "incomplete" in text
    document = json.loads(out.read_text())
    assert document["run"]["complete"] is False
    assert document["metrics"][0]["verdict"] == "undecided"
    assert 0 < len(document["results"]) < 200


def test_a_worker_that_dies_leaves_its_rows_visible_and_the_run_red(project):
    project.suite(
        """
        datasets: ["rows.jsonl"]
        metrics:
          - {name: alive, evaluator: "deadly.py:alive", threshold: 1, gate: "off"}
        """
    )
    project.write(
        "deadly.py",
        """
        import os

        def alive(row, params):
            if row.id == "row-3":
                os._exit(3)
            return 1
        """,
    )
    project.rows(*many(8))
    ran = project.run("-n2", results=True)
    assert ran.status == 1
    assert "worker_crashed" in ran.summary
    assert len(ran.document["results"]) == 8
    crashed = [r for r in ran.document["results"] if r["code"] == "worker_crashed"]
    assert [(r["row"], r["line"], r["status"]) for r in crashed] == [("row-3", 4, "error")]


def test_junit_has_flat_properties_and_skips_as_skips(project):
    project.suite()
    project.rows(
        {"id": "good", "output": "30 days"},
        {"id": "bad", "output": "x"},
        {"id": "mute", "input": "q"},
    )
    project.run("--junitxml=junit.xml")
    cases = ElementTree.parse(project.path / "junit.xml").getroot().findall(".//testcase")
    told = [{p.get("name"): p.get("value") for p in case.iter("property")} for case in cases]
    assert [properties["metric"] for properties in told] == ["has_days"] * 3
    assert [properties["status"] for properties in told] == ["scored", "scored", "non_evaluable"]
    assert told[2]["code"] == "missing_output"
    assert [case.find("skipped") is not None for case in cases] == [False, False, True]
    assert [case.find("failure") is not None for case in cases] == [False, True, False]


def test_without_the_terminal_plugin_the_gate_still_decides(project):
    project.suite(GATED.replace("0.5", "0.9"))
    project.rows(*many(2, "x"))
    assert project.run("-p", "no:terminal", results=True).status == 1


def test_a_quiet_run_prints_counts_only(project):
    project.suite()
    project.rows(*many(3))
    ran = project.run("-q")
    assert "evalcheck.yaml: 3 passed" in ran.out
    assert "pass rate" not in ran.out


def test_a_host_evaluator_that_raises_is_an_error_with_the_users_own_frames(project):
    project.suite(
        """
        datasets: ["rows.jsonl"]
        metrics:
          - {name: mine, evaluator: "mine.py:mine", gate: "off"}
        """
    )
    project.write("mine.py", "def mine(row, params):\n    return 1 / 0\n")
    project.rows(*many(1))
    ran = project.run()
    assert ran.outcomes() == {"failed": 1}
    assert "ZeroDivisionError" in ran.out
    assert 'mine.py", line 2' in ran.out
    assert "site-packages" not in ran.out
    assert "plugin/run.py" not in ran.out


def test_a_file_that_is_a_whole_suite(project):
    project.write(
        "whole.eval.yaml",
        """
        metrics:
          - {name: has_days, check: contains, value: 30 days}
        rows:
          - {id: one, output: within 30 days}
          - id: two
            output: never
        """,
    )
    ran = project.run()
    assert ran.outcomes() == {"passed": 1, "failed": 1}
    assert "whole.eval.yaml:5: row 'two'" in ran.out


def test_rows_may_bring_their_own_metrics(project):
    project.write(
        "own.eval.jsonl",
        json.dumps(
            {
                "id": "a",
                "output": "hello",
                "metrics": [{"name": "hi", "check": "contains", "value": "hello"}],
            }
        )
        + "\n",
    )
    assert project.run("-v").outcomes() == {"passed": 1}
    project.write("own.eval.jsonl", '{"id": "a", "output": "hello"}\n')
    ran = project.run()
    assert ran.status == 2
    assert "no metric applies to any row" in ran.out


def test_datasets_outside_the_suites_folder_are_collected_with_it(project):
    project.suite(
        name="evals/evalcheck.yaml",
        text="""
        datasets: ["../data/rows.jsonl", "build/more.jsonl"]
        metrics: [{name: d, check: contains, value: day}]
        """,
    )
    project.rows(*many(2), name="data/rows.jsonl")
    project.rows(*many(3), name="evals/build/more.jsonl")
    assert project.run("evals").outcomes() == {"passed": 5}
    assert project.run("evals/evalcheck.yaml").outcomes() == {"passed": 5}


def test_a_file_two_suites_list_is_refused(project):
    for folder in ("a", "b"):
        project.suite(
            name=f"{folder}/evalcheck.yaml",
            text='datasets: ["../rows.jsonl"]\nmetrics: [{name: d, check: contains, value: day}]\n',
        )
    project.rows(*many(2))
    ran = project.run()
    assert ran.status == 2
    assert "rows.jsonl is listed by a/evalcheck.yaml too" in ran.out


def test_a_suite_that_reaches_out_of_the_rootdir_is_refused(project):
    project.suite(
        'datasets: ["../outside.jsonl"]\nmetrics: [{name: d, check: contains, value: day}]\n'
    )
    (project.path.parent / "outside.jsonl").write_text('{"output": "day"}\n')
    ran = project.run()
    assert ran.status == 2
    assert re.search(r"evalcheck\.yaml:1: .*outside", ran.out)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--evalcheck-results", "out.txt"), ".json or .jsonl"),
        (("--evalcheck-results", "nowhere/out.json"), "there is no folder"),
        (("--evalcheck-sample", "0"), "1 or more"),
        (("--evalcheck-config", "nosuch.yaml"), "there is no such file"),
    ],
)
def test_an_option_that_cannot_be_used_is_one_line_and_exit_4(project, arguments, said):
    project.suite()
    project.rows(*many(1))
    ran = project.run(*arguments)
    assert ran.status == 4
    assert said in ran.out + ran.err
    assert "Traceback" not in ran.out + ran.err


def test_results_as_lines_are_written_as_they_come(project):
    project.suite()
    project.rows(*many(3))
    project.run("--evalcheck-results", "out.jsonl")
    lines = [json.loads(line) for line in (project.path / "out.jsonl").read_text().splitlines()]
    assert lines[0]["schema"] == "evalcheck-results/1"
    assert [line["row"] for line in lines[1:4]] == ["row-0", "row-1", "row-2"]
    assert len(lines) == 5


def test_a_sample_runs_the_same_rows_every_time(project):
    project.suite()
    project.rows(*many(30))
    first = project.run("--evalcheck-sample", "7", results=True).document
    project.rows(*reversed(many(30)))
    second = project.run("--evalcheck-sample", "7", results=True).document
    chosen = {result["row"] for result in first["results"]}
    assert len(chosen) == 7
    assert {result["row"] for result in second["results"]} == chosen


@pytest.mark.parametrize("unit", ["row", "dataset"])
def test_coarser_items_give_the_same_figures(project, unit):
    project.suite(GATED + "  - {name: short, check: length_bounds, max: 3, gate: 'off'}\n")
    project.rows(*many(5), {"id": "no", "output": "never"}, {"id": "mute", "input": "q"})
    fine = project.run(results=True)
    coarse = project.run(f"--evalcheck-items={unit}", results=True)
    assert coarse.summary == fine.summary
    assert project.run(f"--evalcheck-items={unit}").summary == fine.summary
    assert project.run(f"--evalcheck-items={unit}", "-n2").summary == fine.summary
    assert coarse.untimed()["metrics"] == fine.untimed()["metrics"]
    assert coarse.untimed()["results"] == fine.untimed()["results"]


def test_a_streamed_dataset_with_a_broken_row_fails_at_its_line(project):
    project.suite(GATED.replace("{pass_rate: 0.5}", "'off'"))
    project.rows(*many(3))
    with (project.path / "rows.jsonl").open("a") as stream:
        stream.write("{broken\n")
    ran = project.run("--evalcheck-items=dataset")
    assert ran.status == 1
    assert "rows.jsonl:4: " in ran.out
    assert "Traceback" not in ran.out


def test_showing_what_would_run_judges_nothing(project):
    project.suite()
    project.rows(*many(2))
    ran = project.run("--setup-plan")
    assert ran.status == 0
    assert ran.summary == ""


def test_a_setup_hook_of_a_conftest_still_runs_for_every_item(project):
    project.suite()
    project.rows(*many(3))
    project.write("conftest.py", "def pytest_runtest_setup(item):\n    print('SETUP', item.name)\n")
    ran = project.run("-s")
    assert ran.out.count("SETUP has_days") == 3
    assert ran.outcomes() == {"passed": 3}


def test_items_and_python_tests_mix_with_their_fixtures_torn_down_in_time(project):
    project.suite(name="b/evalcheck.yaml")
    project.rows(*many(3), name="b/rows.jsonl")
    for folder in ("a", "c"):
        project.write(
            f"{folder}/test_{folder}.py",
            """
            import pytest

            @pytest.fixture(scope="module")
            def thing():
                yield
                print("TORN DOWN")

            def test_one(thing): pass
            """,
        )
    ran = project.run("-s", "a", "b", "c")
    assert ran.outcomes() == {"passed": 5}
    assert ran.out.count("TORN DOWN") == 2


def test_hooks_add_a_check_change_a_row_and_see_scores_and_summary(project):
    project.write(
        "conftest.py",
        """
        from dataclasses import replace

        from pytest_evalcheck.checks.registry import CheckSpec
        from pytest_evalcheck.checks.target import Finding, Plan

        def shouts(settings):
            def compare(text, _operand):
                return Finding(text.isupper(), wanted="capitals")

            return Plan(compare=compare, reads="plain")

        def pytest_evalcheck_register(registry):
            registry.add(
                CheckSpec(
                    name="shouts",
                    version=1,
                    summary="is in capitals",
                    options=(),
                    score="yes/no",
                    build=shouts,
                )
            )

        def pytest_evalcheck_row(row):
            return replace(row, output=row.output.upper())

        def pytest_evalcheck_score(row, metric, score):
            print("SCORED", row.id, metric.name, score.passed)

        def pytest_evalcheck_summary(summary):
            print("SUMMARY", summary.metric("loud").passed)
        """,
    )
    project.suite('datasets: ["rows.jsonl"]\nmetrics: [{name: loud, check: shouts}]\n')
    project.rows(*many(2))
    ran = project.run("-s")
    assert ran.outcomes() == {"passed": 2}
    assert ran.out.count("SCORED row-") == 2
    assert "SUMMARY 2" in ran.out


def test_tags_with_a_colon_are_markers_that_strict_runs_know(project, run_every_way):
    project.suite(
        """
        datasets: [{path: rows.jsonl, tags: ["team:billing"]}]
        metrics: [{name: has_days, check: contains, value: 30 days, tags: ["lang:de"]}]
        """
    )
    project.rows({"id": "a", "output": "30 days", "tags": ["prio:1"]}, {"id": "b", "output": "x"})
    for asked in (
        ("-m", "team:billing and lang:de and prio:1"),
        ("--strict-markers", "-m", "team_billing and lang_de and prio_1"),
    ):
        assert project.run("-W", "error", *asked).outcomes() == {"passed": 1, "deselected": 1}
    for ran in run_every_way("--strict-markers"):
        assert ran.outcomes() == {"passed": 1, "failed": 1}


@pytest.mark.parametrize("way", [(), ("-n2",)], ids=["plain", "workers"])
@pytest.mark.parametrize(
    ("value", "shown"),
    [(r"\ud800", r"\ud800"), (r"\u001b[31m", r"\x1b[31m"), (r"\u0000", r"\x00")],
    ids=["lone surrogate", "terminal escape", "NUL"],
)
def test_a_broken_row_is_quoted_so_that_terminals_and_workers_can_carry_it(
    project, way, value, shown
):
    project.suite()
    project.write("rows.jsonl", f'{{"output": "x", "metadata": "{value}"}}\n')
    ran = project.run(*way)
    assert ran.status == (1 if way else 2)
    assert f"rows.jsonl:1: metadata: '{shown}' is text" in ran.out
    assert "INTERNALERROR" not in ran.out + ran.err
    assert value.encode().decode("unicode_escape") not in ran.out


def test_rows_of_blank_and_unprintable_text_are_told_the_same_in_every_way(project, run_every_way):
    project.suite(
        """
        datasets: [rows.jsonl]
        metrics: [{name: same, check: equals, value: x, case_sensitive: true, gate: "off"}]
        """
    )
    odd = "\ud800\x1b[31m\x00"
    project.rows(
        {"id": "blank", "output": ""},
        {"id": "skip", "output": "x", "skip": odd},
        {"id": "xfail", "output": "y", "xfail": odd},
        {"id": "xpass", "output": "x", "xfail": odd},
        {"id": "odd" + odd, "input": odd, "output": odd, "app_version": odd, "tags": ["t" + odd]},
    )
    ran = run_every_way("-rA", "--evalcheck-by", "app_version")[0]
    assert 'rows.jsonl:1 blank same: found "" / wanted x' in " ".join(ran.summary.split())
    assert ran.outcomes() == {"skipped": 1, "xfailed": 3, "xpassed": 1}
    assert ran.document["results"][0]["found"] == ""
    assert not {"\ud800", "\x1b", "\x00"} & set(ran.out + json.dumps(ran.document))
