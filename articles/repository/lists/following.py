"""The articles of followed groups, each group with its share: `followed_place` of the domain says how."""

from collections import defaultdict
from collections.abc import Sequence

from articles.domain.articles import ArticleId
from articles.domain.errors import PageNotFound, PageTooDeep
from articles.domain.lists import MOST_FOLLOWED_PAGED, ArticlePage, Order
from articles.domain.members import UserId
from articles.domain.ranking import SHARE, followed_place
from articles.repository.lists.merging import group_rankings, pairs
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
    ) -> ArticlePage:
        """Return page `number`, counted from 1, of the articles in these groups, without those in hidden ones.

        Groups that do not exist are empty. Two round trips; none without groups. Raises PageNotFound before the
        first and beyond the last page, and PageTooDeep beyond MOST_FOLLOWED_PAGED articles.
        """
        size = size or self._store.rules.per_page
        start = (number - 1) * size
        if number < 1:
            raise PageNotFound(number)
        if start >= MOST_FOLLOWED_PAGED:
            raise PageTooDeep(number)
        groups = tuple(dict.fromkeys(slugs))
        left_out = [slug for slug in dict.fromkeys(hidden) if slug not in groups]
        ids = self._ids(groups, start + size, left_out) if groups else []
        if number > 1 and len(ids) <= start:
            raise PageNotFound(number)
        articles = read_articles(self._store, ids[start : start + size], reader)
        return ArticlePage(
            tuple(article for article in articles if article.removed is None),
            number,
            size,
            len(ids),
            Order.SCORE,
            goes_on=len(ids) > start + size and start + size < MOST_FOLLOWED_PAGED,
        )

    def _ids(self, groups: Sequence[str], wanted: int, hidden: Sequence[str]) -> list[ArticleId]:
        """Return the first articles, in order, at least one more than `wanted` if there are. One round trip.

        An article of several groups has the first of its places. No group has more than `wanted` of those.
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
