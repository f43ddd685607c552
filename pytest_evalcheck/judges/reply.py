"""Reading a judge's reply: a score only where it can be read beyond doubt.

Structured output is read first, then objects in the text, then prose. Whatever leaves a
doubt (two verdicts that differ, a text cut off, NaN, a value outside the scale, a number
that is no verdict) gives no score: nothing is guessed, clamped or set to a default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from pytest_evalcheck.jsonvalues import json_text
from pytest_evalcheck.judges.reply_numbers import Unreadable, read_number_text, within
from pytest_evalcheck.judges.reply_objects import Pairs, find_objects, to_pairs
from pytest_evalcheck.judges.reply_prose import Found, read_prose, word_value
from pytest_evalcheck.judges.reply_text import (
    normal_text,
    unfenced,
    without_inner_reasoning,
    without_reasoning,
)
from pytest_evalcheck.judges.scales import Direction, Scale, is_number, plain_label, scale_of
from pytest_evalcheck.model import Score, Status

__all__ = [
    "READER_VERSION",
    "Reading",
    "parse_judge_reply",
    "read_reply",
    "scored",
    "unreadable_score",
]

# Part of a judge's fingerprint: another way of reading may give another score.
READER_VERSION: Final = 1

SHOWN_REPLY: Final = 200
SHOWN_REASON: Final = 300
KEPT_TEXT: Final = 4_000  # the whole is in the recording
MAX_NESTING: Final = 4

SCORE_KEYS: Final = (
    *("score", "overallscore", "finalscore", "totalscore"),
    *("rating", "overallrating", "finalrating"),
)
OTHER_SCORE_KEYS: Final = (
    *("grade", "total", "overall", "value", "points", "mark", "verdict", "result", "answer"),
    *("judgment", "judgement", "decision"),
)
VERDICT_KEYS: Final = (
    *("pass", "passed", "ispass", "verdict", "correct", "iscorrect", "match", "matches", "met"),
    *("decision", "judgment", "judgement", "result", "label", "grade", "choice", "answer"),
    *("success", "satisfied", "ok", "valid", "outcome", "conclusion", "classification", "class"),
    *("category", "achieved", "supported", "faithful", "safe"),
)
# Keys whose value says whether the judge finds it good enough, beside a score.
OWN_VERDICTS: Final = (
    "pass",
    "passed",
    "ispass",
    "verdict",
    "correct",
    "iscorrect",
    "match",
    "met",
)
REASON_KEYS: Final = (
    *("reason", "reasoning", "explanation", "rationale", "justification", "comment"),
    *("comments", "feedback", "analysis", "thoughts"),
)
CALL_KEYS: Final = ("arguments", "input", "parameters")
ABSTAINS: Final = frozenset(
    {
        *("n/a", "na", "unknown", "abstain", "unsure", "undecided", "undetermined"),
        *("cannot judge", "cannot determine", "cannot say", "not applicable"),
        *("not enough information", "insufficient information"),
    }
)
SAYS_NO: Final = re.compile(
    r"\b(?:does|do|did)(?:\s+not|n['’]t)\s+(?:meet|satisfy|match|pass|fulfil)"
    r"|\b(?:is|was|are|were)\s+(?:incorrect|wrong|unmet|not\s+(?:met|correct|satisfied))"
    r"|\bfails\s+to\s+(?:meet|satisfy|match)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read from a reply.

    Attributes:
        value: the score, on its scale.
        reason: what the judge gave as its reason, or "".
        verdict: whether the judge itself says that it passes, or None.
        shown: the words the value was read from.
        form: `structured`, `object` or `prose`.
        conflict: what in the reply speaks against the value, or "".
    """

    value: float
    reason: str = ""
    verdict: bool | None = None
    shown: str = ""
    form: str = "object"
    conflict: str = ""


