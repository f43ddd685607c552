"""The JSON Schema of suites: what it refuses the loader refuses, and every suite here fits it."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path

import pytest

from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.suite import json_schema, load_suite
from pytest_evalcheck.yamlnodes import load_yaml

jsonschema = pytest.importorskip("jsonschema")
REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def validator():
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_schema_is_plain_json():
    schema = json_schema()
    assert json.loads(json.dumps(schema, allow_nan=False)) == schema


def suite_files():
    found = [*REPOSITORY.rglob("evalcheck.yaml"), *REPOSITORY.rglob("*.eval.yaml")]
    return sorted(path for path in found if "tests" not in path.parts)


@pytest.mark.parametrize("path", suite_files(), ids=lambda path: path.parent.name)
def test_every_suite_of_the_repository_fits(validator, path):
    document = load_yaml(path.read_text(encoding="utf-8"), path.name)[0]
    assert [error.message for error in validator.iter_errors(document)] == []


SUITE = {
    "datasets": ["*.jsonl", {"path": "golden.csv", "tags": ["golden"], "delimiter": ";"}],
    "tags": "smoke",
    "metrics": [
        {"name": "policy", "check": "contains", "value": "30 days", "gate": {"pass_rate": 0.9}},
        {"name": "brief", "check": "length_bounds@1", "max": 40, "unit": "words", "gate": "off"},
        {"name": "same", "check": "exact_match", "applies_to": {"kind": ["a", None, 3]}},
        {
            "name": "polite",
            "evaluator": "mine.py:polite",
            "params": {"words": ["please"]},
            "threshold": 0.5,
            "score_range": [0, 1],
            "gate": {"mean": 0.5, "coverage": 0.8, "confidence": 0.9},
        },
        {
            "name": "fields",
            "evaluator_ref": "field_presence@1",
            "lens": "non_reference",
            "score_type": "continuous",
            "score_range": [0, 1],
            "params": {"required_fields": ["a"]},
            "metric_status": "draft",
        },
        {
            "name": "policy of CompletionKit",
            "metric_type": "check",
            "check_config": {"check_kind": "contains", "value": "x"},
            "tag_names": ["policy"],
        },
    ],
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("project")
    (home / "tickets.jsonl").write_text('{"id": "a", "output": "x"}\n', encoding="utf-8")
    (home / "golden.csv").write_text("id;output\nb;x\n", encoding="utf-8")
    (home / "mine.py").write_text("def polite(row, params): return True\n", encoding="utf-8")
    return home


def loads(home, document):
    """Tell whether the loader takes a document; anything but a ConfigError is a fault of ours."""
    path = home / "evalcheck.yaml"
    path.write_text(json.dumps(document), encoding="utf-8")
    try:
        load_suite(path, home)
    except ConfigError:
        return False
    return True


def test_a_suite_of_every_form_is_taken_by_both(validator, home):
    assert [error.message for error in validator.iter_errors(SUITE)] == []
    assert loads(home, SUITE)


WRONG = {
    "an unknown key": {**SUITE, "metrcs": []},
    "no data": {"metrics": SUITE["metrics"]},
    "no metrics in the list": {**SUITE, "metrics": []},
    "a text as metric": {**SUITE, "metrics": ["contains"]},
    "an unknown check": {**SUITE, "metrics": [{"check": "contians", "value": "x"}]},
    "an unknown version": {**SUITE, "metrics": [{"check": "contains@9", "value": "x"}]},
    "an unknown option": {**SUITE, "metrics": [{"check": "valid_json", "value": "x"}]},
    "an option of another kind": {**SUITE, "metrics": [{"check": "contains", "value": ["x"]}]},
    "a flag as text": {
        **SUITE,
        "metrics": [{"check": "contains", "value": "x", "case_sensitive": "yes"}],
    },
    "a missing option": {**SUITE, "metrics": [{"check": "field_presence"}]},
    "a gate that cannot fail": {
        **SUITE,
        "metrics": [{"check": "valid_json", "gate": {"pass_rate": 0}}],
    },
    "a gate against a baseline": {
        **SUITE,
        "metrics": [{"check": "valid_json", "gate": {"regression": True}}],
    },
    "a tag that pytest obeys": {**SUITE, "tags": ["skip"]},
    "an empty selector": {**SUITE, "metrics": [{"check": "valid_json", "applies_to": {}}]},
    "a judge": {**SUITE, "metrics": [{"judge": "default", "instruction": "Kind?"}]},
    "a task": {**SUITE, "task": "app.py:answer"},
    "an unknown format": {**SUITE, "datasets": [{"path": "*.jsonl", "format": "excel"}]},
    "a delimiter of two": {**SUITE, "datasets": [{"path": "*.jsonl", "delimiter": "||"}]},
}


@pytest.mark.parametrize("document", WRONG.values(), ids=WRONG)
def test_what_the_schema_refuses_the_loader_refuses(validator, home, document):
    assert not validator.is_valid(document)
    assert not loads(home, document)


SAMPLES = (None, True, False, 0, 1, -1, 0.5, 9e9, "", "x", "contains", [], ["x"], {}, {"a": 1})


def places(value, path=()):
    """Yield the path of every value below a document."""
    yield path
    below = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if (isinstance(value, list))
        else ()
    )
    for key, one in below:
        yield from places(one, (*path, key))


def mutate(document, chance):
    """Return a document with one value replaced, dropped, doubled or renamed."""
    document = copy.deepcopy(document)
    path = chance.choice([one for one in places(document) if one])
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    key, how = path[-1], chance.choice(["replace", "replace", "drop", "rename", "double"])
    if how == "drop":
        del holder[key]
    elif how == "rename" and isinstance(holder, dict):
        holder[key + "s"] = holder.pop(key)
    elif how == "double" and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    else:
        holder[key] = copy.deepcopy(chance.choice(SAMPLES))
    return document


@pytest.mark.parametrize("seed", range(4))
def test_mutated_suites_are_never_taken_against_the_schema(validator, home, seed):
    chance = random.Random(seed)
    for _ in range(150):
        document = mutate(SUITE, chance)
        if chance.random() < 0.3:
            document = mutate(document, chance)
        if loads(home, document):
            assert [error.message for error in validator.iter_errors(document)] == [], document
