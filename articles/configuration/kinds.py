"""What a kind of settings is, what the operator reads about an invalid text, and the plainest kinds."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ImproperlyConfigured


class BadSetting(ImproperlyConfigured):
    """Invalid settings, with one sentence for the operator for each of them, without secrets."""

    def __init__(self, *sentences: str) -> None:
        super().__init__("\n".join(sentences))
        self.sentences = sentences


@contextmanager
def noted(mistakes: list[str]) -> Iterator[None]:
    """Add the sentences of a BadSetting, and continue."""
    try:
        yield
    except BadSetting as error:
        mistakes += error.sentences


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of settings. `parser` raises LookupError, ValueError or OSError for invalid text."""

    parser: Callable[[str], Any]
    description: str  # what is right, to follow "PORT='x' is not"
    is_secret: bool = False  # whether the text never appears in messages
    empty: Any = ""  # the value of a blank setting without a default
    still: Callable[[str], str] = str  # what is left of a text that was right when it was saved

    def parse(self, name: str, text: str) -> Any:
        """Parse the text of a variable of this kind. Raises BadSetting."""
        try:
            if _UNPRINTABLE.search(text):
                raise ValueError("unprintable")
            return self.parser(text)
        except (LookupError, ValueError, OSError):  # OSError: the name of a folder of time zones
            shown = f"{name}=…" if self.is_secret else f"{name}={text!r}"
            raise BadSetting(f"{shown} is not {self.description}.") from None


def one_of(*words: str) -> Callable[[str], str]:
    """Return a parser of these words, in any case."""
    return lambda text: {word.lower(): word for word in words}[text.lower()]


def choice_of(*words: str) -> Kind:
    """Return the kind of settings that are one of these words."""
    return Kind(one_of(*words), " or ".join(words) if len(words) == 2 else f"one of {', '.join(words)}")


def that(is_right: Callable[[str], Any]) -> Callable[[str], str]:
    """Return a parser of text for which this is true."""

    def parse(text: str) -> str:
        if not is_right(text):
            raise ValueError("invalid")
        return text

    return parse


def _flag(text: str) -> bool:
    words = dict.fromkeys(("1", "true", "yes", "on"), True) | dict.fromkeys(("0", "false", "no", "off"), False)
    return words[text.lower()]


_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters, line separators, and surrogates, which represent bytes that are not UTF-8."""

PLAIN = {
    "text": Kind(str, "printable UTF-8 text"),
    "name": Kind(that(lambda text: len(text) <= 100), "printable UTF-8 text of at most 100 characters"),
    "yes/no": Kind(_flag, "1 (yes) or 0 (no)"),
}
