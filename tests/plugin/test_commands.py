"""The options that do one thing and end, over real folders."""

from __future__ import annotations

import json
import re
import shutil

import pytest

from shared_data import shared

SUITE = """\
# our evals
datasets: ["rows.jsonl"]   # recorded answers

metrics:
  # what the policy says
  - {name: days, check: contains, value: "30 days"}
  - name: short
    check: length_bounds
    max: 100   # characters

# the end
"""


def init(project, folder="evals"):
    ran = project.run("--evalcheck-init", folder)
    assert ran.status == 0, ran.out + ran.err
    return (project.path / folder / "evalcheck.yaml").read_text(encoding="utf-8")


def test_an_empty_folder_gets_a_small_suite_that_runs_green(project):
    text = init(project)
    assert text.startswith("# yaml-language-server: $schema=")
    ran = project.run("evals")
    assert ran.status == 0
    assert ran.outcomes()["passed"] >= 2


@pytest.mark.parametrize(
    ("rows", "check", "reason"),
    [
        pytest.param(
            [{"output": f"it is {n}", "expected": n} for n in range(4)],
            "numeric_equals",
            "each of 4 expected values is a number",
            id="numbers",
        ),
        pytest.param(
            [{"output": "spam", "expected": ["spam", "ham"][n % 2]} for n in range(8)],
            "exact_match",
            "8 expected values are 2 labels",
            id="labels",
        ),
        pytest.param(
            [{"output": "a", "expected": ["a", "b"], "id": str(n)} for n in range(3)],
            "any_of",
            "each of 3 expected values is a list",
            id="lists",
        ),
        pytest.param(
            [{"output": f'{{"a": {n}}}', "expected": {"a": n}} for n in range(3)],
            "json_diff",
            "each of 3 expected values is a JSON object",
            id="JSON",
        ),
        pytest.param(
            [
                {"output": f"a long answer about topic {n}, in words", "expected": f"topic {n}"}
                for n in range(3)
            ],
            "contains",
            "the expected texts occur in the outputs; 3 of 3 rows pass",
            id="short texts",
        ),
        pytest.param(
            [{"output": {"a": n, "b": 1}} for n in range(3)],
            "field_presence",
            "these keys are in each of 3 outputs",
            id="objects",
        ),
    ],
)
def test_metrics_are_proposed_for_what_the_columns_hold_and_none_gates(
    project, rows, check, reason
):
    project.rows(*rows, name="evals/rows.jsonl")
    text = init(project)
    assert f"check: {check}" in text
    assert reason in text
    entries = [line for line in text.splitlines() if line.startswith("  - {name")]
    assert entries
    assert all('gate: "off"' in line for line in entries)
    ran = project.run("evals", results=True)
    assert ran.status == 0
    assert {metric["gate"] for metric in ran.document["metrics"]} == {"off"}


def test_misspelt_columns_are_mapped_and_several_files_kept_apart(project):
    project.write("evals/a.csv", "question;outptu;expected\nq;5;5\n")
    project.rows({"id": "b", "output": {"x": 1}}, name="evals/b.jsonl")
    text = init(project)
    assert "columns: {output: outptu}" in text
    ran = project.run("evals")
    assert ran.status == 0
    assert "no row" not in ran.out


def test_a_file_that_cannot_be_read_is_left_out_with_its_reason(project):
    project.rows({"output": "x"}, name="evals/good.jsonl")
    project.write("evals/bad.jsonl", "not json\n")
    assert "# left out: evals/bad.jsonl:1:" in init(project)
    assert project.run("evals").status == 0


def test_nothing_is_ever_overwritten(project):
    project.suite(name="evals/evalcheck.yaml")
    before = (project.path / "evals/evalcheck.yaml").read_bytes()
    ran = project.run("--evalcheck-init", "evals")
    assert ran.status == 4
    assert "there is a suite already" in ran.out + ran.err
    assert (project.path / "evals/evalcheck.yaml").read_bytes() == before


@pytest.mark.parametrize(
    "file", ["inspect/samples.jsonl", "deepeval/goldens.csv", "gsm8k/model_solutions.sample.jsonl"]
)
def test_a_suite_written_for_a_real_file_runs(project, file):
    source = shared("data", *file.split("/"))
    (project.path / "evals").mkdir()
    shutil.copy(source, project.path / "evals")
    init(project)
    ran = project.run("evals")
    assert ran.status == 0
    assert "Traceback" not in ran.out


