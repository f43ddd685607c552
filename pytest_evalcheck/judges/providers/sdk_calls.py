"""Calls through the vendors' SDKs, which share one shape, and their exceptions as trouble."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pytest_evalcheck.jsonvalues import JsonTextError, json_text, parse_json
from pytest_evalcheck.judges.config import JudgeConfig
from pytest_evalcheck.judges.trouble import Trouble, http_trouble, said_by

__all__ = ["post_json", "refused_argument", "said_in", "sdk_trouble"]

# What `extra` may hold for the SDK itself, and the option of a call that it is.
CALL_OPTIONS: Final = {
    "extra_headers": "headers",
    "extra_query": "params",
    "timeout": "timeout",
}


async def post_json(
    client: Any, path: str, body: Mapping[str, Any], extra: Mapping[str, Any], judge: JudgeConfig
) -> Any:
    """Return the JSON value that a server answers to a body, posted by an SDK's client.

    The SDK's typed method would walk the body along its own types, which costs more than
    all the rest of a call, and refuse parameters that are newer or older than it is;
    `client.post` with the text of the answer is its documented way past both.

    Args:
        client: an async client of the openai or anthropic SDK.
        path: below the client's address.
        body: the parameters of the call.
        extra: of the judge: more parameters, `extra_headers`, `extra_query`,
            `extra_body` and `timeout` as the SDK's methods take them.
        judge: for the reason.

    Raises:
        Trouble: the answer is no JSON.
        Exception: the SDK's own, see `sdk_trouble`.
    """
    options = {CALL_OPTIONS[name]: value for name, value in extra.items() if name in CALL_OPTIONS}
    more = {name: value for name, value in extra.items() if name not in CALL_OPTIONS}
    more |= more.pop("extra_body", {})
    text = await client.post(path, cast_to=str, body={**body, **more}, options=options)
    return answer_in(text, judge)


def sdk_trouble(error: Exception, judge: JudgeConfig) -> Trouble | None:
    """Return what an SDK's exception means, or None when it is no trouble of the call.

    The SDKs of OpenAI, Anthropic and LiteLLM name their exceptions alike: a timeout, a
    connection that failed or was cut, an answer with an error status.
    """
    names = {one.__name__ for one in type(error).__mro__}
    if names & {"APITimeoutError", "Timeout", "DeadlineExceededError"}:
        return Trouble(
            "timeout",
            f"the judge {judge.name!r} gave no answer in {judge.timeout_s:g} s",
            remedy="wait",
        )
    if "APIConnectionError" in names:
        cause = error.__cause__ or error
        reason = f"no connection to the judge {judge.name!r} ({said_by(cause) or 'cut'})"
        return Trouble("judge_unavailable", reason, remedy="wait")
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status >= 400:
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        return http_trouble(
            status, said_in(error), headers, judge=judge.name, key_variable=judge.key_variable()
        )
    return None


def said_in(error: Exception) -> str:
    """Return what the server said, from the body of an error answer."""
    body = getattr(error, "body", None)
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        said = inner.get("message") if isinstance(inner, Mapping) else inner
        code = inner.get("code") if isinstance(inner, Mapping) else None
        text = said if isinstance(said, str) else json_text(body)
        return f"{text} ({code})" if isinstance(code, str) and code not in text else text
    response = getattr(error, "response", None)
    text = getattr(response, "text", "")
    return text if isinstance(text, str) and text else str(getattr(error, "message", error))


def refused_argument(error: Exception) -> str | None:
    """Return the argument that a refusal names (`param` of OpenAI's error), or None."""
    param = getattr(error, "param", None)
    return param if isinstance(param, str) else None


def answer_in(text: str, judge: JudgeConfig) -> Any:
    """Return the JSON value of an answer with a good status.

    Raises:
        Trouble: it is a page, or its JSON is broken; a gateway may answer so for a while.
    """
    try:
        return parse_json(text)
    except JsonTextError as error:
        what = (
            f"broken JSON ({error}): it was cut off"
            if text.lstrip()[:1] in ("{", "[")
            else f"{said_by(text) or 'nothing'} where JSON was due; check its base_url"
        )
        raise Trouble(
            "judge_unavailable", f"the judge {judge.name!r} answered {what}", remedy="wait"
        ) from None
