"""One metric appended: the bytes around it, the styles of a list, and what is refused."""

from __future__ import annotations

import os
import stat

import pytest

from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.first_run import append_metric
from pytest_evalcheck.suite import load_suite

METRIC = "{name: b, check: contains, value: y}"
WRITTEN = '{name: b, check: contains, value: "y", gate: "off"}'
A = "{name: a, check: contains, value: x}"


@pytest.fixture
def suite(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"output": "x"}\n', encoding="utf-8")

    def write(text, name="evalcheck.yaml"):
        path = tmp_path / name
        path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
        return path

    return write


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            f"datasets: [rows.jsonl]\nmetrics:\n  - {A}\n",
            f"datasets: [rows.jsonl]\nmetrics:\n  - {A}\n  - {WRITTEN}\n",
            id="block",
        ),
        pytest.param(
            f"metrics:\n- {A}   # why\n\n# about the data\ndatasets: [rows.jsonl]\n",
            f"metrics:\n- {A}   # why\n- {WRITTEN}\n\n# about the data\ndatasets: [rows.jsonl]\n",
            id="block in the middle, comments below stay below",
        ),
        pytest.param(
            f"datasets: [rows.jsonl]\nmetrics:\n    -   {A}\n    # one more day\n",
            f"datasets: [rows.jsonl]\nmetrics:\n    -   {A}\n    - {WRITTEN}\n    # one more day\n",
            id="wide indent",
        ),
        pytest.param(
            "datasets: [rows.jsonl]\nmetrics:\n  - name: a\n    check: contains\n    value: |\n"
            "      x\n      # part of the text\n\n",
            "datasets: [rows.jsonl]\nmetrics:\n  - name: a\n    check: contains\n    value: |\n"
            f"      x\n      # part of the text\n  - {WRITTEN}\n\n",
            id="a text that ends like a comment",
        ),
        pytest.param(
            "datasets: [rows.jsonl]\nmetrics:\n  - name: a\n    check: contains\n    value: |+\n"
            "      x\n\n\n",
            "datasets: [rows.jsonl]\nmetrics:\n  - name: a\n    check: contains\n    value: |+\n"
            f"      x\n\n\n  - {WRITTEN}\n",
            id="a text that keeps its blank lines",
        ),
        pytest.param(
            f"datasets: [rows.jsonl]\nmetrics:\n  - {A}\n...\n",
            f"datasets: [rows.jsonl]\nmetrics:\n  - {A}\n  - {WRITTEN}\n...\n",
            id="end of the document marked",
        ),
        pytest.param(
            f"  metrics:\n  - {A}\n  datasets: [rows.jsonl]\n",
            f"  metrics:\n  - {A}\n  - {WRITTEN}\n  datasets: [rows.jsonl]\n",
            id="all indented",
        ),
        pytest.param(
            f"datasets: [rows.jsonl]\nmetrics: [{A}]  # all\n",
            f"datasets: [rows.jsonl]\nmetrics: [{A}, {WRITTEN}]  # all\n",
            id="flow",
        ),
        pytest.param(
            f"datasets: [rows.jsonl]\nmetrics: [\n  {A},  # one, two\n]\n",
            f"datasets: [rows.jsonl]\nmetrics: [\n  {A},  # one, two\n  {WRITTEN},\n]\n",
            id="flow by lines, comma at the end",
        ),
        pytest.param(
            f"datasets: [rows.jsonl]\nmetrics: [\n  {A}  # one\n]\n",
            f"datasets: [rows.jsonl]\nmetrics: [\n  {A},  # one\n  {WRITTEN}\n]\n",
            id="flow by lines, no comma at the end",
        ),
        pytest.param(
            f"datasets: [rows.jsonl]\r\nmetrics:\r\n  - {A}",
            f"datasets: [rows.jsonl]\r\nmetrics:\r\n  - {A}\r\n  - {WRITTEN}\r\n",
            id="CRLF, no last line end",
        ),
        pytest.param(
            f"\ufeffdatasets: [rows.jsonl]\ntitle: élan 🎈\nmetrics:\n  - {A}\n",
            f"\ufeffdatasets: [rows.jsonl]\ntitle: élan 🎈\nmetrics:\n  - {A}\n  - {WRITTEN}\n",
            id="byte order mark",
        ),
    ],
)
def test_an_entry_is_inserted_and_every_other_byte_is_kept(suite, tmp_path, before, after):
    path = suite(before)
    assert append_metric(METRIC, path, tmp_path) == WRITTEN
    assert path.read_bytes().decode("utf-8") == after
    assert load_suite(path, tmp_path).metrics[-1].gate.kind == "off"
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.endswith(".tmp")] == []


