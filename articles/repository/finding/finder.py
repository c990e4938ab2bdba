"""Finds articles and comments: runs queries on the index, and reads what they find from the store."""

import logging
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, wraps
from itertools import accumulate
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import tantivy
from tantivy import Occur, Query as IndexQuery

from articles.domain.articles import Article, ArticleId
from articles.domain.comments import CommentId, article_of
from articles.domain.explanation import BASE_OF_PRIOR, How, Match, Relevance, Unfound, Where
from articles.domain.lists import CommentSearchPage, Position, SearchOrder, SearchPage, closed_groups
from articles.domain.members import UserId
from articles.repository import ChangesLostError, PageWindow, Repository, page_window
from articles.repository.finding import index as indexing
from articles.text.searching import NOTHING, Between, Hiding, Kind, Named, Query, Words, of_host, stems_of

MOST_FOUND = 1000
"""Articles, or comments, that can be paged through: a reader who needs more should refine the query."""

_SPARE = 25  # hits that are looked at beyond those of a page if some may be hidden

_MANY_GROUPS = 300
_MOST_GROUPS = 1_000

_COMPLETIONS, _COMPLETIONS_OF_LETTER = 50, 10  # most frequent words that a beginning stands for
_COMPLETED = 30_000  # occurrences after which a beginning stands for no more words: each takes 40 ns
_SHORT, _LARGE = 3, 1 << 13
"""Letters of a beginning, and entries of an index, with which it may stand for what it did up to a minute ago."""

_TITLE, _TITLE_STEM, _ABOUT, _GROUP, _TEXT, _TEXT_STEM = 4.0, 3.0, 2.0, 5.0, 1.0, 0.7
"""By how much a match in each place counts: see docs/search.md."""

_BEGINNING = 0.4  # the same for a word that only begins as typed

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_CORRECTABLE = re.compile("[a-z]{4,12}")

_ORDER_FIELDS = {SearchOrder.SCORE: "score", SearchOrder.TIME: "time", SearchOrder.POINTS: "rank"}


_P = ParamSpec("_P")
_T = TypeVar("_T")

_log = logging.getLogger(__name__)


class SearchIncompleteError(Exception):
    """The index is missing, damaged, or still being built."""


class _Part(NamedTuple):
    """A part of a query: where and how one of its terms may match."""

    where: Where
    how: How
    query: IndexQuery


class _Hits(NamedTuple):
    """What was found: ids, best first, each with the mark of its index entry; and how many there are in all."""

    ids: list[int]
    marks: dict[int, int]
    total: int


def _reading(method: Callable[Concatenate["Finder", _P], _T]) -> Callable[Concatenate["Finder", _P], _T]:
    """Let a search of a damaged index answer as one without an index, and have the index checked."""

    @wraps(method)
    def read(self: "Finder", /, *args: _P.args, **options: _P.kwargs) -> _T:
        try:
            with indexing.without_panics():
                return method(self, *args, **options)
        except (LookupError, OSError, ValueError) as error:
            answer = method(Finder(indexing.Index()), *args, **options)  # raises what is not due to the index
            if self._index.doubt():
                _log.error("the search index cannot be read, and is checked: %s", error)
            return answer

    return read


