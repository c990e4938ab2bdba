"""Writing a rule: the form, which checks what a rule can say, and what a rule says in sentences."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _, gettext_lazy, ngettext, pgettext_lazy

from accounts.models import ModeratorRule
from articles.formatting.values import duration, grouped, listed
from articles.text.lines import REASON_LIMIT, clean_line, clean_reason
from articles.text.links import clean_host
from articles.web.forms.fields import CleanedField, LineInput, cleaning, needed_sometimes
from articles.web.groups import group_options
from articles.web.rules import matching
from articles.web.wiring import group_titles

SUBJECTS = {
    matching.Subject.ARTICLE: pgettext_lazy("what a rule looks at", "Articles"),
    matching.Subject.COMMENT: pgettext_lazy("what a rule looks at", "Comments"),
    matching.Subject.NAME: pgettext_lazy("what a rule looks at", "Names of new accounts"),
    matching.Subject.REPORT: pgettext_lazy("what a rule looks at", "Flags by members"),
}
ACT_LABELS = {
    matching.RuleAct.REFUSE: pgettext_lazy("what a rule does", "Refuse it, with a sentence"),
    matching.RuleAct.HOLD: pgettext_lazy("what a rule does", "Hold it for approval"),
    matching.RuleAct.FLAG: pgettext_lazy("what a rule does", "Flag it"),
    matching.RuleAct.JOIN: pgettext_lazy("what a rule does", "Put the article into a group"),
    matching.RuleAct.LEAVE: pgettext_lazy("what a rule does", "Take the article out of a group"),
    matching.RuleAct.LOCK: pgettext_lazy("what a rule does", "Lock the discussion"),
}

_NAME_LIMIT = 60


def clean_rule_name(raw: str) -> str:
    """Return a rule's name of 1 to 60 code points. Raises InvalidInput, ValidationError."""
    name = clean_line(raw, limit=_NAME_LIMIT, field="rule-name")
    if {"*", "/"} & {*name}:
        raise ValidationError(_("The name cannot contain * or /."))
    return name


def _lines(text: str) -> list[str]:
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def _number(label: Any, most: int, help_text: Any = "") -> forms.IntegerField:
    return forms.IntegerField(min_value=0, max_value=most, required=False, label=label, help_text=help_text)


class RuleForm(forms.Form):
    """What a rule says: with its name, or another version of it."""

    name = CleanedField(
        clean_rule_name,
        label=pgettext_lazy("of a rule", "Name"),
        help_text=gettext_lazy("Everyone can read it in the moderation log. It can’t be changed later."),
        widget=LineInput(_NAME_LIMIT),
    )
    subject = forms.ChoiceField(
        choices=[(one.value, label) for one, label in SUBJECTS.items()], label=gettext_lazy("Applies to")
    )
    scope = forms.ChoiceField(required=False, label=gettext_lazy("Where"))
    words = forms.CharField(
        required=False,
        max_length=matching.MOST_WORDS * matching.WORD_LIMIT,
        label=gettext_lazy("Words or phrases"),
        help_text=gettext_lazy("One per line; any of them is enough. Upper and lower case are the same."),
        widget=forms.Textarea({"rows": 4, "dir": "auto"}),
    )
    pattern = forms.CharField(
        required=False,
        max_length=matching.PATTERN_LIMIT,
        label=gettext_lazy("Pattern"),
        help_text=gettext_lazy("A regular expression in RE2 syntax. It ignores case."),
        widget=forms.TextInput({"dir": "ltr", "spellcheck": "false", "autocomplete": "off"}),
    )
    hosts = forms.CharField(
        required=False,
        max_length=matching.MOST_HOSTS * 260,
        label=gettext_lazy("Links to these hosts"),
        help_text=gettext_lazy("One per line, with their subdomains; any of them is enough."),
        widget=forms.Textarea({"rows": 3, "dir": "ltr"}),
    )
    links = _number(gettext_lazy("Least number of links"), 100)
    age_days = _number(gettext_lazy("Account younger than (days)"), 3650)
    points = _number(gettext_lazy("Fewer points than"), 1_000_000)
    posts = _number(gettext_lazy("Least number of posts of the same kind before it"), 1000)
    hours = _number(gettext_lazy("within this many hours"), matching.MOST_DAYS * 24)
    is_first = forms.BooleanField(
        required=False, label=gettext_lazy("It is the member’s first article or comment")
    )
    members = _number(gettext_lazy("Least number of other members who posted the same text"), 100)
    days = _number(gettext_lazy("within this many days"), matching.MOST_DAYS)
    act = forms.ChoiceField(
        choices=[(one.value, label) for one, label in ACT_LABELS.items()], label=gettext_lazy("What the rule does")
    )
    sentence = CleanedField(
        clean_reason,
        required=False,
        label=gettext_lazy("Sentence"),
        help_text=gettext_lazy(
            "Required to refuse: what the member reads. For groups and locks, the public reason."
        ),
        widget=LineInput(REASON_LIMIT),
    )
    group = forms.ChoiceField(required=False, label=gettext_lazy("Group"))

    usual = ("words", "hosts")
    rare = ("pattern", "links", "age_days", "points", "posts", "hours", "is_first", "members", "days")
    """The fields of conditions; `rare` ones are folded while they are empty."""

    def __init__(self, data: Any = None, *, is_new: bool, before: matching.Definition | None = None) -> None:
        super().__init__(data, initial=_shown(before) if before else None)
        groups = group_options()
        self.fields["scope"].choices = [("", _("On the whole site")), *groups]  # type: ignore[attr-defined]
        self.fields["group"].choices = [("", "–"), *groups]  # type: ignore[attr-defined]
        needed_sometimes(self, "sentence", "group")
        if not is_new:
            del self.fields["name"]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if ModeratorRule.objects.filter(name__iexact=name).exists():
            raise ValidationError(_("There is already a rule with this name."))
        return name

    def clean_words(self) -> list[str]:
        words = _lines(self.cleaned_data["words"])
        if len(words) > matching.MOST_WORDS:
            raise ValidationError(_("Enter at most %(most)s words.") % {"most": grouped(matching.MOST_WORDS)})
        for word in words:
            if len(word) > matching.WORD_LIMIT:  # before it is normalised, which takes the square of some lengths
                raise ValidationError(
                    _("A word or phrase can have at most %(n)s characters.") % {"n": matching.WORD_LIMIT}
                )
            if not matching.word_expression(word):
                raise ValidationError(_("“%(word)s” has no letters or digits.") % {"word": word})
        return words

    def clean_pattern(self) -> str:
        pattern: str = self.cleaned_data["pattern"]
        if pattern:
            try:
                matching.check_pattern(pattern)
            except matching.PatternRefused as refused:
                raise ValidationError(str(_PATTERNS[refused.code])) from refused
        return pattern

    def clean_hosts(self) -> list[str]:
        with cleaning():
            hosts = list(dict.fromkeys(map(clean_host, _lines(self.cleaned_data["hosts"]))))
        if len(hosts) > matching.MOST_HOSTS:
            raise ValidationError(_("Enter at most %(most)s hosts.") % {"most": grouped(matching.MOST_HOSTS)})
        return hosts

    def clean(self) -> dict[str, Any]:
        if self.errors:
            return self.cleaned_data
        wanted = self.definition
        for name in wanted.conditions:
            if name not in matching.CONDITIONS[wanted.subject]:
                self.add_error(name, _("This condition does not apply here."))
        if wanted.act not in matching.ACTS[wanted.subject]:
            self.add_error("act", _("A rule cannot do this here."))
        if wanted.scope and wanted.subject is matching.Subject.NAME:
            self.add_error("scope", _("Names belong to no group."))
        if not wanted.conditions:
            self.add_error(None, _("Set at least one condition."))
        if wanted.act is matching.RuleAct.REFUSE and not wanted.sentence:
            self.add_error("sentence", _("Enter what the member reads."))
        if wanted.act in (matching.RuleAct.JOIN, matching.RuleAct.LEAVE) and not wanted.group:
            self.add_error("group", _("Choose a group."))
        for number, period in (("posts", "hours"), ("members", "days")):
            if bool(getattr(wanted, number)) is not bool(getattr(wanted, period)):
                self.add_error(period, _("Enter both numbers, or neither."))
        return self.cleaned_data

    @property
    def definition(self) -> matching.Definition:
        """What a form without errors says."""
        return matching.Definition.of({name: value for name, value in self.cleaned_data.items() if value})


