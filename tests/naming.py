"""Which files can have the tests that `-k` selects, judging by their paths and texts, without importing them."""

import ast
import re
from pathlib import Path

FOLDER = Path(__file__).parent


def may_have(words: str, path: Path) -> bool:
    """Return whether a file can have tests with these words, joined by `and`, `or` and `not` as in `-k`.

    Words that a name has only by its parameters count if the file spells them.
    """
    spelled: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[0] in ("and", "or", "not"):
            return match[0]
        spelled.append(match[0].lower())
        return f"_{len(spelled) - 1}"

    try:
        expression = ast.parse(re.sub(r"[^\s()]+", number, words).strip(), mode="eval").body
    except SyntaxError:
        return False  # pytest says what is wrong with it
    text = f"{path.relative_to(FOLDER.parent)} {path.read_text('utf-8')}".lower()
    return _holds(expression, [word in text for word in spelled])


def _holds(expression: ast.expr, found: list[bool]) -> bool:
    match expression:
        case ast.BoolOp(ast.And(), parts):
            return all(_holds(part, found) for part in parts)
        case ast.BoolOp(ast.Or(), parts):
            return any(_holds(part, found) for part in parts)
        case ast.Name(name):
            return found[int(name[1:])]
    return True  # of `not`: a file with the word has other tests, too
