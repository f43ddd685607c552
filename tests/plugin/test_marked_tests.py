"""`@pytest.mark.metric` on Python tests, in all its forms, and the fixture `evalcheck`."""

from __future__ import annotations

import pytest

SUITE = """
datasets: ["rows.jsonl"]
metrics:
  - {name: has_days, check: contains, value: 30 days}
  - {name: short, check: length_bounds, max: 20, gate: "off"}
"""


def results(ran):
    return {
        (entry["metric"], entry["row"]): (entry["status"], entry["passed"], entry["value"])
        for entry in ran.document["results"]
    }


def write_test(project, body):
    project.write("test_live.py", "import pytest\n\n" + body)


def test_outcomes_of_plain_tests_count_under_their_metric(project):
    write_test(
        project,
        """@pytest.mark.metric("tone", gate="off")
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_tone(n):
    if n == 2:
        pytest.skip("no tone here")
    if n == 3:
        raise RuntimeError("the service is down")
    assert n != 4
""",
    )
    ran = project.run("-rx", results=True)
    assert ran.outcomes() == {"passed": 1, "skipped": 1, "failed": 1, "xfailed": 1}
    assert results(ran) == {
        ("tone", "test_tone[1]"): ("scored", True, 1.0),
        ("tone", "test_tone[2]"): ("non_evaluable", None, None),
        ("tone", "test_tone[3]"): ("error", None, None),
        ("tone", "test_tone[4]"): ("scored", False, 0.0),
    }
    assert "XFAIL test_live.py::test_tone[4] - not gating: AssertionError" in ran.out


def test_a_bare_marker_counts_under_the_tests_own_name(project):
    write_test(project, "@pytest.mark.metric\ndef test_plain():\n    pass\n")
    assert results(project.run(results=True)) == {
        ("test_plain", "test_plain"): ("scored", True, 1.0)
    }


@pytest.mark.parametrize(
    ("call", "outcome", "wanted"),
    [
        ("evalcheck.score(0.8, reason='good')", {"passed": 1}, ("scored", True, 0.8)),
        ("evalcheck.score(0.2)", {"failed": 1}, ("scored", False, 0.2)),
        ("evalcheck.score(True)", {"passed": 1}, ("scored", True, 1.0)),
        ("evalcheck.non_evaluable('why')", {"skipped": 1}, ("non_evaluable", None, None)),
        ("evalcheck.score(float('nan'))", {"failed": 1}, ("error", None, None)),
        ("evalcheck.score(None)", {"failed": 1}, ("error", None, None)),
        ("evalcheck.score(0.9); assert False", {"failed": 1}, ("scored", False, 0.9)),
        ("evalcheck.score(0.49999)", {"passed": 1}, ("scored", True, 0.49999)),
        ("evalcheck.score(0); evalcheck.score(1)", {"failed": 1}, ("error", None, None)),
        ("evalcheck.score(1, reason=5)", {"failed": 1}, ("error", None, None)),
        ("evalcheck.non_evaluable(None)", {"failed": 1}, ("error", None, None)),
    ],
    ids=[
        *("above", "below", "yes", "no verdict", "NaN", "None", "assertion", "four places"),
        *("two values", "no text", "no words"),
    ],
)
def test_the_fixture_gives_the_metric_a_value_against_its_threshold(project, call, outcome, wanted):
    write_test(
        project,
        f'@pytest.mark.metric("m", threshold=0.5)\ndef test_m(evalcheck):\n    {call}\n',
    )
    ran = project.run(results=True)
    assert ran.outcomes() == outcome
    assert results(ran) == {("m", "test_m"): wanted}


def test_a_test_that_says_no_fails_without_any_threshold(project, run_every_way):
    write_test(
        project,
        """@pytest.mark.metric("m")
def test_no(evalcheck):
    evalcheck.score(1 > 2, reason="too small")

@pytest.mark.metric("m", tags=["team:billing"])
def test_low(evalcheck):
    evalcheck.score(0.0)
""",
    )
    for ran in run_every_way("--strict-markers", "-W", "error"):
        assert ran.outcomes() == {"failed": 1, "passed": 1}
        assert results(ran) == {
            ("m", "test_no"): ("scored", False, 0.0),
            ("m", "test_low"): ("scored", True, 0.0),
        }
    assert "the test says no: too small" in ran.out


def test_an_exception_without_a_text_is_an_error_of_its_test_alone(project):
    write_test(
        project,
        """class Mute(Exception):
    def __str__(self): raise RuntimeError

@pytest.mark.metric("m")
def test_m(): raise Mute
""",
    )
    ran = project.run(results=True)
    assert results(ran) == {("m", "test_m"): ("error", None, None)}
    assert "INTERNALERROR" not in ran.out


def test_a_test_fails_in_its_metric_too_when_what_it_evaluated_fails(project):
    project.suite(SUITE)
    project.rows({"id": "a", "output": "30 days"})
    write_test(
        project,
        """@pytest.mark.metric("m")
def test_m(evalcheck):
    evalcheck.evaluate("never")
""",
    )
    ran = project.run("test_live.py", results=True)
    assert results(ran)["m", "test_m"] == ("scored", False, 1.0)
    assert "failed: has_days" in ran.summary


def test_subtests_keep_their_own_outcomes_under_a_marker_whose_gate_is_off(project):
    project.suite(SUITE)
    project.rows({"id": "a", "output": "30 days"})
    write_test(
        project,
        """@pytest.mark.metric("m", gate="off")
def test_m(evalcheck):
    evalcheck.evaluate("never")
""",
    )
    ran = project.run("test_live.py", "-rA", results=True)
    assert ran.status == 1
    assert results(ran) == {
        ("has_days", "test_m"): ("scored", False, 0.0),
        ("short", "test_m"): ("scored", True, 1.0),
        ("m", "test_m"): ("scored", False, 1.0),
    }
    if hasattr(pytest, "Subtests"):
        assert "SUBFAILED[has_days] test_live.py::test_m" in ran.out
        assert "SUBFAILED[short]" not in ran.out
    assert "XFAIL test_live.py::test_m - not gating: failed: has_days" in ran.out


