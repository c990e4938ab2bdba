"""The title of a link is proposed on the form, to its script and to programs; nothing is stored, nothing waits."""

import json
import socket
import threading

import pytest
from django.test import Client

from accounts.models import BanScope
from articles.domain.limits import Rate
from extras.links.asking import PROBLEMS
from extras.links.switch import SOCKET_VARIABLE
from moderation.bans import ban
from tests.attacks.test_hostile_links import sent  # noqa: F401 - a fixture
from tests.cases import for_each
from tests.factories import actor, browser_of
from tests.html import nodes_of, tree_of, whole_text_of

LINK = "https://example.org/a"
FOUND = {
    "state": "found",
    "kind": "page",
    "title": "A  found\u202e title",
    "canonical": "https://example.org/the-page",
    "language": "en",
    "description": "What it is about.",
}


class Process:
    """Stands for the fetching process: says of every link what `says` has."""

    def __init__(self, path):
        self.asked, self.says = [], FOUND
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _address = self._listener.accept()
            except OSError:
                return
            with client:
                self.asked.append(json.loads(client.makefile("rb").readline()))
                is_known = self.asked[-1]["starts"] or self.says != {"state": "fetching"}
                said = self.says if is_known else {"state": "unknown"}
                client.sendall(said if isinstance(said, bytes) else json.dumps(said).encode() + b"\n")

    def end(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def process(tmp_path, monkeypatch, settings):
    settings.FETCH_TITLES = True
    path = tmp_path / "socket"
    monkeypatch.setenv(SOCKET_VARIABLE, str(path))
    found = Process(path)
    yield found
    found.end()


def by_script(member, link=LINK):
    return browser_of(member).post("/post/link-info/", {"link": link})


def by_button(member, **fields):
    return browser_of(member).post("/post/", {"link": LINK, "title": "", "text": "", "fetch": "1"} | fields)


def by_program(member, link=LINK):
    return browser_of(member).post("/api/link-info", {"link": link}, content_type="application/json")


def field(answer, name):
    """Return the attributes of a field of the form."""
    return next(
        node.attrs for node in nodes_of(tree_of(answer.text)) if (node.attrs or {}).get("id") == f"id_{name}"
    )


def title_in(answer):
    return field(answer, "title").get("value", "")


def proposed_in(answer):
    """Return the text below the link."""
    nodes = nodes_of(tree_of(answer.text))
    return whole_text_of(next(node for node in nodes if (node.attrs or {}).get("class") == "link-info"))


def test_the_button_fills_an_empty_title_and_stores_nothing(site_store, alice, process):
    answer = by_button(alice, text="A **text**")

    assert answer.status_code == 200
    assert title_in(answer) == "A found title"
    assert "A **text**" in answer.text
    assert site_store.imports.count() == 0


def test_a_program_gets_the_same(site_store, alice, process):
    assert by_program(alice).json() == {
        "state": "found",
        "title": "A found title",
        "canonical": "https://example.org/the-page",
        "language": "en",
        "description": "What it is about.",
        "problem": "",
        "message": "",
    }


def test_what_is_being_fetched_is_said_at_once(site_store, alice, process):
    process.says = {"state": "fetching"}

    assert by_script(alice).json()["state"] == by_program(alice).json()["state"] == "fetching"
    assert "Fetching the title…" in by_button(alice).text


@for_each("problem", [*PROBLEMS, "unheard-of"])
def test_a_problem_is_a_sentence_and_the_form_stays(site_store, alice, process, problem):
    process.says = {"state": "failed", "problem": problem}
    sentence = str(PROBLEMS.get(problem, PROBLEMS["broken"]))

    answer = by_button(alice, title="My own")

    assert answer.status_code == 200
    assert sentence in proposed_in(answer)
    assert title_in(answer) == "My own"
    assert by_program(alice).json()["message"] == sentence


def test_without_the_process_the_form_works(site_store, alice, settings, monkeypatch, tmp_path):
    settings.FETCH_TITLES = True
    for path in (None, str(tmp_path / "none")):
        monkeypatch.setenv(SOCKET_VARIABLE, path) if path else monkeypatch.delenv(SOCKET_VARIABLE, raising=False)
        assert by_program(alice).json()["problem"] == "away"
        assert str(PROBLEMS["away"]) in by_button(alice).text
    assert browser_of(alice).post("/post/", {"link": LINK, "title": "Typed"}).status_code == 302


LIES = [
    b"", b"[]\n", b"nothing\n", b'{"state": "found"}\n', b'{"state": ["found"]}\n',
    b'{"state": "found", "kind": "<script>", "title": ""}\n',
    b'{"state": "found", "title": {"a": 1}, "canonical": "javascript:alert(1)", "language": "\\ud800"}\n',
    b"[" * 70_000,
]  # fmt: skip


def test_whatever_the_process_says_is_an_answer(site_store, alice, process):
    for lie in LIES:
        process.says = lie
        for answer in (by_script(alice), by_button(alice), by_program(alice)):
            assert answer.status_code == 200, lie
            assert "javascript:alert" not in answer.text


def test_a_link_that_cannot_be_posted_is_not_asked_for(site_store, alice, process, settings):
    settings.ALLOW_PRIVATE_LINKS = True
    assert by_program(alice, "http://10.0.0.7/").json()["problem"] == "not-public"
    settings.ALLOW_PRIVATE_LINKS = False
    for link in ("http://10.0.0.7/", "javascript:alert(1)", "", "x" * 3000):
        assert by_script(alice, link).status_code == 400
        assert by_program(alice, link).status_code == 400
        assert by_button(alice, link=link, text="A text").status_code == 400
    assert process.asked == []


def test_only_members_ask_and_only_some_links_in_a_time(site_store, alice, process, limits, limits_clock):
    limits(titles=Rate(2, 3600))
    assert Client().post("/post/link-info/", {"link": LINK}).status_code == 302
    assert Client().post("/api/link-info", {"link": LINK}, content_type="application/json").status_code == 401
    process.says = {"state": "fetching"}

    statuses = [by_script(alice, f"{LINK}/{number}").status_code for number in range(3)]

    assert statuses == [200, 200, 429]
    assert by_program(alice).status_code == 429
    process.says = FOUND
    assert by_program(alice).status_code == 200  # what is known takes nothing


def test_the_button_takes_a_look_up_and_no_change(site_store, alice, process, limits, limits_clock):
    limits(lookups=Rate(2, 3600), changes=Rate(1, 3600))

    assert [by_button(alice).status_code for _press in range(3)] == [200, 200, 429]


def test_a_site_that_fetches_none_has_no_button_and_asks_nothing(site_store, alice, process, settings):
    assert "Fetch title" in browser_of(alice).get("/post/").text
    settings.FETCH_TITLES = False

    page = browser_of(alice).get("/post/").text
    assert "data-titles" not in page
    assert "Fetch title" not in page
    assert by_script(alice).json()["state"] == "failed"
    assert by_program(alice).json()["problem"] == "off"
    assert process.asked == []


def test_a_long_title_is_cut_between_words_and_another_spelling_is_no_other_address(site_store, alice, process):
    process.says = FOUND | {"title": "long words " * 50, "canonical": "http://www.example.org/a/?utm_source=x"}

    found = by_program(alice).json()

    assert found["title"].endswith("long words…")
    assert len(found["title"]) <= 300
    assert found["canonical"] == ""


def test_a_member_banned_from_posting_lets_the_site_fetch_nothing(site_store, alice, carol, process):
    ban(alice, BanScope.POSTING, "Nothing but spam", days=7, moderator=actor(carol))

    answers = by_script(alice), by_button(alice), by_program(alice)

    assert [answer.status_code for answer in answers] == [403] * 3
    assert process.asked == []


@pytest.mark.parametrize("fetches", [True, False])
def test_no_process_but_the_fetching_one_fetches_what_is_typed(site_store, settings, alice, sent, fetches):  # noqa: F811
    settings.ALLOW_PRIVATE_LINKS, settings.FETCH_TITLES = True, fetches

    for link in ("http://127.0.0.1:1/", "http://169.254.169.254/latest/", "http://2130706433/", LINK):
        for ask in (by_script, by_program):
            ask(alice, link)
        by_button(alice, link=link)

    assert sent == []
