"""Reasons that the site gives itself: all read them in their own language, and typed ones as they were typed."""

import pytest
from django.utils.translation import override

from accounts.models import BanScope, Statement, User
from articles.configuration import choices
from articles.domain.comments import root_of
from articles.domain.flags import FLAGGED_REASON, FlagReason
from articles.domain.reasons import AFTER_APPEAL, BY_RULE, VOTES_PER_DAY, recorded, usual
from articles.formatting.values import as_shown
from articles.views.lists.member_export import lines
from moderation import content
from moderation.bans import ban
from moderation.statements import Grounds
from tests.caller import with_token
from tests.factories import actor, comment_on, post
from tests.pages.lists import text_of

LANGUAGES = ("en", "zh-hans", "zh-hant")
CODES = (*map(usual, FlagReason), FLAGGED_REASON, AFTER_APPEAL, BY_RULE, VOTES_PER_DAY)


def speaking(user: User, language: str) -> User:
    User.objects.filter(pk=user.pk).update(language=language)
    return User.objects.get(pk=user.pk)


@pytest.mark.deep
def test_what_the_site_gives_as_a_reason_is_in_each_language_and_for_programs(site_store, article, alice, carol):
    choices.save("LEGAL_NOTICES", "1")
    choices.forget()
    moderator, pages = actor(carol), dict[str, list[str]]()
    for number, code in enumerate(CODES):
        removed, locked, grounds = (
            post(site_store, 10 + number),
            post(site_store, 50 + number),
            Grounds("rules", code),
        )
        comment = comment_on(site_store, article, f"Text {number}", alice.pk)
        content.remove(root_of(removed), moderator, code, grounds)
        content.remove(comment, moderator, code, grounds)
        content.lock(root_of(locked), moderator, code, grounds)
        ban(alice, BanScope.GROUP, code, days=7, moderator=moderator, group=f"group-{number}", grounds=grounds)
        pages[code] = [f"/articles/{removed}/", f"/articles/{locked}/", f"/comments/{comment}/"]
        pages[code] += [f"/statements/{one.pk}/" for one in Statement.objects.filter(reason=code)]

    for language in LANGUAGES:
        reader = speaking(alice, language)
        of_all = [text_of(reader, page) for page in ("/inbox/", "/appeal/", "/statements/")]
        for code in CODES:
            with override(language):
                words = as_shown(code)
            for told in (*of_all, *(text_of(reader, page) for page in pages[code])):
                assert words in told, (code, language)
                assert language == "en" or recorded(code) not in told, (code, language)
    exported = "".join(lines(alice, site_store))
    by_programs = [with_token(carol).get("users/alice/bans").text]
    by_programs += [with_token(alice).get(one).text for one in ("inbox", "me/statements")]
    for code in CODES:
        for told in (exported, *by_programs):
            assert f'"{recorded(code)}"' in told, code
            assert code == recorded(code) or f'"{code}"' not in told, code
