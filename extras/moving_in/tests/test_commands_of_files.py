"""The commands of the README for files and feeds: what they name moves in, twice."""

import re
import shlex
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from accounts.models import HeldPost, User
from extras.moving_in.models import Arrival, FollowedFeed
from extras.moving_in.sources import feed
from extras.moving_in.tests.test_feeds import BEGIN, RSS, blog, later, served  # noqa: F401 - a fixture
from extras.moving_in.tests.test_files import MAPPING, NEWS, POSTS, REDDIT, TALK, written
from tests.store_state import problems

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")


def commands(form):
    found = re.findall(rf"manage\.py import_site {form} (.*)", README)
    assert found
    return [["import_site", form, *shlex.split(one)] for one in found]


@pytest.fixture
def here(tmp_path, settings, monkeypatch):
    """A folder with the files that the README names."""
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    monkeypatch.chdir(tmp_path)
    for folder in ("dumps", "tables"):
        (tmp_path / folder).mkdir()
    written(tmp_path / "dumps/RC.jsonl", REDDIT)
    written(tmp_path / "items.jsonl", NEWS)
    (tmp_path / "map.toml").write_text(MAPPING)
    (tmp_path / "tables/posts.csv").write_text(POSTS, "utf-8", newline="")
    written(tmp_path / "tables/talk.jsonl", TALK)
    (tmp_path / "feed.xml").write_text(RSS)
    return tmp_path


@pytest.mark.parametrize(
    ("form", "articles", "comments", "groups"),
    [
        ("reddit", 6, 5, {"py", "news"}),
        ("hackernews", 5, 4, set()),
        ("lines", 2, 2, {"one", "two"}),
        ("feed", 2, 0, {"food"}),
    ],
)
def test_each_source_moves_in_by_its_command(run, site_store, here, form, articles, comments, groups):
    command = next(one for one in commands(form) if "--name" in one)

    out = run(*command)
    again = run(*command)

    assert "row: " in out or form == "reddit"
    assert site_store.imports.count() == articles
    assert Arrival.objects.filter(kind="comment").count() == comments
    assert set(Arrival.objects.filter(kind="group").values_list("new_id", flat=True)) >= groups
    assert f"({articles:,} already present)" in again
    assert problems(site_store) == []


def test_the_mapping_of_the_readme_is_read(here):
    from extras.moving_in.sources import lines

    text = re.search(r"```toml\n(.*?)```", README, re.DOTALL)[1]
    (here / "map.toml").write_text(text)

    assert [part.table for part in lines._mapping("map.toml")] == ["article", "comment"]


def test_a_feed_is_followed_by_its_commands(run, site_store, here, blog, monkeypatch):  # noqa: F811 - the fixture
    blog.certificate = None
    monkeypatch.setattr(feed, "World", blog.world)
    follow, followed, unfollow = (one for one in commands("feed") if "--name" not in one)
    follow[2], unfollow[2] = (one[2].replace("https:", "http:") for one in (follow, unfollow))
    with pytest.raises(CommandError, match="--member"):
        run(*follow)
    User.objects.create_user("planet", password="a long password")
    with pytest.raises(CommandError, match="group"):
        run(*follow)
    site_store.groups.create("news", "News")

    assert "is followed" in run(*follow)
    assert "as planet, group news" in run(*followed)
    later()
    blog.says = served([2, 1])
    assert feed.hold_new(site_store, 9) == 1
    assert HeldPost.objects.get().title == "Entry 2"
    assert "no longer" in run(*unfollow)
    assert not FollowedFeed.objects.exists()


def test_a_source_without_a_name_is_refused(run, site_store, here):
    with pytest.raises(CommandError, match="--name"):
        run("import_site", "hackernews", "items.jsonl")
