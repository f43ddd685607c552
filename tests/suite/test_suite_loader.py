"""Suite files: everything right is read, everything wrong is told at once with its line."""

from __future__ import annotations

import json
import textwrap

import pytest

from pytest_evalcheck.errors import ConfigError
from pytest_evalcheck.suite import load_suite


@pytest.fixture
def home(tmp_path):
    """Return a folder of datasets below a rootdir."""
    evals = tmp_path / "evals"
    (evals / "golden").mkdir(parents=True)
    (evals / "tickets.jsonl").write_text('{"input": "a", "output": "b"}\n', encoding="utf-8")
    (evals / "golden" / "a.csv").write_text("question,answer\nq,a\n", encoding="utf-8")
    (evals / "golden" / "b.csv").write_text("question,answer\nq,a\n", encoding="utf-8")
    return evals


def load(home, text, name="evalcheck.yaml"):
    path = home / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return load_suite(path, home.parent)


def problems(home, text, name="evalcheck.yaml"):
    with pytest.raises(ConfigError) as caught:
        load(home, text, name)
    return str(caught.value).split("\n")


SUITE = """\
    # a comment
    datasets:
      - "*.jsonl"
      - {path: "golden/*.csv", tags: [golden], columns: {input: question, expected: answer}}
    tags: smoke
    metrics:
      - {name: polite, check: not_contains, value: stupid}
      - name: long enough
        check: length_bounds
        min: 1
        gate: off
    """


def test_a_suite_is_read_with_its_datasets_and_metrics(home):
    suite = load(home, SUITE)
    assert (suite.name, suite.path, suite.rootdir) == (
        "evals/evalcheck.yaml",
        home / "evalcheck.yaml",
        home.parent,
    )
    assert [(one.pattern, one.tags, one.line) for one in suite.datasets] == [
        ("*.jsonl", (), 3),
        ("golden/*.csv", ("golden",), 4),
    ]
    assert [(one.name, one.line, one.path) for one in suite.metrics] == [
        ("polite", 7, "evals/evalcheck.yaml"),
        ("long enough", 8, "evals/evalcheck.yaml"),
    ]
    assert [one.gate.kind for one in suite.metrics] == ["each", "off"]
    assert suite.tags == ("smoke",)
    assert suite.inline_rows is None
    real = home.resolve()
    assert suite.listed_files() == [
        real / "tickets.jsonl",
        real / "golden" / "a.csv",
        real / "golden" / "b.csv",
    ]


def test_the_first_entry_that_matches_says_how_a_file_is_read(home):
    suite = load(home, SUITE)
    ref = suite.options_for(home / "golden" / "a.csv")
    assert ref is suite.datasets[1]
    assert ref.options.columns == {"input": "question", "expected": "answer"}
    assert suite.options_for(home / "golden" / "c.csv") is None
    assert suite.options_for(home / "evalcheck.yaml") is None


@pytest.mark.parametrize("datasets", ['"*.jsonl"', "{path: tickets.jsonl}"])
def test_one_dataset_needs_no_list(home, datasets):
    suite = load(home, f"datasets: {datasets}\nmetrics: [{{check: valid_json}}]\n")
    assert suite.listed_files() == [home.resolve() / "tickets.jsonl"]


INLINE = """\
    metrics:
      - {check: contains, value: policy}
    rows:
      - {id: one, input: q, output: our policy}
      - {id: two, input: q, output: nothing}
    """


@pytest.mark.parametrize("name", ["smoke.eval.yaml", "smoke.eval.yml"])
def test_a_self_contained_suite_holds_its_rows(home, name):
    suite = load(home, INLINE, name)
    assert [(row.id, row.line, row.path) for row in suite.inline_rows] == [
        ("one", 4, f"evals/{name}"),
        ("two", 5, f"evals/{name}"),
    ]


