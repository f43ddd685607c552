"""What is wrong with the description of one tool, how badly, and how to mend it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from pytest_evalcheck.toolspecs.arguments import Argument
from pytest_evalcheck.toolspecs.scoring import Parts, Subject
from pytest_evalcheck.toolspecs.words import (
    DESTRUCTIVE_WORDS,
    GENERIC_NAMES,
    count_words,
    has_any_word,
    is_named_in,
    name_tokens,
    names_source,
)

__all__ = ["SEVERITIES", "Finding", "Severity", "find_faults", "is_as_bad_as", "listed"]

Severity = Literal["critical", "major", "minor"]
# From worst to mildest.
SEVERITIES: Final[tuple[Severity, ...]] = ("critical", "major", "minor")

_GOOD_NAME: Final = re.compile(r"[A-Za-z0-9_.-]+")
_DEPRECATED: Final = re.compile(r"\bdeprecated\b", re.IGNORECASE)
_TEXT_WORD: Final = re.compile(r"[^\W_]+")
_IDENTIFIERS: Final = frozenset({"id", "ids", "uid", "uuid", "guid", "ref", "refs", "parent"})
_CURSORS: Final = frozenset({"cursor"})
_SHOWN_PATHS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing found in a tool or a server.

    Attributes:
        code: the kind, a word for CI and for searching.
        severity: `critical`, `major` or `minor`.
        found: what is there, as a phrase.
        fix: what to do, as a sentence.
        paths: the arguments or tools it is about.
    """

    code: str
    severity: Severity
    found: str
    fix: str
    paths: tuple[str, ...] = ()

    def text(self) -> str:
        """Return `major no_usage_context: found. What to do.`."""
        return f"{self.severity} {self.code}: {self.found}. {self.fix}"


def is_as_bad_as(severity: Severity, limit: Severity) -> bool:
    """Tell whether a severity is the limit or worse."""
    return SEVERITIES.index(severity) <= SEVERITIES.index(limit)


def listed(paths: Iterable[str], most: int = _SHOWN_PATHS) -> str:
    """Return names joined by commas, the first few and how many more."""
    names = list(paths)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def find_faults(subject: Subject, parts: Parts) -> tuple[Finding, ...]:
    """Return the findings of one tool, the worst first."""
    found = [
        *_text_findings(subject),
        *_silence_findings(subject, parts),
        *_argument_findings(subject),
        *_name_findings(subject),
        *_destructive_finding(subject),
    ]
    return tuple(sorted(found, key=lambda one: SEVERITIES.index(one.severity)))


def _text_findings(subject: Subject) -> Iterator[Finding]:
    words = subject.words
    if subject.is_blank:
        yield Finding(
            code="no_description",
            severity="critical",
            found="there is no description",
            fix="Say what the tool does, when to use it and what it gives back.",
        )
        return
    if subject.is_restatement:
        yield Finding(
            code="restates_name",
            severity="major",
            found=f"the description only says the name again ({_words_text(words)})",
            fix="Say in ten words or more what the name leaves open: on what, how, to what end.",
        )
    if 1 <= words <= 7:
        yield Finding(
            code="too_short",
            severity="major",
            found=f"the description has {_words_text(words)}",
            fix="Write at least 8 words; from 12 and from 25 on the purpose scores higher.",
        )
    if words > 400:
        yield Finding(
            code="too_long",
            severity="minor",
            found=f"the description has {words} words",
            fix="Keep it to 400; details of an argument belong to that argument.",
        )
    if _DEPRECATED.search(subject.text):
        yield Finding(
            code="deprecated",
            severity="minor",
            found="the description says the tool is deprecated",
            fix="Name what replaces it, and take the tool out of the list when you can.",
        )


def _words_text(words: int) -> str:
    return "1 word" if words == 1 else f"{words} words"


def _silence_findings(subject: Subject, parts: Parts) -> Iterator[Finding]:
    """Yield what the description says nothing about; an absent one has its own finding."""
    if subject.is_blank:
        return
    if not parts.usage:
        yield Finding(
            code="no_usage_context",
            severity="major",
            found="the description says nothing about when to use the tool",
            fix="Say what it is for and when another tool does it better, in whatever words fit "
            "(when, before, after, only if, not for, instead of).",
        )
    if not parts.returns:
        yield Finding(
            code="no_return_info",
            severity="minor",
            found="the description says nothing about what comes back",
            fix="Add an outputSchema, or say what the tool returns.",
        )
    if not parts.constraints:
        yield Finding(
            code="no_constraints",
            severity="minor",
            found="the description says nothing about limits and side effects",
            fix="Add annotations such as readOnlyHint, or name limits, costs, permissions "
            "or what is changed.",
        )


