"""A judge of a suite file: its keys, read with all their mistakes at once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from pytest_evalcheck.errors import ConfigError, Problem
from pytest_evalcheck.judges.environment import VARIABLE, named_variables
from pytest_evalcheck.safetext import safe_line

__all__ = ["JUDGE_KEYS", "PROVIDERS", "JudgeConfig", "JudgeKey", "Prices", "read_judge"]

PROVIDERS: Final = ("openai", "anthropic", "litellm", "python", "command")
MODELS: Final = ("openai", "anthropic", "litellm")

# Where each SDK looks for its key by itself.
KEY_VARIABLES: Final = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}

DEFAULT_CONCURRENCY: Final = 8
DEFAULT_TIMEOUT_S: Final = 60.0
DEFAULT_RETRIES: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a model costs, in US dollars for a million tokens."""

    input_per_1m: float
    output_per_1m: float

    def cost_usd(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """Return the cost of one call in US dollars, or None where a count is unknown."""
        if tokens_in is None or tokens_out is None:
            return None
        return (tokens_in * self.input_per_1m + tokens_out * self.output_per_1m) / 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeConfig:
    """A judge as a suite file describes it; texts still hold their `${VARIABLES}`.

    Attributes:
        name: what metrics call it.
        provider: one of `PROVIDERS`.
        model, base_url, api_key, function, argv, extra: as written.
        temperature: None sends none.
        max_tokens, seed: None sends none.
        max_concurrency: the most requests under way at once.
        requests_per_minute: the most requests begun in a minute, or None.
        timeout_s: the longest wait for one answer.
        retries: how often a request is asked again after a passing fault.
        prices: what tokens cost, or None when unknown.
        base_dir: the folder that paths are relative to (the suite's).
        rootdir: the folder that no path may leave.
    """

    name: str
    provider: str
    model: str = ""
    base_url: str = ""
    api_key: str = ""
    temperature: float | None = 0
    max_tokens: int | None = None
    seed: int | None = None
    max_concurrency: int = DEFAULT_CONCURRENCY
    requests_per_minute: float | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    retries: int = DEFAULT_RETRIES
    prices: Prices | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    function: str = ""
    argv: tuple[str, ...] = ()
    base_dir: Path = field(default_factory=Path)
    rootdir: Path = field(default_factory=Path)

    def key_variable(self) -> str:
        """Return the environment variable that holds the key, or "" when none does."""
        written = named_variables(self.api_key)
        return written[0] if written else KEY_VARIABLES.get(self.provider, "")

    def secret_variables(self) -> tuple[str, ...]:
        """Return the variables whose values must be neither shown nor stored."""
        names = [self.key_variable(), *named_variables(self.extra)]
        return tuple(dict.fromkeys(name for name in names if name))


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeKey:
    """One key of a judge.

    Attributes:
        name: the key.
        expected: the words for a message.
        fits: whether a value will do.
        schema: the JSON Schema fragment, which refuses nothing that fits.
        summary: one line for the reference and for editors.
        providers: those that take the key; empty means every one.
    """

    name: str
    expected: str
    fits: Callable[[Any], bool]
    schema: Mapping[str, Any]
    summary: str
    providers: tuple[str, ...] = ()


def is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_positive(value: Any) -> bool:
    return is_number(value) and value > 0


def is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_variable(value: Any) -> bool:
    match = VARIABLE.fullmatch(value) if isinstance(value, str) else None
    return match is not None and match[2] is None


def is_url(value: Any) -> bool:
    """Tell whether a text is a web address, or holds a variable that may become one."""
    if not is_text(value):
        return False
    return bool(VARIABLE.search(value)) or bool(re.match(r"https?://[^/\s]+", value))


def is_prices(value: Any) -> bool:
    names = {"input_per_1m", "output_per_1m"}
    return (
        isinstance(value, Mapping)
        and value.keys() == names
        and all(is_number(price) and price >= 0 for price in value.values())
    )


def is_words(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(map(is_text, value))


TEXT: Final = {"type": "string", "minLength": 1}
COUNT: Final = {"type": "integer", "minimum": 0}
ABOVE_ZERO: Final = {"type": "number", "exclusiveMinimum": 0}

JUDGE_KEYS: Final[Mapping[str, JudgeKey]] = {
    key.name: key
    for key in (
        JudgeKey(
            name="provider",
            expected="one of " + ", ".join(PROVIDERS),
            fits=lambda value: value in PROVIDERS,
            schema={"enum": list(PROVIDERS)},
            summary="what carries the requests",
        ),
        JudgeKey(
            name="model",
            expected="the name of a model",
            fits=is_text,
            schema=TEXT,
            summary="the model, as its provider names it",
        ),
        JudgeKey(
            name="base_url",
            expected="an address such as http://localhost:11434/v1, or ${VARIABLE}",
            fits=is_url,
            schema=TEXT,
            summary="the address of the server, without it the vendor's own",
            providers=MODELS,
        ),
        JudgeKey(
            name="api_key",
            expected='the name of a variable, such as "${API_KEY}"',
            fits=is_variable,
            schema={"type": "string", "pattern": VARIABLE.pattern.replace("(?::-([^}]*))?", "")},
            summary="the variable that holds the key: ${NAME}",
            providers=MODELS,
        ),
        JudgeKey(
            name="temperature",
            expected="a number of 0 or more, or null to send none",
            fits=lambda value: value is None or (is_number(value) and value >= 0),
            schema={"type": ["number", "null"], "minimum": 0},
            summary="0 unless given; dropped with a note when the model refuses it",
        ),
        JudgeKey(
            name="max_tokens",
            expected="a whole number above 0",
            fits=lambda value: is_count(value) and value > 0,
            schema={"type": "integer", "minimum": 1},
            summary="the longest reply, in tokens",
        ),
        JudgeKey(
            name="seed",
            expected="a whole number",
            fits=lambda value: isinstance(value, int) and not isinstance(value, bool),
            schema={"type": "integer"},
            summary="sent where the API has one",
        ),
        JudgeKey(
            name="max_concurrency",
            expected="a whole number above 0",
            fits=lambda value: is_count(value) and value > 0,
            schema={"type": "integer", "minimum": 1},
            summary=f"the most requests under way at once ({DEFAULT_CONCURRENCY})",
        ),
        JudgeKey(
            name="requests_per_minute",
            expected="a number above 0",
            fits=is_positive,
            schema=ABOVE_ZERO,
            summary="the most requests begun in a minute",
        ),
        JudgeKey(
            name="timeout_s",
            expected="a number of seconds above 0",
            fits=is_positive,
            schema=ABOVE_ZERO,
            summary=f"the longest wait for one answer, in seconds ({DEFAULT_TIMEOUT_S:g})",
        ),
        JudgeKey(
            name="retries",
            expected="a whole number of 0 or more",
            fits=is_count,
            schema=COUNT,
            summary=f"how often a request is asked again after a fault ({DEFAULT_RETRIES})",
        ),
        JudgeKey(
            name="prices",
            expected="{input_per_1m: USD, output_per_1m: USD}",
            fits=is_prices,
            schema={
                "type": "object",
                "properties": {
                    "input_per_1m": {"type": "number", "minimum": 0},
                    "output_per_1m": {"type": "number", "minimum": 0},
                },
                "required": ["input_per_1m", "output_per_1m"],
                "additionalProperties": False,
            },
            summary="US dollars for a million tokens, for the cost of a run",
        ),
        JudgeKey(
            name="extra",
            expected="a mapping of arguments",
            fits=lambda value: isinstance(value, Mapping),
            schema={"type": "object"},
            summary="passed to the SDK's call as it stands",
            providers=MODELS,
        ),
        JudgeKey(
            name="function",
            expected="file.py:function",
            fits=lambda value: is_text(value) and ":" in value,
            schema=TEXT,
            summary="called with the prompt's text; returns text or a mapping",
            providers=("python",),
        ),
        JudgeKey(
            name="argv",
            expected="a list of words: the program and its arguments",
            fits=is_words,
            schema={"type": "array", "items": TEXT, "minItems": 1},
            summary="run without a shell; JSON on its standard input and output",
            providers=("command",),
        ),
    )
}


def read_judge(
    name: str, entry: Any, *, base_dir: Path | None = None, rootdir: Path | None = None
) -> JudgeConfig:
    """Return the judge that an entry below `judges` describes.

    Args:
        name: the entry's key.
        entry: its value.
        base_dir: the folder of the suite file; the current one when not given.
        rootdir: the folder that no path may leave; `base_dir` when not given.

    Raises:
        ConfigError: with every mistake; `Problem.keys` holds the key at fault.
    """
    if not isinstance(entry, Mapping):
        raise ConfigError(
            Problem(
                found=f"{shown(entry)} is no judge",
                expected="a mapping such as {provider: openai, model: gpt-5-mini}",
            )
        )
    problems = [*key_problems(entry), *missing_problems(entry)]
    if problems:
        raise ConfigError(problems)
    values = dict(entry)
    if "prices" in values:
        values["prices"] = Prices(**values["prices"])
    if "argv" in values:
        values["argv"] = tuple(values["argv"])
    if "extra" in values:
        values["extra"] = dict(values["extra"])
    base_dir = base_dir or Path()
    return JudgeConfig(name=name, **values, base_dir=base_dir, rootdir=rootdir or base_dir)


def key_problems(entry: Mapping[Any, Any]) -> list[Problem]:
    """Return the problems of the keys that stand in an entry, in its order."""
    provider = entry.get("provider")
    found = [key_problem(name, value, provider) for name, value in entry.items()]
    found += [secret_problem(name, entry[name]) for name in ("base_url", "extra") if name in entry]
    return [problem for problem in found if problem is not None]


def key_problem(name: Any, value: Any, provider: Any) -> Problem | None:
    key = JUDGE_KEYS.get(name) if isinstance(name, str) else None
    if key is None:
        return Problem(
            found=f"{shown(name)} is not a key of a judge",
            fix=near(name, JUDGE_KEYS) or f"The keys are {', '.join(JUDGE_KEYS)}.",
            keys=(str(name),),
        )
    if key.providers and provider in PROVIDERS and provider not in key.providers:
        return Problem(
            found=f"{name!r} means nothing to the provider {provider!r}",
            fix=f"Take it out, or use it with {' or '.join(key.providers)}.",
            keys=(name,),
        )
    if key.fits(value):
        return None
    if name == "api_key":
        return Problem(
            found="a literal API key" if is_text(value) else f"{shown(value)} is no key",
            expected=key.expected,
            fix="Take the key out of the file, and withdraw it if the file was shared."
            if is_text(value)
            else "",
            keys=(name,),
        )
    offered = near(value, PROVIDERS) if name == "provider" else ""
    return Problem(found=shown(value), expected=key.expected, fix=offered, keys=(name,))


def secret_problem(name: str, value: Any) -> Problem | None:
    """Return the problem of a password in an address, or of a literal key in `extra`."""
    if name == "base_url" and isinstance(value, str):
        try:
            password = urlsplit(value).password
        except ValueError:
            return Problem(found=shown(value), expected="an address", keys=(name,))
        if password and not is_variable(password):
            return Problem(
                found="a password in an address",
                expected="a ${VARIABLE} in its place",
                fix="Take it out of the file, and withdraw it if the file was shared.",
                keys=(name,),
            )
    if name == "extra" and isinstance(value, Mapping):
        for key, below in value.items():
            if re.fullmatch(r"(?i)api[_-]?key|authorization", str(key)) and not is_variable(below):
                return Problem(
                    found="a literal API key",
                    expected='the name of a variable, such as "${API_KEY}"',
                    fix="Take the key out of the file, and withdraw it if the file was shared.",
                    keys=(name, str(key)),
                )
    return None


def missing_problems(entry: Mapping[Any, Any]) -> list[Problem]:
    """Return the problems of keys that a provider cannot do without."""
    provider = entry.get("provider")
    if "provider" not in entry:
        return [
            Problem(
                found="no provider is given",
                expected="one of " + ", ".join(PROVIDERS),
                keys=("provider",),
            )
        ]
    needed = {"python": "function", "command": "argv"} | dict.fromkeys(MODELS, "model")
    name = needed.get(provider) if isinstance(provider, str) else None
    if name is None or name in entry:
        return []
    return [
        Problem(
            found=f"the provider {provider!r} needs {name!r}",
            expected=JUDGE_KEYS[name].expected,
            keys=("provider",),
        )
    ]


def near(value: Any, names: Any) -> str:
    """Return "Did you mean ...?" with the nearest name, or ""."""
    found = get_close_matches(str(value), list(names), n=1)
    return f"Did you mean {found[0]!r}?" if found else ""


def shown(value: Any) -> str:
    return safe_line(repr(value), 80)