def test_a_json_suite_has_lines_too(home):
    document = {
        "metrics": [{"check": "contains", "value": "policy"}],
        "rows": [{"id": "one", "output": "our policy"}],
    }
    suite = load(home, json.dumps(document, indent=2), "smoke.eval.json")
    assert [metric.line for metric in suite.metrics] == [3]
    assert [row.line for row in suite.inline_rows] == [9]


def test_rows_that_bring_metrics_need_none_from_the_suite(home):
    suite = load(
        home, "rows: [{id: a, output: x, metrics: [{check: valid_json}]}]\n", "x.eval.yaml"
    )
    assert suite.metrics == ()


def test_all_problems_of_a_file_come_at_once_in_its_order(home):
    assert problems(
        home,
        """\
        datasets:
          - "*.jsonl"
          - tikets.jsonl
          - {path: "golden/*.csv", colums: {input: question}}
        metrcs: []
        metrics:
          - {name: total, check: numeric_equals, value: 3, tolerence: 1}
          - {name: total, check: contains, value: x}
          - name: polite
            check: exact_mtach
          - name: total
            check: valid_json
            gate: {pass_rate: 90}
          - {name: total, check: valid_json}
        """,
    ) == [
        "evals/evalcheck.yaml:3: datasets[1]: 'tikets.jsonl' matches no file, expected a dataset "
        "file of this suite. There is 'tickets.jsonl'.",
        "evals/evalcheck.yaml:4: datasets[2]: 'colums' is not a key of a dataset, expected one of "
        "path, format, tags, columns, encoding, delimiter, quotechar, skip_lines, expand, "
        "max_tools, max_bytes, title, "
        "description. Did you mean 'columns'?",
        "evals/evalcheck.yaml:5: 'metrcs' is not a key of a suite, expected one of datasets, "
        "metrics, rows, tags, title, description, $schema. Did you mean 'metrics'?",
        next_problem := problem_of(home, "total", "tolerence"),
        "evals/evalcheck.yaml:10: metrics[2] 'polite': check: 'exact_mtach' is not a check, "
        f"expected one of {', '.join(sorted(checks()))}. Did you mean 'exact_match'?",
        "evals/evalcheck.yaml:13: metrics[3] 'total': gate.pass_rate: 90, expected a share above "
        "0, up to 1. Write 90% as 0.9.",
        "evals/evalcheck.yaml:14: metrics[4]: a second metric called 'total' (the first is on "
        "line 8), expected names that differ. Give one of them another `name`.",
    ]
    assert "Did you mean 'tolerance'?" in next_problem


def checks():
    from pytest_evalcheck.checks import CHECKS

    return CHECKS


def problem_of(home, name, option):
    """Return the one line of the last suite that speaks of an option."""
    with pytest.raises(ConfigError) as caught:
        load_suite(home / "evalcheck.yaml", home.parent)
    lines = [one for one in str(caught.value).split("\n") if option in one]
    assert len(lines) == 1
    assert lines[0].startswith(f"evals/evalcheck.yaml:7: metrics[0] {name!r}: {option}: ")
    return lines[0]


