"""`manage.py index_words`."""

from articles.domain.lists import Order
from articles.searching import read_query
from tests.commands.rows import row
from tests.store_state import lose_word, lose_words


def test_articles_older_than_the_search_are_found_after_indexing(run, site_store, write):
    run("import_articles", write([row(n) for n in range(1, 6)]))
    lose_words(site_store)
    title = site_store.lists.get_page(Order.TIME).articles[0].title
    assert site_store.search.get_page(read_query(title)).articles == ()

    assert run("index_words") == "5 articles are searchable.\n"

    assert site_store.search.get_page(read_query(title)).articles != ()
    assert run("audit") == "5 articles, no findings.\n"


def test_indexed_articles_are_indexed_again_only_on_request(run, site_store, write):
    run("import_articles", write([row(1)]))
    is_indexed = lose_word(site_store, 1)

    run("index_words")
    assert not is_indexed()

    run("index_words", "--anew")
    assert is_indexed()
