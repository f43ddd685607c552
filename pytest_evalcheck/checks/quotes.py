"""The check that an output quotes only what its context says."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any, Final

from pytest_evalcheck.checks.options import Option, Settings
from pytest_evalcheck.checks.registry import check
from pytest_evalcheck.checks.target import Finding, Plan, Settled, as_text, fold, keep
from pytest_evalcheck.checks.target import quote as shown
from pytest_evalcheck.jsonvalues import json_text
from pytest_evalcheck.model import Row

__all__ = ["find_quotations"]

# Double marks only: an apostrophe cannot be told from a single quotation mark.
QUOTATION: Final = re.compile(
    r'"([^"\n]+)"|“([^”\n]+)”|„([^“”\n]+)[“”]|«([^»\n]+)»|»([^«\n]+)«|「([^」\n]+)」|『([^』\n]+)』'
)
BLOCK: Final = re.compile(r"(?:^[ \t]*>[ \t]?.*(?:\n|$))+", re.MULTILINE)
MARKER: Final = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
GAP: Final = re.compile(r"\s*(?:\[(?:\.{3}|…)\]|\.{3}|…)\s*")
PLAIN_MARKS: Final = str.maketrans("’‘“”„–—\u00a0", '\'\'"""-- ')  # noqa: RUF001


def find_quotations(text: str) -> Iterator[str]:
    """Yield what stands in quotation marks, and quoted blocks (`> ...`), in their order."""
    spans = [(match.start(), MARKER.sub("", match[0])) for match in BLOCK.finditer(text)]
    spans += [
        (match.start(), next(group for group in match.groups() if group is not None))
        for match in QUOTATION.finditer(BLOCK.sub(lambda match: "\n" * len(match[0]), text))
    ]
    for _, quotation in sorted(spans):
        yield quotation.strip()


def plain(text: str, folds: bool) -> str:
    """Return a text as quotations are compared: NFC, plain marks, single spaces."""
    bare = " ".join(unicodedata.normalize("NFC", text).translate(PLAIN_MARKS).split())
    return fold(bare) if folds else keep(bare)


@check(
    "quotes_context",
    Option(
        name="min_words",
        kind="count",
        default=3,
        summary="quotations of fewer words are not looked up (a term in quotes is no quotation)",
    ),
    summary="every quotation of the output occurs in the row's context",
    score="share",
)
def build_quotes_context(settings: Settings) -> Plan:
    """Compile `quotes_context`; its value is the share of quotations that occur.

    An ellipsis in a quotation leaves something out: the parts must occur in their order.
    Without a quotation there is nothing to look up: non_evaluable.
    """
    min_words = settings["min_words"]
    folds = not settings["case_sensitive"]

    def compare(row: Any, _operand: None) -> Finding:
        context = plain(context_text(row), folds)
        quotations = [
            one
            for one in find_quotations(output_text(row))
            if len(one.split()) >= max(min_words, 1)
        ]
        if not quotations:
            raise Settled.missing("not_applicable", "the output quotes nothing")
        missing = [one for one in quotations if not occurs(plain(one, folds), context)]
        return Finding(
            None,
            (len(quotations) - len(missing)) / len(quotations),
            found=f"{len(missing)} of {len(quotations)} quotations that the context lacks: "
            f"{', '.join(shown(one, 80) for one in missing[:5])}"
            if missing
            else f"{len(quotations)} quotations of the context",
            wanted="quotations of the context only",
            details={"missing": missing},
        )

    return Plan(compare=compare, reads="row")


def context_text(row: Row) -> str:
    """Return the row's context as one text, which must be there."""
    if not row.context:
        raise Settled.missing("not_applicable", "the row has no context to quote from")
    return "\n".join(one if isinstance(one, str) else json_text(one) for one in row.context)


def output_text(row: Row) -> str:
    """Return the row's output as text, which must be there."""
    if row.output is None:
        raise Settled.missing("missing_output", "the row has no recorded output")
    return as_text(row.output)


def occurs(quotation: str, context: str) -> bool:
    """Tell whether the parts of a quotation occur in a context, one after the other."""
    at = 0
    for part in GAP.split(quotation):
        piece = part.strip(" .,;:!?")
        found = context.find(piece, at) if piece else at
        if found < 0:
            return False
        at = found + len(piece)
    return True
