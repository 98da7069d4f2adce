"""What can be wrong with an expression: before it runs, and while it runs. The texts are cel-go's."""

from __future__ import annotations


class CelError(Exception):
    """The root of this module's errors; str() of each is the API server's text."""


class CompileError(CelError):
    """The expression does not parse or does not type-check: `ERROR: <input>:1:1: …` with the line and a caret."""


class EvaluationError(CelError):
    """The expression has no value for this input: `no such key: x`."""


class OutOfBudget(CelError):
    """The expression needs more steps than it may use. Unlike other errors, || and && do not absorb it."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


class MissingLibrary(CelError):
    """The package that parses expressions is not installed."""

    def __init__(self) -> None:
        super().__init__("CEL expressions need the package cel-expr-python: pip install 'podstrat[policies]'")


def no_such_key(key: object) -> EvaluationError:
    return EvaluationError(f"no such key: {key}")


def no_such_overload() -> EvaluationError:
    return EvaluationError("no such overload")


def display(faults: list[tuple[int, str]], text: str) -> str:
    """Faults (offset in the text, message) as the server prints them: by position, with the line and a caret."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    out = []
    for offset, message in sorted(faults, key=lambda fault: fault[0])[:100]:
        number = next(i for i in range(len(lines)) if offset < starts[i + 1] or i == len(lines) - 1)
        out.append(_display(lines[number], number + 1, offset - starts[number], message))
    return "\n".join(out)


def _display(line: str, number: int, column: int, message: str) -> str:
    dots = "".join("." if ord(char) < 128 else "．" for char in line[:column])
    caret = "＾" if ord((line[column:] or "x")[0]) > 127 else "^"
    return f"ERROR: <input>:{number}:{column + 1}: {message}\n | {line.replace(chr(9), ' ')}\n | {dots}{caret}"
