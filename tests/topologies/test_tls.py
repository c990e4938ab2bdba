"""A server that is reached over TLS, with a certificate of an authority of its own."""

import shutil
import subprocess

import pytest

from articles.domain.articles import Choice
from articles.domain.errors import StoreUnavailable
from articles.domain.lists import Order
from tests.cast import BOB
from tests.factories import post
from tests.rules import connect
from tests.store_state import problems
from tests.topologies import binaries
from tests.topologies.ports import Port
from tests.topologies.topology import OneServer

pytestmark = pytest.mark.nodes


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A folder with `cert.pem`, for 127.0.0.1 and signed by itself, and `key.pem`."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    folder = tmp_path_factory.mktemp("certificate")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=store"]
    made += ["-addext", "subjectAltName=IP:127.0.0.1", "-out", "cert.pem", "-keyout", "key.pem"]
    subprocess.run(made, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def address(tmp_path, certificate):
    """The address of an empty server that takes TLS there, without certificates of clients."""
    if (binary := binaries.redis()) is None:
        pytest.skip(binaries.REDIS_MISSING)
    port = Port()
    files = {"tls-cert-file": certificate / "cert.pem", "tls-key-file": certificate / "key.pem"}
    files["tls-ca-cert-file"] = certificate / "cert.pem"
    settings = {name: str(path) for name, path in files.items()}
    settings |= {"tls-port": str(port.number), "tls-auth-clients": "no"}
    with OneServer(tmp_path / "server", binary, has_password=True, settings=settings) as server:
        yield f"rediss://:{server.password}@127.0.0.1:{port.number}"
    port.close()


def test_a_site_whose_url_names_the_authority_uses_the_server(address, certificate, clock):
    repository = connect(f"{address}?ssl_ca_certs={certificate / 'cert.pem'}", shards=4, clock=clock)
    repository.prepare()
    article = post(repository, 1)

    assert repository.votes.cast(article, BOB, Choice.VOTE).votes == 2
    assert [shown.id for shown in repository.lists.get_page(Order.SCORE).articles] == [article]
    assert problems(repository) == []


def test_a_certificate_of_an_unknown_authority_is_refused(address, clock):
    with pytest.raises(StoreUnavailable):
        connect(address, clock=clock).prepare()