def test_a_rows_skip_and_tags_hold_for_the_tests_it_is_given_to(project, run_every_way):
    project.rows(
        {"id": "a", "input": "x", "skip": "ticket 12"},
        {"id": "b", "input": "x", "tags": ["vip"]},
    )
    write_test(
        project,
        """@pytest.mark.metric("m", dataset="rows.jsonl")
def test_m(eval_row):
    assert eval_row.id == "b"
""",
    )
    for ran in run_every_way("--strict-markers"):
        assert ran.outcomes() == {"passed": 1, "skipped": 1}
        assert results(ran)["m", "a"] == ("non_evaluable", None, None)
    assert project.run("-m", "vip").outcomes() == {"passed": 1, "deselected": 1}


@pytest.mark.parametrize("second", ['gate="off"', "threshold=0.5"])
def test_two_tests_of_one_metric_cannot_ask_for_different_gates(project, second):
    write_test(
        project,
        f"""@pytest.mark.metric("m")
def test_one(): pass

@pytest.mark.metric("m", {second})
def test_two(): pass
""",
    )
    ran = project.run()
    assert ran.status == 2
    name = second.partition("=")[0]
    assert f"{name}: the metric 'm' has another {name} in test_live.py::test_one" in ran.out


def test_a_dataset_runs_the_test_once_a_row_at_the_rows_line(project):
    project.rows(
        {"id": "a", "input": "x", "expected": "x"},
        {"id": "b", "input": "x", "expected": "y"},
        {"id": "c", "input": "z"},
    )
    write_test(
        project,
        """@pytest.mark.metric("echo", dataset="rows.jsonl", tags=["live"], gate={"pass_rate": 0.5})
def test_echo(eval_row, evalcheck):
    if eval_row.expected is None:
        evalcheck.non_evaluable("nothing expected", code="missing_expected")
    assert eval_row.input == eval_row.expected
""",
    )
    ran = project.run("-m", "live", "-rs", "--strict-markers", results=True)
    assert ran.status == 0
    assert ran.outcomes() == {"passed": 1, "xfailed": 1, "skipped": 1}
    assert "SKIPPED [1] rows.jsonl:3: missing_expected: nothing expected" in ran.out
    lines = {entry["row"]: (entry["dataset"], entry["line"]) for entry in ran.document["results"]}
    assert lines == {"a": ("rows.jsonl", 1), "b": ("rows.jsonl", 2), "c": ("rows.jsonl", 3)}


def test_evaluate_scores_an_output_with_the_whole_suite_and_fails_the_test(project):
    project.suite(SUITE)
    project.rows({"id": "a", "output": "30 days"})
    write_test(
        project,
        """def test_good(evalcheck):
    scores = evalcheck.evaluate("within 30 days", row={"id": "q"})
    assert scores["has_days"].passed

def test_bad(evalcheck):
    evalcheck.evaluate("never, whatever you may say about it")
""",
    )
    ran = project.run("test_live.py", results=True)
    assert ran.status == 1
    assert results(ran) == {
        ("has_days", "q"): ("scored", True, 1.0),
        ("short", "q"): ("scored", True, 1.0),
        ("has_days", "test_bad"): ("scored", False, 0.0),
        ("short", "test_bad"): ("scored", False, 0.0),
    }
    assert "expected" in ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('"m", treshold=1', "no argument treshold=. Did you mean threshold=?"),
        ('"m", dataset="nowhere.jsonl"', "there is no file nowhere.jsonl"),
        ('"m", dataset="rowz.jsonl"', "Did you mean 'rows.jsonl'?"),
        ('"m", gate="evry"', "gate"),
        ('"m", threshold="high"', "expected a number"),
        ('"m", "n"', "positional"),
        ('"a::b"', "name: 'a::b', expected a name of up to 200 characters"),
        ('" "', "name: ' ', expected a name"),
        ('"\\ud800"', "name: '\\ud800', expected a name"),
        ('"m", threshold=float("nan")', "threshold: nan, expected a finite number"),
        ('"m", tags=[5]', "tags: 5, expected a tag"),
        ('"m", tags=["skip"]', "tags: 'skip', expected a tag"),
        ('"m", dataset="rows.jsonl"', "does not take eval_row"),
        ('"m", dataset="../out.jsonl"', "outside the rootdir"),
    ],
)
def test_a_mis_written_marker_is_one_collection_error(project, arguments, said):
    project.rows({"id": "a", "input": "x"})
    takes = "eval_row" if "nowhere" in arguments or "rowz" in arguments or ".." in arguments else ""
    write_test(project, f"@pytest.mark.metric({arguments})\ndef test_m({takes}):\n    pass\n")
    ran = project.run()
    assert ran.status == 2
    assert "test_live.py: test_m: @pytest.mark.metric: " in ran.out
    assert said in ran.out
    assert "Traceback" not in ran.out


def test_a_failing_gate_of_marked_tests_fails_the_run(project):
    write_test(
        project,
        """@pytest.mark.metric("rate", gate={"pass_rate": 0.9})
@pytest.mark.parametrize("n", range(4))
def test_rate(n):
    assert n
""",
    )
    ran = project.run()
    assert ran.outcomes() == {"passed": 3, "xfailed": 1}
    assert ran.status == 1
    assert "0.75 (3 of 4) is below 0.9" in ran.summary
