"""The words that the rules look for, and how a text is cut into words.

The lists are our own; the rules that use them are version 2 of the public scorer
forecall's (October 2026). A change here that can move a score raises `RULES_VERSION`
in `scoring`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

__all__ = [
    "count_words",
    "description_tokens",
    "first_word",
    "has_disambiguation",
    "has_example",
    "is_named_in",
    "name_tokens",
    "names_cost_or_effect",
    "names_return",
    "names_source",
    "usage_cues",
]

# An ASCII letter and what follows of letters, digits, `_`, `-`.
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_NAME_BREAK: Final = re.compile(r"[_\-.\s]+|(?<=[a-z])(?=[A-Z])")


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS: Final = _listed(
    """
    a an the to of in on for and or with by from is are be this that it as at into your you
    """
)

# Imperative verbs in base form with which descriptions of tools and API calls begin.
VERBS: Final = _listed(
    """
    abort accept acknowledge activate add adjust aggregate allocate analyse analyze annotate
    append apply approve archive arrange ask assess assign associate attach audit
    authenticate authorise authorize begin block book browse build buy calculate call cancel
    capture categorize change check choose claim classify clean clear click clone close
    collect combine commit compare compile compose compress compute configure confirm
    connect construct convert copy count crawl create crop deactivate decline decode decrypt
    define delegate delete deploy describe destroy detach detect determine diagnose disable
    disconnect discover dismiss dispatch display download drag draw drop duplicate edit
    embed emulate enable encode encrypt enqueue enrich ensure enter enumerate erase estimate
    evaluate examine execute expand explain explore export extend extract fetch fill filter
    find finish flag flush follow forecast fork format forward gather generate get give
    grant group handle hide highlight hover identify import increment index infer initialise
    initialize inject insert inspect install interact invalidate invite invoke join jump
    keep kill launch leave list listen load locate lock look lookup make manage map mark
    match measure merge migrate modify monitor mount move mute navigate normalise normalize
    notify observe obtain open optimise optimize organise organize override overwrite parse
    paste patch pause perform pick pin ping place plan play plot poll post predict prepare
    press preview print process produce promote propose provide provision publish pull
    purchase purge push put query read rebuild recommend record recover redact redeem
    refresh refund register reject release reload remember remind remove rename render renew
    reopen reorder repair repeat replace reply report request reschedule reserve reset
    resize resolve restart restore resume retrieve retry return revert review revoke rewrite
    rotate route run save scan schedule scrape scroll search select send set share show shut
    sign simulate skip solve sort specify split start stop store stream submit subscribe
    suggest summarise summarize suspend swap switch sync synchronise synchronize synthesize
    tag take tap tell terminate test toggle trace track train transcribe transfer transform
    translate traverse trigger trim truncate turn type unarchive unassign unblock undo
    unlink unlock unpin unsubscribe update upgrade upload upsert use validate verify view
    visit visualise visualize vote wait watch wipe withdraw write zip zoom
    """
)

GENERIC_NAMES: Final = _listed(
    """
    action api app call command data do execute fetch function general get handle handler
    helper info information invoke item items list main make manage manager method misc
    object operation perform process query request resource resources run service set stuff
    task test thing things tool tools update util utility utils value work
    """
)

DESTRUCTIVE_WORDS: Final = _listed(
    """
    delete remove destroy purge drop overwrite reset wipe
    """
)

# Words that change something without necessarily destroying it, for contradictions.
CHANGING_VERBS: Final = DESTRUCTIVE_WORDS | _listed(
    """
    add append archive assign cancel close commit create deploy disable edit enable erase
    insert install kill merge modify move patch post publish push rename replace restart
    revoke save send set submit terminate uninstall update upload upsert write
    """
)


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


# Each is one cue of the part "when to use"; their order is the specification's.
_USAGE_CUES: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\buse(?:\s+this|\s+it)?\s+(?:when|if|for|to)\b",
        r"\bonly\s+(?:use|when|if)\b",
        r"\bdo\s+not\b",
        r"\bdon['\u2019]t\b",
        r"\bnot\s+for\b",
        r"\binstead\b",
        r"\bprefer\b",
        r"\bbefore\s+(?:calling|using)\b",
        r"\bafter\b",
        r"\brequires?\b",
        r"\bmust\b",
        r"\bshould\b",
        r"\bavoid\b",
        r"\bnever\b",
        r"\balways\b",
        r"\bwhen\b",
    )
)
_DISAMBIGUATION: Final = _any_of(
    r"\binstead\s+of\b",
    r"\brather\s+than\b",
    r"\bnot\s+for\b",
    r"\bdo\s+not\s+use\b",
    r"\bdon['\u2019]t\s+use\b",
    r"\bprefer\b",
)
_USE: Final = re.compile(r"\buse\b", re.IGNORECASE)
_INSTEAD: Final = re.compile(r"\binstead\b", re.IGNORECASE)

_RETURN: Final = _any_of(r"\b(?:returns?|response|output|result|yields?|gives?\s+back)\b")

_COST_OR_EFFECT: Final = _any_of(
    # "Limited" alone says nothing of where the limit lies.
    r"\b(?:limits?|limitations?)\b",
    r"\b(?:destructive|destructively|destroys?|permanently|irreversibl[ey])\b",
    r"\b(?:cannot|can't|can\u2019t|can\s+not)\s+be\s+(?:undone|reversed|recovered)\b",
    r"\b(?:expensive|slow|slowly|deprecated|credits?)\b",
    r"\bread[\s-]?only\b",
    r"\brate[\s-]?limits?\b",
    r"\b(?:paginat(?:ed?|es|ion|ing)|page\s+size)\b",
    r"\bside[\s-]effects?\b",
    r"\b(?:permissions?|auth|authenticat(?:ed?|es|ion)|authori[sz](?:ed?|es|ation))\b",
    r"\b(?:time[\s-]?outs?|idempotent|idempotence|idempotency)\b",
    r"\b(?:costs?|costly|quotas?)\b",
    r"\brequires?\s+(?:an?\s+|the\s+|your\s+)?(?:valid\s+)?(?:api[\s-]?key|(?:\w+\s+)?token|login)\b",
)

_EXAMPLE: Final = _any_of(
    r"\be\.g\.",
    r"\bfor\s+example\b",
    r"\bexample",
    r"\bsuch\s+as\b",
    r"\blike\b",
    r"`[^`\n]{2,60}`",
    r'"[^"\n]{2,60}"',
    r"“[^”\n]{2,60}”",
    # Not an apostrophe: nothing of a word before it, nothing of a word behind it.
    r"(?<!\w)'[^'\n]{2,60}'(?!\w)",
)

_SOURCE: Final = _any_of(
    r"\b(?:returned|obtained|retrieved|found|given|provided|produced|listed|shown|received)\s+"
    r"(?:by|from|in|with|via|through)\b",
    r"\bfrom\s+(?:(?:a|an|the|an\s+earlier|a\s+previous|the\s+previous)\s+)?"
    r"(?:snapshot|list|listing|search|results?|response|output|url|call)\b",
    r"\b(?:from|call|calling|use|using|run|see|via)\s+(?:the\s+)?(?:[`'\"]|\w+[_-]\w)",
)
_FROM: Final = re.compile(r"\b(?:from|returned|returns)\b", re.IGNORECASE)


def words_of(text: str) -> list[str]:
    """Return the words of a text as they stand."""
    return _WORD.findall(text)


def count_words(text: str) -> int:
    """Return the number of words of a text."""
    return len(_WORD.findall(text))


def first_word(text: str) -> str:
    """Return the first word in lower case, or "" for a text without words."""
    match = _WORD.search(text)
    return match[0].lower() if match else ""


def description_tokens(text: str) -> frozenset[str]:
    """Return the telling words: lower-cased, no stop words, none of one or two letters."""
    return frozenset(
        word
        for word in map(str.lower, _WORD.findall(text))
        if len(word) > 2 and word not in STOP_WORDS
    )


def name_tokens(name: str) -> tuple[str, ...]:
    """Return the parts of a name, case kept: `get_userName` gives get, user, Name."""
    return tuple(part for part in _NAME_BREAK.split(name) if part)


def usage_cues(text: str) -> int:
    """Return how many different cues tell when to use a tool."""
    return sum(1 for cue in _USAGE_CUES if cue.search(text))


def has_disambiguation(text: str) -> bool:
    """Tell whether the text sets the tool apart from another one."""
    if _DISAMBIGUATION.search(text):
        return True
    return any(_uses_instead(line) for line in text.split("\n"))


def _uses_instead(line: str) -> bool:
    used = _USE.search(line)
    return used is not None and _INSTEAD.search(line, used.end()) is not None


def names_return(text: str) -> bool:
    """Tell whether the text says something of what comes back."""
    return _RETURN.search(text) is not None


def names_cost_or_effect(text: str) -> bool:
    """Tell whether the text names a limit, a cost, a condition or a side effect."""
    return _COST_OR_EFFECT.search(text) is not None


def has_example(text: str) -> bool:
    """Tell whether the text gives an example, or quotes a piece of 2 to 60 characters."""
    return _EXAMPLE.search(text) is not None


def names_source(text: str, *, of_argument: bool = False) -> bool:
    """Tell whether the text says where an identifier comes from.

    Args:
        text: a description.
        of_argument: the description is the argument's own, where any "from" or
            "returned" will do.
    """
    return _SOURCE.search(text) is not None or (of_argument and _FROM.search(text) is not None)


def is_named_in(name: str, folded_text: str) -> bool:
    """Tell whether a name stands in a case-folded text as a word, `_` or `-` read as blanks too."""
    folded = name.casefold()
    spaced = " ".join(name_tokens(name)).casefold()
    return any(_stands_in(one, folded_text) for one in {folded, spaced} if one)


def _stands_in(word: str, text: str) -> bool:
    if word not in text:
        return False
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def has_any_word(words: Iterable[str], wanted: frozenset[str]) -> bool:
    """Tell whether any of the words, in any case, is one of the wanted ones."""
    return any(word.lower() in wanted for word in words)
