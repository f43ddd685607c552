"""Files written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["replace_file", "write_new"]


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet; one that is there stays as it is.

    Raises:
        FileExistsError: there is such a file, or a link of that name.
        OSError: it cannot be written; nothing is left behind.
    """
    with path.open("xb") as stream:
        try:
            stream.write(text.encode("utf-8"))
        except OSError:
            path.unlink(missing_ok=True)
            raise


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file at once, its mode kept; a link goes on leading to it.

    Raises:
        OSError: it cannot be written; the file is as it was.
    """
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        temporary.chmod(target.stat().st_mode & 0o7777)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