METRIC = "metrics: [{check: valid_json}]\n"
DATA = 'datasets: ["*.jsonl"]\n'
PLACE = "evals/evalcheck.yaml"
WRONG = {
    "an empty file": (
        "",
        [f"{PLACE}: an empty suite, expected a mapping with datasets and metrics."],
    ),
    "only comments": (
        "# nothing\n",
        [f"{PLACE}: an empty suite, expected a mapping with datasets and metrics."],
    ),
    "a list": (
        "- check: valid_json\n",
        [
            f"{PLACE}:1: a list, expected a mapping with datasets and metrics. Write the list "
            "below `rows:` or `metrics:`."
        ],
    ),
    "a text": ("hello\n", [f"{PLACE}:1: 'hello', expected a mapping with datasets and metrics."]),
    "no metrics": (DATA, [f"{PLACE}:1: no metrics, expected metrics: a list of one or more."]),
    "metrics of nothing": (
        DATA + "metrics: []\n",
        [f"{PLACE}:2: metrics: [], expected a list of one or more."],
    ),
    "metrics as a mapping": (
        DATA + "metrics: {check: valid_json}\n",
        [f"{PLACE}:2: metrics: {{'check': 'valid_json'}}, expected a list of one or more."],
    ),
    "no datasets": (METRIC, [f'{PLACE}:1: no datasets, expected datasets: ["*.jsonl"].']),
    "datasets of nothing": (
        "datasets: []\n" + METRIC,
        [f"{PLACE}:1: datasets: [], expected a list of paths, patterns or mappings with a path."],
    ),
    "a dataset without a path": (
        "datasets: [{tags: [x]}]\n" + METRIC,
        [f'{PLACE}:1: datasets[0]: a dataset without path, expected path: "*.jsonl".'],
    ),
    "an empty pattern": (
        'datasets: [""]\n' + METRIC,
        [f"{PLACE}:1: datasets[0]: path: '', expected a text that says something."],
    ),
    "a number for a dataset": (
        "datasets: [3]\n" + METRIC,
        [f"{PLACE}:1: datasets[0]: 3, expected a path, a pattern or a mapping with a path."],
    ),
    "a dataset twice": (
        'datasets:\n  - "*.jsonl"\n  - "*.jsonl"\n' + METRIC,
        [f"{PLACE}:3: datasets[1]: '*.jsonl' is listed already on line 2. Drop one."],
    ),
    "a file read in two ways": (
        'datasets:\n  - "*.jsonl"\n  - {path: tickets.jsonl, tags: [t]}\n' + METRIC,
        [
            f"{PLACE}:3: datasets[1]: 'evals/tickets.jsonl' is matched by '*.jsonl' on line 2 too, "
            "with other options, expected one way to read a file. Narrow one of the patterns."
        ],
    ),
    "out of the rootdir": (
        'datasets: ["../../x.jsonl"]\n' + METRIC,
        [
            f"{PLACE}:1: datasets[0]: '../../x.jsonl' leads out of the rootdir, expected a file "
            "inside it. Move the data into it."
        ],
    ),
    "rows among datasets": (
        DATA + METRIC + "rows: [{id: a}]\n",
        [
            f"{PLACE}:3: rows: rows in a suite of datasets. Write them into a dataset file, or "
            "name this file `….eval.yaml`."
        ],
    ),
    "a task": (
        DATA + METRIC + "task: app.py:answer\n",
        [
            f"{PLACE}:3: task: tasks are not part of this version. Record the outputs in the rows, "
            "as `output`."
        ],
    ),
    "judges": (
        DATA + METRIC + "judges: {default: {provider: openai}}\n",
        [
            f"{PLACE}:3: judges: judges are not part of this version. Use checks, or a function of "
            "yours as `evaluator`."
        ],
    ),
    "a judge metric": (
        DATA + "metrics:\n  - name: polite\n    judge: default\n    instruction: Kind?\n",
        [
            f"{PLACE}:4: metrics[0] 'polite': judge: judge metrics are not part of this version. "
            "Use a check, or a function of yours as `evaluator`."
        ],
    ),
    "a literal key": (
        DATA + METRIC + f"description: sk-{'a1' * 12}\n",
        [
            f"{PLACE}:3: description: a literal API key, expected the name of a variable, such as "
            '"${API_KEY}". Take the key out of the file, and withdraw it if the file was shared.'
        ],
    ),
    "a key of two": (
        DATA + METRIC + DATA,
        None,
    ),
    "broken syntax": ("metrics: [\n", None),
}


@pytest.mark.parametrize(("text", "lines"), WRONG.values(), ids=WRONG)
def test_a_suite_that_cannot_fail_or_be_read_is_refused(home, text, lines):
    found = problems(home, text)
    if lines is None:
        assert len(found) == 1
        assert found[0].startswith(f"{PLACE}:")
    else:
        assert found == lines