class Finder:
    """Searches an index. For any number of threads."""

    def __init__(self, index: indexing.Index) -> None:
        self._index = index
        self._known_titles: tuple[Repository | None, float, Mapping[str, str]] = (None, 0.0, {})
        self._complete: tantivy.Index | None = None  # an index that is complete remains so

    @_reading
    def get_page(
        self,
        repository: Repository,
        query: Query,
        order: SearchOrder = SearchOrder.RELEVANCE,
        number: int = 1,
        *,
        slug: str | None = None,
        hidden: Hiding = NOTHING,
        reader: UserId | None = None,
        seen: Collection[ArticleId] = (),
        with_texts: bool = False,
    ) -> SearchPage:
        """Return page `number`, counted from 1, of the articles that match.

        `slug`: only articles of this group; `hidden`: without what these hide. `seen`: if given, the page has the
        first results that are not among these, whatever the number. Two round trips, one or more further ones if
        `hidden` hides more than groups. Raises GroupNotFound, PageNotFound before the first and beyond the last
        page, and PageTooDeep beyond `MOST_FOUND` articles.
        """
        page = page_window(1 if seen else number, repository.rules.per_page, MOST_FOUND - len(seen))
        titles = self._titles(repository, slug)
        searcher, is_complete = self._searcher()
        wanted = query.with_groups(titles)
        found, unseen, left_out = _not_hidden(
            lambda most: _find(searcher, indexing.ARTICLES, wanted, order, most + len(seen), slug, hidden.groups),
            lambda ids: repository.changes.read_rows(ids, None),
            page,
            hidden,
            seen,
        )
        page.check_entries(unseen)
        shown = tuple(unseen[: page.size])
        rows = repository.changes.read_rows(shown, reader, with_texts=with_texts)
        articles = [
            rows[one] for one in shown if one in rows and indexing.mark_of_article(rows[one]) == found.marks[one]
        ]
        facts = (order, titles, found.total, is_complete, shown, left_out)
        return SearchPage(tuple(articles), number, page.size, page.has_next(len(unseen)), *facts)

    @_reading
    def list_newest(
        self, repository: Repository, query: Query, most: int, *, slug: str | None = None, hidden: Hiding = NOTHING
    ) -> list[ArticleId]:
        """Return the ids of the newest matching articles, newest first, at most `most`.

        `hidden`: without articles of these groups. One round trip. Raises GroupNotFound and SearchIncompleteError.
        """
        titles = self._titles(repository, slug)
        searcher, is_complete = self._searcher()
        if not is_complete:
            raise SearchIncompleteError
        return _find(
            searcher, indexing.ARTICLES, query.with_groups(titles), SearchOrder.TIME, most, slug, hidden.groups
        ).ids

    @_reading
    def get_comments(
        self,
        repository: Repository,
        query: Query,
        number: int = 1,
        *,
        slug: str | None = None,
        hidden: Hiding = NOTHING,
        after: Position | None = None,
    ) -> CommentSearchPage:
        """Return a page of the comments that match, newest first, like `get_page`.

        `hidden`: without comments on articles that these hide. `after`: if given, the page follows this position,
        whatever the number.
        """
        page = page_window(number, repository.rules.per_page, MOST_FOUND, after)
        titles = self._titles(repository, slug)
        searcher, is_complete = self._searcher()
        below = None if after is None else indexing.ordered(after[0], int(after[1]))

        def articles_of(ids: Sequence[CommentId]) -> Mapping[CommentId, Article]:
            rows = repository.changes.read_rows(list(dict.fromkeys(map(article_of, ids))), None)
            return {one: rows[article_of(one)] for one in ids if article_of(one) in rows}

        found, ids, left_out = _not_hidden(
            lambda most: _find(
                searcher, indexing.COMMENTS, query, SearchOrder.TIME, most, slug, hidden.groups, below
            ),
            articles_of,
            page,
            hidden,
        )
        page.check_entries(ids)
        shown = ids[: page.size]
        comments = repository.changes.read_comments(shown, with_html=True)
        kept = [one for one in comments if indexing.mark_of_comment(one) == found.marks[one.id]]
        last = (found_at(searcher, shown[-1]), str(shown[-1])) if shown else None
        facts = (titles, found.total, is_complete, last, left_out)
        return CommentSearchPage(tuple(kept), number, page.has_next(len(ids)), *facts)

    @_reading
    def count_from(self, host: str) -> tuple[int, int]:
        """Return how many articles from a host there are, and their points in all. No round trip."""
        searcher, _ = self._searcher()
        wanted = _compiled(searcher, indexing.ARTICLES, of_host(host), None, tuple(closed_groups()))
        points = searcher.aggregate(wanted, {"points": {"stats": {"field": "points"}}})["points"]
        return int(points["count"]), int(points["sum"])

    @_reading
    def find_posted(self, link: str, most: int) -> tuple[list[ArticleId], int]:
        """Return the newest articles of a clean link, newest first, and how many there are. No round trip."""
        return _of_link(self._searcher()[0], indexing.link_number(link), most)

    @_reading
    def find_posted_before(self, article: ArticleId, most: int) -> tuple[list[ArticleId], int]:
        """Return the newest earlier articles of the same link, newest first, and their number. No round trip."""
        searcher, _ = self._searcher()
        (time_of, link), *_none = _time_and_link(searcher, [article]) or [(0, 0)]
        has_others = link and searcher.doc_freq("link", link) > 1  # what is deleted counts until it is merged
        return _of_link(searcher, link, most, before=time_of) if has_others else ([], 0)

    @_reading
    def add_posted_again(self, ids: Collection[ArticleId]) -> set[ArticleId]:
        """Return these articles with the others of the same links, whose pages may name them. No round trip."""
        searcher, _ = self._searcher()
        links = {link for _, link in _time_and_link(searcher, ids) if link}
        return {*ids}.union(*(_of_link(searcher, link, MOST_FOUND)[0] for link in links))

    @_reading
    def find_latest_by_group(self) -> dict[str, float]:
        """Return when the latest article of each group was posted, in Unix seconds, by slug.

        For closed groups all their articles count, for others those that are in none. No round trip.
        """
        searcher, _ = self._searcher()
        found, is_no_article = dict[str, float](), (Occur.MustNot, _term("names", indexing.NO_ARTICLE))
        is_closed = [(Occur.MustNot, _name("group", slug)) for slug in sorted(closed_groups())]
        for name, _count in searcher.terms_with_prefix("names", indexing.NAME_SIGNS["group"], limit=_MOST_GROUPS):
            others = [] if name[1:] in closed_groups() else is_closed
            in_group = IndexQuery.boolean_query([(Occur.Must, _term("names", name)), is_no_article, *others])
            latest = searcher.aggregate(in_group, {"latest": {"max": {"field": "time"}}})["latest"]["value"]
            if latest is not None:
                found[name[1:]] = indexing.value_of(int(latest))
        return found

    @_reading
    def list_hosts(self, most: int) -> list[str]:
        """Return the hosts with the most articles, at most `most`. No round trip."""
        searcher, _ = self._searcher()
        enough = 2 * most if closed_groups() else most
        names = searcher.terms_with_prefix("names", indexing.NAME_SIGNS["host"], limit=enough)
        counts = {name[1:]: _frequency(searcher, "names", name) for name, _ in names}
        return sorted(filter(counts.__getitem__, counts), key=lambda host: (-counts[host], host))[:most]

    @_reading
    def suggest(self, query: Query) -> tuple[str, str] | None:
        """Return the query's first unknown word, and the most frequent one a mistake away; None without."""
        searcher, _ = self._searcher()

        def frequency(word: str) -> int:
            return sum(_frequency(searcher, field, word) for field in ("title", "text", "names"))

        unknown = (
            words.tokens[0]
            for words in query.words
            if len(words.tokens) == 1
            and _CORRECTABLE.fullmatch(words.tokens[0])
            and not frequency(words.tokens[0])
        )
        if not (token := next(unknown, "")):
            return None
        best = max(_one_mistake_from(token), key=frequency)
        return (token, best) if frequency(best) else None

    @_reading
    def list_outdated(self, repository: Repository, ids: Sequence[ArticleId]) -> list[ArticleId]:
        """Return those of these articles that the index does not contain as they are, although it has followed.

        [] while it is built, or if it is another store's. Two round trips.
        """
        searcher, is_complete = self._searcher()
        state = indexing.read_state(searcher)
        if not is_complete or state is None or (waiting := _waiting(repository, state)) is None:
            return []
        ids = [one for one in ids if one not in waiting]
        marks = indexing.column_of(searcher, "mark", indexing.ARTICLES, ids)
        listed = {
            article.id: indexing.mark_of_article(article) for article in repository.changes.read_articles(ids)
        }
        return [one for one in ids if marks.get(one) != listed.get(one)]

    @_reading
    def tell_progress(self, repository: Repository) -> str:
        """Return how far the index is behind the store, as a sentence; "" if it is not, or is no index."""
        state = indexing.read_state(self._searcher()[0])
        if state is None:
            return ""
        waiting = _waiting(repository, state)
        if state.reached is not None or waiting is None:
            return "The search index is being built."
        return f"The search index is behind: {len(waiting):,} articles to enter." if waiting else ""

    @_reading
    def explain(self, repository: Repository, query: Query, article: Article) -> Relevance | Unfound:
        """Return why an article is where it is among the results by relevance. At most one round trip."""
        query = query.with_groups(self._titles(repository, None))
        searcher, is_complete = self._searcher()
        key = indexing.key_of(article.id, indexing.ARTICLES)
        if indexing.column_of(searcher, "mark", indexing.ARTICLES, [article.id]).get(
            article.id
        ) != indexing.mark_of_article(article):
            return Unfound.BEHIND if is_complete else Unfound.BUILDING
        matched = (
            _score(searcher, _compiled(searcher, indexing.ARTICLES, query, None, ()), key)
            if query.clauses
            else None
        )
        if matched is None:
            return Unfound.NO_MATCH
        matches = dict[tuple[str, Where, How], float]()
        for clause in query.clauses:
            for term in () if clause.excludes else clause.terms:
                for where, how, part in _of_term(searcher, indexing.ARTICLES, term):
                    if score := _score(searcher, part, key):
                        match = term.spelled, where, how
                        matches[match] = matches.get(match, 0.0) + score
        (rank,) = indexing.column_of(searcher, "rank", indexing.ARTICLES, [article.id]).values()
        (prior,) = indexing.column_of(searcher, "prior", indexing.ARTICLES, [article.id]).values()
        points = indexing.ranked_points_in(rank)
        of_points = indexing.prior_of_points(points)
        parts = tuple(Match(*match, score) for match, score in matches.items())
        return Relevance(parts, matched, points, of_points, prior - BASE_OF_PRIOR - of_points)

    @_reading
    def count(
        self, query: Query, kind: str, titles: Mapping[str, str], *, slug: str | None, hidden: Hiding
    ) -> int:
        """Return how many articles or comments match outside hidden groups. `titles`: all groups'."""
        searcher, _ = self._searcher()
        return _find(searcher, kind, query.with_groups(titles), SearchOrder.TIME, 1, slug, hidden.groups).total

    def _titles(self, repository: Repository, slug: str | None) -> Mapping[str, str]:
        """Return the groups' titles by slug; of more than `_MANY_GROUPS`, as they were up to a second ago.

        At most one round trip. Raises GroupNotFound if there is no group `slug`.
        """
        now, (of, read_at, known) = time.monotonic(), self._known_titles
        if closed_groups():
            return repository.changes.read_titles(slug)
        if of is repository and now - read_at < 1 and (slug is None or slug in known):
            return known
        titles = repository.changes.read_titles(slug)
        if len(titles) > _MANY_GROUPS:
            self._known_titles = repository, now, titles
        return titles

    def percent_built(self, repository: Repository) -> int:
        """Return how much of the index has been built. One round trip."""
        state = indexing.read_state(self._searcher()[0])
        reached = (state.reached or 0) if state else 0
        return min(99, 100 * reached // max(1, repository.changes.get_last_id()))

    def _searcher(self) -> tuple[tantivy.Searcher, bool]:
        """Return a view of the index, and whether it is complete; an empty view without one of this format."""
        with suppress(OSError):
            opened = self._index.opened()
            searcher = opened.searcher()
            if opened is self._complete:
                return searcher, True
            if state := indexing.read_state(searcher):
                self._complete = opened if state.reached is None else None
                return searcher, state.reached is None
        return indexing.Index().opened().searcher(), False


def _waiting(repository: Repository, state: indexing.State) -> set[ArticleId] | None:
    """Return the articles whose changes the index has not reached; None if it has to be built again."""
    try:
        found = repository.changes.read_since(state.moments, state.copy, state.weight)
    except ChangesLostError:
        return None
    return {
        article_of(one.id) if one.is_comment else one.id
        for prefix, changes in found.items()
        for one in changes
        if one.at > state.moments[prefix]
    }


def _time_and_link(searcher: tantivy.Searcher, ids: Iterable[ArticleId]) -> list[tuple[int, int]]:
    """Return the values of both fields of these articles, as far as they are in the index."""
    places = [*indexing.places_of(searcher, indexing.ARTICLES, ids).values()]
    times, links = indexing.column(searcher, "time", places), indexing.column(searcher, "link", places)
    return [*zip(times, links, strict=True)]


def _of_link(
    searcher: tantivy.Searcher, link: int, most: int, *, before: int | None = None
) -> tuple[list[ArticleId], int]:
    """Return the newest articles with this value of `link`, before this one of `time`, and how many there are."""
    found: Any  # its `count` is missing in the package's annotations
    wanted = [(Occur.Must, IndexQuery.term_query(indexing.SCHEMA, "link", link))]
    wanted += [(Occur.MustNot, _name("group", slug)) for slug in closed_groups()]
    if before is not None:
        earlier = IndexQuery.range_query(
            indexing.SCHEMA, "time", tantivy.FieldType.Unsigned, None, before, True, False
        )
        wanted.append((Occur.Must, earlier))
    found = searcher.search(IndexQuery.boolean_query(wanted), most, order_by_field="time")
    return [
        indexing.id_of(key) for key in indexing.column(searcher, "key", [place for _, place in found.hits])
    ], found.count


def _frequency(searcher: tantivy.Searcher, field: str, word: str) -> int:
    """Return in how many entries a word is, of those that the reader gets to see."""
    frequency, closed = int(searcher.doc_freq(field, word)), closed_groups()
    if not frequency or not closed:
        return frequency
    hidden: Any  # its `count` is missing in the package's annotations
    in_closed = _any([_name("group", slug) for slug in sorted(closed)])
    hidden = searcher.search(
        IndexQuery.boolean_query([(Occur.Must, _term(field, word)), (Occur.Must, in_closed)]), 1
    )
    return max(0, frequency - int(hidden.count))


def _one_mistake_from(word: str) -> Iterator[str]:
    """Yield the words that differ by one letter left out, added or changed, or by two exchanged."""
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        if after:
            yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in _LETTERS:
            yield before + letter + after
            if after:
                yield before + letter + after[1:]


def found_at(searcher: tantivy.Searcher, comment: int) -> float:
    """Return when a comment was posted, in Unix seconds, to the millisecond."""
    times = indexing.column_of(searcher, "time", indexing.COMMENTS, [comment])
    return indexing.value_of(times.get(comment, 0))


def _not_hidden(
    find: Callable[[int], _Hits],
    articles_of: Callable[[Sequence[int]], Mapping[int, Article]],
    page: PageWindow,
    hidden: Hiding,
    seen: Collection[int] = (),
) -> tuple[_Hits, list[int], int]:
    """Return the hits; the ids of those from the page on that are neither seen nor hidden, the next page's first
    among them; and how many between these the reader hides. The index itself leaves out hidden groups.

    `find` returns so many hits; `articles_of` the articles that decide about them. One round trip, none if only
    groups are hidden; more if most of what is found is hidden.
    """
    if not hidden.without(Kind.GROUP):
        found = find(page.end + 1)
        return found, [one for one in found.ids if one not in seen][page.start :], 0
    found = find(MOST_FOUND + 1)
    waiting, kept, left_out = [one for one in found.ids if one not in seen], list[int](), 0
    while waiting and len(kept) <= page.end:
        size = page.end + 1 - len(kept) + _SPARE
        batch, waiting = waiting[:size], waiting[size:]
        articles = articles_of(batch)
        for one in batch:
            if not ((article := articles.get(one)) and hidden.hides(article)):
                kept.append(one)
            elif (not page.start or len(kept) > page.start) and len(kept) <= page.end:
                left_out += 1
    return found, kept[page.start :], left_out


def _find(
    searcher: tantivy.Searcher,
    kind: str,
    query: Query,
    order: SearchOrder,
    most: int,
    slug: str | None,
    hidden: Sequence[str],
    below: int | None = None,
) -> _Hits:
    """Return the first `most` matches; of those with a lower `time`, if `below` is given."""
    if not query.clauses:
        return _Hits([], {}, 0)
    result: Any  # its `count` is missing in the package's annotations
    wanted = _compiled(searcher, kind, query, slug, [name for name in (*hidden, *closed_groups()) if name != slug])
    if below is not None:
        following = IndexQuery.range_query(
            indexing.SCHEMA, "time", tantivy.FieldType.Unsigned, None, below, True, False
        )
        wanted = IndexQuery.boolean_query([(Occur.Must, wanted), (Occur.Must, following)])
    if order is SearchOrder.RELEVANCE:
        result = searcher.search(wanted, most, weight_by_field="prior")
    else:
        result = searcher.search(wanted, most, order_by_field=_ORDER_FIELDS[order])
    places = [place for _, place in result.hits]
    ids = [indexing.id_of(key) for key in indexing.column(searcher, "key", places)]
    return _Hits(ids, dict(zip(ids, indexing.column(searcher, "mark", places), strict=True)), result.count)


def _compiled(
    searcher: tantivy.Searcher, kind: str, query: Query, slug: str | None, hidden: Sequence[str]
) -> IndexQuery:
    needed, excluded = list[IndexQuery](), [_name("group", name) for name in hidden]
    for clause in query.clauses:
        terms = [part.query for term in clause.terms for part in _of_term(searcher, kind, term)]
        if clause.excludes:
            excluded += terms
        else:
            needed.append(_any(terms))
    if slug is not None:
        needed.append(IndexQuery.const_score_query(_name("group", slug), 0.0))
    if kind == indexing.COMMENTS:
        needed.append(IndexQuery.const_score_query(_term("names", indexing.COMMENT), 0.0))
    else:
        excluded.append(_term("names", indexing.NO_ARTICLE))
        if not needed:
            needed.append(IndexQuery.const_score_query(IndexQuery.all_query(), 0.0))
    return IndexQuery.boolean_query([(Occur.MustNot, _any(excluded)), *((Occur.Must, one) for one in needed)])


def _score(searcher: tantivy.Searcher, query: IndexQuery, key: int) -> float | None:
    """Return the score of one document; None if it does not match."""
    one = IndexQuery.const_score_query(IndexQuery.term_query(indexing.SCHEMA, "key", key), 0.0)
    hits = searcher.search(IndexQuery.boolean_query([(Occur.Must, one), (Occur.Must, query)]), 1, count=False).hits
    return float(hits[0][0]) if hits else None


def _of_term(searcher: tantivy.Searcher, kind: str, term: Words | Named | Between) -> Iterator[_Part]:
    if isinstance(term, Named):
        by_name = IndexQuery.const_score_query(_name(term.kind, term.name), 1.0)
        yield _Part(Where.FILTER, How.EXACT, by_name)
    elif isinstance(term, Between):
        yield _Part(Where.FILTER, How.EXACT, IndexQuery.const_score_query(_range(term), 0.0))
    else:
        if kind == indexing.ARTICLES and term.field != "text":
            yield from _of_words(searcher, "title", term, _TITLE, _TITLE_STEM)
        if term.field != "title":
            yield from _of_words(searcher, "text", term, _TEXT, _TEXT_STEM)
        if kind == indexing.ARTICLES and not term.field:
            yield from _of_names(searcher, term)
            for name in term.groups:
                yield _Part(Where.GROUP, How.EXACT, IndexQuery.const_score_query(_name("group", name), _GROUP))


def _of_words(
    searcher: tantivy.Searcher, field: str, words: Words, weight: float, weight_of_stem: float
) -> Iterator[_Part]:
    where = Where(field)
    if len(words.tokens) > 1:
        phrase = IndexQuery.phrase_query(indexing.SCHEMA, field, list(words.tokens))
        yield _Part(where, How.EXACT, IndexQuery.boost_query(phrase, weight))
        if words.begins:
            beginnings = IndexQuery.phrase_prefix_query(indexing.SCHEMA, field, list(words.tokens))
            yield _Part(where, How.BEGINNING, IndexQuery.const_score_query(beginnings, _BEGINNING))
        return
    (token,) = words.tokens
    yield _Part(where, How.EXACT, IndexQuery.boost_query(_term(field, token), weight))
    if not words.is_quoted:
        for stem in stems_of(token):
            stems, other = f"{field}_stems", stem != token and ":" not in stem
            for place in (stems, field) if other else (stems,):
                if searcher.doc_freq(place, stem):
                    yield _Part(where, How.FORM, IndexQuery.boost_query(_term(place, stem), weight_of_stem))
    if words.begins:
        yield from _beginning(searcher, field, token, weight)


def _of_names(searcher: tantivy.Searcher, words: Words) -> Iterator[_Part]:
    """Yield what matches words in the names of the host and the poster."""
    names = [
        IndexQuery.const_score_query(_any([_term("names", token), _name("host", token)]), _ABOUT)
        for token in words.tokens
    ]
    every = names[0] if len(names) == 1 else IndexQuery.boolean_query([(Occur.Must, name) for name in names])
    yield _Part(Where.NAMES, How.EXACT, every)
    if words.begins and len(names) == 1:
        (token,) = words.tokens
        yield from _beginning(searcher, "names", indexing.named("host", token) if "." in token else token, _ABOUT)


def _beginning(searcher: tantivy.Searcher, field: str, token: str, weight: float) -> Iterator[_Part]:
    is_letter = len(token) == 1 and token.isascii()
    if (is_letter and field != "title") or searcher.doc_freq("names", indexing.named("host", token)):
        return  # a letter begins very many words; or the token is the whole name of a host
    found = _completed(searcher, field, token, _COMPLETIONS_OF_LETTER if is_letter else _COMPLETIONS)
    yield _Part(Where(field), How.BEGINNING, IndexQuery.const_score_query(found, _BEGINNING * weight))


def _completed(searcher: tantivy.Searcher, field: str, token: str, most: int) -> IndexQuery:
    """Return a query for the most frequent words that begin so. Unless it is kept, all that begin so are read."""
    size, minute = searcher.num_docs // _LARGE, time.monotonic() // 60
    kept = _kept(field, token, size, minute) if size and len(token) <= _SHORT else []
    if kept:
        return kept[0]
    frequent = searcher.terms_with_prefix(field, token, limit=most)
    before = accumulate((frequency for _, frequency in frequent), initial=0)
    words = [word for (word, _), articles in zip(frequent, before, strict=False) if articles < _COMPLETED]
    found = _any([IndexQuery.term_query(indexing.SCHEMA, field, word, "basic") for word in words])
    if len(frequent) == most:  # of fewer, one that is new would be missed
        kept.append(found)
    return found


@lru_cache(maxsize=1 << 8)
def _kept(_field: str, _token: str, _size: int, _minute: float) -> list[IndexQuery]:
    return []  # `_completed` fills it


def _name(kind: str, name: str) -> IndexQuery:
    return _term("names", indexing.named(kind, name))


@lru_cache(maxsize=1 << 12)
def _term(field: str, value: str) -> IndexQuery:
    return IndexQuery.term_query(indexing.SCHEMA, field, value, "freq")


def _any(terms: list[IndexQuery]) -> IndexQuery:
    if not terms:
        return IndexQuery.empty_query()
    return terms[0] if len(terms) == 1 else IndexQuery.boolean_query([(Occur.Should, term) for term in terms])


def _range(between: Between) -> IndexQuery:
    least, most = between.least, between.most
    if between.kind == "points":
        kind = tantivy.FieldType.Integer
        bounds = (None if least is None else int(least), None if most is None else int(most))
    else:
        kind = tantivy.FieldType.Unsigned
        bounds = (
            None if least is None else indexing.ordered(least, 0),
            None if most is None else indexing.ordered(most),
        )
    return IndexQuery.range_query(indexing.SCHEMA, between.kind, kind, *bounds)
