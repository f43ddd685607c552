"""Opening a dataset file: what it is by name and first bytes, and its text."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

from pytest_evalcheck.datasets.options import FORMATS, DatasetOptions
from pytest_evalcheck.errors import DatasetError, Problem

__all__ = ["MAX_LINE_CHARACTERS", "format_of", "open_text", "read_text"]

MAX_LINE_CHARACTERS: Final = 100_000_000
_CHUNK_BYTES: Final = 1 << 20

_SUFFIX_ADVICE: Final = {
    ".gz": "Unpack it (gunzip) and name the unpacked file.",
    ".zip": "Unpack it and name the unpacked file.",
    ".bz2": "Unpack it and name the unpacked file.",
    ".xz": "Unpack it and name the unpacked file.",
    ".zst": "Unpack it and name the unpacked file.",
    ".xlsx": "Save the sheet as CSV UTF-8 and name that file.",
    ".xls": "Save the sheet as CSV UTF-8 and name that file.",
    ".ods": "Save the sheet as CSV and name that file.",
    ".parquet": "Write it out as JSON Lines and name that file.",
    ".arrow": "Write it out as JSON Lines and name that file.",
}
# First bytes of kinds of file that no reader here can use.
_SIGNATURES: Final = (
    (b"\x1f\x8b", "gzip data", _SUFFIX_ADVICE[".gz"]),
    (b"PK\x03\x04", "a zip archive or an Excel workbook", _SUFFIX_ADVICE[".xlsx"]),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", _SUFFIX_ADVICE[".xls"]),
    (b"PAR1", "a Parquet file", _SUFFIX_ADVICE[".parquet"]),
    (b"ARROW1", "an Arrow file", _SUFFIX_ADVICE[".arrow"]),
    (b"BZh", "bzip2 data", _SUFFIX_ADVICE[".bz2"]),
    (b"\xfd7zXZ", "xz data", _SUFFIX_ADVICE[".xz"]),
    (b"\x28\xb5\x2f\xfd", "zstandard data", _SUFFIX_ADVICE[".zst"]),
    (b"SQLite format 3", "an SQLite database", "Export the table as CSV."),
    (b"%PDF", "a PDF document", "Name a dataset file."),
    (b"\x89PNG", "a PNG image", "Name a dataset file."),
    (
        b"version https://git-lfs.github.com/spec/",
        "a Git LFS pointer, not the data",
        "Fetch the data with 'git lfs pull'.",
    ),
    (
        b"/annex/objects/",
        "a git-annex pointer, not the data",
        "Fetch the data with 'git annex get'.",
    ),
)
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def format_of(path: Path, options: DatasetOptions, shown: str) -> str:
    """Return the container format: the option, else what the suffix says.

    Raises:
        DatasetError: the suffix is none of a dataset's.
    """
    if options.format:
        return options.format
    suffix = path.suffix.lower()
    for name, suffixes in FORMATS.items():
        if suffix in suffixes:
            return name
    known = ", ".join(one for suffixes in FORMATS.values() for one in suffixes)
    raise DatasetError(
        Problem(
            found=f"a file with the suffix {suffix!r} is not read" if suffix else "no suffix",
            expected=f"one of {known}",
            fix=_SUFFIX_ADVICE.get(suffix, "Rename it, or say what it is with format:."),
            path=shown,
        )
    )


@contextmanager
def open_text(path: Path, options: DatasetOptions, shown: str) -> Iterator[TextIO]:
    """Open a dataset file as text, line ends as they stand.

    Raises:
        DatasetError: the file is missing, is something else by its first bytes, or
            holds bytes that are not its encoding's (also while it is being read).
    """
    try:
        if not path.is_file():
            raise DatasetError(_missing(path, shown))
        with path.open("rb") as stream:
            start = stream.read(4096)
            stream.seek(0)
            encoding = _encoding_of(start, options, shown)
            with io.TextIOWrapper(stream, encoding=encoding, newline="") as text:
                yield text
    except UnicodeError:
        raise DatasetError(_undecodable(path, encoding, shown)) from None
    except OSError as error:
        raise DatasetError(
            Problem(found=f"the file cannot be read: {error.strerror or error}", path=shown)
        ) from None


def read_text(path: Path, options: DatasetOptions, shown: str) -> str:
    """Return the whole text of a dataset file.

    Raises:
        DatasetError: as `open_text`, or a NUL byte stands in it.
    """
    with open_text(path, options, shown) as stream:
        text = stream.read()
    at = text.find("\0")
    if at >= 0:
        raise DatasetError(nul_problem(shown, text.count("\n", 0, at) + 1))
    return text


def nul_problem(shown: str, line: int) -> Problem:
    """Return the problem of a NUL byte in a text file."""
    return Problem(
        found="a NUL byte",
        expected="text",
        fix="Write the file again without it; UTF-16 without a byte order mark "
        "needs encoding: utf-16-le or utf-16-be.",
        path=shown,
        line=line,
    )


def _missing(path: Path, shown: str) -> Problem:
    if path.exists():
        return Problem(found="this is not a regular file", path=shown)
    return Problem(found="there is no such file", path=shown)


def _encoding_of(start: bytes, options: DatasetOptions, shown: str) -> str:
    encoding = next((name for mark, name in _MARKS if start.startswith(mark)), "")
    if options.encoding:
        chosen = codecs.lookup(options.encoding).name
        # A mark is not part of the first cell, whichever way UTF-8 was asked for.
        return "utf-8-sig" if chosen == "utf-8" else options.encoding
    if encoding:
        return encoding
    for signature, kind, advice in _SIGNATURES:
        if start.startswith(signature):
            raise DatasetError(Problem(found=f"this is {kind}", fix=advice, path=shown))
    if b"\0" in start:
        line = start.count(b"\n", 0, start.index(b"\0")) + 1
        raise DatasetError(nul_problem(shown, line))
    return "utf-8"


def _undecodable(path: Path, encoding: str, shown: str) -> Problem:
    offset, line, byte = _first_bad_byte(path, encoding)
    name = "UTF-8" if encoding.startswith("utf-8") else encoding
    said = f"byte 0x{byte:02x} at offset {offset} is not {name}"
    return Problem(
        found=said if line is not None else f"the file is not {name}",
        expected=f"{name} text",
        fix="Save the file as UTF-8, or say how it is encoded: encoding: latin-1 "
        "(Western European; cp1252 for Windows).",
        path=shown,
        line=line,
    )


def _first_bad_byte(path: Path, encoding: str) -> tuple[int, int | None, int]:
    """Return offset, line and value of the first byte that cannot be decoded."""
    decoder = codecs.getincrementaldecoder(encoding)()
    offset, line = 0, 1
    with path.open("rb") as stream:
        while True:
            chunk = stream.read(_CHUNK_BYTES)
            pending = decoder.getstate()[0]
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                data = pending + chunk
                before = codecs.decode(data[: error.start], encoding, "replace")
                return (
                    offset - len(pending) + error.start,
                    line + count_line_ends(before),
                    data[error.start] if error.start < len(data) else 0,
                )
            except UnicodeError:
                return offset, line, chunk[0] if chunk else 0
            line += count_line_ends(text)
            offset += len(chunk)
            if not chunk:
                return offset, None, 0


def count_line_ends(text: str) -> int:
    r"""Return how many lines end in a text: at `\n`, `\r\n` or a lone `\r`."""
    if "\r" not in text:
        return text.count("\n")
    return len(re.findall(r"\r\n|\r|\n", text))
