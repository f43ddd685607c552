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
