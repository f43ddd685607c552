"""Text of a model is shown, never obeyed, and secrets do not get out."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalcheck.safetext import make_redactor, safe_line, safe_text

# Written in two pieces, so that no scanner takes a made-up key for a real one.
OPENAI = "sk-" + "proj-abcDEF0123456789abcdef"
AWS = "AKIA" + "ABCDEFGHIJKLMNOP"
GITHUB = "ghp_" + "a1B2" * 9
SLACK = "xoxb-" + "123456789012-abcdefABCDEF"
GOOGLE = "AIza" + "SyA1234567890abcdefghijklmnopqrstuv"
PEM = "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEabc\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("plain words", "plain words"),
        ("größer, 日本語, 🙂", "größer, 日本語, 🙂"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("bell\x07 null\x00 del\x7f csi\x9b", "bell\\x07 null\\x00 del\\x7f csi\\x9b"),
        ("over\rwritten", "over\\rwritten"),
        ("end\r\nof line", "end\\r\nof line"),
        ("abc\u202etxt.exe", "abc\\u202etxt.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("hidden\U000e0041tag", "hidden\\U000e0041tag"),
        ("lone \ud83d surrogate", "lone \\ud83d surrogate"),
        ("no xml \ufffe", "no xml \\ufffe"),
    ],
    ids=lambda text: ascii(text)[:24],
)
def test_what_a_terminal_would_obey_is_shown_as_text(text: str, want: str) -> None:
    assert safe_text(text) == want


@pytest.mark.parametrize(
    "text",
    [
        "::error file=a.py::hacked",
        "fine\n::set-output name=x::y",
        "fine\n  \t::stop-commands::token",
        "##[error]hacked",
        "text before ##[group]x",
        "##vso[task.setvariable variable=x]y",
        "text before ##vso[task.complete]",
        "##teamcity[testFailed name='x']",
        "\u2028::error::after an unusual line end",
        "###[error]three",
    ],
)
def test_no_line_is_left_that_a_ci_runner_obeys(text: str) -> None:
    shown = safe_text(text)
    assert not any(line.lstrip().startswith("::") for line in re.split(r"[\n\r\x85\u2028]", shown))
    assert not re.search(r"##\w*\[", shown)
    assert len(shown) >= len(text)


@pytest.mark.parametrize(
    "secret", [OPENAI, AWS, GITHUB, SLACK, GOOGLE, PEM], ids=lambda secret: secret[:4]
)
def test_known_key_shapes_are_taken_out(secret: str) -> None:
    shown = safe_text(f"the key is {secret}, keep it")
    assert shown in (
        "the key is [key redacted], keep it",
        "the key is [private key redacted], keep it",
    )


def test_bearer_tokens_are_taken_out_in_any_case() -> None:
    assert safe_text("authorization: bearer abcdef0123456789XYZ==") == (
        "authorization: bearer [token redacted]"
    )


def test_a_private_key_without_its_end_is_taken_out_to_the_end() -> None:
    assert safe_text(PEM[:45]) == "[private key redacted]"


@pytest.mark.parametrize(
    "text",
    [
        "a task-oriented-approach-to-reading",
        "sk-short",
        "the bearer of news",
        "Asia and AKIA alone",
        "std::vector and a::b",
        "## heading [link]",
        "C# and F##",
    ],
)
def test_innocent_text_stays_as_it_is(text: str) -> None:
    assert safe_text(text) == text


def test_values_of_the_named_variables_are_taken_out() -> None:
    environ = {"TOKEN": "s3cret!", "LONGER": "s3cret!-and-more", "FLAG": "1", "OTHER": "visible"}
    redact = make_redactor(["TOKEN", "LONGER", "FLAG", "UNSET"], environ)
    assert safe_text("1 s3cret! s3cret!-and-more visible", redact=redact) == (
        "1 [TOKEN redacted] [LONGER redacted] visible"
    )


def test_a_redactor_of_nothing_changes_nothing() -> None:
    assert make_redactor([], {})("as it is") == "as it is"


def test_a_long_text_is_cut_and_its_length_told() -> None:
    assert safe_text("x" * 12_345, 10) == "xxxxxxxxxx… (12,345 characters)"
    assert safe_text("x" * 10, 10) == "x" * 10


@pytest.mark.parametrize("start", [0, 5, 9, 10])
def test_a_secret_across_the_cut_does_not_get_out(start: int) -> None:
    text = "x " * start + OPENAI + " tail" * 50
    for limit in range(1, 60):
        assert not re.search(r"sk-proj", safe_text(text, limit))


def test_what_is_taken_out_does_not_pull_half_a_secret_into_sight() -> None:
    redact = make_redactor(["LONG", "TOKEN"], {"LONG": "y" * 4_000, "TOKEN": "tok3n-value"})
    for shift in range(20):
        text = "y" * 4_000 + "z" * (4_196 - 4_000 - 12 + shift) + "tok3n-value" + "z" * 5_000
        assert "tok" not in safe_text(text, 100, redact=redact).replace("[TOKEN redacted]", "")


@pytest.mark.parametrize("text", ["\n" * 300_000, " \n" * 200_000, " " * 300_000, "#" * 300_000])
def test_no_text_takes_long(text: str) -> None:
    started = time.perf_counter()
    safe_text(text + "é::")
    assert time.perf_counter() - started < 2


def test_one_line_shows_line_ends_and_tabs() -> None:
    assert safe_line("a\nb\tc\r\nd") == "a\\nb\\tc\\r\\nd"


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=200))
def test_safe_text_is_stable_and_can_be_written_anywhere(text: str) -> None:
    shown = safe_text(text)
    assert safe_text(shown) == shown
    shown.encode("utf-8")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)
    assert "\n" not in safe_line(text)


@given(st.lists(st.sampled_from(["::", "##", "[", "vso", "\n", " ", ":", "#", "x"]), max_size=12))
def test_no_mixture_of_command_parts_makes_a_command(parts: list[str]) -> None:
    shown = safe_text("".join(parts))
    assert not re.search(r"^\s*::", shown, re.MULTILINE)
    assert not re.search(r"##[A-Za-z]*\[", shown)
