"""Scores by claims: the judge lists claims and says of each whether it holds; we count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_evalcheck.jsonvalues import JsonTextError, parse_json
from pytest_evalcheck.judges.reply import Reading
from pytest_evalcheck.judges.reply_numbers import Unreadable
from pytest_evalcheck.judges.reply_objects import find_objects
from pytest_evalcheck.judges.reply_text import normal_text, unfenced, without_reasoning

__all__ = ["object_of", "read_claims"]


def object_of(reply: Any) -> Mapping[str, Any]:
    """Return the one object that a reply is, fences and prose around it left out.

    Raises:
        Unreadable: there is none, or more than one.
    """
    if isinstance(reply, Mapping):
        return reply
    if not isinstance(reply, str) or not reply.strip():
        raise Unreadable("the reply is empty")
    text = unfenced(without_reasoning(normal_text(reply)).strip())
    try:
        value = parse_json(text, duplicates="refuse")
    except JsonTextError:
        found = find_objects(text)
        if found.cut_off:
            raise Unreadable("the reply is cut off inside its object") from None
        if len(found.objects) != 1:
            raise Unreadable(f"the reply holds {len(found.objects)} objects, not one") from None
        value = mapping_of(found.objects[0][0])
    if not isinstance(value, Mapping):
        raise Unreadable("the reply is no object")
    return value


def mapping_of(value: Any) -> Any:
    """Return pairs as mappings.

    Raises:
        Unreadable: a key stands twice.
    """
    from pytest_evalcheck.judges.reply_objects import Pairs

    if isinstance(value, Pairs):
        made = {name: mapping_of(below) for name, below in value}
        if len(made) != len(value):
            raise Unreadable("a key stands twice in the object")
        return made
    return [mapping_of(one) for one in value] if isinstance(value, list) else value


def read_claims(reply: Any, *, unsupported: bool) -> Reading:
    """Return the share of claims that are supported, or that are not.

    Args:
        reply: `{"claims": [{"claim": text, "supported": true or false}, ...]}`.
        unsupported: count those that are not supported.

    Raises:
        Unreadable: a claim lacks its verdict; or there is no claim (`judge_abstained`), for
            no share of nothing exists.
    """
    claims = object_of(reply).get("claims")
    if not isinstance(claims, list):
        raise Unreadable("the reply has no list of claims")
    if not claims:
        raise Unreadable("the text makes no claim", "judge_abstained")
    verdicts = [claim.get("supported") if isinstance(claim, Mapping) else None for claim in claims]
    if not all(isinstance(verdict, bool) for verdict in verdicts):
        raise Unreadable("a claim in the reply has no verdict of true or false")
    unmet = [one for one, verdict in zip(claims, verdicts, strict=True) if not verdict]
    value = (len(unmet) if unsupported else len(claims) - len(unmet)) / len(claims)
    named = "; ".join(str(one.get("claim", "?")) for one in unmet[:3])
    reason = f"{len(claims) - len(unmet)} of {len(claims)} claims supported"
    reason += f"; not: {named}" if unmet else ""
    return Reading(value=value, reason=reason, form="claims")
