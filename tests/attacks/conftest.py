"""The shared cases, and the site that every attack must leave sound."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from accounts.models import User
from articles.domain.articles import ArticleId
from articles.repository import Repository
from tests.store_state import problems


@pytest.fixture(autouse=True)
def _sound_at_the_end(site_store: Repository) -> Iterator[None]:
    """Audit the store after each test."""
    yield
    assert problems(site_store) == []


@pytest.fixture
def article(article: ArticleId, site_store: Repository, alice: User) -> ArticleId:
    """Alice's article, with a comment by her."""
    site_store.comments.post(article, alice.pk, "alice", "A comment")
    return article


@pytest.fixture
def texts(shared_dir: Path) -> list[str]:
    """All naughty strings and all script injections."""
    naughty = json.loads((shared_dir / "cases" / "naughty_strings.json").read_text("utf-8"))
    return [*naughty, *(shared_dir / "cases" / "xss_300.txt").read_text("utf-8").splitlines()]


@pytest.fixture
def urls(shared_dir: Path) -> list[str]:
    """The inputs of all URL cases."""
    cases = json.loads((shared_dir / "cases" / "urltestdata.json").read_text("utf-8"))
    return [case["input"] for case in cases if isinstance(case, dict)]
