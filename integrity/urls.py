"""Addresses of ballot records and their chain, in the namespace of the articles app."""

from datetime import date

from django.urls import path, register_converter

from articles.web import addresses  # noqa: F401 - registers "article_id"
from integrity import pages


class DayConverter:
    """A day such as 2026-11-27."""

    regex = "[0-9]{4}-[0-9]{2}-[0-9]{2}"

    def to_python(self, value: str) -> date:
        return date.fromisoformat(value)

    def to_url(self, value: date) -> str:
        return value.isoformat()


class MonthConverter:
    """A month such as 2026-11, as its first day."""

    regex = "[0-9]{4}-(?:0[1-9]|1[0-2])"

    def to_python(self, value: str) -> date:
        return date.fromisoformat(f"{value}-01")

    def to_url(self, value: date) -> str:
        return f"{value:%Y-%m}"


register_converter(DayConverter, "day")
register_converter(MonthConverter, "month")

urlpatterns = [
    path("articles/<article_id:article_id>/ballots/", pages.record, name="ballot_record"),
    path("articles/<article_id:article_id>/ballots/proof.json", pages.proof, name="ballot_proof"),
    path("articles/<article_id:article_id>/ballots.json", pages.ballots, name="ballots"),
    path("integrity/", pages.index, name="integrity"),
    path("integrity/verify_ballots.py", pages.verifier, name="verifier"),
    path("integrity/chain.json", pages.chain, name="chain"),
    path("integrity/<day:day>.json", pages.of_day, name="chain_day"),
    path("integrity/<month:month>/", pages.month, name="integrity_month"),
    path("integrity/<month:month>.json", pages.month_json, name="month_json"),
    path("integrity/months.csv", pages.months_csv, name="months_csv"),
    path("integrity/days.<feed_kind:kind>", pages.feed, name="chain_feed"),
]
