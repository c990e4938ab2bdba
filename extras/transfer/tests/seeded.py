"""What a site filled with demo content holds, and what seeding draws for it."""

from collections import Counter

from articles.domain.articles import Choice
from extras.transfer.demo import seeding
from extras.transfer.demo.readers import draw_views
from tests.store_state import voters


def everything(repository):
    return {article.id: article for article in repository.imports.iterate()}


def votes(repository):
    return {article_id: voters(repository, article_id) for article_id in everything(repository)}


def counts(repository):
    return {a.link or a.title: (a.votes, a.opposes, a.poster_name) for a in everything(repository).values()}


def wanted_counts():
    """What seeding draws, whenever it is done."""
    posters, links = seeding._posters(), [row["link"] or row["title"] for row in seeding._content()["articles"]]
    ages = [-posted_at for posted_at in seeding._times(0, 7 * 86400)]
    chosen = Counter((article, choice) for article, _, choice in seeding._votes(ages, posters))
    return {
        link: (1 + chosen[link, Choice.VOTE], chosen[link, Choice.OPPOSE], poster)
        for link, poster in zip(links, posters, strict=True)
    }


def views(repository):
    """Return the counted and the suspect views of each article."""
    return {
        a.link or a.title: (a.pv, repository.pageviews.get_suspects(a.id)) for a in everything(repository).values()
    }


def wanted_views():
    """What seeding draws, whenever it is done."""
    rows, times = seeding._content()["articles"], seeding._times(0, 7 * 86400)
    facts = [
        (row["link"] or row["title"], row["appeal"], posted_at) for row, posted_at in zip(rows, times, strict=True)
    ]
    return {
        name: (len(counted), dict(Counter(visit.suspicion.value for visit, _ in suspect)))
        for name, (counted, suspect) in draw_views(facts, 0).items()
    }


def logins(path):
    return dict(line.split() for line in (path / "demo-logins.txt").read_text().splitlines())
