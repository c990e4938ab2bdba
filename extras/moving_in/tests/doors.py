"""What the tests of the core need of moving in: see `tests/extras.py`."""

from extras.moving_in.models import Arrival, FollowedFeed, Kind, MovedAccount, Source

NEW_MODELS = ("moving_in.MovedAccount", "moving_in.Arrival", "moving_in.Source", "moving_in.FollowedFeed")


def fill(member):
    source = Source.objects.create(name="old", format="lobsters", host="old.example")
    Arrival.objects.create(source=source, kind=Kind.MEMBER, old_id="7", new_id=str(member.pk))
    MovedAccount.objects.create(user=member, source=source, address="owner@old.example")
    FollowedFeed.objects.create(address="https://old.example/feed", member=member)


WITHOUT_PAGE = {"a file for crawlers": "articles:old_addresses"}
CRAWLED = ("old_addresses",)
