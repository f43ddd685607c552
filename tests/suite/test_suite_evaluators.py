"""Host evaluators: a user's function as a metric."""

from __future__ import annotations

import os
import re
import sys
import textwrap

import pytest

from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.model import Row, Score
from pytest_evalcheck.suite.metrics import compile_metric

ROW = Row(id="r", output="thank you", expected="thanks", metadata={"kind": "letter"})


@pytest.fixture
def metric(tmp_path):
    """Return a function that writes an evaluator's file and compiles a metric with it."""

    def make(body, *, name="judge", **entry):
        (tmp_path / "mine.py").write_text(textwrap.dedent(body), encoding="utf-8")
        return compile_metric(
            {"evaluator": f"mine.py:{name}", **entry}, base_dir=tmp_path, rootdir=tmp_path
        )

    yield make
    for module in [name for name in sys.modules if name.startswith("evalcheck_host_")]:
        del sys.modules[module]


def answering(answer):
    """Return the text of an evaluator that returns an expression."""
    return f"from pytest_evalcheck import Score\ndef judge(row, params):\n    return {answer}\n"


SCORES = {
    "true": ("True", {}, ("scored", 1.0, True, None)),
    "false": ("False", {}, ("scored", 0.0, False, None)),
    "a number at the threshold": ("0.8", {"threshold": 0.8}, ("scored", 0.8, True, None)),
    "a number below it": ("0.79", {"threshold": 0.8}, ("scored", 0.79, False, None)),
    "compared after four places": (
        "0.79999",
        {"threshold": 0.8},
        ("scored", 0.79999, True, None),
    ),
    "a share needs 1.0 where nothing is said": ("0.8", {}, ("scored", 0.8, False, None)),
    "a whole share passes": ("1", {}, ("scored", 1.0, True, None)),
    "the top of a range is the threshold": (
        "5",
        {"score_range": [1, 5]},
        ("scored", 5.0, True, None),
    ),
    "a number of unknown scale": ("80", {}, ("error", None, None, None)),
    "a number that is none": ("float('nan')", {}, ("blocked", None, None, "score_out_of_range")),
    "an endless number": (
        "float('inf')",
        {"threshold": 3},
        ("blocked", None, None, "score_out_of_range"),
    ),
    "a whole number beyond any float": (
        "10 ** 400",
        {"threshold": 3},
        ("blocked", None, None, "score_out_of_range"),
    ),
    "beyond its range (UiPath/uipath-python#1819)": (
        "98989",
        {"score_range": [0, 100]},
        ("blocked", None, None, "score_out_of_range"),
    ),
    "a score": (
        "Score('scored', value=0.25, passed=True, reason='fine')",
        {},
        ("scored", 0.25, True, None),
    ),
    "a score beyond its range": (
        "Score('scored', value=7, passed=True)",
        {"score_range": [0, 1]},
        ("blocked", None, None, "score_out_of_range"),
    ),
    "a score without a verdict": (
        "Score('non_evaluable', reason='no sender', code='not_applicable')",
        {},
        ("non_evaluable", None, None, "not_applicable"),
    ),
    "a mapping with a score": (
        "{'score': 4}",
        {"threshold": 4, "score_range": [1, 5]},
        ("scored", 4.0, True, None),
    ),
    "a mapping with a value": ("{'value': 1.0}", {}, ("scored", 1.0, True, None)),
    "a mapping with a verdict": ("{'passed': False}", {}, ("scored", 0.0, False, None)),
    "a verdict beside a score": (
        "{'score': 0.3, 'passed': True}",
        {},
        ("scored", 0.3, True, None),
    ),
    "the threshold outranks the verdict (promptfoo#2998)": (
        "{'score': 0.75, 'passed': False}",
        {"threshold": 0.5},
        ("scored", 0.75, True, None),
    ),
    "a mapping without a verdict": (
        "{'status': 'non_evaluable', 'reason': 'nothing to see'}",
        {},
        ("non_evaluable", None, None, "not_applicable"),
    ),
    "a blocked mapping": (
        "{'status': 'blocked', 'code': 'timeout'}",
        {},
        ("blocked", None, None, "timeout"),
    ),
    "a fraction": ("__import__('fractions').Fraction(1, 1)", {}, ("scored", 1.0, True, None)),
}


@pytest.mark.parametrize(("answer", "entry", "want"), SCORES.values(), ids=SCORES)
def test_an_answer_means_one_score(metric, answer, entry, want):
    score = metric(answering(answer), **entry).score(ROW)
    assert (score.status, score.value, score.passed, score.code) == want