def parse_judge_reply(
    reply: Any,
    scale: Any = (1, 5),
    key: str | None = None,
    marker: str | None = None,
    choices: Mapping[str, float] | None = None,
    *,
    threshold: float | None = None,
    direction: Direction = "higher",
    decimal: str = ".",
) -> Score:
    """Return the score in a judge's reply.

    Args:
        reply: the text, or the object of a structured reply.
        scale: `(lowest, highest)`, `"bool"` or `{label: score}`.
        key: the key of the verdict in JSON; the usual ones (`score`, `pass`, `verdict`, ...)
            when not given.
        marker: what stands before the verdict in prose (`GRADE:`); the last one counts.
        choices: labels and their scores, as `scale` may hold them.
        threshold: the value from which a row passes; the best of the scale when not given.
        direction: `lower` when a low value is good.
        decimal: "," reads `4,5` as 4.5.

    Returns:
        A scored result; or one without a score: `judge_unparsable` or
        `score_out_of_range` (blocked), `judge_abstained` (non_evaluable), with the start of
        the reply. No text makes it raise.

    Raises:
        ConfigError: the scale is mis-written.
    """
    wanted = scale_of(scale, choices)
    try:
        reading = read_reply(reply, wanted, key=key, marker=marker, decimal=decimal)
    except Unreadable as error:
        return unreadable_score(error, reply)
    return scored(reading, wanted, threshold=threshold, direction=direction)


def read_reply(
    reply: Any,
    scale: Scale,
    *,
    key: str | None = None,
    marker: str | None = None,
    decimal: str = ".",
) -> Reading:
    """Return what a reply says.

    Raises:
        Unreadable: it says nothing beyond doubt.
    """
    reader = Reader(scale=scale, key=key, decimal=decimal)
    if isinstance(reply, Mapping):
        reading = reader.read_one(to_pairs(reply))
        if reading is None:
            raise Unreadable(f"the object has no {reader.wanted()}")
        return replace(reading, form="structured")
    if isinstance(reply, bool) or is_number(reply):
        value = reader.value_in(reply)
        return Reading(value=value, shown=str(reply), form="structured")
    if not isinstance(reply, str):
        raise Unreadable("the judge sent nothing" if reply is None else "the reply is no text")
    return read_text(reply, reader, marker)


def read_text(reply: str, reader: Reader, marker: str | None) -> Reading:
    """Return what a reply in text says.

    Raises:
        Unreadable: it says nothing beyond doubt.
    """
    if not reply.strip():
        raise Unreadable("the reply is empty")
    text = unfenced(without_reasoning(normal_text(reply)).strip()).strip()
    if not text:
        raise Unreadable("the reply holds reasoning and no verdict after it")
    text = unquoted(text)
    found = find_objects(text)
    if not (len(found.objects) == 1 and found.objects[0][2] == len(text)):
        inner = without_inner_reasoning(text)
        if inner != text:
            text, found = inner.strip(), find_objects(inner.strip())
    reading = reader.read_objects([pairs for pairs, _, _ in found.objects])
    if found.cut_off and marker is None:
        raise Unreadable("the reply is cut off inside its object")
    prose = without_spans(text, [(start, end) for _, start, end in found.objects])
    if reading is not None and (marker is None or reader.key is not None):
        check_other_verdicts(text, prose, found.broken, reading, reader)
        return reading
    if found.broken and marker is None:
        raise Unreadable("the object in the reply cannot be read")
    said = read_prose(prose, reader.scale, marker=marker, key=reader.key, decimal=reader.decimal)
    return prose_reading(said, prose, reader.scale)


def unquoted(text: str) -> str:
    """Return the text inside a JSON text, for a reply that was encoded twice."""
    if len(text) > 2 and text[0] == text[-1] == '"' and "{" in text:
        objects = find_objects('{"_":' + text + "}").objects
        if objects and len(objects[0][0]) == 1 and isinstance(objects[0][0][0][1], str):
            inner = objects[0][0][0][1].strip()
            return inner if inner.startswith("{") else text
    return text


def without_spans(text: str, spans: list[tuple[int, int]]) -> str:
    """Return a text with some spans left out, a line break in the place of each."""
    parts, at = [], 0
    for start, end in spans:
        parts.append(text[at:start])
        at = end
    return "\n".join([*parts, text[at:]])


