"""The articles of followed groups, each group with its share: `followed_place` of the domain says how."""

from collections import defaultdict
from collections.abc import Collection, Sequence

from articles.domain.articles import ArticleId
from articles.domain.lists import MOST_FOLLOWED_PAGED, ArticlePage, Order
from articles.domain.members import UserId
from articles.domain.ranking import SHARE, followed_place
from articles.repository.lists.merging import group_rankings, pairs
from articles.repository.lists.paging import page_window
from articles.repository.lists.reading import read_articles
from articles.repository.lists.unseen import UnseenQuery, read_each
from articles.repository.store.connection import Store
from articles.repository.store.values import article_id_from


class Following:
    """The lists of a store's followed groups."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get_page(
        self,
        slugs: Sequence[str],
        number: int = 1,
        *,
        size: int | None = None,
        reader: UserId | None = None,
        hidden: Sequence[str] = (),
        seen: Collection[ArticleId] = (),
    ) -> ArticlePage:
        """Return page `number`, counted from 1, of the articles in these groups, without those in hidden ones.

        `seen`: if given, the page has the first articles that are not among these, whatever the number. Groups
        that do not exist are empty. Two round trips; none without groups. Raises PageNotFound before the first and
        beyond the last page, and PageTooDeep beyond MOST_FOLLOWED_PAGED articles.
        """
        size = size or self._store.rules.per_page
        page = page_window(1 if seen else number, size, MOST_FOLLOWED_PAGED - len(seen))
        groups = tuple(dict.fromkeys(slugs))
        left_out = [slug for slug in dict.fromkeys(hidden) if slug not in groups]
        ids = self._ids(groups, page.end + len(seen), left_out) if groups else []
        unseen = [article_id for article_id in ids if article_id not in seen][page.start :]
        page.check_entries(unseen)
        shown = tuple(unseen[:size])
        articles = read_articles(self._store, shown, reader)
        return ArticlePage(
            tuple(article for article in articles if article.removed is None),
            number,
            size,
            len(ids),
            Order.SCORE,
            goes_on=page.has_next(len(unseen)),
            ids=shown,
        )

    def _ids(self, groups: Sequence[str], wanted: int, hidden: Sequence[str]) -> list[ArticleId]:
        """Return the first articles in order: more than `wanted`, if there are more. One round trip.

        An article of several groups has the first of its places. No group has more than `wanted` places.
        """
        rankings = group_rankings(self._store, Order.SCORE, groups)
        query = UnseenQuery(0, max(wanted, SHARE), hidden=hidden)
        scores = defaultdict[str, list[tuple[float, ArticleId]]](list)
        for n, (_, flat, _) in enumerate(read_each(self._store, rankings, query)):
            scores[groups[n % len(groups)]] += [(score, article_id_from(member)) for member, score in pairs(flat)]
        ranked = [sorted(entries, reverse=True) for entries in scores.values() if entries]
        leading = max((entries[0][0] for entries in ranked), default=0.0)
        places = dict[ArticleId, float]()
        for entries in ranked:
            best, last = entries[0][0], entries[:SHARE][-1][0]
            for score, article_id in entries:
                place = followed_place(score, best=best, last=last, leading=leading)
                places[article_id] = min(place, places.get(article_id, place))
        return sorted(places, key=lambda article_id: (places[article_id], -article_id))