def test_the_options_of_a_reader_are_told_at_their_line(home):
    lines = problems(
        home,
        f"datasets:\n  - path: tickets.jsonl\n    encoding: utf-99\n    format: jsonll\n{METRIC}",
    )
    assert [line.split(": ")[:3] for line in lines] == [
        ["evals/evalcheck.yaml:3", "datasets[0]", "encoding"],
        ["evals/evalcheck.yaml:4", "datasets[0]", "format"],
    ]


def test_an_option_of_a_foreign_entry_is_told_at_its_own_line(home):
    lines = problems(
        home,
        DATA
        + textwrap.dedent("""\
        metrics:
          - name: fields
            evaluator_ref: field_presence@1
            params:
              required_feilds: [a]
          - name: policy
            metric_type: check
            check_config:
              check_kind: contains
              vlaue: x
        """),
    )
    places = [line.split(": ")[:2] for line in lines]
    assert ["evals/evalcheck.yaml:6", "metrics[0] 'fields'"] in places
    assert ["evals/evalcheck.yaml:11", "metrics[1] 'policy'"] in places


def test_broken_rows_are_told_with_the_metrics(home):
    lines = problems(
        home,
        "metrics: [{check: contians, value: x}]\nrows:\n  - {id: a, output: x}\n  - 3\n",
        "x.eval.yaml",
    )
    assert [line.partition(": ")[0] for line in lines] == [
        "evals/x.eval.yaml:1",
        "evals/x.eval.yaml:4",
    ]


FILES = {
    "a folder": (None, "a folder, expected a suite file."),
    "not UTF-8": (b"metrics:\n  - \xff\n", "bytes that are not UTF-8. Save the file as UTF-8."),
}


@pytest.mark.parametrize(("data", "said"), FILES.values(), ids=FILES)
def test_a_file_that_cannot_be_read_is_one_message(home, data, said):
    path = home / "evalcheck.yaml"
    path.mkdir() if data is None else path.write_bytes(data)
    with pytest.raises(ConfigError) as caught:
        load_suite(path, home.parent)
    assert str(caught.value).endswith(said)
    assert len(caught.value.problems) == 1


def test_a_missing_suite_is_one_message(home):
    with pytest.raises(ConfigError) as caught:
        load_suite(home / "evalcheck.yaml", home.parent)
    assert str(caught.value) == (
        "evals/evalcheck.yaml: the file cannot be read (No such file or directory)."
    )


def test_a_dataset_is_no_suite(home):
    with pytest.raises(ConfigError) as caught:
        load_suite(home / "tickets.jsonl", home.parent)
    assert str(caught.value) == (
        "evals/tickets.jsonl: no suite file by its ending, expected .yaml, .yml or .json. Name "
        "the suite that lists the dataset."
    )


def test_a_byte_order_mark_is_not_part_of_the_first_key(home):
    (home / "evalcheck.yaml").write_bytes(b"\xef\xbb\xbf" + (DATA + METRIC).encode())
    assert len(load_suite(home / "evalcheck.yaml", home.parent).metrics) == 1


def test_a_json_suite_is_read_strictly(home):
    lines = problems(home, '{"metrics": [{"check": "valid_json"},]}', "x.eval.json")
    assert len(lines) == 1
    assert lines[0].startswith("evals/x.eval.json:1: ")


def test_a_metric_that_selects_no_row_is_found(home):
    from pytest_evalcheck.model import Row

    suite = load(
        home,
        DATA + "metrics: [{check: contains, value: x, applies_to: {kind: letter}}]\n",
    )
    assert [one.name for one in suite.unmatched_metrics([Row(id="a")])] == ["contains"]
    assert suite.unmatched_metrics([Row(id="a", metadata={"kind": "letter"})]) == []


def test_links_below_the_rootdir_lead_to_the_same_file(home):
    (home / "again.jsonl").symlink_to(home / "tickets.jsonl")
    suite = load(home, DATA + "metrics: [{check: contains, value: x}]\n")
    assert suite.listed_files() == [home.resolve() / "tickets.jsonl"]
    assert suite.options_for(home / "again.jsonl") is suite.datasets[0]
