"""Settings that are valid, but unwise on a site that others can reach; whether members can sign in by them."""

from collections.abc import Iterator
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from django.conf import settings
from django.core import checks
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.moderators import REMOVE_ARTICLES
from accounts.sign_in.ways import further_ways
from articles.configuration import choices
from articles.configuration.choices import chosen
from articles.doctor.examination import Examination, Finding, Level, error, fine, note, warning
from articles.text.messages import N_

UNLIMITED = N_("LIMITS is off. Passwords can be guessed, and forms sent, without limit.")

NO_CACHE = (
    "There is no cache, since the store is a cluster: sessions are read from the accounts database, and feeds "
    "have no Last-Modified. Set CACHE_URL to a single server for quicker pages of members."
)

_EXPLAINED = {"security.W010", "security.W018"}
"""Django's checks of cookies without https and of DEBUG, which are left out: the checks here say more."""


def is_public() -> bool:
    """Return whether others can reach the site, by its settings."""
    own = urlsplit(settings.SITE_URL).hostname, settings.HOST
    reachable = any(host and not _is_this_machine(host) for host in own)
    return reachable or settings.BEHIND_PROXY or bool(settings.CONFIGURATION["ALLOWED_HOSTS"])


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def check_debug(_examination: Examination) -> Iterator[Finding]:
    if settings.DEBUG and is_public():
        yield error(
            _("`DEBUG` is on: pages that fail show the site’s code and data to everyone."),
            _("Set `DEBUG=0` and restart the site."),
        )
    elif settings.DEBUG:
        yield note("`DEBUG` is on.", "Turn it off before others can reach the site.")
    else:
        yield fine("`DEBUG` is off.")


def check_rate_limits(_examination: Examination) -> Iterator[Finding]:
    if chosen.LIMITS:
        yield fine("Rate limits apply.")
    elif is_public():
        yield warning(_(UNLIMITED), _("Take `off` out of `LIMITS`, and restart the site."))
    else:
        yield note(UNLIMITED, "Take `off` out of `LIMITS` before others can reach the site.")


def check_cache(_examination: Examination) -> Iterator[Finding]:
    if not settings.HAS_CACHE:
        yield note(NO_CACHE)


def check_sign_up(_examination: Examination) -> Iterator[Finding]:
    mode, members = chosen.SIGN_UP, User.objects.filter(is_active=True, imported=False)
    able = User.objects.with_perm(REMOVE_ARTICLES, backend="django.contrib.auth.backends.ModelBackend")
    if mode == "approval" and not able.exists():
        yield warning(
            "`SIGN_UP=approval`, but no member can approve accounts, so no one can join.",
            "Make a member a moderator under Administration; `make admin` creates an administrator.",
        )
    elif mode == "invitation" and not (chosen.INVITATIONS_PER_MEMBER and members.exists()):
        yield warning(
            "`SIGN_UP=invitation`, but no member can invite others, so no one can join.",
            "Create the first member with `make admin`, and set `INVITATIONS_PER_MEMBER` to more than 0.",
        )
    elif mode == "closed" and not members.filter(is_staff=True).exists():
        yield warning(
            "`SIGN_UP=closed`, but there is no administrator who could add members.",
            "Create one with `make admin`.",
        )
    else:
        yield fine(f"`SIGN_UP={mode}` works.")


def check_reading(_examination: Examination) -> Iterator[Finding]:
    if chosen.READING == "members" and chosen.SIGN_UP == "open":
        yield warning(
            "`READING=members` and `SIGN_UP=open`: everyone can join, and then read everything.",
            "Set `SIGN_UP` to `approval`, `invitation` or `closed`.",
        )
    elif chosen.READING == "members":
        yield fine("Only members can read the site.")


def check_choices(_examination: Examination) -> Iterator[Finding]:
    if invalid := choices.saved_but_invalid():
        yield warning(
            _("Settings that were chosen in the browser are not valid, and are ignored: %(names)s.")
            % {"names": ", ".join(f"`{name}`" for name in invalid)},
            _("Choose them again under Administration."),
        )
    else:
        yield fine("Settings that were chosen in the browser are valid.")


def check_address(_examination: Examination) -> Iterator[Finding]:
    is_https = settings.SITE_URL.startswith("https:")
    if not is_public():
        yield fine("The site serves this machine only.")
    elif not settings.SITE_URL:
        yield warning(
            _("`SITE_URL` is not set: links in emails lead to `localhost`."),
            _("Set `SITE_URL` to the address of the site, such as `https://news.example.org`."),
        )
    elif not is_https:
        yield warning(
            _("The address in `SITE_URL` does not use https: passwords can be read in transit."),
            _("Put a proxy that serves https in front of the site, and set `SITE_URL` to its address."),
        )
    else:
        yield fine(f"The site is at {settings.SITE_URL}.")


def check_proxy(_examination: Examination) -> Iterator[Finding]:
    is_https = settings.SITE_URL.startswith("https:")
    if is_https and not settings.BEHIND_PROXY:
        yield warning(
            _("`BEHIND_PROXY` is off: readers who use http are not redirected to https."),
            _("Set `BEHIND_PROXY=1` if the proxy in front of the site sets `X-Forwarded-Proto`."),
        )
    if (is_https or settings.BEHIND_PROXY) and not settings.TRUSTED_PROXIES:
        yield warning(
            _("`TRUSTED_PROXIES` names no proxy: all readers appear to share one address, and its rate limits."),
            _("Set `TRUSTED_PROXIES` to the address of the proxy, such as `127.0.0.1`."),
        )
    if any(name != "unix" and ip_network(name).prefixlen == 0 for name in settings.TRUSTED_PROXIES):
        yield warning(
            _("`TRUSTED_PROXIES` contains every address: readers can forge theirs, and so evade the rate limits."),
            _("Set `TRUSTED_PROXIES` to the addresses of the proxies only."),
        )


def check_hosts(_examination: Examination) -> Iterator[Finding]:
    if "*" in settings.ALLOWED_HOSTS:
        yield warning(
            _("`ALLOWED_HOSTS=*` answers requests for any host: pages and feeds link to the host a client names."),
            _("List the names of the site in `ALLOWED_HOSTS`."),
        )
    else:
        yield fine("Only requests for the site's own hosts are answered.")


def check_deployment(_examination: Examination) -> Iterator[Finding]:
    """Run Django's own checks; those for deployment concern only a site that others can reach."""
    messages = checks.run_checks(include_deployment_checks=is_public())
    remarks = [one for one in messages if not one.is_silenced() and one.id not in _EXPLAINED]
    for remark in remarks:
        level = Level.ERROR if remark.is_serious() else Level.WARNING
        yield Finding(level, " ".join(remark.msg.split()), remark.hint or "", remark.id or "")
    if not remarks:
        yield fine("Django's checks find nothing.")


def check_ways(_examination: Examination) -> Iterator[Finding]:
    """Look at the settings alone."""
    if settings.PASSWORDS:
        yield fine("Members can sign in with passwords.")
    elif not further_ways(None):
        yield warning(
            "`PASSWORDS` is off, and there is no provider: no one can join.",
            "Set `PASSWORDS=1`, or a provider to sign in with.",
        )
    else:
        yield fine("Members sign in with providers and passkeys only.")
