"""Stored requests and replies: the cache, the offline replay and the audit trail in one.

`<folder>/ab/abcdef….json` holds one request, addressed by the SHA-256 of everything that
was sent. A file is written beside its place and moved there, so that several workers, or
one that is killed, leave only whole files. Failures are never stored.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, get_args

from pytest_evalcheck.judges.request import Reply
from pytest_evalcheck.safetext import safe_line

__all__ = [
    "RECORD_MODES",
    "RecordMode",
    "Recordings",
    "StoredRequest",
    "drop_recordings",
    "list_recordings",
    "recording_key",
    "recording_path",
]

RecordMode = Literal["new_episodes", "once", "none", "all"]
RECORD_MODES: Final[tuple[RecordMode, ...]] = get_args(RecordMode)

FORMAT: Final = "evalcheck-recording/1"
FILE: Final = re.compile(r"[0-9a-f]{64}\.json")
LEFT_OVER: Final = re.compile(r"\.[0-9a-f]{64}\.\d+\.\d+\.tmp")

# A replay marks its file as used by its time, unless that is as recent as this.
TOUCH_AFTER_S: Final = 3600.0
LEFT_OVER_AFTER_S: Final = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRequest:
    """One stored request, for a person to look through.

    Attributes:
        key: its address.
        path: its file.
        metric: the metric that asked first, or "".
        provider, model: who was asked.
        recorded_at: ISO 8601 time of the reply, or "".
        used_at: when it was last written or replayed, to the hour.
        bytes: the size of the file.
        problem: why it cannot be read, or "".
    """

    key: str
    path: Path
    metric: str = ""
    provider: str = ""
    model: str = ""
    recorded_at: str = ""
    used_at: datetime
    bytes: int
    problem: str = ""


def recording_key(content: Mapping[str, Any]) -> str:
    """Return the address of a request: SHA-256 of the canonical JSON of all that is sent.

    Canonical is: keys sorted, no white space, everything beyond ASCII escaped.
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def recording_path(folder: Path, key: str) -> Path:
    """Return where the recording of a key lies."""
    return folder / key[:2] / f"{key}.json"


class Recordings:
    """The recordings of one folder in one of VCR's record modes.

    `new_episodes` replays what is there and stores the rest; `once` does so only when
    the folder had no recording at the start of the run, and else takes no new ones; `none`
    replays and never calls out; `all` never replays and stores everything anew.

    Args:
        folder: created with the first recording.
        mode: one of `RECORD_MODES`.
        had_some: whether the folder held recordings when the run began, for a worker
            that starts later than its run; looked up when not given.

    Attributes:
        used: the keys that were replayed or stored.
        problems: files that could not be read or written, as lines for a person.
    """

    def __init__(
        self, folder: Path, mode: RecordMode = "new_episodes", *, had_some: bool | None = None
    ) -> None:
        if mode not in RECORD_MODES:
            raise ValueError(f"record mode {mode!r} is none of {', '.join(RECORD_MODES)}")
        self.folder = folder
        self.mode: RecordMode = mode
        self.had_some = had_some if had_some is not None else has_recordings(folder)
        self.used: set[str] = set()
        self.problems: list[str] = []
        self.unreadable: set[str] = set()

    @property
    def takes_new(self) -> bool:
        """Tell whether a request that has no recording may be made."""
        return self.mode in ("new_episodes", "all") or (self.mode == "once" and not self.had_some)

    def find(self, key: str) -> Reply | None:
        """Return the stored reply of a key, marked as replayed, or None.

        A file that cannot be read counts as missing; `problems` names it.
        """
        if self.mode == "all":
            return None
        path = recording_path(self.folder, key)
        try:
            reply = reply_in(read_document(path, key))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError) as error:
            if key not in self.unreadable:
                self.unreadable.add(key)
                self.problems.append(f"recording {self.shown(path)} is not readable: {error}")
            return None
        self.used.add(key)
        mark_used(path)
        return reply

    def miss_reason(self, key: str) -> str:
        """Return why a request without a recording is not made."""
        if key in self.unreadable:
            what = f"the recording {self.shown(recording_path(self.folder, key))} is not readable"
        else:
            what = f"there is no recording {key[:12]} of this request"
        why = (
            "the record mode is none"
            if self.mode == "none"
            else "the record mode is once, and there are recordings already"
        )
        return f"{what}, and {why}; run with --evalcheck-record-mode=new_episodes to make it"

    def save(self, key: str, content: Mapping[str, Any], reply: Reply, *, metric: str = "") -> None:
        """Store a reply; what hinders it goes to `problems`, for the reply itself is good.

        Args:
            key: the address of the request.
            content: what was sent, without secrets.
            reply: what came back, without secrets.
            metric: who asked.
        """
        path = recording_path(self.folder, key)
        try:
            write_whole(path, document_bytes(key, content, reply, metric))
        except (OSError, TypeError, ValueError, RecursionError) as error:
            said = safe_line(str(error), 200)
            self.problems.append(f"recording {self.shown(path)} could not be written: {said}")
            return
        self.unreadable.discard(key)
        self.used.add(key)

    def shown(self, path: Path) -> str:
        """Return a file's path as a person sees it, from the folder on."""
        return path.relative_to(self.folder.parent).as_posix()


