"""What suggestions add to the core's tables."""

from articles.domain.extras import Key, Limit, Refusal, Rows, Setting
from articles.domain.reasons import N_
from extras.suggestions import suggestions as own

DAY = 86400

ROWS = Rows(
    settings=(
        Setting(
            "SUGGESTIONS",
            "number",
            "2",
            0,
            20,
            in_browser=True,
            label=N_("Members who change a title or groups by a suggestion"),
            help=N_("As many have to support the same suggestion; new members cannot. 0: no suggestions."),
            page="joining",
        ),
    ),
    limits=(
        Limit(
            "suggestions",
            "member",
            "20/1d",
            label=N_("Suggestions"),
            sentence=N_("You have suggested too many changes in a short time."),
        ),
    ),
    refusals=(
        Refusal(
            own.OwnArticle,
            "own-article",
            N_("You posted this article yourself: edit it, or ask a moderator."),
        ),
        Refusal(own.NotTrustedYet, "not-trusted-yet", N_("New members cannot suggest changes yet.")),
        Refusal(own.SuggestionNotFound, "suggestion-not-found", N_("This suggestion is no longer open.")),
        Refusal(own.SuggestionClosed, "suggestion-closed", N_("This was suggested and decided not long ago.")),
        Refusal(own.SuggestionUnchanged, "suggestion-unchanged", N_("Nothing would change.")),
        Refusal(
            own.SuggestionsFull,
            "suggestions-full",
            N_("This article already has many suggestions. You can support one of them."),
        ),
    ),
    keys=(Key("suggested:<user>", "zset", life=7 * DAY),),
    article_fields=("suggestions",),
    crawlers_skip=("suggest",),
)
