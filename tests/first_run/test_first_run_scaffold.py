"""The files written for a folder: they load, validate, and nothing is ever overwritten."""

from __future__ import annotations

import json
import shutil

import pytest
import yaml

from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.first_run import write_suite
from pytest_evalcheck.first_run.yaml_lines import comment_text, flow_text
from pytest_evalcheck.suite import json_schema, load_suite
from pytest_evalcheck.yamlnodes import load_yaml
from shared_data import shared


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "evals").mkdir()
    return tmp_path / "evals"


def rows(path, *values):
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")


def written(folder):
    """Write the suite; return its text and the suite, having checked both."""
    write_suite(folder, folder.parent)
    text = (folder / "evalcheck.yaml").read_text(encoding="utf-8")
    suite = load_suite(folder / "evalcheck.yaml", folder.parent)
    assert {metric.gate.kind for metric in suite.metrics} == {"off"}
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(json_schema()).validate(yaml.safe_load(text))
    return text, suite


def test_an_absent_folder_is_made_with_its_parents(tmp_path):
    paths = write_suite(tmp_path / "a" / "b", tmp_path)
    assert [path.name for path in paths] == ["evalcheck.yaml", "answers.jsonl"]
    assert len(load_suite(paths[0], tmp_path).metrics) == 3


@pytest.mark.parametrize(
    "name", ["README.md", "evalcheck.schema.json", ".hidden.jsonl", "x.eval.yaml", "notes.txt"]
)
def test_files_that_are_no_datasets_count_as_none(folder, name):
    (folder / name).write_text("no rows here", encoding="utf-8")
    _, suite = written(folder)
    assert [path.name for path in suite.files] == ["answers.jsonl"]
    assert (folder / name).read_text(encoding="utf-8") == "no rows here"


def test_what_fits_several_files_is_written_once_and_the_rest_is_tied_to_its_file(folder):
    rows(folder / "a.jsonl", {"output": "5", "expected": 5})
    rows(folder / "b.jsonl", {"output": 7, "expected": 7})
    rows(folder / "c.jsonl", {"input": "q", "output": {"x": 1}})
    text, suite = written(folder)
    selected = {metric.name: metric.applies_to for metric in suite.metrics}
    assert selected == {
        "right_number": {"tag": ["from_a_jsonl", "from_b_jsonl"]},
        "has_fields": {"tag": "from_c_jsonl"},
    }
    assert "# a.jsonl: each of 1 expected values is a number" in text
    assert "(and as well for 1 more file)" in text


def test_a_remark_that_holds_for_every_file_is_made_once(folder):
    rows(folder / "a.jsonl", {"input": "q", "expected": "x"})
    rows(folder / "b.jsonl", {"input": "r", "expected": "y"})
    text, suite = written(folder)
    assert text.count("no row has a recorded output") == 1
    assert "tags" not in text
    assert len(suite.metrics) == 1


@pytest.mark.parametrize(
    "names",
    [
        ("a-b.jsonl", "a_b.jsonl"),
        ("[x].jsonl", "x.jsonl"),
        ("a*b.jsonl", "aXb.jsonl"),
        ("off.jsonl", "- #.jsonl"),
        ("日本.jsonl", "中国.jsonl"),
        ("UPPER.JSONL", "true.jsonl"),
        ('it\'s: "q".jsonl', "x\x85y.jsonl"),
    ],
)
def test_any_file_name_makes_a_suite_that_loads(folder, names):
    for at, name in enumerate(names):
        rows(folder / name, {"output": "x" * (20 + at)})
    _, suite = written(folder)
    assert {path.name for path in suite.files} == set(names)
    assert len({metric.name for metric in suite.metrics}) == len(suite.metrics) == 2