def check_other_verdicts(
    text: str, prose: str, broken: tuple[int, ...], reading: Reading, reader: Reader
) -> None:
    """Refuse a reply whose object is contradicted by the rest of it.

    Raises:
        Unreadable: a line of the prose is another verdict, or so is an object that
            cannot be read.
    """
    for start in broken:
        if re.search(
            r"[\"']?\b(?:score|rating|pass|passed|verdict)\b[\"']?\s*:", text[start : start + 500]
        ):
            raise Unreadable("one of the objects in the reply cannot be read")
    frame = r"^[\s>*#_-]*(?:final |overall )?(?:score|rating|verdict|grade)[*_]*\s*[:=].*$"
    for line in re.findall(frame, prose[:20_000], re.IGNORECASE | re.MULTILINE):
        try:
            said = read_prose(line, reader.scale, decimal=reader.decimal)
        except Unreadable:
            continue
        if said.value != reading.value:
            raise Unreadable(
                f"the reply holds verdicts that differ: {reading.value:g} and {said.value:g}"
            )


def prose_reading(said: Found, prose: str, scale: Scale) -> Reading:
    """Return the reading of a verdict in prose, held to its scale."""
    value = within(said.value, scale) if scale.kind == "number" else said.value
    reason = " ".join(prose.split())
    doubt = ""
    if scale.kind == "pass_fail" and value == 1 and SAYS_NO.search(prose):
        doubt = "the judge says pass, and its reason reads as a no"
    return Reading(
        value=value, reason=reason, shown=said.shown.strip(), form="prose", conflict=doubt
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """Reads the verdict in objects.

    Attributes:
        scale: what was asked for.
        key: the key of the verdict, or None for the usual ones.
        decimal: "," takes a decimal comma too.
    """

    scale: Scale
    key: str | None = None
    decimal: str = "."

    def wanted(self) -> str:
        """Return what is looked for, in words."""
        return repr(self.key) if self.key else "verdict"

    def read_objects(self, objects: list[Pairs]) -> Reading | None:
        """Return the verdict of the objects that hold one, or None when none does.

        Raises:
            Unreadable: two differ, or one cannot be read.
        """
        readings = [one for pairs in objects if (one := self.read_one(pairs)) is not None]
        if not readings:
            return None
        values = {one.value for one in readings}
        if len(values) > 1:
            shown = " and ".join(f"{one.value:g}" for one in readings[:4])
            raise Unreadable(f"the reply holds verdicts that differ: {shown}")
        return readings[0]

    def read_one(self, pairs: Pairs, depth: int = 0) -> Reading | None:
        """Return the verdict of one object, or of the only one inside it; None without one.

        Raises:
            Unreadable: it holds two that differ, or one that cannot be read.
        """
        candidates = self.candidates(pairs)
        if candidates:
            return self.reading_of(pairs, self.agreed_value(candidates))
        if depth >= MAX_NESTING:
            return None
        inner = [
            one
            for name, value in pairs
            for child in children(name, value)
            if (one := self.read_one(child, depth + 1)) is not None
        ]
        if len(inner) > 1:
            raise Unreadable("the reply holds several verdicts, and none for the whole")
        return inner[0] if inner else None

    def candidates(self, pairs: Pairs) -> list[tuple[str, Any]]:
        """Return the pairs that may be the verdict, by the scale and the names of keys."""
        if self.key is not None:
            wanted = plain_key(self.key)
            return [pair for pair in pairs if plain_key(pair[0]) == wanted]
        scores = [pair for pair in pairs if plain_key(pair[0]) in SCORE_KEYS]
        if self.scale.kind == "number":
            others = [
                pair
                for pair in pairs
                if plain_key(pair[0]) in OTHER_SCORE_KEYS and self.is_readable(pair[1])
            ]
            return scores or others
        verdicts = [pair for pair in pairs if plain_key(pair[0]) in VERDICT_KEYS]
        scores = [pair for pair in scores if self.is_readable(pair[1])] or (
            [] if verdicts else scores
        )
        if self.scale.kind == "pass_fail" and scores:
            return scores
        readable = [pair for pair in verdicts if self.is_readable(pair[1])]
        return [*scores, *(readable or verdicts)]

    def is_readable(self, value: Any) -> bool:
        """Tell whether a value can be read as a verdict, bounds not looked at."""
        try:
            self.value_in(value)
        except Unreadable as error:
            return error.code == "score_out_of_range"
        return True

    def agreed_value(self, candidates: list[tuple[str, Any]]) -> float:
        """Return the value that all candidates have.

        Raises:
            Unreadable: they differ, or one cannot be read.
        """
        values = [self.value_in(value) for _, value in candidates]
        if len(set(values)) > 1:
            shown = " and ".join(
                f"{name}: {value:g}" for (name, _), value in zip(candidates, values, strict=True)
            )
            raise Unreadable(f"the reply holds verdicts that differ: {shown}")
        return values[0]

    def value_in(self, value: Any) -> float:
        """Return the score that the value of a key is.

        Raises:
            Unreadable: it is none.
        """
        if isinstance(value, Pairs):
            inner = Reader(scale=self.scale, decimal=self.decimal).candidates(value)
            if not inner or any(isinstance(below, Pairs) for _, below in inner):
                raise Unreadable("the verdict is an object without one")
            return Reader(scale=self.scale, decimal=self.decimal).agreed_value(inner)
        if value is None:
            raise Unreadable("the judge gave null for its verdict", "judge_abstained")
        if isinstance(value, str) and plain_label(value.strip(" .\"'")) in ABSTAINS:
            if word_or_none(value, self.scale) is None:
                raise Unreadable(f"the judge says {value!r}", "judge_abstained")
        if self.scale.kind == "number":
            return within(self.number_in(value), self.scale)
        return self.word_in(value)

    def number_in(self, value: Any) -> float:
        """Return the number that a value is; true and false are none."""
        if is_number(value):
            return float(value)
        if isinstance(value, str):
            number = read_number_text(value, self.scale, self.decimal)
            if number is not None:
                return number
        raise Unreadable(f"{shortened(value)} is no number from {self.scale.text()}")

    def word_in(self, value: Any) -> float:
        """Return the score of true or false, of 1 or 0, or of a label."""
        if self.scale.kind == "pass_fail":
            if isinstance(value, bool):
                return float(value)
            if is_number(value) and value in (0, 1):
                return float(value)
        if isinstance(value, str):
            found = word_or_none(value, self.scale)
            if found is not None:
                return found
        elif self.scale.kind == "labels" and is_number(value) and not isinstance(value, bool):
            found = word_or_none(f"{value:g}", self.scale)
            if found is not None:
                return found
        raise Unreadable(f"{shortened(value)} is not {self.scale.text()}")

    def reading_of(self, pairs: Pairs, value: float) -> Reading:
        """Return the reading of an object with its reason and the judge's own verdict."""
        fields = {plain_key(name): below for name, below in reversed(pairs)}
        reason = next((fields[key] for key in REASON_KEYS if isinstance(fields.get(key), str)), "")
        boolean = Scale(kind="pass_fail")
        verdicts = {
            bool(said)
            for key in OWN_VERDICTS
            if key in fields and (said := own_verdict(fields[key], boolean)) is not None
        }
        doubt = ""
        if self.scale.kind == "pass_fail" and value == 1 and SAYS_NO.search(reason):
            doubt = "the judge says pass, and its reason reads as a no"
        verdict = verdicts.pop() if len(verdicts) == 1 else None
        return Reading(value=value, reason=reason, verdict=verdict, conflict=doubt)


def own_verdict(value: Any, scale: Scale) -> float | None:
    """Return 1 or 0 for a value that says pass or fail in words, else None."""
    if isinstance(value, bool):
        return float(value)
    return word_value(value, scale) if isinstance(value, str) else None


def word_or_none(value: str, scale: Scale) -> float | None:
    return None if scale.kind == "number" else word_value(value, scale)


def children(name: str, value: Any) -> list[Pairs]:
    """Return the objects directly inside a value, those of a tool call's text included."""
    if isinstance(value, Pairs):
        return [value]
    if isinstance(value, list):
        return [one for one in value if isinstance(one, Pairs)]
    if isinstance(value, str) and plain_key(name) in CALL_KEYS and value.lstrip()[:1] == "{":
        return [pairs for pairs, _, _ in find_objects(value).objects]
    return []


def plain_key(name: str) -> str:
    """Return a key as it is compared: letters and digits alone, without letter case."""
    return re.sub(r"[\W_]+", "", name.casefold())


def shortened(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else json_text(plain_value(value))
    return text if len(text) <= 60 else f"{text[:59]}…"


def plain_value(value: Any) -> Any:
    """Return pairs as a mapping again, for showing."""
    if isinstance(value, Pairs):
        return {name: plain_value(below) for name, below in value}
    return [plain_value(one) for one in value] if isinstance(value, list) else value


def scored(
    reading: Reading,
    scale: Scale,
    *,
    threshold: float | None = None,
    direction: Direction = "higher",
) -> Score:
    """Return the score of a reading: the value against the threshold, conflicts stated."""
    needed = scale.default_threshold(direction) if threshold is None else threshold
    passed = scale.passes(reading.value, needed, direction)
    conflict = reading.conflict or verdict_conflict(reading, scale, passed, threshold, direction)
    reason = f"{shown_value(reading.value, scale)} {compared(passed, needed, scale, direction)}"
    said = " ".join(reading.reason.split())
    if said:
        reason += f": {said if len(said) <= SHOWN_REASON else said[: SHOWN_REASON - 1] + '…'}"
    details: dict[str, Any] = {"form": reading.form}
    if said:
        details["judge_reason"] = reading.reason[:KEPT_TEXT]
    if conflict:
        reason += f" (conflict: {conflict})"
        details["conflict"] = conflict
    if not passed:
        details["found"] = shown_value(reading.value, scale)
        details["wanted"] = wanted_text(needed, scale, direction)
    return Score("scored", value=reading.value, passed=passed, reason=reason, details=details)


def verdict_conflict(
    reading: Reading,
    scale: Scale,
    passed: bool,
    threshold: float | None,
    direction: Direction,
) -> str:
    """Return in what the judge's own verdict and its score disagree, or ""."""
    if reading.verdict is None:
        return ""
    agrees = reading.verdict == passed
    if threshold is None and scale.kind == "number":
        # Nobody wrote from where on a row passes: the halves of the scale are compared too.
        middle = (scale.low + scale.high) / 2
        good = reading.value > middle if direction == "higher" else reading.value < middle
        agrees = agrees and reading.verdict == good
        agrees = agrees or (reading.verdict and good and reading.value != middle)
    if agrees:
        return ""
    said = "pass" if reading.verdict else "fail"
    return f"the judge says {said}, and its score is {reading.value:g}; the score decides"


def shown_value(value: float, scale: Scale) -> str:
    """Return a score as its scale says it."""
    if scale.kind == "pass_fail":
        return "pass" if value == 1 else "fail"
    if scale.kind == "labels":
        labels = [label for label, score in scale.labels if score == value]
        return f"{' or '.join(labels)} ({value:g})" if labels else f"{value:g}"
    return f"{value:g}"


def wanted_text(needed: float, scale: Scale, direction: Direction) -> str:
    """Return from where on a value passes, in words."""
    if scale.kind == "pass_fail":
        return "pass" if direction == "higher" else "fail"
    return f"{needed:g} or {'more' if direction == 'higher' else 'less'}"


def compared(passed: bool, needed: float, scale: Scale, direction: Direction) -> str:
    if scale.kind == "pass_fail":
        return "is the judge's verdict"
    if direction == "lower":
        return f"{'stays within' if passed else 'is above'} the threshold {needed:g}"
    return f"{'reaches' if passed else 'is below'} the threshold {needed:g}"


def unreadable_score(error: Unreadable, reply: Any) -> Score:
    """Return the result of a reply without a score, with the start of the reply."""
    status: Status = "non_evaluable" if error.code == "judge_abstained" else "blocked"
    text = reply if isinstance(reply, str) else "" if reply is None else json_text(reply)
    reason = f"{error.code}: {error.why}"
    details: dict[str, Any] = {}
    if text.strip():
        start = " ".join(text[: 4 * SHOWN_REPLY].split())
        start = start if len(start) <= SHOWN_REPLY else f"{start[:SHOWN_REPLY]}…"
        reason += f"; the reply begins {start!r}"
        details = {"reply": text[:KEPT_TEXT]}
    return Score(status, reason=reason, code=error.code, details=details)