_PATTERNS = {
    "invalid": gettext_lazy("This is not a regular expression in RE2 syntax."),
    "empty": gettext_lazy("This pattern matches every text."),
    "large": gettext_lazy("This pattern is too large: use fewer or smaller repetitions."),
    "slow": gettext_lazy("This pattern would be slow for some texts: use fewer or smaller repetitions."),
}


def summary(definition: matching.Definition) -> list[str]:
    """Return what a rule says, in sentences."""
    titles, one = group_titles(), definition
    links = ngettext("At least %(n)s link", "At least %(n)s links", one.links)
    age = ngettext("The account is younger than %(n)s day", "The account is younger than %(n)s days", one.age_days)
    points = ngettext(
        "The member has fewer than %(n)s point", "The member has fewer than %(n)s points", one.points
    )
    posts = _("The member posted at least %(n)s of them in the %(period)s before")
    members = ngettext(
        "At least %(n)s other member posted the same text in the %(period)s before",
        "At least %(n)s other members posted the same text in the %(period)s before",
        one.members,
    )
    sentences = {
        "words": _("Any of these words: %(words)s") % {"words": listed(one.words)},
        "pattern": _("The pattern %(pattern)s") % {"pattern": one.pattern},
        "hosts": _("A link to any of these hosts: %(hosts)s") % {"hosts": listed(one.hosts)},
        "links": links % {"n": grouped(one.links)},
        "age_days": age % {"n": grouped(one.age_days)},
        "points": points % {"n": grouped(one.points)},
        "posts": posts % {"n": grouped(one.posts), "period": duration(one.hours * 3600)},
        "is_first": _("It is the member’s first article or comment"),
        "members": members % {"n": grouped(one.members), "period": duration(one.days * 86400)},
    }
    lines = [str(SUBJECTS[one.subject]), *(sentences[name] for name in one.conditions)]
    if one.scope:
        lines.append(_("In the group %(group)s") % {"group": titles.get(one.scope, one.scope)})
    done = str(ACT_LABELS[one.act])
    if one.group:
        done = _("%(name)s: %(value)s") % {"name": done, "value": titles.get(one.group, one.group)}
    lines.append(f"→ {done}")
    if one.sentence:
        lines.append(_("“%(title)s”") % {"title": one.sentence})
    return lines


def _shown(before: matching.Definition) -> dict[str, Any]:
    """Return what a form shows of a definition."""
    return {name: "\n".join(one) if isinstance(one, list) else one for name, one in before.plain.items()}
