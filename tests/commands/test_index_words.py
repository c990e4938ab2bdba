"""`manage.py index_words`."""

from articles.domain.lists import Order
from articles.repository.store import keys as names
from articles.searching import read_query

from .conftest import row


def lose_words(site_store):
    client = site_store.store.client
    for keys in site_store.store.shards.all:
        client.delete(*(keys.word(word) for word in client.zrange(keys.lexicon, 0, -1)), keys.lexicon)
    client.hdel(names.SCHEMA, "indexed")


def test_articles_that_were_there_before_the_search_are_found_afterwards(run, site_store, write):
    run("import_articles", write([row(n) for n in range(1, 6)]))
    lose_words(site_store)
    title = site_store.lists.get_page(Order.TIME).articles[0].title
    assert site_store.search.get_page(read_query(title)).articles == ()

    assert run("index_words") == "5 articles are searchable.\n"

    assert site_store.search.get_page(read_query(title)).articles != ()
    assert run("audit") == "5 articles, no findings.\n"


def test_what_is_indexed_is_indexed_again_only_when_asked_for(run, site_store, write):
    run("import_articles", write([row(1)]))
    client, keys = site_store.store.client, site_store.store.shards.of(1)
    (word, *_) = client.zrange(keys.lexicon, 0, -1)
    client.delete(keys.word(word))

    run("index_words")
    assert not client.exists(keys.word(word))

    run("index_words", "--anew")
    assert client.exists(keys.word(word))
