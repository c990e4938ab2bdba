"""Groups: creating, renaming, assigning and merging them."""

import pytest

from articles.domain.errors import GroupExists, GroupNotFound
from articles.domain.lists import Order
from tests.cast import MODERATOR
from tests.store_state import problems

pytestmark = pytest.mark.one_shard


def members(repository, slug):
    return {article.id for article in repository.lists.get_page(Order.TIME, slug=slug).articles}


def test_two_groups_cannot_have_the_same_title(repository):
    repository.groups.create("python", "Python", MODERATOR)
    repository.groups.create("snakes", "Snakes", MODERATOR)

    with pytest.raises(GroupExists):
        repository.groups.rename("snakes", "Python", MODERATOR)
    with pytest.raises(GroupExists):
        repository.groups.create("py", "Python", MODERATOR)

    repository.groups.rename("python", "Python", MODERATOR)
    assert repository.groups.get_titles() == {"python": "Python", "snakes": "Snakes"}
    assert len(repository.moderation_log.get_page().entries) == 2


def test_assigning_a_slug_creates_its_group_even_if_another_has_that_title(repository, article):
    repository.groups.rename("python", "snakes", MODERATOR)

    repository.groups.assign(article, ["snakes"])

    assert repository.groups.get_titles() == {"python": "snakes", "snakes": "snakes"}


def test_a_description_stays_with_its_group_and_is_logged(repository):
    for slug in ("python", "java"):
        repository.groups.create(slug, slug.title())
    repository.groups.describe("python", "All about *Python*.", MODERATOR, "Asked for")
    repository.groups.describe("python", "All about *Python*.", MODERATOR)
    repository.groups.describe("java", "Coffee.", MODERATOR)

    assert repository.groups.get_descriptions() == {"python": "All about *Python*.", "java": "Coffee."}
    entries = repository.moderation_log.get_page().entries
    assert [(entry.action, entry.title) for entry in entries].count(("describe-group", "Python")) == 1
    with pytest.raises(GroupNotFound):
        repository.groups.describe("nope", "Nothing.", MODERATOR)

    repository.groups.merge("java", "python", MODERATOR)
    assert repository.groups.get_descriptions(["python", "java"]) == {"python": "All about *Python*."}
    repository.groups.describe("python", "", MODERATOR)
    assert repository.groups.get_descriptions() == {}
    assert problems(repository) == []


def test_the_audit_finds_and_the_repair_drops_a_description_without_a_group(repository):
    repository.groups.create("python", "Python")
    repository.groups.describe("python", "All about Python.", MODERATOR)
    key = repository.store.shards.directory.descriptions
    repository.store.client.hset(key, "gone", "Nothing.")

    assert [finding.problem for finding in repository.audit.run()] == [
        "describes gone, but there is no such group"
    ]
    repository.repair.run()

    assert repository.groups.get_descriptions() == {"python": "All about Python."}
    assert problems(repository) == []
