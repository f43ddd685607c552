"""The keys of a judge metric as data: what its entry is validated with and documented from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pytest_evalcheck.errors import Problem
from pytest_evalcheck.judges.config import JudgeKey
from pytest_evalcheck.judges.evidence import SEES, metadata_key
from pytest_evalcheck.judges.ready_made import READY_MADE
from pytest_evalcheck.judges.rubric import near, shortened
from pytest_evalcheck.judges.scales import is_number

__all__ = ["JUDGE_METRIC_KEYS", "MAX_SAMPLES", "key_problems"]

MAX_SAMPLES: Final = 25
TEXT: Final = {"type": "string", "minLength": 1}


def is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def is_sees(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and len(set(map(str, value))) == len(value)
        and all(
            isinstance(name, str) and (name in SEES or metadata_key(name) is not None)
            for name in value
        )
    )


def is_samples(value: Any) -> bool:
    return type(value) is int and 1 <= value <= MAX_SAMPLES


JUDGE_METRIC_KEYS: Final[Mapping[str, JudgeKey]] = {
    key.name: key
    for key in (
        JudgeKey(
            name="judge",
            expected="the name of one of the suite's judges",
            fits=is_text,
            schema=TEXT,
            summary="which of the suite's judges is asked; default when not given",
        ),
        JudgeKey(
            name="judge_metric",
            expected="one of " + ", ".join(READY_MADE),
            fits=lambda value: value in READY_MADE,
            schema={"enum": list(READY_MADE)},
            summary="a ready-made judge metric; keys beside it go before its own",
        ),
        JudgeKey(
            name="instruction",
            expected="a text that says what to judge",
            fits=is_text,
            schema=TEXT,
            summary="what to judge",
        ),
        JudgeKey(
            name="rubric_bands",
            expected="a mapping of score to text, a list of texts from 1 on, or stars",
            fits=lambda value: isinstance(value, Mapping | list | tuple) or value == "stars",
            schema={"type": ["object", "array", "string"]},
            summary="what deserves which score",
        ),
        JudgeKey(
            name="scale",
            expected="[lowest, highest], pass_fail, claims_supported or claims_unsupported",
            fits=lambda _value: True,
            schema={
                "anyOf": [
                    {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number"}},
                    {"enum": ["pass_fail", "claims_supported", "claims_unsupported"]},
                ]
            },
            summary="numbers without a text for each, pass or fail, or the share of claims",
        ),
        JudgeKey(
            name="labels",
            expected="a mapping of two labels or more to their scores",
            fits=lambda value: isinstance(value, Mapping),
            schema={"type": "object", "additionalProperties": {"type": "number"}},
            summary="labels to choose from, each with its score",
        ),
        JudgeKey(
            name="rubric",
            expected="the path of a .md or .yaml file",
            fits=is_text,
            schema=TEXT,
            summary="a file with a longer rubric, or with several criteria",
        ),
        JudgeKey(
            name="threshold",
            expected="a number on the scale",
            fits=is_number,
            schema={"type": "number"},
            summary="the value from which a row passes; the best of the scale when not given",
        ),
        JudgeKey(
            name="direction",
            expected="higher or lower",
            fits=lambda value: value in ("higher", "lower"),
            schema={"enum": ["higher", "lower"]},
            summary="lower when a low value is good",
        ),
        JudgeKey(
            name="sees",
            expected="a list of " + ", ".join(SEES) + " and metadata.KEY, each once",
            fits=is_sees,
            schema={"type": "array", "minItems": 1, "items": TEXT},
            summary="what of a row the judge sees; input, output and expected where they are",
        ),
        JudgeKey(
            name="samples",
            expected=f"a whole number from 1 to {MAX_SAMPLES}",
            fits=is_samples,
            schema={"type": "integer", "minimum": 1, "maximum": MAX_SAMPLES},
            summary="how often each row is asked about: the median, or the majority, counts",
        ),
        JudgeKey(
            name="pairwise",
            expected="true or false",
            fits=lambda value: isinstance(value, bool),
            schema={"type": "boolean"},
            summary="is the output or the expected one better? Asked in both orders",
        ),
        JudgeKey(
            name="repair",
            expected="true or false",
            fits=lambda value: isinstance(value, bool),
            schema={"type": "boolean"},
            summary="ask once more for a reply that cannot be read",
        ),
        JudgeKey(
            name="abstain_when",
            expected="a text that says when there is no verdict",
            fits=is_text,
            schema=TEXT,
            summary="when the judge may answer null, which is non_evaluable",
        ),
        JudgeKey(
            name="decimal",
            expected='"." or ","',
            fits=lambda value: value in (".", ","),
            schema={"enum": [".", ","]},
            summary="a comma reads 4,5 as 4.5",
        ),
        JudgeKey(
            name="calibration",
            expected='{labels: labels.csv, column: human} or {waived: "why"}',
            fits=lambda value: isinstance(value, Mapping),
            schema={"type": "object"},
            summary="labels that people gave, without which the metric cannot gate",
        ),
    )
}


def key_problems(entry: Mapping[Any, Any], known_elsewhere: tuple[str, ...]) -> list[Problem]:
    """Return what is wrong with the keys of an entry and the kinds of their values.

    Args:
        entry: the metric entry.
        known_elsewhere: keys that every metric may have, validated by others.
    """
    problems = []
    for name, value in entry.items():
        key = JUDGE_METRIC_KEYS.get(name) if isinstance(name, str) else None
        if key is None and name not in known_elsewhere:
            names = (*JUDGE_METRIC_KEYS, *known_elsewhere)
            problems.append(
                Problem(
                    found=f"{shortened(name)} is not a key of a judge metric",
                    expected="one of " + ", ".join(names),
                    fix=near(name, names),
                    where=str(name),
                    keys=(str(name),),
                )
            )
        elif key is not None and not key.fits(value):
            fix = near(value, READY_MADE) if name == "judge_metric" else ""
            problems.append(
                Problem(
                    found=shortened(value),
                    expected=key.expected,
                    fix=fix or sees_fix(name, value),
                    where=name,
                    keys=(name,),
                )
            )
    return problems


def sees_fix(name: Any, value: Any) -> str:
    """Return what was meant by a word of `sees` that is none."""
    if name != "sees" or not isinstance(value, list | tuple):
        return ""
    wrong = [one for one in value if isinstance(one, str) and one not in SEES]
    wrong = [one for one in wrong if metadata_key(one) is None]
    return near(wrong[0], SEES) if wrong else ""
