"""What the tests of whole stores share: the cast, a store that was used, what the audit says."""

from articles.domain import Actor, Choice, ImportedArticle, Order
from articles.repository import Repository
from tests.clock import Clock

ALICE, BOB, CAROL, MALLORY = 1, 2, 3, 4
MODERATOR = Actor(CAROL, "carol")

DAY = 86400.0


def link(number: int) -> str:
    return f"https://example.org/{number}"


def post(repository: Repository, number: int, groups: tuple[str, ...] = (), poster: int = ALICE) -> int:
    """Post article `number`; its id."""
    return repository.articles.post(poster, f"user{poster}", f"Article {number}", link(number), groups).id


def problems(repository: Repository) -> list[str]:
    """What the audit finds, one line each."""
    return [str(finding) for finding in repository.audit.findings()]


def listed(repository: Repository, order: Order = Order.SCORE, slug: str | None = None) -> list[int]:
    """The ids of a whole list, page by page."""
    page = repository.listings.page(order, slug=slug)
    ids = [article.id for article in page.articles]
    while page.has_next:
        page = repository.listings.page(order, page.number + 1, slug=slug)
        ids += [article.id for article in page.articles]
    return ids


def warm(repository: Repository, *slugs: str) -> None:
    """Read each group in every order, so that its rankings exist."""
    for slug in slugs:
        for order in Order:
            repository.listings.page(order, slug=slug)


def imported(number: int, posted_at: float, **changes: object) -> ImportedArticle:
    facts = {"title": f"Import {number}", "link": f"https://old.example/{number}", "poster": BOB}
    facts |= {"poster_name": "bob", "posted_at": posted_at, "votes": 3, "opposes": 2} | changes
    return ImportedArticle(**facts)  # type: ignore[arg-type]


def use(repository: Repository, clock: Clock) -> None:
    """Leave something of every kind: ids 1 to 12, of which 1 and 2 are closed, 5 and 6 removed, 9 to 12 imported.

    Groups python (3, 4, 6, 7, 9) and redis (3, 8); java was merged into python. Their rankings exist.
    """
    groups, votes = repository.groups, repository.votes
    for slug in ("python", "redis", "java"):
        groups.create(slug, slug.title(), MODERATOR)
    post(repository, 1)
    post(repository, 2, poster=BOB)
    clock.advance(8 * DAY)
    for number in range(3, 9):
        post(repository, number, poster=ALICE if number % 2 else BOB)
        clock.advance(1.25)
        for user in range(10, 10 + number):
            votes.cast(number, user, Choice.VOTE if user % 3 else Choice.OPPOSE)
        votes.cast(number, 10, Choice.NONE)
    for number, slugs in {3: ["python", "redis"], 4: ["java"], 6: ["python"], 7: ["python"], 8: ["redis"]}.items():
        groups.assign(number, slugs, actor=MODERATOR, reason="They belong there")
    groups.merge("java", "python", MODERATOR, "The same")
    groups.rename("redis", "Redis & friends", MODERATOR)
    for number in (5, 6, 8):
        repository.articles.remove(number, MODERATOR, "Spam")
    repository.articles.restore(8, MODERATOR, "It was not")
    repository.articles.edit(7, MODERATOR, "Better", link(700), moderator=True, reason="A typo")
    now = clock()
    with repository.imports.alone():
        repository.imports.shift_of("f" * 32, 5.0)
        repository.imports.add(
            [
                imported(1, now - 3600, groups=("python",)),
                imported(2, now - 30 * DAY),
                imported(3, now - 60, removed="Off topic"),
                imported(4, now - 9, poster=0, poster_name="", opposes=0),
            ]
        )
    warm(repository, "python", "redis")


def contents(repository: Repository) -> dict[str, object]:
    """Everything in the store, by key."""
    client = repository.store.client
    read = {
        "hash": client.hgetall,
        "set": client.smembers,
        "zset": lambda name: client.zrange(name, 0, -1, withscores=True),
        "list": lambda name: client.lrange(name, 0, -1),
        "string": client.get,
    }
    return {name: read[client.type(name)](name) for name in client.scan_iter(count=1000)}
