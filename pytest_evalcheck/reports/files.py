"""Results files: one JSON document, or JSON Lines that grow with the run.

A `.json` file appears whole or not at all. A `.jsonl` file holds a header line,
one line a result and, only when the run came to its end, a summary line.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final

from pytest_evalcheck.errors import ConfigError, Problem
from pytest_evalcheck.model import Result
from pytest_evalcheck.results import SCHEMA, Results, RunInfo, result_record

__all__ = ["ResultsLog", "check_results_path", "results_schema", "write_results"]

SUFFIXES: Final = (".json", ".jsonl")


def write_results(results: Results, path: Path | str) -> None:
    """Write a finished run to a `.json` or `.jsonl` file, whole or not at all.

    Raises:
        ConfigError: the path has another suffix, its folder does not exist, or it
            cannot be written.
    """
    path = check_results_path(path)
    lines = _document_lines if path.suffix == ".json" else _log_lines
    _write_atomically(path, lines(results))


def check_results_path(path: Path | str) -> Path:
    """Return the path if a results file can be put there; the file itself is not touched.

    Raises:
        ConfigError: see `write_results`.
    """
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise _path_error(
            path, f"{path.name!r} is no kind of results file", "a name ending in .json or .jsonl"
        )
    if not path.parent.is_dir():
        fix = "Create the folder, or name another."
        raise _path_error(path, f"the folder {str(path.parent)!r} does not exist", fix=fix)
    if path.is_dir():
        raise _path_error(path, f"{str(path)!r} is a folder", "a file")
    return path


def results_schema() -> dict[str, Any]:
    """Return the JSON Schema of a results document; `$defs/line` is that of a `.jsonl` line."""
    from importlib.resources import files

    text = files(__package__).joinpath("results.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


class ResultsLog:
    """A `.jsonl` results file, written while the run goes on.

    Each line is handed to the system as it is written, so an interrupted run
    leaves whole lines and, by the missing summary, shows that it was interrupted.
    """

    def __init__(self, path: Path | str) -> None:
        self._path = check_results_path(path)
        self._file: IO[str] | None = None

    def open(self, run: RunInfo | None = None) -> ResultsLog:
        """Start the file anew with its header line.

        Raises:
            ConfigError: the file cannot be written.
        """
        try:
            # Line buffering: a crash loses no line that was finished.
            self._file = self._path.open(
                "w", buffering=1, encoding="utf-8", errors="backslashreplace", newline="\n"
            )
        except OSError as error:
            raise _write_error(self._path, error) from error
        self._write(_header(_run_start(run or RunInfo())))
        return self

    def append(self, result: Result) -> None:
        """Write one result.

        Raises:
            ValueError: the file is not open.
        """
        self._write({"type": "result", **result_record(result)})

    def close(self, results: Results | None = None) -> None:
        """Write the summary line if the run came to its end, and close the file."""
        if self._file is None:
            return
        if results is not None:
            self._write(_summary(results))
        self._file.close()
        self._file = None

    def _write(self, record: Mapping[str, Any]) -> None:
        if self._file is None:
            raise ValueError("the results file is not open")
        self._file.write(_json_line(record) + "\n")

    def __enter__(self) -> ResultsLog:
        return self if self._file is not None else self.open()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _run_start(run: RunInfo) -> dict[str, Any]:
    return {
        "started_at": run.started_at,
        "app_version": run.app_version,
        "versions": dict(sorted(run.versions.items())),
        "seed": run.seed,
        "expected": run.expected,
    }


def _header(run: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "header", "schema": SCHEMA, "run": run}


def _summary(results: Results) -> dict[str, Any]:
    return {
        "type": "summary",
        "run": results.run_document(),
        "metrics": results.metric_documents(),
    }


def _log_lines(results: Results) -> Iterator[str]:
    yield _json_line(_header(_run_start(results.run)))
    for result in results.results:
        yield _json_line({"type": "result", **result_record(result)})
    yield _json_line(_summary(results))


def _document_lines(results: Results) -> Iterator[str]:
    """Yield `Results.to_document` with one metric and one result a line, never held whole."""
    yield "{"
    yield f'"schema": {_json_line(SCHEMA)},'
    yield f'"run": {_json_line(results.run_document())},'
    yield '"metrics": ['
    yield from _with_commas(map(_json_line, results.metric_documents()))
    yield "],"
    yield '"results": ['
    yield from _with_commas(_json_line(result_record(result)) for result in results.results)
    yield "]"
    yield "}"


def _with_commas(lines: Iterable[str]) -> Iterator[str]:
    previous = None
    for line in lines:
        if previous is not None:
            yield f"{previous},"
        previous = line
    if previous is not None:
        yield previous


def _json_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _write_atomically(path: Path, lines: Iterable[str]) -> None:
    try:
        handle, temporary = tempfile.mkstemp(
            dir=path.parent, prefix=f".{path.name}.", suffix=".tmp"
        )
        try:
            # A lone surrogate (a file name that is no UTF-8) becomes its JSON escape.
            with os.fdopen(
                handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n"
            ) as file:
                file.writelines(f"{line}\n" for line in lines)
            os.chmod(temporary, _usual_mode(path))
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _write_error(path, error) from error


def _usual_mode(path: Path) -> int:
    """Return the permissions of the file that is replaced, or those any new file gets."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _write_error(path: Path, error: OSError) -> ConfigError:
    return _path_error(path, f"the file cannot be written: {error.strerror or error}")


def _path_error(path: Path, found: str, expected: str = "", fix: str = "") -> ConfigError:
    return ConfigError(
        Problem(found=found, expected=expected, fix=fix, where="results file", path=str(path))
    )