WRONG_ANSWERS = {
    "None": ("None", "returned None"),
    "a text": ("'yes'", "returned 'yes' (str)"),
    "a list": ("[1]", "returned [1] (list)"),
    "an empty mapping (ClawBench#295)": ("{}", "returned neither score nor passed"),
    "a reason alone": ("{'reason': 'forgot'}", "returned neither score nor passed"),
    "a verdict as text (maka#4736)": (
        "{'passed': 'false'}",
        "returned passed: 'false', which is neither true nor false",
    ),
    "a score as text": ("{'score': '4'}", "returned the score '4', which is no number"),
    "a misspelt key": ("{'pased': True}", "returned the key 'pased'. Did you mean 'passed'?"),
    "an unknown status": (
        "{'status': 'ok'}",
        "returned the status 'ok', which is none of scored, non_evaluable, blocked, error",
    ),
    "an unknown code": ("{'passed': True, 'code': 'fine'}", "returned the code 'fine', which is"),
    "both names": ("{'score': 1, 'value': 1}", "returned both score and value"),
    "a verdict that is none": (
        "{'status': 'error', 'passed': True}",
        "returned a score or verdict beside the status error",
    ),
    "blocked by what": ("{'status': 'blocked'}", "returned the status blocked without a code"),
}


@pytest.mark.parametrize(("answer", "said"), WRONG_ANSWERS.values(), ids=WRONG_ANSWERS)
def test_an_answer_that_means_no_score_is_an_error_that_says_what_may_be_returned(
    metric, answer, said
):
    score = metric(answering(answer)).score(ROW)
    assert score.status == "error"
    assert said in score.reason
    assert "it may return a Score, true or false, a number, or a mapping" in score.reason


def test_a_conflict_between_score_and_verdict_is_shown(metric):
    score = metric(answering("{'score': 0.75, 'passed': False}"), threshold=0.5).score(ROW)
    assert score.reason == "0.75 reaches the threshold 0.5 (the evaluator says passed: false)"


def test_a_raising_evaluator_is_an_error_with_the_users_frames_only(metric):
    score = metric(
        """
        def judge(row, params):
            return deeper(row)

        def deeper(row):
            raise ValueError("no sender")
        """
    ).score(ROW)
    assert score.status == "error"
    assert score.reason == "judge raised ValueError: no sender (mine.py:6)"
    traceback = score.details["traceback"]
    assert traceback.startswith("Traceback (most recent call last):")
    assert traceback.endswith("ValueError: no sender")
    assert "mine.py" in traceback
    assert "evaluators.py" not in traceback


def test_an_evaluator_that_exits_does_not_end_the_run(metric):
    score = metric("def judge(row):\n    raise SystemExit(3)\n").score(ROW)
    assert score.reason == "judge raised SystemExit: 3 (mine.py:2)"


SIGNATURES = {
    "row and params": "def judge(row, params): return row.output == params['want']",
    "the row as a mapping": "def judge(row): return row['output'] == 'thank you'",
    "metadata of the row": "def judge(row): return row['kind'] == 'letter'",
    "other names by position": "def judge(r, p): return r.output == p['want']",
    "fields by name": "def judge(output, expected): return (output, expected) == "
    "('thank you', 'thanks')",
    "keywords only": "def judge(*, output, params): return output == params['want']",
    "extra defaults": "def judge(row, strict=True): return strict",
    "anything": "def judge(*args, **more): return (args, more) == ((), {})",
    "metadata": "def judge(metadata): return metadata == {'kind': 'letter'}",
}


@pytest.mark.parametrize("body", SIGNATURES.values(), ids=SIGNATURES)
def test_a_function_is_given_what_its_signature_names(metric, body):
    score = metric(body + "\n", params={"want": "thank you"}).score(ROW)
    assert (score.status, score.passed) == ("scored", True), score.reason


def test_what_an_evaluator_changes_stays_with_it(metric):
    compiled = metric(
        """
        def judge(row, params):
            params["seen"].append(row.output["n"])
            row.output["n"] += 1
            return len(params["seen"]) == 1
        """,
        params={"seen": []},
    )
    row = Row(id="r", output={"n": 1})
    assert [compiled.score(row).passed for _ in range(2)] == [True, True]
    assert row.output == {"n": 1}


def test_a_row_nested_too_deep_is_an_error_of_that_row(metric):
    deep = []
    for _ in range(10_000):
        deep = [deep]
    score = metric("def judge(row): return True\n").score(Row(id="r", output=deep))
    assert (score.status, score.reason) == (
        "error",
        "the row is nested too deep for a host evaluator",
    )


def test_an_answer_that_cannot_be_looked_at_is_an_error_of_that_row(metric):
    body = """
        class Odd(dict):
            def get(self, *args):
                raise KeyError("no")

        def judge(row):
            return Odd(score=1)
        """
    assert metric(body).score(ROW).reason == "judge raised KeyError: 'no' (mine.py:4)"


