"""The OpenAPI document and the page generated from it."""

import re
import shlex
from html import unescape
from html.parser import HTMLParser
from itertools import chain, product

import pytest
from pydantic import ValidationError

from accounts.models import HeldPost, LegalNotice, ModeratorRule, Statement, Sweep, User
from articles.api import documentation
from articles.api.documentation import document
from articles.api.protocol.operations import router
from tests import contract, extras
from tests.cast import CAROL
from tests.contract import ANYWHERE, name_of

OTHERWISE = {
    "-200": "post articles/*/comments; post users/*/sweeps; post users/*/notes; post automatic-rules; post groups",
    "+201": """
        post articles; post articles/*/comments; post users/*/sweeps; post users/*/notes; post automatic-rules;
        post groups
    """,
    "+202": "post articles; post articles/*/comments",
    "-403": "post views",
    "+403": """
        get queue/profiles; get queue/notices; get users/*/bans; get groups/*/bans; get users/*/left-out;
        get users/*/posted; get users/*/sweeps; get users/*/notes; get articles/*/poster; get comments/*/author;
        get removed/comments; get blocked-hosts; get automatic-rules; get held; get queue; get removed/articles
    """,
    "-404": """
        post articles; put inbox/read; put me/about; put blocked-hosts;
        post automatic-rules; post groups
    """,
    "+404": """
        get search; get search/comments; get articles; get me/voted; get me/opposed; get me/saved;
        get me/following; get me/removed/articles; get me/removed/comments; get log;
        get inbox; get queue; get removed/articles
    """,
    "+409": """
        get articles/*/ranking; put articles/*/vote;
        put articles/*/saved; put me/hidden; put groups/*/followed; patch articles/*; put articles/*/removed;
        put articles/*/merged; put articles/*/flag; delete articles/*/flag; put comments/*/flag;
        delete comments/*/flag; put articles/*/locked; patch comments/*; delete articles/*; put comments/*/vote;
        put articles/*/muted; put users/*/blocked; put users/*/flag; delete users/*/flag; put users/*/vouch;
        put queue/notices/*; put me/statements/*/appeal; put articles/*/kept; put automatic-rules/*/on; put held/*;
        delete me/held/*; patch groups/*; put articles/*/groups; post views; post articles/*/comments; post groups
    """,
    "+410": "get changes",
}
"""Statuses that an operation declares beside those of its method, or without them; `*` is a parameter."""

for _change, _names in (row for rows in extras.all_of("STATUSES") for row in rows.items()):
    OTHERWISE[_change] = f"{_names}; {OTHERWISE.get(_change, '')}"


def statuses_of(method: str, path: str) -> set[str]:
    """Return what an operation declares, by its method and its parameters but for what OTHERWISE says."""
    found = {"200", "400", "401", "503"} | ANYWHERE
    if method != "get":
        found |= {"403", "404", "415"} | ({"413"} if method != "delete" else set())
    if "{" in path:
        found |= {"404"}
    name = f"{method} {re.sub('{.*?}', '*', path.removeprefix('/api/'))}"
    differing = {change for change, names in OTHERWISE.items() if name in re.split(r";\s+", names.strip())}
    added, missing = ({one[1:] for one in differing if one[0] == sign} for sign in "+-")
    return (found | added) - missing


def operations():
    return {
        (method, path): operation
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    }


def test_requests_do_not_wait_until_the_document_is_made(monkeypatch, anyone, as_bob, article):
    monkeypatch.setattr(documentation, "document", pytest.fail)

    assert as_bob.put(f"articles/{article}/vote", {"choice": "vote"}).status_code == 200
    assert anyone.get("articles?page=1").status_code == 200


def test_the_query_parameters_are_those_of_the_document():
    for (method, path), operation in operations().items():
        named = {parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "query"}
        route = path.removeprefix("/").replace("{", "<str:").replace("}", ">")

        assert documentation.query_parameters(route, method.upper()) == named


def test_the_document_is_served(anyone):
    answer = anyone.get("openapi.json")

    assert answer["Content-Type"] == "application/json"
    assert answer.json() == document()
    assert answer.json()["openapi"].startswith("3.1")


def test_every_endpoint_documents_its_failures():
    declared = {key: set(operation["responses"]) for key, operation in operations().items()}

    assert declared == {key: statuses_of(*key) for key in operations()}


def test_failures_have_one_shape_and_name_their_codes():
    for operation in operations().values():
        for status, response in operation["responses"].items():
            if int(status) >= 400:
                schema = response["content"]["application/json"]["schema"]
                assert schema == {"$ref": "#/components/schemas/Failure"}
                assert "Codes: " in response["description"]


def test_operations_that_need_a_login_say_so():
    schemes = set(document()["components"]["securitySchemes"])
    for (method, path), operation in operations().items():
        accepted = {name for choice in operation["security"] for name in choice}
        assert accepted == schemes
        private = path.startswith(
            (
                "/api/me", "/api/inbox", "/api/queue", "/api/removed", "/api/blocked-hosts",
                "/api/automatic-rules", "/api/held",
            )
        ) or path.endswith(
            (
                "/bans", "/left-out", "/posted", "/poster", "/author", "/sweeps", "/notes", "/vouch",
                *(end for ends in extras.all_of("API_PRIVATE") for end in ends),
            )
        )  # fmt: skip
        assert ({} in operation["security"]) == ((method == "get" and not private) or path == "/api/views")


