"""What the parts of an article take in a store, in the site's layout and in that of the documents."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import redis

from bench.site.report.table import markdown

_PARTS = {
    "title and link": (),
    "other fields of the article": ("article",),
    "rankings by time and score": ("time", "score"),
    "ranking by points": ("points",),
    "those who voted": ("voted",),
    "those who opposed": ("oppose",),
    "lists of members: posted, votes": ("posted", "votes"),
    "links of the last 48 hours": ("link",),
    "changes that search indexes read, the last 20,000": ("changes",),
}
"""Names of parts, and the nouns with which their keys begin."""

_PART_OF = {noun: part for part, nouns in _PARTS.items() for noun in nouns}
_TEXTS, _FIELDS, _OTHER = "title and link", "other fields of the article", "all else"
_BATCH = 1000


def _batches(names: list[str]) -> Iterator[list[str]]:
    return (names[at : at + _BATCH] for at in range(0, len(names), _BATCH))


def bytes_of_parts(client: "redis.Redis", articles: int) -> dict[str, float]:
    """Return the bytes of each part for one of the articles that a store holds, as the server counts them."""
    sizes = Counter[str]()
    names = [name.decode() if isinstance(name, bytes) else str(name) for name in client.scan_iter(count=_BATCH)]
    pipeline: Any = client.pipeline(transaction=False)
    for batch in _batches(names):
        for name in batch:
            pipeline.execute_command("MEMORY", "USAGE", name, "SAMPLES", 0)
        for name, size in zip(batch, pipeline.execute(), strict=True):
            sizes[_PART_OF.get(name.partition(":")[0], _OTHER)] += size or 0
    for batch in _batches([f"article:{n}" for n in range(1, articles + 1)]):
        for name in batch:
            pipeline.hmget(name, "title", "link")
        for texts in pipeline.execute():
            size = sum(len(text or "") for text in texts)
            sizes[_TEXTS] += size
            sizes[_FIELDS] -= size
    return {part: size / articles for part, size in sizes.items()}


def table(layouts: Mapping[str, Mapping[str, float]]) -> str:
    """Return the parts of each layout, bytes for an article, in Markdown."""
    rows = [
        [part, *(f"{sizes.get(part, 0):.0f}" for sizes in layouts.values())]
        for part in (*_PARTS, _OTHER)
        if any(round(sizes.get(part, 0)) for sizes in layouts.values())
    ]
    return markdown(["bytes for an article", *layouts], rows)