@pytest.mark.parametrize("name", ["adk", "bfcl", "deepeval", "gsm8k", "humaneval", "inspect"])
def test_every_file_of_a_real_folder_is_in_the_suite_or_left_out_with_a_reason(folder, name):
    shutil.copytree(shared("data", name), folder, dirs_exist_ok=True)
    text, suite = written(folder)
    files = {path.name for path in folder.iterdir() if path.suffix in (".csv", ".json", ".jsonl")}
    left_out = {file for file in files if f"# left out: evals/{file}" in text}
    assert {path.name for path in suite.files} == files - left_out


def test_names_that_rows_use_for_their_own_metrics_are_left_to_them(folder):
    own = {"name": "length", "check": "contains", "value": "x"}
    rows(folder / "a.jsonl", {"output": "x", "metrics": [own]})
    _, suite = written(folder)
    assert [metric.name for metric in suite.metrics] == ["length_from_a_jsonl"]


def test_a_file_that_cannot_be_read_is_named_in_a_comment_whatever_it_holds(folder):
    rows(folder / "a.jsonl", {"output": "x"})
    (folder / "b.jsonl").write_bytes(b'{"output": "x", "ou\\u001b[31m\\nmetrics: 5": }\n')
    (folder / "c.csv").write_bytes(b"a\x00b,\xff\n")
    text, suite = written(folder)
    assert [path.name for path in suite.files] == ["a.jsonl"]
    assert text.count("# left out: ") == 2
    assert "\x1b" not in text


def test_when_no_file_can_be_read_all_are_named_and_nothing_is_written(folder):
    (folder / "a.jsonl").write_text("no\n", encoding="utf-8")
    (folder / "b.csv").write_text("p,q\n1,2\n", encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        write_suite(folder, folder.parent)
    assert "no file here can be read as rows" in str(error.value)
    assert "evals/a.jsonl:1" in str(error.value)
    assert "evals/b.csv" in str(error.value)
    assert {path.name for path in folder.iterdir()} == {"a.jsonl", "b.csv"}


@pytest.mark.parametrize("kind", ["file", "dangling link"])
def test_a_suite_that_is_there_is_never_overwritten(folder, kind):
    target = folder / "evalcheck.yaml"
    if kind == "file":
        target.write_bytes(b"\xff anything")
    else:
        target.symlink_to(folder.parent / "elsewhere.yaml")
    with pytest.raises(ConfigError, match="Add to it with --evalcheck-add-metric"):
        write_suite(folder, folder.parent)
    assert [path.name for path in folder.parent.rglob("*")] == ["evals", "evalcheck.yaml"]


def test_a_file_in_place_of_the_folder_is_said_to_be_one(tmp_path):
    (tmp_path / "evals").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match="this is a file, expected a folder"):
        write_suite(tmp_path / "evals", tmp_path)


def test_a_folder_in_the_way_of_the_sample_ends_with_nothing_written(folder):
    (folder / "answers.jsonl").mkdir()
    with pytest.raises(OSError, match=r"answers\.jsonl"):
        write_suite(folder, folder.parent)
    assert [path.name for path in folder.iterdir()] == ["answers.jsonl"]


@pytest.mark.parametrize(
    "value",
    [
        "off", "Yes", "null", "1e3", "", "a: b", "# x", "*a", "x\x85y\u2028z\x7f\ufeff", "🎈é",
        "a.b", "1.5", "2024-01-01", "\\n\n\t\"'", "{", -0.0, 1e300, 10**30, True, None, [], {},
        {"off": [1, {"a": None}], "1": "x", "": "?"},
    ],
    ids=repr,
)  # fmt: skip
def test_a_value_in_flow_style_reads_back_as_it_was(value):
    text = flow_text({"value": value})
    assert load_yaml(text, "")[0] == {"value": value}
    assert "\n" not in text


def test_a_comment_is_one_bounded_line():
    assert comment_text("a\nb\x1b[0m" + "x" * 1000).startswith("a b")
    assert len(comment_text("x" * 1000)) < 400
    comment = comment_text("a\x85b\x00c\u2028d")
    assert load_yaml(f"# {comment}\nx: 1", "")[0] == {"x": 1}
