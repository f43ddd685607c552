"""One metric entry compiled: native, EvalGlass and CompletionKit."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.model import Gate, Row
from pytest_evalcheck.suite.metrics import compile_metric

HERE = Path(__file__).parent


def compiled(entry, **more):
    return compile_metric(entry, base_dir=HERE, **more)


def test_a_native_entry_becomes_a_metric():
    metric = compiled(
        {
            "name": "cites_policy",
            "check": "contains",
            "value": "30 days",
            "gate": {"pass_rate": 0.9},
            "tags": ["policy", "policy", "money"],
            "applies_to": {"kind": ["policy", None]},
        },
        shown="evals/evalcheck.yaml",
        line=4,
    )
    assert (metric.name, metric.kind, metric.source) == ("cites_policy", "check", "contains@1")
    assert metric.gate == Gate(kind="rule", pass_rate=0.9)
    assert metric.tags == ("policy", "money")
    assert metric.applies_to == {"kind": ["policy", None]}
    assert (metric.path, metric.line) == ("evals/evalcheck.yaml", 4)
    assert metric.score(Row(id="r", output="within 30 days")).passed is True


@pytest.mark.parametrize("tag", ["golden", ["golden"]])
def test_one_tag_needs_no_list(tag):
    assert compiled({"check": "valid_json", "tags": tag}).tags == ("golden",)


def test_a_metric_without_a_name_is_called_after_its_check():
    assert compiled({"check": "contains@1", "value": "x"}).name == "contains"


FIELDS = {
    "name": "fields",
    "evaluator_ref": "field_presence@1",
    "lens": "non_reference",
    "score_type": "continuous",
    "score_range": [0, 1],
    "params": {"required_fields": ["a", "b"]},
}


def test_an_evalglass_entry_is_taken_as_its_users_write_it():
    metric = compiled(FIELDS)
    assert (metric.name, metric.kind, metric.source) == ("fields", "check", "field_presence@1")
    assert metric.gate == Gate(kind="each")
    score = metric.score(Row(id="r", output={"a": 1}))
    assert (score.value, score.passed) == (0.5, False)


@pytest.mark.parametrize("status", ["draft", "proposed", "informational", "calibrating", "retired"])
def test_an_evalglass_status_below_gating_never_gates(status):
    metric = compiled({**FIELDS, "metric_status": status, "gate": "each"})
    assert metric.gate == Gate(kind="off", note=f"metric_status: {status} never gates")


def test_an_evalglass_metric_that_gates_does():
    assert compiled({**FIELDS, "metric_status": "gating"}).gate == Gate(kind="each")


def test_an_evalglass_function_is_a_host_evaluator(tmp_path):
    (tmp_path / "evaluators").mkdir()
    (tmp_path / "evaluators" / "answer.py").write_text(
        "def evaluate(row, params): return params['word'] in row.output\n"
    )
    entry = {
        "name": "answer",
        "evaluator_ref": "file:evaluators/answer.py:evaluate",
        "lens": "non_reference",
        "score_type": "binary",
        "params": {"word": "yes"},
    }
    metric = compile_metric(entry, base_dir=tmp_path)
    assert (metric.kind, metric.source) == ("evaluator", "evaluators/answer.py:evaluate")
    assert metric.score(Row(id="r", output="oh yes")).passed is True


def test_an_evalglass_metric_of_one_dataset_applies_to_its_rows_alone(tmp_path):
    metric = compile_metric(
        {**FIELDS, "dataset": "datasets/gold.jsonl"},
        base_dir=tmp_path / "evals",
        rootdir=tmp_path,
    )
    assert metric.applies(Row(id="r", path="evals/datasets/gold.jsonl"))
    assert not metric.applies(Row(id="r", path="evals/datasets/other.jsonl"))


def test_a_completionkit_entry_is_taken_as_its_users_write_it():
    metric = compiled(
        {
            "name": "Cites the policy",
            "metric_type": "check",
            "check_config": {"check_kind": "contains", "value": "30 DAYS"},
            "tag_names": ["policy"],
        }
    )
    assert (metric.name, metric.source, metric.tags) == (
        "Cites the policy",
        "contains@1",
        ("policy",),
    )
    assert metric.score(Row(id="r", output="30 days")).passed is True


FORM = "expected a mapping such as {check: contains, value: text}."
JUDGE = "judge metrics are not part of this version. Use a check, or a function of yours as "
WRONG = {
    "a text": ("contains", [f"a metric given as 'contains', {FORM}"]),
    "nothing": (None, [f"a metric given as null, {FORM}"]),
    "an empty mapping": ({}, [f"a metric without check or evaluator, {FORM}"]),
    "the check as a key": (
        {"name": "x", "contains": "y"},
        [
            f"a metric without check or evaluator, {FORM} Write `check: contains` and its "
            "options beside it.",
        ],
    ),
    "check misspelt": (
        {"chekc": "valid_json"},
        [f"a metric without check or evaluator, {FORM} There is 'chekc'. Did you mean 'check'?"],
    ),
    "check and evaluator": (
        {"check": "valid_json", "evaluator": "x.py:y"},
        ["both check and evaluator, expected one of them. Make two metrics of it."],
    ),
    "a key too many": (
        {"evaluator": "x.py:y", "value": 3},
        [
            "'value' is not a key of a metric with an evaluator, expected one of name, evaluator, "
            "params, gate, threshold, score_range, tags, applies_to, title, description.",
            "evaluator: there is no file 'x.py' beside the suite, expected the path of a Python "
            "file, relative to the suite file.",
        ],
    ),
    "params of a check": (
        {"check": "valid_json", "params": {}},
        ["params: params beside a check, expected evaluator."],
    ),
    "a weight of nothing": (
        {"check": "valid_json", "weight": 0},
        ["weight: weight: 0 cannot fail. Drop the metric, or write `gate: off`."],
    ),
    "a weight": (
        {"check": "valid_json", "weight": 2},
        ["weight: weight has no meaning: every metric has its own gate. Drop `weight`."],
    ),
    "a judge": ({"judge": "default", "instruction": "Kind?"}, [f"judge: {JUDGE}`evaluator`."]),
    "an instruction": (
        {"name": "x", "instruction": "Kind?"},
        [f"instruction: {JUDGE}`evaluator`."],
    ),
    "a judge of CompletionKit": (
        {"name": "x", "metric_type": "llm_judge", "instruction": "Kind?", "rubric_bands": []},
        [f"metric_type: {JUDGE}`evaluator`."],
    ),
    "a name that breaks ids": (
        {"name": "a::b", "check": "valid_json"},
        [
            "name: 'a::b', expected a name of up to 200 characters without '[', ']', '::', line "
            "breaks or outer spaces."
        ],
    ),
    "a tag that pytest obeys": (
        {"check": "valid_json", "tags": ["skip"]},
        [
            "tags: ['skip'], expected a tag or a list of tags: letters, digits and . + : - _, "
            "beginning with a letter or digit, none of them a marker of pytest's own."
        ],
    ),
    "a selector of nothing": (
        {"check": "valid_json", "applies_to": {}},
        [
            "applies_to: {}, expected a mapping of metadata keys (or tag) to a value or a list of "
            "values; null is a row without the key."
        ],
    ),
    "a status EvalGlass knows not": (
        {**FIELDS, "metric_status": "gatin"},
        [
            "metric_status: 'gatin', expected one of draft, proposed, informational, calibrating, "
            "retired, gating. Did you mean 'gating'?"
        ],
    ),
    "lower is better": (
        {**FIELDS, "direction": "lower_is_better"},
        [
            "direction: 'lower_is_better', expected 'higher_is_better'. Turn the score round, or "
            "use a check with `negate`."
        ],
    ),
    "another version": (
        {**FIELDS, "evaluator_ref": "field_presence@99"},
        ["evaluator_ref: 'field_presence@99' is not here, expected field_presence@1."],
    ),
    "CompletionKit without a config": (
        {"name": "x", "metric_type": "check"},
        ["metric_type: check without check_config, expected check_config: {check_kind: ...}."],
    ),
    "a kind CompletionKit knows not": (
        {"name": "x", "metric_type": "chekc", "check_config": {}},
        ["metric_type: 'chekc', expected check. Did you mean 'check'?"],
    ),
}


@pytest.mark.parametrize(("entry", "texts"), WRONG.values(), ids=WRONG)
def test_a_miswritten_entry_is_told_in_full(entry, texts):
    with pytest.raises(ConfigError) as caught:
        compiled(entry)
    assert str(caught.value).split("\n") == texts


def test_all_mistakes_of_an_entry_come_at_once_with_their_place():
    with pytest.raises(ConfigError) as caught:
        compiled(
            {
                "name": "x",
                "check": "contains",
                "valeu": "y",
                "gate": {"pass_rate": 0},
                "tags": 3,
                "weight": 0,
            },
            shown="evals/evalcheck.yaml",
            line=7,
        )
    lines = str(caught.value).split("\n")
    assert all(line.startswith("evals/evalcheck.yaml:7: ") for line in lines)
    assert [line.split(": ")[1] for line in lines][:2] == ["weight", "tags"]
    assert any("'valeu' is not an option of contains" in line for line in lines)
    assert any("Did you mean 'value'?" in line for line in lines)
    assert any("gate.pass_rate: 0 cannot fail" in line for line in lines)


def test_an_invented_check_is_refused_before_anything_runs():  # promptfoo#61
    with pytest.raises(ConfigError, match="'contains-some' is not a check"):
        compiled({"check": "contains-some", "value": ["x"]})


def test_a_schema_file_stays_inside_the_rootdir(tmp_path):
    (tmp_path / "evals").mkdir()
    (tmp_path / "schema.json").write_text("{}")
    entry = {"check": "json_schema", "schema_file": "../schema.json"}
    with pytest.raises(ConfigError, match="leads out of the rootdir"):
        compile_metric(entry, base_dir=tmp_path / "evals")
