import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory

from articles import wiring
from articles.errors import StoreUnavailable
from articles.middleware import HeadMiddleware


def test_pages_say_when_there_is_nothing_here(site):
    response = Client().get("/nowhere/")

    assert response.status_code == 404
    assert "There is nothing here" in response.content.decode()


def test_a_store_that_is_away_is_503_with_when_to_come_back(site, settings):
    settings.STORE_URL = "unix:///nowhere/store.sock"
    wiring.repository.cache_clear()

    for path in ("/", "/newest/", "/groups/", "/articles/1/"):
        response = Client().get(path)
        assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
        assert "Nothing is lost" in response.content.decode()
    assert Client().get("/readyz").status_code == 503
    assert Client().get("/healthz").status_code == 200


def test_it_recovers_by_itself(site, settings):
    good, settings.STORE_URL = settings.STORE_URL, "unix:///nowhere/store.sock"
    wiring.repository.cache_clear()
    with pytest.raises(StoreUnavailable):
        wiring.repository()

    settings.STORE_URL = good

    assert Client().get("/").status_code == 200


def test_an_unexpected_error_shows_no_details(site, monkeypatch):
    def fail(*_):
        raise RuntimeError("secret detail")

    monkeypatch.setattr("articles.views.lists.page_number", fail)
    response = Client(raise_request_exception=False).get("/")

    assert response.status_code == 500
    assert "Something went wrong" in response.content.decode()
    assert "secret" not in response.content.decode()


def test_a_foreign_host_is_400(site):
    assert Client(HTTP_HOST="evil.example").get("/").status_code == 400


def test_head_is_answered_without_a_body_but_with_its_length():
    middleware = HeadMiddleware(lambda _request: HttpResponse("twelve bytes"))

    response = middleware(RequestFactory().head("/"))
    whole = middleware(RequestFactory().get("/"))

    assert (response.content, response.headers["Content-Length"]) == (b"", "12")
    assert whole.content == b"twelve bytes"
