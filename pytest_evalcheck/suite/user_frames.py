"""The user's own part of a traceback: ours and the importer's frames left out."""

from __future__ import annotations

import importlib
import os
import traceback
from pathlib import Path
from types import TracebackType

__all__ = ["error_text", "one_line", "own_frames", "raise_point"]

OWN_FOLDER = os.path.dirname(__file__)
IMPORT_FOLDER = os.path.dirname(importlib.__file__)


def own_frames(error: BaseException) -> TracebackType | None:
    """Return the traceback from the first frame that is neither ours nor the importer's."""
    frames = error.__traceback__
    while frames is not None and is_foreign(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    return frames


def is_foreign(filename: str) -> bool:
    """Tell whether a frame is this package's or import machinery's, not the user's."""
    folder = os.path.dirname(filename)
    return filename.startswith("<frozen importlib") or folder in (OWN_FOLDER, IMPORT_FOLDER)


def raise_point(error: BaseException) -> str:
    """Return `file.py:line` of the deepest frame in the user's code, or ''."""
    frames = traceback.extract_tb(own_frames(error))
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""


def error_text(error: BaseException, *, first_line: bool = False) -> str:
    """Return `Type: text` of an exception on one line, even where its own text raises."""
    try:
        text = str(error.msg if isinstance(error, SyntaxError) else error)
    except Exception:
        text = "(its text cannot be had)"
    text = f"{type(error).__name__}: {text}"
    return one_line(text.splitlines()[0] if first_line else text)


def one_line(text: str, limit: int = 300) -> str:
    """Return a text on one line, cut where it is long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"
