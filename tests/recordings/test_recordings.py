"""Stored requests: modes, safety against crashes and other workers, no secrets."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge_desk import open_judges, request_of
from pytest_evalcheck.engine import wait_for
from pytest_evalcheck.judges.config import JudgeConfig, read_judge
from pytest_evalcheck.judges.request import Failure, JudgeRequest, Reply
from pytest_evalcheck.recordings import (
    Recordings,
    drop_recordings,
    list_recordings,
    recording_key,
    recording_path,
)

CONTENT = {"provider": "python", "model": "", "user": "one\ntwo", "system": "", "sample": 0}
KEY = recording_key(CONTENT)
REPLY = Reply(text='{"score": 4}\n', value={"score": 4}, tokens_in=3, latency_s=0.25, finish="stop")
JUDGE = read_judge("default", {"provider": "python", "function": "judge.py:answer"})


class Counting:
    """A judge that counts its calls."""

    def __init__(self, answer: Any = "4") -> None:
        self.answer = answer
        self.calls = 0

    def __call__(self, prompt: str) -> Any:
        self.calls += 1
        return self.answer


def ask(
    folder: Path,
    mode: str = "new_episodes",
    request: JudgeRequest | None = None,
    judge: JudgeConfig = JUDGE,
    function: Any = None,
    environ: Any = None,
) -> tuple[Any, int]:
    """Return the outcome of one request, and how many calls it made."""
    function = function or Counting()
    with open_judges(folder, mode, function=function, environ=environ) as judges:
        return wait_for(judges.ask(request or request_of(), judge, metric="polite")), function.calls


def stored_file(folder: Path) -> Path:
    (path,) = folder.glob("*/*.json")
    return path


def test_a_stored_reply_comes_back_as_it_was_but_for_being_replayed(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path)
    recordings.save(KEY, CONTENT, REPLY, metric="polite")
    assert recordings.find(KEY) == replace(REPLY, replayed=True)
    assert recordings.used == {KEY}


@pytest.mark.parametrize(
    "text", ["", "a\r\nb\n", '"\u2028\x00"', "\ud800 alone", "4 of 5 ★", "[1]", "x" * 100_000]
)
def test_any_text_survives(tmp_path: Path, text: str) -> None:
    recordings = Recordings(tmp_path)
    recordings.save(KEY, CONTENT | {"user": text}, Reply(text=text))
    found = recordings.find(KEY)
    assert found is not None
    assert found.text == text
    assert json.loads(stored_file(tmp_path).read_bytes())["key"] == KEY


def test_a_file_reads_well_line_by_line(tmp_path: Path) -> None:
    Recordings(tmp_path).save(KEY, CONTENT, REPLY, metric="polite")
    lines = recording_path(tmp_path, KEY).read_text(encoding="utf-8").splitlines()
    assert lines[3] == ' "metric": "polite",'
    assert '   "one",' in lines
    assert '   "two"' in lines


@pytest.mark.parametrize(
    ("mode", "stored", "want", "calls"),
    [
        ("new_episodes", False, "reply", 1),
        ("new_episodes", True, "replayed", 0),
        ("once", False, "reply", 1),
        ("once", True, "replayed", 0),
        ("none", False, "no_recording", 0),
        ("none", True, "replayed", 0),
        ("all", False, "reply", 1),
        ("all", True, "reply", 1),
    ],
)
def test_a_mode_means_what_it_means_to_vcr(
    tmp_path: Path, mode: str, stored: bool, want: str, calls: int
) -> None:
    if stored:
        ask(tmp_path)
    outcome, made = ask(tmp_path, mode)
    if isinstance(outcome, Failure):
        assert outcome.code == want
    else:
        assert ("replayed" if outcome.replayed else "reply") == want
    assert made == calls


def test_once_takes_no_new_request_where_recordings_are(tmp_path: Path) -> None:
    ask(tmp_path)
    outcome, made = ask(tmp_path, "once", request_of("another"))
    assert (outcome.code, made) == ("no_recording", 0)
    assert "the record mode is once" in outcome.reason


def test_once_takes_all_new_requests_of_the_first_run(tmp_path: Path) -> None:
    with open_judges(tmp_path, "once", function=Counting()) as judges:
        for number in range(3):
            outcome = wait_for(judges.ask(request_of(f"row {number}"), JUDGE))
            assert isinstance(outcome, Reply)


def test_all_stores_the_new_reply_in_place_of_the_old(tmp_path: Path) -> None:
    ask(tmp_path, function=Counting("2"))
    ask(tmp_path, "all", function=Counting("5"))
    assert ask(tmp_path, "none")[0].text == "5"


@pytest.mark.parametrize(
    ("request_", "judge"),
    [
        (request_of("other text"), JUDGE),
        (request_of(system="other"), JUDGE),
        (request_of(schema=None), JUDGE),
        (request_of(sample=1), JUDGE),
        (request_of(), replace(JUDGE, model="m")),
        (request_of(), replace(JUDGE, temperature=0.5)),
        (request_of(), replace(JUDGE, seed=1)),
        (request_of(), replace(JUDGE, max_tokens=9)),
        (request_of(), replace(JUDGE, function="judge.py:other")),
        (request_of(), replace(JUDGE, base_url="http://127.0.0.1:1/v1")),
    ],
    ids=[
        "user",
        "system",
        "schema",
        "sample",
        "model",
        "temperature",
        "seed",
        "max_tokens",
        "function",
        "base_url",
    ],
)
def test_whatever_is_sent_is_part_of_the_address(
    tmp_path: Path, request_: JudgeRequest, judge: JudgeConfig
) -> None:
    ask(tmp_path)
    outcome, made = ask(tmp_path, request=request_, judge=judge)
    assert (outcome.replayed, made) == (False, 1)


@pytest.mark.parametrize(
    "judge",
    [
        replace(JUDGE, name="other"),
        replace(JUDGE, max_concurrency=1, timeout_s=1.0, retries=0),
        replace(JUDGE, api_key="${K}"),
    ],
    ids=["name", "limits", "key"],
)
def test_how_it_is_called_is_not(tmp_path: Path, judge: JudgeConfig) -> None:
    ask(tmp_path)
    assert ask(tmp_path, judge=judge)[1] == 0


def test_a_changed_python_judge_is_another_judge(tmp_path: Path) -> None:
    code = tmp_path / "judge.py"
    judge = replace(JUDGE, base_dir=tmp_path)
    folder = tmp_path / "recordings"
    code.write_bytes(b"one = 1\n")
    ask(folder, judge=judge)
    code.write_bytes(b"one = 1\r\n")
    assert ask(folder, judge=judge)[1] == 0
    code.write_bytes(b"one = 2\n")
    assert ask(folder, judge=judge)[1] == 1


def test_two_equal_requests_make_one_call(tmp_path: Path) -> None:
    function = Counting()
    with open_judges(tmp_path, function=function) as judges:
        futures = [judges.ask(request_of(), JUDGE) for _ in range(3)]
        replies = [wait_for(future) for future in futures]
    assert function.calls == 1
    assert [reply.replayed for reply in replies] == [False, True, True]


def test_a_failure_is_never_stored(tmp_path: Path) -> None:
    def broken(prompt: str) -> str:
        raise ValueError("no")

    with open_judges(tmp_path, function=broken) as judges:
        assert wait_for(judges.ask(request_of(), JUDGE)).code == "judge_unavailable"
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: b"", id="empty"),
        pytest.param(lambda data: data[: len(data) // 2], id="cut"),
        pytest.param(lambda data: b"<<<<<<< HEAD\n" + data, id="merge-conflict"),
        pytest.param(lambda data: b"[]", id="other-json"),
        pytest.param(lambda data: data.replace(b"recording/1", b"recording/9"), id="format"),
        pytest.param(lambda data: data.replace(KEY.encode(), b"0" * 64), id="key"),
        pytest.param(lambda data: data.replace(b'"text"', b'"txet"'), id="no-text"),
        pytest.param(lambda data: data.replace(b"0.25", b'"x"'), id="figure"),
        pytest.param(lambda data: b"\xff\xfe" + data, id="bytes"),
        pytest.param(lambda data: b"[" * 100_000, id="deep"),
    ],
)
def test_a_damaged_file_counts_as_missing_and_is_told(tmp_path: Path, damage: Any) -> None:
    Recordings(tmp_path).save(KEY, CONTENT, REPLY)
    path = recording_path(tmp_path, KEY)
    path.write_bytes(damage(path.read_bytes()))
    recordings = Recordings(tmp_path, "none")
    assert recordings.find(KEY) is None
    assert recordings.find(KEY) is None
    (problem,) = recordings.problems
    assert f"{KEY[:2]}/{KEY}.json is not readable" in problem
    assert "is not readable" in recordings.miss_reason(KEY)
    recordings.save(KEY, CONTENT, REPLY)
    assert recordings.find(KEY) is not None


def test_secrets_are_neither_stored_nor_handed_on(tmp_path: Path) -> None:
    shaped = "sk-" + "a1" * 20
    judge = replace(JUDGE, api_key="${HOUSE_KEY}")
    answer = Counting({"reason": f"house-secret {shaped}", "score": 4})
    reply, _ = ask(
        tmp_path,
        request=request_of(f"leaks {shaped} and house-secret"),
        judge=judge,
        function=answer,
        environ={"HOUSE_KEY": "house-secret"},
    )
    text = stored_file(tmp_path).read_text(encoding="utf-8")
    assert "house-secret" not in text + reply.text
    assert shaped not in text + reply.text
    assert "[HOUSE_KEY redacted]" in text
    assert ask(tmp_path, "none", request_of(f"leaks {shaped} and house-secret"), judge)[0] == (
        replace(reply, replayed=True, latency_s=round(reply.latency_s, 4))
    )


def test_a_variable_that_is_missing_is_named_and_nothing_is_asked(tmp_path: Path) -> None:
    outcome, made = ask(tmp_path, judge=replace(JUDGE, model="${JUDGE_MODEL}"))
    assert (outcome.code, made) == ("judge_unavailable", 0)
    assert "JUDGE_MODEL" in outcome.reason


def test_a_folder_that_cannot_be_written_costs_no_reply(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with open_judges(blocked / "recordings", function=Counting()) as judges:
        assert wait_for(judges.ask(request_of(), JUDGE)).text == "4"
        (note,) = judges.notes()
    assert "could not be written" in note


def test_nothing_is_created_until_something_is_stored(tmp_path: Path) -> None:
    folder = tmp_path / ".evalcheck" / "recordings"
    assert Recordings(folder, "none").find(KEY) is None
    assert list(list_recordings(folder)) == []
    assert not folder.parent.exists()


def test_what_is_stored_can_be_listed_and_what_is_stale_dropped(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path)
    keys = [recording_key({"n": number}) for number in range(3)]
    for key in keys:
        recordings.save(key, CONTENT | {"model": "m-1"}, REPLY, metric="polite")
    recording_path(tmp_path, keys[1]).write_bytes(b"{")
    other = tmp_path / keys[0][:2] / "README.json"
    other.write_text("{}")
    left_over = other.with_name(f".{keys[0]}.1.2.tmp")
    left_over.write_text("{")
    os.utime(left_over, (1, 1))
    listed = {one.key: one for one in list_recordings(tmp_path)}
    assert set(listed) == set(keys)
    assert (listed[keys[0]].metric, listed[keys[0]].model) == ("polite", "m-1")
    assert listed[keys[1]].problem == "it is cut off or no JSON"
    dropped = drop_recordings(tmp_path, {keys[2]})
    assert {path.stem for path in dropped} == set(keys[:2])
    assert [one.key for one in list_recordings(tmp_path)] == [keys[2]]
    assert other.exists()
    assert not left_over.exists()


def test_a_replay_marks_the_file_as_used_and_changes_nothing_in_it(tmp_path: Path) -> None:
    recordings = Recordings(tmp_path)
    recordings.save(KEY, CONTENT, REPLY)
    path = recording_path(tmp_path, KEY)
    before = path.read_bytes()
    os.utime(path, (1_000_000, 1_000_000))
    recordings.find(KEY)
    assert time.time() - path.stat().st_mtime < 60
    assert path.read_bytes() == before