def document_bytes(key: str, content: Mapping[str, Any], reply: Reply, metric: str) -> bytes:
    """Return the file of a recording: JSON in which texts of several lines are lists of lines."""
    document = {
        "format": FORMAT,
        "key": key,
        "metric": metric,
        "recorded_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "request": {
            name: lines_of(value) if name in ("system", "user") else value
            for name, value in content.items()
        },
        "reply": {
            "text": lines_of(reply.text),
            "value": reply.value,
            "finish": reply.finish,
            "tokens_in": reply.tokens_in,
            "tokens_out": reply.tokens_out,
            "latency_s": None if reply.latency_s is None else round(reply.latency_s, 4),
            "cost_usd": reply.cost_usd,
            "attempts": reply.attempts,
        },
    }
    try:
        return pretty_text(document, PLAIN).encode("utf-8")
    except UnicodeEncodeError:  # lone surrogates, which only escapes can carry
        return pretty_text(document, ESCAPING).encode("ascii")


PLAIN: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
ESCAPING: Final = json.JSONEncoder(ensure_ascii=True, allow_nan=False)


def pretty_text(document: Mapping[str, Any], encoder: json.JSONEncoder) -> str:
    """Return JSON with a line for each member, two levels deep, and for each line of a text.

    `json.dumps(indent=...)` would cost as much as the rest of a recording.
    """
    members = []
    for name, value in document.items():
        if isinstance(value, dict) and value:
            below = [f"  {encoder.encode(key)}: {line(one, encoder)}" for key, one in value.items()]
            members.append(f" {encoder.encode(name)}: {{\n" + ",\n".join(below) + "\n }")
        else:
            members.append(f" {encoder.encode(name)}: {encoder.encode(value)}")
    return "{\n" + ",\n".join(members) + "\n}\n"


def line(value: Any, encoder: json.JSONEncoder) -> str:
    """Return one member's value: on one line, but a list of lines on its own ones."""
    if isinstance(value, list) and value and isinstance(value[0], str):
        return "[\n   " + ",\n   ".join(map(encoder.encode, value)) + "\n  ]"
    return encoder.encode(value)


def lines_of(text: Any) -> Any:
    """Return a text of several lines as the list of them, for diffs that can be read."""
    return text.split("\n") if isinstance(text, str) and "\n" in text else text