def test_one_raising_row_leaves_the_next_alone(metric):
    compiled = metric("def judge(row): return 1 / row['n'] > 0\n")  # deepeval#915
    rows = [Row(id=str(n), output="x", metadata={"n": n}) for n in (1, 0, 2)]
    assert [compiled.score(row).status for row in rows] == ["scored", "error", "scored"]


MISSING = {
    "no output": ("def judge(row): return True", Row(id="r"), "missing_output"),
    "no output asked for by name": (
        "def judge(output): return True",
        Row(id="r", transcript=[{}]),
        "missing_output",
    ),
    "no expected value": (
        "def judge(output, expected): return True",
        Row(id="r", output="x"),
        "missing_expected",
    ),
}


@pytest.mark.parametrize(("body", "row", "code"), MISSING.values(), ids=MISSING)
def test_missing_evidence_is_no_verdict(metric, body, row, code):
    score = metric(body + "\n").score(row)
    assert (score.status, score.code) == ("non_evaluable", code)


def test_a_default_says_that_a_gap_is_the_functions_business(metric):
    compiled = metric("def judge(output=None, expected=None): return output is None\n")
    assert compiled.score(Row(id="r")).passed is True


def test_a_recorded_conversation_is_evidence_enough(metric):
    compiled = metric("def judge(row): return bool(row.transcript)\n")
    assert compiled.score(Row(id="r", transcript=[{"role": "user"}])).passed is True


def test_the_suites_folder_can_be_imported_from_while_the_file_is_imported(metric, tmp_path):
    (tmp_path / "words_of_mine.py").write_text("WANTED = 'thank'\n", encoding="utf-8")
    before = list(sys.path)
    compiled = metric(
        "from words_of_mine import WANTED\ndef judge(row): return WANTED in row.output\n"
    )
    assert compiled.score(ROW).passed is True
    assert sys.path == before
    del sys.modules["words_of_mine"]


def test_a_file_is_imported_once_for_all_its_metrics(tmp_path):
    (tmp_path / "once.py").write_text(
        "import pathlib\n"
        "with open(pathlib.Path(__file__).parent / 'log', 'a') as log: log.write('.')\n"
        "def a(row): return True\n"
        "def b(row): return True\n",
        encoding="utf-8",
    )
    for name in "ab":
        compile_metric({"evaluator": f"once.py:{name}"}, base_dir=tmp_path)
    assert (tmp_path / "log").read_text() == "."


def test_a_module_in_a_package_is_found_by_its_dotted_name(tmp_path):
    package = tmp_path / "own_package_of_test"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "tone.py").write_text("def calm(row): return '!' not in row.output\n")
    compiled = compile_metric({"evaluator": "own_package_of_test.tone:calm"}, base_dir=tmp_path)
    assert (compiled.name, compiled.kind, compiled.source) == (
        "calm",
        "evaluator",
        "own_package_of_test.tone:calm",
    )
    assert compiled.score(ROW).passed is True


def test_a_module_of_another_suite_is_never_taken_for_the_one_beside_this(tmp_path):
    for folder, answer in (("one", "True"), ("two", "False")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "own_namesake.py").write_text(f"def judge(row): return {answer}\n")
    entry = {"evaluator": "own_namesake:judge"}
    assert compile_metric(entry, base_dir=tmp_path / "one").score(ROW).passed is True
    with pytest.raises(ConfigError) as caught:
        compile_metric(entry, base_dir=tmp_path / "two")
    assert str(caught.value) == (
        "evaluator: the module 'own_namesake' is another file's: 'own_namesake.py' of 'one', "
        "expected the file beside the suite. Write 'own_namesake.py:…', which no other file can "
        "displace."
    )
    by_file = {"evaluator": "own_namesake.py:judge"}
    assert compile_metric(by_file, base_dir=tmp_path / "two").score(ROW).passed is False


REFERENCES = {
    "no function": ("mine.py", "'mine.py' does not name a function"),
    "no such file": ("nime.py:judge", "there is no file 'nime.py' beside the suite"),
    "near file": ("nime.py:judge", "Did you mean 'mine.py'?"),
    "no such function": ("mine.py:jugde", "'mine.py' has no function 'jugde'"),
    "near function": ("mine.py:jugde", "Did you mean 'judge'?"),
    "no function at all": ("mine.py:LIMIT", "'LIMIT' of 'mine.py' is 3, expected a function"),
    "async": ("mine.py:later", "'later' of 'mine.py' is an async function"),
    "a generator": ("mine.py:many", "'many' of 'mine.py' is a generator"),
    "demands more": (
        "mine.py:demanding",
        "'mine.py:demanding' demands 'evidence', which cannot be given",
    ),
    "out of the rootdir": ("../out.py:judge", "'../out.py' leads out of the rootdir"),
    "backslashes": ("sub\\mine.py:judge", "Write 'sub/mine.py'."),
    "no such module": ("no_such_package_here.x:judge", "there is no module 'no_such_package_here'"),
    "broken": (
        "broken.py:judge",
        "importing 'broken.py' raised NameError: name 'x' is not defined",
    ),
    "broken line": ("broken.py:judge", "(broken.py:2)"),
    "broken syntax": ("syntax.py:judge", "(syntax.py:1)"),
}


