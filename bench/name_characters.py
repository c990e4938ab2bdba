"""Write the characters of members' names, and what they look like: see `accounts.name_characters`.

Takes Unicode's data from ICU, which only this command needs:

    uv run --no-project --python 3.11 --with pyicu-wheels==2.15.2 python -m bench.name_characters

A newer ICU may change which names look alike. Then a migration has to write the looks of all members again.
"""

import unicodedata
from itertools import groupby
from pathlib import Path

from accounts.names import canonical

PATH = Path(__file__).parents[1] / "accounts" / "name_characters.txt"

_OLDEST_UNICODE = "14.0"
"""That of the oldest Python that runs the site: others would normalise and fold later characters differently."""

_ALLOWED = f"[[:age={_OLDEST_UNICODE}:]&[:Identifier_Status=Allowed:]&[[:L:][:M:][:Nd:][:Nl:][_\\-]]]"


def main() -> None:
    import icu  # not installed with the other tools

    def scripts_of(char: str) -> str:
        return " ".join(
            sorted(icu.Script(one).getShortName() for one in icu.Script.getScriptExtensions(ord(char)))
        )

    known = {char for char in icu.UnicodeSet(_ALLOWED) if unicodedata.is_normalized("NFKC", char)}
    allowed = sorted(char for char in known if known.issuperset(canonical(char)))
    lines = [f"# Unicode {icu.UNICODE_VERSION}, from ICU {icu.ICU_VERSION}, by bench/name_characters.py"]
    numbered = groupby(enumerate(allowed), lambda one: (ord(one[1]) - one[0], scripts_of(one[1])))
    for (_, scripts), run in numbered:
        chars = [ord(char) for _, char in run]
        lines.append(f"{chars[0]:X}-{chars[-1]:X} {scripts}")
    folded = {
        part for char in allowed for form in (char, char.casefold()) for part in unicodedata.normalize("NFD", form)
    }
    checker = icu.SpoofChecker()
    for char in sorted(folded):
        if (look := checker.getSkeleton(0, char)) != char:
            lines.append(f"{char}>{look}")
    PATH.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