def test_a_metric_is_appended_as_informational_and_every_other_byte_kept(project):
    path = project.write("evalcheck.yaml", SUITE)
    project.rows({"id": "a", "output": "30 days"})
    ran = project.run("--evalcheck-add-metric", "{name: polite, check: contains, value: please}")
    assert ran.status == 0
    after = path.read_text(encoding="utf-8")
    added = '  - {name: polite, check: contains, value: please, gate: "off"}\n'
    assert after == SUITE.replace("   # characters\n", f"   # characters\n{added}")
    assert project.run().outcomes() == {"passed": 2, "xfailed": 1}


@pytest.mark.parametrize(
    "suite",
    [
        'metrics: [{name: a, check: contains, value: x}]\ndatasets: ["rows.jsonl"]\n',
        'datasets: ["rows.jsonl"]\nmetrics: [\n  {name: a, check: contains, value: x},  # one\n]\n',
        'datasets: ["rows.jsonl"]\nmetrics:\n- {name: a, check: contains, value: x}',
        'datasets: ["rows.jsonl"]\r\nmetrics:\r\n- {name: a, check: contains, value: x}\r\n',
    ],
    ids=["flow", "flow with a comma and comment", "no last line end", "CRLF"],
)
def test_every_style_of_list_takes_another_metric(project, suite):
    path = project.write("evalcheck.yaml", suite.encode())
    project.rows({"id": "a", "output": "x"})
    ran = project.run("--evalcheck-add-metric", '{"name": "b", "check": "contains", "value": "y"}')
    assert ran.status == 0, ran.out + ran.err
    after = path.read_bytes().decode()
    without = re.sub(r"(- |, )?\{name: b, .*?\},?", "", after)
    assert "".join(without.split()) == "".join(suite.split())
    assert after.count("\r\n") in (0, after.count("\n"))
    assert project.run().outcomes() == {"passed": 1, "xfailed": 1}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{check: contains, value: x, gate: each}", "a metric is added as informational"),
        ("{check: contians, value: x}", "contains"),
        ("{name: days, check: contains, value: x}", "days"),
        ("just text", "expected a metric"),
        ("{check: [", "--evalcheck-add-metric"),
    ],
)
def test_what_cannot_be_added_leaves_the_file_as_it_was(project, text, said):
    path = project.write("evalcheck.yaml", SUITE)
    project.rows({"id": "a", "output": "30 days"})
    ran = project.run("--evalcheck-add-metric", text)
    assert ran.status == 4
    assert said in ran.out + ran.err
    assert "Traceback" not in ran.out + ran.err
    assert path.read_text(encoding="utf-8") == SUITE
    assert {entry.name for entry in project.path.iterdir() if entry.suffix == ".tmp"} == set()


def test_the_schema_is_printed_alone_and_accepts_what_init_writes(project):
    jsonschema = pytest.importorskip("jsonschema")
    yaml = pytest.importorskip("yaml")
    ran = project.run("--evalcheck-schema")
    assert ran.status == 0
    schema = json.loads(ran.out)
    suite = yaml.safe_load(init(project))
    jsonschema.Draft202012Validator(schema).validate(suite)
    broken = {**suite, "metrcis": []}
    assert not jsonschema.Draft202012Validator(schema).is_valid(broken)


COMMANDS = (
    ("--evalcheck-schema",),
    ("--evalcheck-init", "new"),
    ("--evalcheck-add-metric", "{name: b, check: contains, value: x}"),
)


@pytest.mark.parametrize("way", [("-n2",), ("-v", "-x", "--collect-only")], ids=" ".join)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_command_ends_without_collecting_whatever_else_is_asked_for(project, command, way):
    project.write("evalcheck.yaml", SUITE)
    project.rows({"id": "a", "output": "30 days"})
    project.write("test_broken.py", "raise RuntimeError('collected')\n")
    ran = project.run(*way, *command)
    assert ran.status == 0
    assert "collected" not in ran.out + ran.err
    assert " in 0." not in ran.out
    assert not (project.path / ".pytest_cache").exists()