@pytest.mark.parametrize(("reference", "said"), REFERENCES.values(), ids=REFERENCES)
def test_a_function_that_cannot_be_used_is_told_when_the_suite_is_read(tmp_path, reference, said):
    home = tmp_path / "evals"
    home.mkdir()
    (home / "mine.py").write_text(
        "LIMIT = 3\n"
        "def judge(row): return True\n"
        "async def later(row): return True\n"
        "def many(row): yield True\n"
        "def demanding(row, params, evidence): return True\n",
        encoding="utf-8",
    )
    (home / "broken.py").write_text("\nx\n", encoding="utf-8")
    (home / "syntax.py").write_text("def judge(:\n", encoding="utf-8")
    (tmp_path / "out.py").write_text("def judge(row): return True\n", encoding="utf-8")
    entry = {"evaluator": reference}
    with pytest.raises(ConfigError) as caught:
        compile_metric(entry, base_dir=home, shown="evalcheck.yaml", line=3)
    assert said in str(caught.value)
    assert str(caught.value).startswith("evalcheck.yaml:3: evaluator: ")


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_a_link_out_of_the_rootdir_is_not_followed(tmp_path):
    home = tmp_path / "evals"
    home.mkdir()
    (tmp_path / "out.py").write_text("def judge(row): return True\n", encoding="utf-8")
    (home / "in.py").symlink_to(tmp_path / "out.py")
    with pytest.raises(ConfigError, match="leads out of the rootdir"):
        compile_metric({"evaluator": "in.py:judge"}, base_dir=home)


STOPS = {
    "a stop of its own kind": ("raise Stop('now')", "judge raised Stop: now (mine.py:8)"),
    "a generator's end": ("raise GeneratorExit", "judge raised GeneratorExit: (mine.py:8)"),
    "a test's skip": ("raise pytest.skip.Exception('no')", "judge raised Skipped: no (mine.py:8)"),
    "no text": ("raise Mute", "judge raised Mute: (its text cannot be had) (mine.py:8)"),
}


@pytest.mark.parametrize(("line", "said"), STOPS.values(), ids=STOPS)
def test_whatever_a_function_raises_is_an_error_of_its_row_alone(metric, line, said):
    score = metric(
        "import pytest\n"
        "class Stop(BaseException): pass\n"
        "class Mute(Exception):\n"
        "    def __str__(self): raise RuntimeError\n"
        "\n"
        "\n"
        "def judge(row):\n"
        f"    {line}\n"
    ).score(ROW)
    assert score.status == "error"
    assert score.reason == said


def test_an_object_is_shown_without_its_address_which_differs_between_processes(metric):
    body = "class Thing: pass\ndef judge(row):\n    return Thing()\n"
    assert re.match(r"judge returned <\S*Thing object> \(Thing\);", metric(body).score(ROW).reason)


def test_ctrl_c_in_a_function_still_ends_the_run(metric):
    with pytest.raises(KeyboardInterrupt):
        metric("def judge(row):\n    raise KeyboardInterrupt\n").score(ROW)


THRESHOLDS = {
    "cannot fail": ({"threshold": 1, "score_range": [1, 5]}, "threshold: 1 cannot fail"),
    "cannot pass": ({"threshold": 6, "score_range": [1, 5]}, "threshold: 6 can never be reached"),
    "not a number": ({"threshold": "high"}, "threshold: 'high', expected a finite number"),
    "a range turned round": ({"score_range": [5, 1]}, "score_range: [5, 1], expected [lowest,"),
}


@pytest.mark.parametrize(("entry", "said"), THRESHOLDS.values(), ids=THRESHOLDS)
def test_a_scale_that_decides_nothing_is_refused(metric, entry, said):
    with pytest.raises(ConfigError) as caught:
        metric(answering("1"), **entry)
    assert said in str(caught.value)


def test_a_score_given_by_the_function_is_taken_as_it_is(metric):
    given = Score("scored", value=0.5, passed=False, reason="half", details={"found": "x"})
    body = answering(
        "Score('scored', value=0.5, passed=False, reason='half', details={'found': 'x'})"
    )
    assert metric(body).score(ROW) == given
