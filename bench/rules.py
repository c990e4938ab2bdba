"""CPU time of moderators' rules for one post: 200 rules, with typical and with hostile texts.

    python -m bench.rules

Each rule has ten words and a pattern. Nothing is read or written.
"""

import random
import time
from collections.abc import Callable
from functools import partial

from articles.web.rules.matching import MOST_ON, Definition, Facts, Rule, RuleAct, Rules, Subject, check_pattern
from bench.site.report.table import markdown

_WORDS_PER_RULE = 10
_ALPHABETS = ("bcdfghjklmnprstvwz", "aeiou", "买卖药品推荐微信客服免费领取优惠")
_TIMES = 20


def _words(rng: random.Random, count: int) -> list[str]:
    def latin() -> str:
        return "".join(rng.choice(_ALPHABETS[at % 2]) for at in range(rng.randint(4, 9)))

    return [latin() if rng.random() < 0.7 else "".join(rng.choices(_ALPHABETS[2], k=3)) for _ in range(count)]


def _pattern(rng: random.Random, words: list[str]) -> str:
    first, second = rng.sample(words, 2)
    return rng.choice(
        (
            rf"\b{first}\w*\s+{second}",
            rf"https?://[a-z0-9.-]+\.{first[:3]}/",
            rf"{first}.{{0,10}}[0-9]{{6,}}",
            rf"(?:{first}|{second})[!.]{{2,}}",
        )
    )


def _rules(words: list[str]) -> Rules:
    rng, rules = random.Random(2), []
    for number in range(MOST_ON):
        own = words[number * _WORDS_PER_RULE :][:_WORDS_PER_RULE]
        check_pattern(pattern := _pattern(rng, own))
        rules.append(Rule("", Definition(Subject.COMMENT, RuleAct.FLAG, words=tuple(own), pattern=pattern)))
    return Rules(rules)


def _milliseconds(work: Callable[[], object]) -> tuple[float, float]:
    """Return the time of the first run, and the median of others."""
    taken = []
    for _ in range(_TIMES + 1):
        began = time.process_time()
        work()
        taken.append((time.process_time() - began) * 1000)
    return taken[0], sorted(taken[1:])[_TIMES // 2]


def _decide(rules: Rules, text: str) -> int:
    """Return how many rules match a text, as for a new post."""
    return len(rules.matching(Facts(Subject.COMMENT, text)))


def main() -> None:
    rng = random.Random(1)
    words, others = _words(rng, MOST_ON * _WORDS_PER_RULE), _words(rng, 5000)
    rules = _rules(words)
    texts = {
        "a comment of 300 characters": " ".join(rng.choices(others, k=400))[:300],
        "an article of 2,000 characters": " ".join(rng.choices(others, k=1000))[:2000],
        "20,000 characters": " ".join(rng.choices(others, k=8000))[:20_000],
        "20,000 characters of the rules' own words": " ".join(rng.choices(words, k=8000))[:20_000],
        "20,000 characters of the patterns' own beginnings": "".join(
            f"https://{word[:2]}{word[:3]}.{word} " for word in rng.choices(words, k=3000)
        )[:20_000],
        "20,000 characters without a space": "".join(rng.choices("abcdef0123456789", k=20_000)),
    }
    rows = []
    for name, text in texts.items():
        first, then = _milliseconds(partial(_decide, rules, text))
        rows.append((name, str(_decide(rules, text)), f"{first:.2f}", f"{then:.2f}"))
    print(markdown(("text", "rules that match", "first, ms", "then, ms"), rows))


if __name__ == "__main__":
    main()
