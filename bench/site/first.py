"""What a page costs a process that has just started: python -m bench.site.first SESSION PATH ANOTHER

Or, to post two articles with comments of 40 words, a third of them replies: python -m bench.site.first comments
NUMBER

In process, for a member, on the data directory DATA_DIR, whose store runs. Prints the processor time of the first
drawing, of the least of those after it, and of the first drawing of ANOTHER of its kind after that.
"""

import gzip
import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tqdm import tqdm

from bench.site.cases import HEADERS
from bench.site.processes import ROOT, environment
from bench.site.report.table import markdown
from bench.site.servers import OPEN

_BARE = "bench.site.peers.hello_member"
_PROCESSES, _AGAIN, _AUTHORS = 3, 40, 200
_COMMENTS = (0, 200, 5000)
_WORDS = ("article", "votes", "store", "reader", "page", "group", "rank", "reply", "thread", "points", "member")


def measure(data_dir: Path, session: str) -> str:
    """Return a table: each page in fresh processes, in turns with the bare view of a member."""
    pages = {"hello, member": ("/", "/"), "front page": ("/", "/groups/group-7/")}
    for number in _COMMENTS:
        one, another = json.loads(_output(data_dir, "comments", str(number)))
        pages[f"article page, {number:,} comments"] = f"/articles/{one}/", f"/articles/{another}/"
    drawn: dict[str, list[dict[str, float]]] = {name: [] for name in pages}
    with tqdm(total=_PROCESSES * len(pages), desc="first drawings", unit="", leave=False) as bar:
        for _ in range(_PROCESSES):
            for name, paths in pages.items():
                own = {"DJANGO_SETTINGS_MODULE": _BARE} if name == "hello, member" else {}
                drawn[name].append(json.loads(_output(data_dir, session, *paths, **own)))
                bar.update()
    return table(drawn)


def table(drawn: dict[str, list[dict[str, float]]]) -> str:
    """Return the medians of some processes; the first page is the one that the others are compared with."""
    medians = {
        name: {key: statistics.median(one[key] for one in of) for key in of[0]} for name, of in drawn.items()
    }
    bare = next(iter(medians.values()))
    rows = [
        [
            name,
            *(f"{of[key]:.1f}" for key in ("first", "another", "again")),
            *(f"{of[key] / bare['again']:.1f}" for key in ("first", "another", "again")),
            *(f"{of[key]:,.0f}" for key in ("round_trips", "commands", "bytes", "packed")),
        ]
        for name, of in medians.items()
    ]
    columns = ["in process, of a member", *(f"{kind}, CPU ms" for kind in ("first", "another", "again"))]
    columns += [f"{kind} × hello, member" for kind in ("first", "another", "again")]
    return markdown([*columns, "round trips", "commands", "bytes", "packed"], rows)


def _output(data_dir: Path, *arguments: str, **own: str) -> str:
    command = [sys.executable, "-m", "bench.site.first", *arguments]
    variables = environment(OPEN | {"DATA_DIR": str(data_dir)} | own)
    return subprocess.run(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, check=True, text=True).stdout


def draw(session: str, path: str, another: str) -> dict[str, float]:
    """Return what the pages take in this process: milliseconds, and round trips and commands of the store."""
    from importlib import import_module

    from django.conf import settings
    from django.test import Client

    import voting_site.wsgi  # noqa: F401 - as a web process begins
    from articles.wiring import repository
    from bench.site.usage import store_counters

    browser = Client(headers={name: value for name, value in HEADERS.items() if name != "Accept-Encoding"})
    browser.cookies["sessionid"] = session
    browser.handler.load_middleware()
    import_module(settings.ROOT_URLCONF)
    times, trips, commands, client = list[float](), list[int](), list[int](), repository().store.client
    for address in (*[path] * (1 + _AGAIN), another):
        before, began = store_counters(client), time.process_time()
        response = browser.get(address)
        times.append(1000 * (time.process_time() - began))
        after = store_counters(client)
        trips.append(after.round_trips - before.round_trips)
        commands.append(after.commands - before.commands)
        assert response.status_code == 200
    return {
        "first": times[0],
        "again": min(times[1:-1]),
        "another": times[-1],
        "round_trips": trips[-2],
        "commands": commands[-2],
        "bytes": len(response.content),
        "packed": len(gzip.compress(response.content, 6)),
    }


def discuss(comments: int, seed: int) -> int:
    """Post an article and its comments; return the article's id."""
    from articles.wiring import repository

    repo, chance, ids = repository(), random.Random(seed), list[int]()
    link = f"https://example.org/{comments}/{seed}"
    article = repo.articles.post(1, "member1", f"Article with {comments} comments", link).id
    for n in range(comments):
        parent = chance.choice(ids) if ids and n % 3 == 0 else None
        author, text = n % _AUTHORS + 1, " ".join(chance.choices(_WORDS, k=40))
        ids.append(repo.comments.post(article, author, f"member{author}", text, parent=parent))
    return article


def main() -> None:
    import django

    django.setup()
    if sys.argv[1] == "comments":
        print(json.dumps([discuss(int(sys.argv[2]), seed) for seed in range(2)]))
    else:
        print(json.dumps(draw(*sys.argv[1:])))


if __name__ == "__main__":
    main()