def test_the_schema_is_all_that_is_printed(project):
    ran = project.run("-v", "--evalcheck-schema")
    assert ran.err == ""
    assert json.loads(ran.out)["$schema"].startswith("https://json-schema.org/")


def test_two_commands_at_once_are_refused_and_nothing_is_done(project):
    ran = project.run("--evalcheck-init", "evals", "--evalcheck-schema")
    assert ran.status == 4
    assert "--evalcheck-schema and --evalcheck-init: give one of them at a time" in ran.err
    assert ran.out == ""
    assert not (project.path / "evals").exists()


@pytest.mark.parametrize("folder", ["", " "])
def test_an_empty_name_is_no_folder(project, folder):
    ran = project.run("--evalcheck-init", folder)
    assert ran.status == 4
    assert "no folder is named" in ran.err
    assert not (project.path / "evalcheck.yaml").exists()


def test_a_metric_goes_to_the_suite_that_is_named_or_nearest(project):
    one = project.suite(name="one/evalcheck.yaml")
    two = project.suite(name="two/evalcheck.yaml")
    alone = project.write(
        "alone.eval.yaml", "rows: [{input: q, output: x}]\nmetrics: [{check: valid_json}]\n"
    )
    for folder in ("one", "two"):
        project.rows({"id": "a", "output": "x"}, name=f"{folder}/rows.jsonl")

    def add(name, *arguments):
        metric = f"{{name: {name}, check: contains, value: x}}"
        ran = project.run("--evalcheck-add-metric", metric, *arguments)
        assert ran.status == 0, ran.out + ran.err

    add("by_folder", "one")
    add("by_file", "one/rows.jsonl")
    add("by_item", "one/rows.jsonl::a::has_days")
    add("by_option", "--evalcheck-config", "two/evalcheck.yaml")
    add("by_suite", "alone.eval.yaml")
    project.write("pytest.ini", "[pytest]\nevalcheck_config = two/evalcheck.yaml\n")
    add("by_ini")
    assert re.findall(r"by_\w+", one.read_text()) == ["by_folder", "by_file", "by_item"]
    assert re.findall(r"by_\w+", two.read_text()) == ["by_option", "by_ini"]
    assert re.findall(r"by_\w+", alone.read_text()) == ["by_suite"]
    project.write("pytest.ini", "[pytest]\ntestpaths = two\n")
    add("by_testpaths")
    assert "by_testpaths" in two.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["one", "two"], "2 suites are meant: one/evalcheck.yaml, two/evalcheck.yaml"),
        ([], "no suites are meant"),
        (["three"], "three"),
        (["--evalcheck-config", "three.yaml"], "there is no such file"),
    ],
)
def test_a_metric_without_a_home_is_refused(project, arguments, said):
    paths = [project.suite(name=f"{name}/evalcheck.yaml") for name in ("one", "two")]
    before = [path.read_bytes() for path in paths]
    ran = project.run("--evalcheck-add-metric", "{check: contains, value: x}", *arguments)
    assert ran.status == 4
    assert said in ran.out + ran.err
    assert [path.read_bytes() for path in paths] == before


def test_checks_of_a_conftest_are_in_the_schema_and_may_be_added(project):
    project.write(
        "conftest.py",
        """
        from pytest_evalcheck.checks.registry import CHECKS, CheckSpec

        spec = CHECKS["valid_json"]

        def pytest_evalcheck_register(registry):
            registry.add(CheckSpec(name="ours", version=1, summary="ours", options=(),
                                   score="yes/no", build=spec.build))
        """,
    )
    project.write("evalcheck.yaml", SUITE)
    project.rows({"id": "a", "output": "30 days"})
    from pytest_evalcheck.checks import CHECKS

    try:
        assert "ours@1" in project.run("--evalcheck-schema").out
        assert project.run("--evalcheck-add-metric", "{check: ours}").status == 0
    finally:
        CHECKS.pop("ours", None)


def test_a_console_of_few_characters_is_enough(project, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("PYTHONUTF8", "0")
    project.rows({"id": "a", "output": "x"}, name="prüfung/zeilen.jsonl")
    ran = project.pytester.runpytest_subprocess("--evalcheck-init", "prüfung")
    assert ran.ret == 0
    assert "wrote pr\\xfcfung/evalcheck.yaml" in ran.stdout.str()