SAMPLES = (None, True, 0, 1, 1.5, float("inf"), "1", "a", "true", [], ["a"], [1], {})


def test_a_body_has_the_types_of_the_document_and_no_others():
    """In particular, true is no 1, and "5" is no 5."""
    named = {operation["operationId"]: operation for operation in operations().values()}
    for one in chain.from_iterable(view.operations for view in router.path_operations.values()):
        schema = named[one.view_func.__name__].get("requestBody")
        if schema is None:
            continue
        schema = document()["components"]["schemas"][name_of(schema["content"]["application/json"]["schema"])]
        (model,) = (
            kind
            for kind in one.view_func.__annotations__.values()
            if getattr(kind, "__name__", "") == schema["title"]
        )
        example = {
            name: field["examples"][0] for name, field in schema["properties"].items() if "examples" in field
        }
        for name, sample in product(schema["properties"], SAMPLES):
            body = example | {name: sample}
            is_valid = contract.validator(schema).is_valid(body) and sample != float("inf")
            try:
                model.model_validate(body)
                errors = []
            except ValidationError as error:
                errors = [found["type"] for found in error.errors()]
            assert set(errors) <= {"value_error"} if is_valid else errors, (model, body)


class Page(HTMLParser):
    """Collects ids, links, and every element that loads or runs something."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.scripts = self.inline = 0
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if tag == "a" else []
        self.loaded += [values[key] for key in ("src", "href") if tag != "a" and key in values]
        self.scripts += tag == "script"
        self.inline += tag == "style" or "style" in values or any(name.startswith("on") for name in values)


@pytest.fixture
def page(anyone) -> str:
    answer = anyone.get("docs")
    assert answer.status_code == 200
    assert "default-src 'self'" in answer["Content-Security-Policy"]
    return answer.content.decode()


def test_the_page_loads_no_external_resources_and_runs_only_the_sites_own_script(page):
    found = Page(page)

    assert found.scripts
    assert found.inline == 0
    assert found.loaded
    assert all(address.startswith("/") and not address.startswith("//") for address in found.loaded)


def test_links_within_the_page_have_targets(page):
    found = Page(page)

    assert len(set(found.ids)) == len(found.ids)
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)


def test_the_page_shows_every_endpoint_with_fields_and_responses(page):
    for (method, path), operation in operations().items():
        start = page.index(f'<section aria-labelledby="{operation["operationId"]}">')
        section = page[start : page.index("</section>", start)]
        assert f"{method.upper()} {path}" in section
        assert all(f"<td>{status}</td>" in section for status in operation["responses"])
        assert all(f"<code>{entry['name']}</code>" in section for entry in operation["parameters"])
        assert "Bearer avs_" in section
    assert "<code>choice</code>" in page
    assert "vote | oppose | none" in page


def test_the_examples_work(page, as_carol, site_store, settings, alice, carol, python):
    settings.PROBATION = True
    for name, value in (switch for switches in extras.all_of("SWITCHES") for switch in switches.items()):
        setattr(settings, name, value)
    site_store.left_out.begin_probation(alice.pk)
    site_store.groups.create("redis", "Redis")
    for number in range(1, 60):
        poster = (alice.pk, "alice") if number in (43, 57, 58) else (CAROL, "carol")
        site_store.articles.post(*poster, "python news", f"https://example.org/{number}")
        site_store.groups.assign(number, ["python"])
    site_store.comments.post(42, alice.pk, "alice", "A comment")
    for number, author in ((1, alice), (2, carol)):
        HeldPost.objects.create(pk=number, author=author, title="Held", text="A text")
    User.objects.filter(pk=alice.pk).update(about="Gardener")
    Statement.objects.create(pk=1, member_id=CAROL, act="sweep", reason="?")
    LegalNotice.objects.create(pk=1, address="/users/alice/", member=alice, reason="rules")
    examples = re.findall(r"<pre[^>]*>(curl .*?)</pre>", page, re.DOTALL)

    statuses = [_run(as_carol, _of_this_site(example)) for example in examples]

    assert len(statuses) == len(operations())
    assert set(statuses) == {200, 201}
    assert "http://testserver/api/articles" in page


def _of_this_site(example: str) -> str:
    """Name the sweep and the rule of earlier examples, which are others in each database."""
    sweep, rule = Sweep.objects.first(), ModeratorRule.objects.first()
    example = example.replace("/automatic-rules/1", f"/automatic-rules/{rule.pk}") if rule else example
    return example.replace("/sweeps/1", f"/sweeps/{sweep.pk}") if sweep else example


def _run(caller, example: str) -> int:
    """Send the request that the curl command would send."""
    words = shlex.split(unescape(example).replace("\\\n", " "))
    address = next(word for word in words if word.startswith("http"))
    method = words[words.index("-X") + 1] if "-X" in words else "GET"
    body = words[words.index("-d") + 1].encode() if "-d" in words else None
    return caller.send(method, address.split("/api/")[1], body).status_code


def test_the_page_documents_in_english_within_a_frame_in_the_readers_language(anyone, page):
    reference = re.compile('<div class="api" lang="en".*</section>\n</div>', re.DOTALL)

    for language, front in (("zh-CN", "首页"), ("zh-TW", "首頁")):
        translated = anyone.get("docs", headers={"Accept-Language": language}).text
        assert front in translated
        assert reference.findall(translated) == reference.findall(page) != []
