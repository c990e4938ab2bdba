"""`manage.py index`."""


def test_every_index_belongs_to_another_copy_and_is_built_again(run, site_store):
    copy = site_store.changes.get_copy()

    assert run("index") == "The search index of every web node is built again, within seconds.\n"

    assert site_store.changes.get_copy() != copy