def test_a_json_suite_stays_strict_json(suite, tmp_path):
    before = (
        '{\n  "rows": [{"input": "q", "output": "x"}],\n'
        '  "metrics": [\n    {"name": "a", "check": "contains", "value": "x"}\n  ]\n}\n'
    )
    path = suite(before, "s.eval.json")
    append_metric(METRIC, path, tmp_path)
    added = '{"name": "b", "check": "contains", "value": "y", "gate": "off"}'
    assert path.read_text(encoding="utf-8") == before.replace(
        '"x"}\n  ]', f'"x"}},\n    {added}\n  ]'
    )
    assert [metric.name for metric in load_suite(path, tmp_path).metrics] == ["a", "b"]


def test_a_suite_whose_rows_bring_their_metrics_gets_a_list(suite, tmp_path):
    before = f"rows:\n  - {{output: x, metrics: [{A}]}}"
    path = suite(before, "s.eval.yaml")
    append_metric(METRIC, path, tmp_path)
    assert path.read_text(encoding="utf-8") == f"{before}\nmetrics:\n  - {WRITTEN}\n"


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{check: contains, value: x, gate: each}", "a metric is added as informational"),
        ("{check: contains, value: x, gate: {pass_rate: 0.9}}", "gate: a gate"),
        ("{check: contains, value: x, gate: }", "gate: a gate"),
        ("{evaluator_ref: x@1, metric_status: gating}", "metric_status"),
        ("{check: contains, value: x, vlaue: y}", "vlaue"),
        ("{check: contains, value: x, value: y}", "value"),
        ("{name: a, check: contains, value: z}", "a second metric called 'a'"),
        ("[]", "expected a metric such as"),
        ("{}", "expected a metric such as"),
        ("", "expected a metric such as"),
        ("{check: contains, value: [", "cannot be read"),
        ("{check: contains, value: 'a\udcff'}", "not text"),
    ],
)  # fmt: skip
def test_what_is_refused_leaves_the_file_as_it_was(suite, tmp_path, entry, said):
    before = f"datasets: [rows.jsonl]\nmetrics:\n  - {A}\n"
    path = suite(before)
    inode = path.stat().st_ino
    with pytest.raises(ConfigError) as error:
        append_metric(entry, path, tmp_path)
    assert said in str(error.value)
    assert path.read_text(encoding="utf-8") == before
    assert path.stat().st_ino == inode


def test_gate_off_may_be_said_and_changes_nothing(suite, tmp_path):
    path = suite(f"datasets: [rows.jsonl]\nmetrics:\n  - {A}\n")
    assert append_metric(f"{METRIC[:-1]}, gate: off}}", path, tmp_path) == WRITTEN


def test_a_suite_that_is_wrong_already_is_not_made_longer(suite, tmp_path):
    path = suite(f"datasets: [rows.jsonl]\nmetrcis: []\nmetrics:\n  - {A}\n")
    with pytest.raises(ConfigError, match="metrcis"):
        append_metric(METRIC, path, tmp_path)


def test_an_entry_that_is_an_alias_is_followed_by_the_new_one(suite, tmp_path):
    before = f"rows:\n  - output: x\n    metrics:\n      - &one {A}\nmetrics: [*one]\n"
    path = suite(before, "s.eval.yaml")
    append_metric(METRIC, path, tmp_path)
    assert path.read_text(encoding="utf-8") == before.replace("[*one]", f"[*one, {WRITTEN}]")


def test_a_list_that_stands_elsewhere_by_an_alias_is_left_to_a_person(suite, tmp_path):
    before = f"rows:\n  - output: x\n    metrics: &all\n      - {A}\nmetrics: *all\n"
    path = suite(before, "s.eval.yaml")
    with pytest.raises(ConfigError, match="nothing can be appended to safely") as error:
        append_metric(METRIC, path, tmp_path)
    assert f"Add it by hand: {WRITTEN}" in str(error.value)
    assert path.read_text(encoding="utf-8") == before


def test_a_link_stays_a_link_and_the_mode_is_kept(suite, tmp_path):
    real = suite(f"datasets: [rows.jsonl]\nmetrics:\n  - {A}\n", "real.txt")
    real.chmod(0o640)
    link = tmp_path / "evalcheck.yaml"
    link.symlink_to(real)
    append_metric(METRIC, link, tmp_path)
    assert link.is_symlink()
    assert WRITTEN in real.read_text(encoding="utf-8")
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_write_that_fails_halfway_leaves_the_file_as_it_was(suite, tmp_path, monkeypatch):
    before = f"datasets: [rows.jsonl]\nmetrics:\n  - {A}\n"
    path = suite(before)

    def fail(*_paths):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        append_metric(METRIC, path, tmp_path)
    assert path.read_text(encoding="utf-8") == before
    assert {entry.name for entry in tmp_path.iterdir()} == {"evalcheck.yaml", "rows.jsonl"}