def text_of(value: Any) -> str:
    """Return the text that `lines_of` was given.

    Raises:
        ValueError: it is neither a text nor a list of texts.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    raise ValueError("its reply has no text")


def read_document(path: Path, key: str) -> dict[str, Any]:
    """Return the content of a recording's file.

    Raises:
        FileNotFoundError: there is none.
        OSError: it cannot be opened.
        ValueError: it is cut off, garbled, or another request's.
    """
    try:
        document = json.loads(path.read_bytes())
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except ValueError:
        raise ValueError("it is cut off or no JSON") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"it is not of the format {FORMAT}")
    if document.get("key") != key:
        raise ValueError("it holds another request than its name says")
    return document


def reply_in(document: Mapping[str, Any]) -> Reply:
    """Return the reply that a recording holds.

    Raises:
        ValueError: a part is missing or of the wrong kind.
    """
    stored = document.get("reply")
    if not isinstance(stored, dict):
        raise ValueError("it has no reply")
    figures = {
        name: number_in(stored, name)
        for name in ("tokens_in", "tokens_out", "latency_s", "cost_usd")
    }
    attempts = stored.get("attempts")
    return Reply(
        text=text_of(stored.get("text")),
        value=stored.get("value"),
        finish=stored["finish"] if isinstance(stored.get("finish"), str) else "",
        replayed=True,
        attempts=attempts if isinstance(attempts, int) else 1,
        **figures,
    )


def number_in(stored: Mapping[str, Any], name: str) -> Any:
    value = stored.get(name)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise ValueError(f"its {name} is no number")


WRITES: Final = itertools.count()


def write_whole(path: Path, data: bytes) -> None:
    """Put data into a file so that nobody ever sees a part of it.

    Raises:
        OSError: it cannot be written.
    """
    beside = path.parent / f".{path.stem}.{os.getpid()}.{next(WRITES)}.tmp"
    try:
        try:
            beside.write_bytes(data)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(data)
        os.replace(beside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        # On Windows a file that another worker reads cannot be replaced; it is the same.
        if not (isinstance(error, PermissionError) and path.is_file()):
            raise


def mark_used(path: Path) -> None:
    """Note by the file's time that it was used; its content stays as it is."""
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > TOUCH_AFTER_S:
            os.utime(path)


def has_recordings(folder: Path) -> bool:
    return any(True for _ in recording_files(folder))


def recording_files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that are recordings by their names, in order."""
    for below in sorted(folder.glob("[0-9a-f][0-9a-f]")):
        for path in sorted(below.glob("*.json")):
            if FILE.fullmatch(path.name) and path.name.startswith(below.name):
                yield path


def list_recordings(folder: Path) -> Iterator[StoredRequest]:
    """Yield what a folder holds, unreadable files included."""
    for path in recording_files(folder):
        try:
            stat = path.stat()
        except FileNotFoundError:
            continue
        used_at = datetime.fromtimestamp(stat.st_mtime, UTC)
        problem, document = "", {}
        try:
            document = read_document(path, path.stem)
            reply_in(document)
        except (OSError, ValueError) as error:
            problem = str(error)
        request = document.get("request")
        asked = request if isinstance(request, dict) else {}
        yield StoredRequest(
            key=path.stem,
            path=path,
            metric=str(document.get("metric") or ""),
            provider=str(asked.get("provider") or ""),
            model=str(asked.get("model") or ""),
            recorded_at=str(document.get("recorded_at") or ""),
            used_at=used_at,
            bytes=stat.st_size,
            problem=problem,
        )


def drop_recordings(folder: Path, keep: Collection[str]) -> list[Path]:
    """Delete the recordings whose keys are not among those to keep; return their files.

    Also deletes what a killed run left half written, and folders that are empty then.
    Nothing else in the folder is touched.
    """
    kept = frozenset(keep)
    dropped = [path for path in recording_files(folder) if path.stem not in kept]
    for path in [*dropped, *left_overs(folder)]:
        path.unlink(missing_ok=True)
    for below in folder.glob("[0-9a-f][0-9a-f]"):
        with contextlib.suppress(OSError):
            below.rmdir()
    return dropped


def left_overs(folder: Path) -> Iterator[Path]:
    """Yield half-written files that are too old to be another worker's."""
    for path in folder.glob("[0-9a-f][0-9a-f]/.*.tmp"):
        with contextlib.suppress(OSError):
            old = time.time() - path.stat().st_mtime > LEFT_OVER_AFTER_S
            if old and LEFT_OVER.fullmatch(path.name):
                yield path