def _argument_findings(subject: Subject) -> Iterator[Finding]:
    arguments = subject.arguments
    if not arguments:
        return
    yield from _undescribed(arguments)
    loose = [one.path for one in subject.strings if not one.is_constrained and _is_terse(one)]
    if loose:
        yield Finding(
            code="loose_string_param",
            severity="minor",
            found=f"any text will do for {listed(loose)}",
            fix="Add enum, format, pattern, examples, default or a length, "
            "or describe the form in 4 words or more.",
            paths=tuple(loose),
        )
    if not subject.schema.get("required"):
        yield Finding(
            code="no_required",
            severity="minor",
            found="no argument is required",
            fix="List in `required` at the root of the inputSchema what must be given, "
            "or say in the text that all is optional.",
        )
    yield from _unnamed(subject)
    yield from (
        _vague_boolean(one) for one in arguments if one.kind == "boolean" and _is_terse(one)
    )
    yield from (_sourceless(one) for one in arguments if _lacks_source(one, subject.text))


def _is_terse(argument: Argument) -> bool:
    return count_words(argument.description) < 4


def _undescribed(arguments: tuple[Argument, ...]) -> Iterator[Finding]:
    bare = [one.path for one in arguments if not one.is_described]
    if not bare:
        return
    described = len(arguments) - len(bare)
    yield Finding(
        code="param_no_description",
        severity="major" if described * 2 < len(arguments) else "minor",
        found=f"{len(bare)} of {len(arguments)} arguments have no description: {listed(bare)}",
        fix="Give each a `description`: what it means, in which form, with an example.",
        paths=tuple(bare),
    )


def _unnamed(subject: Subject) -> Iterator[Finding]:
    if len(subject.arguments) < 3 or subject.is_blank:
        return
    folded = subject.text.casefold()
    if not any(is_named_in(one.name, folded) for one in subject.arguments):
        yield Finding(
            code="params_not_in_description",
            severity="minor",
            found=f"the description names none of the {len(subject.arguments)} arguments",
            fix="Name the ones that matter most, and say how they go together.",
        )


def _vague_boolean(argument: Argument) -> Finding:
    return Finding(
        code="vague_boolean",
        severity="minor",
        found=f"{argument.path} is true or false, and it is not said what each does",
        fix="Describe in 4 words or more what happens when it is true.",
        paths=(argument.path,),
    )


def _lacks_source(argument: Argument, text: str) -> bool:
    if not argument.is_required:
        return False
    tokens = [part.lower() for part in name_tokens(argument.name)]
    if not tokens or not (tokens[-1] in _IDENTIFIERS or _CURSORS.intersection(tokens)):
        return False
    return not (names_source(argument.description, of_argument=True) or names_source(text))


def _sourceless(argument: Argument) -> Finding:
    return Finding(
        code="id_source_missing",
        severity="minor",
        found=f"{argument.path} is required, and nothing says where it comes from",
        fix="Say which tool returns it, such as: returned by list_pages.",
        paths=(argument.path,),
    )


def _name_findings(subject: Subject) -> Iterator[Finding]:
    name = subject.name
    tokens = name_tokens(name)
    if tokens and all(token.lower() in GENERIC_NAMES for token in tokens):
        yield Finding(
            code="generic_name",
            severity="major",
            found=f"the name {name!r} could be any tool's",
            fix="Name what it works on: get_invoice rather than get_data.",
        )
    if len(name) > 40:
        yield Finding(
            code="long_name",
            severity="minor",
            found=f"the name has {len(name)} characters",
            fix="Keep it to 40: clients put the server's name before it.",
        )
    if not _GOOD_NAME.fullmatch(name):
        bad = sorted({character for character in name if not _GOOD_NAME.fullmatch(character)})
        yield Finding(
            code="bad_name_chars",
            severity="major",
            found=f"the name holds {listed(map(ascii, bad))}",
            fix="Use ASCII letters, digits, `_`, `-` and `.` only: clients refuse other names.",
        )


def _destructive_finding(subject: Subject) -> Iterator[Finding]:
    if "destructiveHint" in subject.annotations:
        return
    words = [*_TEXT_WORD.findall(subject.text), *name_tokens(subject.name)]
    if has_any_word(words, DESTRUCTIVE_WORDS):
        said = next(word.lower() for word in words if word.lower() in DESTRUCTIVE_WORDS)
        yield Finding(
            code="destructive_unmarked",
            severity="major",
            found=f"{said!r} stands in the name or the description, and destructiveHint is absent",
            fix="Add the annotation destructiveHint: true, or false if nothing is lost.",
        )
