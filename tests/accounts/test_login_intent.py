import pytest
from django.test import RequestFactory

from accounts.web.login_intent import LoginIntent, local_path
from tests.store_state import ARTICLE_KEY


@pytest.mark.parametrize(
    "target", ["/", "/newest/", "/hot/?page=2", "/groups/a-b/?order=time#top", "/users/alice/"]
)
def test_a_path_of_the_site_is_local(target):
    assert local_path(target) == target


@pytest.mark.parametrize(
    "target",
    [
        "", "evil", "//evil", "///evil", "////evil", "/\\evil", "\\\\evil", "\\/evil", "https:evil",
        "https:///evil",
        "https://evil/", "http:///evil", "http://testserver/", "javascript:alert(1)", " //evil", "/\t/evil",
        "/\n/evil", "\t//evil",
        "/ok\r\nSet-Cookie: a=b", "/\x00", "/a\u202eb", "/a\\..\\b", "/" + "a" * 3000, "data:text/html,x",
    ],
)  # fmt: skip
def test_an_address_that_could_lead_to_another_site_is_not_local(target):
    assert local_path(target) == ""


@pytest.mark.parametrize("door", ["/login/", "/signup/?next=/", "/logout/"])
def test_login_and_sign_up_are_not_destinations_after_the_login(door):
    assert local_path(door) == ""


@pytest.mark.parametrize("choice", ["vote", "oppose", "none"])
def test_a_pending_vote_is_carried(choice):
    intent = LoginIntent.from_request(
        RequestFactory().get("/login/", {"next": "/hot/", "article": "42", "choice": choice})
    )

    assert intent.fields == {"next": "/hot/", "article": "42", "choice": choice}
    assert intent.query == f"?next=%2Fhot%2F&article=42&choice={choice}"


@pytest.mark.parametrize(
    ("article", "choice"),
    [
        ("42", ""), ("", "vote"), ("42", "up"), ("42", "VOTE"), ("0", "vote"), ("-1", "vote"), ("042", "vote"),
        ("4.2", "vote"), ("４２", "vote"), ("42\n", "vote"), ("9" * 20, "vote"), (ARTICLE_KEY, "vote"),
        ('"><script>', "vote"),
    ],
)  # fmt: skip
def test_incomplete_and_invalid_votes_are_dropped(article, choice):
    intent = LoginIntent.from_request(RequestFactory().get("/login/", {"article": article, "choice": choice}))

    assert intent == LoginIntent()
    assert intent.query == ""


def test_a_submitted_form_overrides_the_address():
    request = RequestFactory().post("/login/?next=/a/&article=42&choice=vote", {"next": "/b/"})

    assert LoginIntent.from_request(request) == LoginIntent(next="/b/")


def test_the_default_destination_is_the_front_page():
    assert LoginIntent().destination == "/"
