"""A message leaves for public addresses over https alone, but for hosts that the operator names."""

import ssl

from outgoing.fetching import Fetch, NotFetched
from tests.certificates import make_certificate
from tests.zoo import AGENT, PUBLIC, Zoo, answers, page, redirect, response

HOST = "a.example"


def posted(zoo, link, trust=None, **options):
    """Return the status of the answer to a message, or the code of why there is none."""
    try:
        return Fetch(zoo.world(trust), AGENT, seconds=3.0, **options).post(link, {"TTL": "60"}, b"message").status
    except NotFetched as reason:
        return str(reason)


def test_a_message_is_posted_and_a_redirect_is_not_followed(tmp_path):
    certificate, key = make_certificate(tmp_path, HOST)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    trust = ssl.create_default_context(cafile=str(certificate))
    server = answers({"/page": response(b"", status="201 Created"), "/away": redirect("https://b.example/")})
    zoo = Zoo({HOST: [[PUBLIC]], "b.example": [[PUBLIC]]}, {(PUBLIC, 443): server}, context)

    assert posted(zoo, f"https://{HOST}/page", trust) == 201
    assert posted(zoo, f"https://{HOST}/away", trust) == 302
    assert (zoo.resolved, zoo.reached) == ([HOST, HOST], [(PUBLIC, 443)] * 2)
    head = zoo.requests[0].decode()
    assert head.startswith("POST /page HTTP/1.1\r\n")
    assert "TTL: 60\r\n" in head
    assert "Content-Length: 7\r\n" in head


def test_a_message_goes_over_https_to_a_public_address_alone():
    zoo = Zoo({HOST: [["10.0.0.7"]]}, {("10.0.0.7", 443): answers(page())})

    assert posted(zoo, f"http://{HOST}/") == "address"
    assert posted(zoo, f"https://{HOST}/") == "not-public"
    assert posted(zoo, f"https://{HOST}:8443/") == "port"
    assert zoo.reached == []


def test_a_host_that_the_operator_names_may_be_private():
    zoo = Zoo({"hook.lan": [["10.0.0.7"]]}, {("10.0.0.7", 8080): answers(response(b"", status="204 No Content"))})

    assert posted(zoo, "http://hook.lan:8080/", private_hosts={"hook.lan"}) == 204
    assert posted(zoo, "http://hook.lan:8080/", private_hosts={"other.lan"}) != 204
    assert posted(zoo, "http://10.0.0.7:8080/", private_hosts={"hook.lan"}) == "address"
