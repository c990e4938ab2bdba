"""Members, the deletion of their accounts, and their permission groups."""

import secrets
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib.auth import models as auth
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.core.exceptions import ValidationError
from django.db import connection, models, transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.constants import OnConflict
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.functional import cached_property, lazy
from django.utils.translation import gettext_lazy as _

from accounts import member_ids, names
from accounts.remembered import forget

_ASCII_RULE = _("2 to 30 characters: letters (a–z), digits, “_” and “-”, starting with a letter.")
_RULE = _("2 to 30 letters of one language, digits, “_” and “-”, starting with a letter.")


NAME_RULE = lazy(lambda: str(_RULE if settings.NAMES == "any" else _ASCII_RULE), str)()
"""Which names new members can have, for the help text of a form."""

LOOKS_TAKEN = _("This name looks like another member’s.")


def validate_name(name: str) -> None:
    """Raise ValidationError for a name that a new member cannot have."""
    if not names.is_permitted(AbstractBaseUser.normalize_username(name), settings.NAMES):
        raise ValidationError(NAME_RULE, code="invalid")


_MOST_DIGITS = 16  # maximum number of digits of a member's id

_JOINED = "string_agg({}::text, ',')" if connection.vendor == "postgresql" else "group_concat({})"


def _slugs(joined: str | None) -> frozenset[str]:
    return frozenset(joined.split(",")) if joined else frozenset()


SUMMARIES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "has_permissions": (
        """(
            EXISTS (SELECT 1 FROM accounts_user_groups WHERE user_id = accounts_user.id)
            OR EXISTS (SELECT 1 FROM accounts_user_user_permissions WHERE user_id = accounts_user.id)
        )""",
        bool,
    ),
    "is_muting": ("EXISTS (SELECT 1 FROM accounts_mute WHERE user_id = accounts_user.id)", bool),
    "blocked_ids": (
        f"(SELECT {_JOINED.format('blocked_id')} FROM accounts_block WHERE user_id = accounts_user.id)",  # nosec B608 # noqa: S608 - our names
        lambda joined: joined or "",
    ),
    "moderated": (
        f"""(
            SELECT {_JOINED.format("slug")} FROM accounts_groupmoderator
            WHERE member_id = accounts_user.id AND is_current
        )""",  # nosec B608 # noqa: S608 - our names
        _slugs,
    ),
    "may_be_banned_from": (
        f"""(
            SELECT {_JOINED.format("slug")} FROM accounts_ban
            WHERE member_id = accounts_user.id AND slug <> '' AND lifted_at IS NULL
        )""",  # nosec B608 # noqa: S608 - our names
        _slugs,
    ),
}
"""What other tables say of a member, as an SQL expression on the row of accounts_user, and what makes its value.

`accounts.web.backend` reads it with the row, so that most pages need no further query.
"""


def _summary(name: str) -> Any:
    """Return the attribute of this summary. One query where the backend has not set it."""

    def read(member: "User") -> Any:
        expression, convert = SUMMARIES[name]
        with connection.cursor() as cursor:
            query = f"SELECT {expression} FROM accounts_user WHERE id = %s"  # nosec B608 # noqa: S608 - our names
            cursor.execute(query, [member.pk])
            return convert(*(cursor.fetchone() or (None,)))

    return cached_property(read)


WAITING_MAIL = {"now": 0, "hourly": 3600, "daily": 86400}
"""How often moderators can have mailed what waits for them: the least seconds between two mails."""


class Row(models.Model):
    """What the site keeps about members beside their accounts; no one edits it by hand."""

    class Meta:
        abstract = True
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self._meta.model_name} {self.pk}"


def some_of(rows: Any, most: int = 1_000, after: int = 0) -> Any:
    """Return at most so many of these rows, after some, as rows that can be changed or deleted. One query."""
    return rows.model.objects.filter(pk__in=list(rows.values_list("pk", flat=True)[after : after + most]))


def current_name(member: "User | None") -> str:
    """Return the member's name; "" if the account is deleted."""
    return member.get_username() if member and member.left_at is None else ""


def name_of(relation: str) -> Any:
    """Return a property: the name of the member whom a row refers to; "" without one, or if it is deleted."""
    return property(lambda row: current_name(getattr(row, relation)))


def _insert_new(like: models.Model, rows: Iterable[dict[str, Any]]) -> None:
    """Insert rows that are like one but for these columns, unless they are there; no signals.

    `bulk_create` takes ten times as long: it prepares each value of each row.
    """
    fields, common = like._meta.concrete_fields, dict[str, Any]()
    for field in fields:
        common[str(field.column)] = field.get_db_prep_save(field.pre_save(like, add=True), connection)
    start = connection.ops.insert_statement(on_conflict=OnConflict.IGNORE)
    end = connection.ops.on_conflict_suffix_sql(fields, OnConflict.IGNORE, (), ())
    names_of, places = ", ".join(common), ", ".join(["%s"] * len(common))
    with transaction.atomic(), connection.cursor() as cursor:
        statement = f"{start} {like._meta.db_table} ({names_of}) VALUES ({places}) {end}"
        cursor.executemany(statement, [[*(common | row).values()] for row in rows])


class UserQuerySet(models.QuerySet["User"]):
    """Accounts. Changing them in bulk sends no signal, so it tells the processes that remember them here."""

    def in_standing(self) -> "UserQuerySet":
        """Return those who are active and not banned from the whole site's posts or votes."""
        banned = Q(banned_from__gt="") & (Q(ban_ends_at=None) | Q(ban_ends_at__gt=timezone.now()))
        return self.filter(is_active=True, left_at=None).exclude(banned)

    def site_moderators(self) -> "UserQuerySet":
        """Return those who may have permissions for the whole site, as `may_be_untrusted` asks for them."""
        has_some = Exists(User.groups.through.objects.filter(user=OuterRef("pk")))
        has_own = Exists(User.user_permissions.through.objects.filter(user=OuterRef("pk")))
        return self.filter(Q(is_superuser=True) | has_some | has_own)

    def update(self, **values: Any) -> int:
        """Change accounts. Two queries."""
        members = list(self.values_list("pk", flat=True))
        changed = super().update(**values)
        forget(*members)
        return changed


class UserManager(auth.UserManager["User"]):
    """Find members by name regardless of case, and create accounts for imported posters."""

    use_in_migrations = False
    _NAMES_PER_QUERY = 500

    def get_by_natural_key(self, username: str | None) -> "User":
        """Return the member with this name, in any spelling. Raises User.DoesNotExist."""
        canonical = names.canonical(username or "")
        if not names.is_valid(canonical):
            raise self.model.DoesNotExist
        return self.get(canonical_name=canonical, left_at=None)

    def find_by_feed_token(self, token: str) -> "User | None":
        """Return the active member whose private feed has this token; None for a wrong or former one."""
        number = token.partition("-")[0]
        if not (number.isascii() and number.isdecimal() and len(number) < _MOST_DIGITS and token.isascii()):
            return None
        member = self.filter(pk=int(number), is_active=True).exclude(feed_key="").first()
        return member if member and constant_time_compare(member.feed_token, token) else None

    def is_taken(self, username: str) -> bool:
        """Return whether a member or a deleted account has this name, in any spelling."""
        canonical = names.canonical(username)
        return self.filter(canonical_name__in=[canonical, names.former_name_digest(canonical)]).exists()

    def is_look_taken(self, username: str) -> bool:
        """Return whether the name looks like that of another member, or of a deleted account."""
        return NameLook.objects.filter(_looks_like(username)).exists()

    def bulk_create_imported(
        self, posters: Iterable[str], facts: Mapping[str, Mapping[str, Any]] = {}
    ) -> dict[str, int]:
        """Return the user ids of imported posters by the names given. Idempotent.

        Posters without an account get one that has no password, and has their `facts`, by field. Names that break
        the rules are changed by `names.as_valid`; spellings of one name share an account, as the last one is
        spelled. Names of deleted accounts are left out.
        """
        valid = {poster: names.as_valid(poster, settings.NAMES) for poster in posters}
        usernames = {names.canonical(name): name for name in valid.values()}
        ids = self._ids(usernames)
        missing = usernames.keys() - ids.keys()
        if missing := missing - self._former(missing):
            own = {names.canonical(valid[poster]): facts[poster] for poster in valid if poster in facts}
            ids |= self._create_imported({key: usernames[key] for key in missing}, own)
        canonical = {poster: names.canonical(name) for poster, name in valid.items()}
        return {poster: ids[key] for poster, key in canonical.items() if key in ids}

    def _create_imported(
        self, usernames: dict[str, str], facts: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, int]:
        """Create accounts, unless they are there; return the ids. All are by canonical name."""
        first, fields = (
            member_ids.reserve(len(usernames)),
            {one.attname: one for one in User._meta.concrete_fields},
        )
        _insert_new(
            self.model(imported=True),
            (  # the password is as `set_unusable_password` makes it, which asks the system for each character
                {
                    "id": pk,
                    "username": username,
                    "canonical_name": key,
                    "password": UNUSABLE_PASSWORD_PREFIX + secrets.token_urlsafe(30),
                    **{
                        name: fields[name].get_db_prep_save(one, connection)
                        for name, one in facts.get(key, {}).items()
                    },
                }
                for pk, (key, username) in enumerate(usernames.items(), first)
            ),
        )
        ids = self._ids(usernames)
        NameLook.note({usernames[key]: pk for key, pk in ids.items()})
        member_ids.note(max(ids.values(), default=0))
        return ids

    def inboxes_of(self, usernames: Iterable[str]) -> dict[str, tuple[int, float]]:
        """Return the members with these names, in any spelling: their ids, and when each has read the inbox.

        In Unix seconds, by canonical name. One query, none without names.
        """
        canonical = {names.canonical(username) for username in usernames}
        known = self.filter(canonical_name__in=canonical, left_at=None) if canonical else self.none()
        return {name: (pk, at) for name, pk, at in known.values_list("canonical_name", "pk", "inbox_read_until")}

    def beginning_with(self, text: str, most: int) -> list[str]:
        """Return the names of members that begin with the text, in any spelling, at most `most`. One query."""
        known = self.filter(canonical_name__startswith=names.canonical(text), left_at=None, is_active=True)
        return list(known.order_by("canonical_name").values_list("username", flat=True)[:most])

    def existing(self, usernames: Collection[str]) -> set[str]:
        """Return those of the names that members have, in any spelling. One query, none without names."""
        canonical = {username: names.canonical(username) for username in usernames}
        known = self._ids(canonical.values()) if canonical else {}
        return {username for username, name in canonical.items() if name in known}

    def _ids(self, canonical_names: Iterable[str]) -> dict[str, int]:
        """Return the ids of members by canonical name. A query for each `_NAMES_PER_QUERY`."""
        found, queried = dict[str, int](), list(canonical_names)
        for start in range(0, len(queried), self._NAMES_PER_QUERY):
            known = self.filter(canonical_name__in=queried[start : start + self._NAMES_PER_QUERY], left_at=None)
            found |= known.values_list("canonical_name", "pk")
        return found

    def _former(self, canonical_names: Iterable[str]) -> set[str]:
        """Return those that are names of deleted accounts. Queries as `_ids`."""
        by_form = {form: name for name in canonical_names for form in (name, names.former_name_digest(name))}
        former, forms = set[str](), list(by_form)
        for start in range(0, len(forms), self._NAMES_PER_QUERY):
            known = self.filter(canonical_name__in=forms[start : start + self._NAMES_PER_QUERY])
            former |= {
                by_form[form] for form in known.exclude(left_at=None).values_list("canonical_name", flat=True)
            }
        return former


class User(AbstractBaseUser, auth.PermissionsMixin):
    """A member. The name never changes; `canonical_name` keeps it unique across spellings."""

    username = models.CharField(
        _("username"),
        max_length=names.MAX_LENGTH,
        unique=True,
        validators=[validate_name],
        error_messages={"unique": _("This name is taken.")},
    )
    canonical_name = models.CharField(max_length=names.MAX_LENGTH, unique=True, editable=False)
    email = models.EmailField(_("email address"), blank=True)
    imported = models.BooleanField(
        _("imported"),
        default=False,
        editable=False,
        help_text=_("Created by an import of articles; cannot log in until a password is set."),
    )
    is_staff = models.BooleanField(_("staff"), default=False, help_text=_("Can use the administration site."))
    is_active = models.BooleanField(
        _("active"), default=True, help_text=_("Untick this instead of deleting an account.")
    )
    left_at = models.DateTimeField(
        _("deleted"),
        null=True,
        editable=False,
        help_text=_("The account is deleted; this row keeps its number from being reused."),
    )
    # Later columns have defaults of the database: web nodes of the version before run beside this one.
    banned_from = models.CharField(
        _("banned from"), max_length=7, blank=True, default="", db_default="", editable=False
    )
    ban_ends_at = models.DateTimeField(_("end of the ban"), null=True, editable=False)
    trusted_at = models.DateTimeField(_("trusted since"), null=True, editable=False)
    """When the member was found to have the age and the points that end the limits of new members."""

    second_factor = models.BooleanField(default=False, db_default=False, editable=False)
    """Whether a login by password or elsewhere takes a second step."""

    date_joined = models.DateTimeField(_("date joined"), default=timezone.now, editable=False)

    # Preferences. Empty: the browser decides.
    language = models.CharField(_("language"), max_length=10, blank=True, default="")
    theme = models.CharField(_("theme"), max_length=5, blank=True, default="")
    keyboard = models.BooleanField(_("keyboard shortcuts"), default=True)
    hidden_groups = models.TextField(_("hidden groups"), blank=True, default="", editable=False)
    hidden = models.TextField(_("hidden"), blank=True, default="", db_default="", editable=False)
    """Hosts, words and articles that the member hides, as `articles.text.searching.Hiding.text` writes them."""

    remembers_read = models.BooleanField(default=True, db_default=True, editable=False)
    """Whether the site remembers which articles the member opens, to mark them and new comments."""

    hides_read = models.BooleanField(default=False, db_default=False, editable=False)
    """Whether the member's lists leave these articles out."""

    about = models.TextField(_("profile text"), blank=True, default="", db_default="", editable=False)
    """What the member's page says about them, in Markdown."""

    about_removed = models.TextField(blank=True, default="", db_default="", editable=False)
    """Why moderators removed it; "" if they have not, or the member has written another."""

    inbox_read_until = models.FloatField(default=0, db_default=0, editable=False)
    """In Unix seconds: later notices are new."""

    ban_changed_at = models.FloatField(default=0, db_default=0, editable=False)
    """When moderators last banned the member, lifted a ban, answered an appeal, or changed which groups the member
    moderates, in Unix seconds; 0 for never."""

    held_decided_at = models.FloatField(default=0, db_default=0, editable=False)
    """When moderators last decided on a held post of the member, in Unix seconds; 0 for never."""

    # Mail about notices.
    verified_email = models.CharField(max_length=254, blank=True, default="", db_default="", editable=False)
    """The address that the member has verified."""

    mail_kinds = models.CharField(max_length=60, blank=True, default="", db_default="", editable=False)
    """Kinds of notices that are mailed, of `articles.domain.notices`, comma-separated."""

    mailed_until = models.FloatField(default=0, db_default=0, editable=False)
    """In Unix seconds: later notices may still be mailed."""

    digest = models.BooleanField(default=False, db_default=False, editable=False)
    """Whether the best articles of followed groups are mailed once a week."""

    digested_at = models.FloatField(default=0, db_default=0, editable=False)
    """When it was last mailed or turned on, in Unix seconds."""

    waiting_mail = models.CharField(max_length=6, blank=True, default="daily", db_default="daily", editable=False)
    """How often what waits for moderators is mailed to this one, of `WAITING_MAIL`; empty for never.

    By default once a day: a moderator who never opens the settings learns of flags, and of a hundred only once.
    """

    waiting_mailed_until = models.FloatField(default=0, db_default=0, editable=False)
    """In Unix seconds: what began to wait later may still be mailed."""

    followed_groups = models.TextField(_("followed groups"), blank=True, default="", db_default="", editable=False)
    feed_key = models.CharField(max_length=32, blank=True, default="", db_default="", editable=False)
    """Part of the private feed's address; empty while there is none. A new one ends the former address."""

    objects = UserManager.from_queryset(UserQuerySet)()

    EMAIL_FIELD = "email"
    USERNAME_FIELD = "username"
    REQUIRED_FIELDS = ["email"]  # `createsuperuser` prompts for it; it may be empty

    class Meta:
        verbose_name = _("member")
        verbose_name_plural = _("members")

    def clean(self) -> None:
        super().clean()
        self.email = type(self).objects.normalize_email(self.email)

    def find_ban(self, scope: str) -> Any:
        """Return the ban that forbids this, "posting" or "voting"; None without one. No query for most members."""
        ends_at = self.ban_ends_at
        may_be_banned = self.banned_from in (scope, "both") and (ends_at is None or ends_at > timezone.now())
        return self.bans.forbidding(scope) if may_be_banned else None

    def is_banned_from(self, scope: str) -> bool:
        """Return whether a ban forbids this: "posting" or "voting". No query for most members."""
        return self.find_ban(scope) is not None

    def find_group_ban(self, groups: Iterable[str]) -> Any:
        """Return the ban from one of these groups that is the last to end, or None. No query for most members."""
        slugs = self.may_be_banned_from.intersection(groups)
        return self.bans.from_groups(slugs) if slugs else None

    @property
    def has_news(self) -> bool:
        """Whether the inbox has not been read since a ban or the groups that the member moderates changed."""
        return self.ban_changed_at > self.inbox_read_until

    @property
    def has_news_of_held(self) -> bool:
        """Whether the inbox has not been read since moderators decided on a held post of the member."""
        return self.held_decided_at > self.inbox_read_until

    @property
    def news(self) -> int:
        """How many sorts of news the inbox has that are no notices."""
        return self.has_news + self.has_news_of_held

    def trust(self) -> None:
        """Stop counting as a new member, permanently. One query."""
        self.trusted_at = timezone.now()
        type(self).objects.filter(pk=self.pk).update(trusted_at=self.trusted_at)

    @property
    def has_verified_email(self) -> bool:
        """Whether mail other than password links may be sent: the address is verified."""
        return self.email != "" and self.email == self.verified_email

    def has_perm(self, perm: str, obj: Any = None) -> bool:
        """Return whether the member has a permission. For most, who have none, a page costs one query."""
        return (self.is_superuser or self.has_permissions) and super().has_perm(perm, obj)

    has_permissions: bool = _summary("has_permissions")  # whether the member may have permissions
    is_muting: bool = _summary("is_muting")  # whether the member mutes any discussion
    blocked_ids: str = _summary("blocked_ids")  # ids of the members whom the member blocks, comma-separated
    moderated: frozenset[str] = _summary("moderated")  # slugs of the groups that the member moderates
    may_be_banned_from: frozenset[str] = _summary("may_be_banned_from")
    """Slugs of groups that bans of the member may forbid: some may have ended."""

    @property
    def is_site_moderator(self) -> bool:
        """Whether the member may have permissions for the whole site."""
        return self.is_superuser or self.is_staff or self.has_permissions

    @property
    def is_moderator(self) -> bool:
        """Whether the member may have permissions, for the whole site or for some groups."""
        return self.is_site_moderator or bool(self.moderated)

    def mutes_discussion(self, article: int) -> bool:
        """Return whether the member mutes the discussion of an article. One query, for most members none."""
        return self.is_muting and self.mutes.filter(article=article).exists()

    @property
    def feed_token(self) -> str:
        """What the address of the member's private feed ends with; "" while there is none.

        It cannot be computed from the database alone, without the secret key.
        """
        if not self.feed_key:
            return ""
        signature = salted_hmac("accounts.private_feed", f"{self.pk} {self.feed_key}", algorithm="sha256")
        return f"{self.pk}-{signature.hexdigest()[:40]}"

    def rename(self, name: str) -> None:
        """Change the name; a deleted account keeps the former one taken. Raises ValidationError."""
        name = self.normalize_username(name)
        validate_name(name)
        former, canonical = names.former_name_digest(self.canonical_name), names.canonical(name)
        is_other = canonical != self.canonical_name
        if is_other and type(self).objects.is_taken(name):
            raise ValidationError({"username": _("This name is taken.")})
        self.username, self.canonical_name = name, canonical
        kept = User(canonical_name=former, left_at=timezone.now(), is_active=False)
        if is_other:
            kept.take_id()
            kept.username = names.deleted_username(kept.pk)
            kept.set_unusable_password()
        with transaction.atomic():
            self._take_look()
            self.save(update_fields=["username", "canonical_name"])
            User.objects.bulk_create([kept] if is_other else [])
        if is_other:
            member_ids.note(kept.pk)

    def take_id(self) -> None:
        """Give a new account its id, before the transaction that saves it. See `accounts.member_ids`."""
        if self.pk is None:
            self.pk = member_ids.reserve()

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the member. Raises ValidationError for a new account whose name is invalid or taken."""
        if not self._state.adding:
            super().save(*args, **kwargs)
            return
        self.username = self.normalize_username(self.username)
        validate_name(self.username)
        self.canonical_name = names.canonical(self.username)
        former = User.objects.filter(canonical_name=names.former_name_digest(self.canonical_name))
        self.take_id()
        with transaction.atomic():
            super().save(*args, **kwargs | {"force_insert": True})
            transaction.on_commit(partial(member_ids.note, self.pk))
            if former.exists():  # after the insert: a deletion may replace the name by its digest just before it
                raise ValidationError({"username": _("This name is taken.")})
            self._take_look()

    def _take_look(self) -> None:
        """Raise ValidationError if the name looks like that of another account."""
        NameLook.note({self.username: self.pk})
        if NameLook.objects.filter(_looks_like(self.username)).exclude(user_id=self.pk).exists():
            raise ValidationError({"username": LOOKS_TAKEN})


def _looks_like(name: str) -> models.Q:
    return models.Q(digest__in=[*names.look_digests(name), names.look_digest(name)])


class NameLook(Row):
    """What a name looks like, as digests, and whose it is first: no new name may look the same.

    It stays when an account is deleted. Names of imported posters, and of members from earlier versions, may look
    alike.
    """

    digest = models.CharField(max_length=32, primary_key=True)
    user_id = models.BigIntegerField()

    @staticmethod
    def note(users: Mapping[str, int]) -> None:
        """Keep what the names of accounts look like, unless another account has the look; `users`: ids by name."""
        looks = ((digest, pk) for name, pk in users.items() for digest in names.look_digests(name))
        _insert_new(NameLook(), ({"digest": digest, "user_id": pk} for digest, pk in looks))


class AccountDeletion(Row):
    """Progress of the deletion of an account, until it is complete. See `accounts.account_deletion`."""

    user = models.OneToOneField(User, models.CASCADE, primary_key=True)
    begun_at = models.DateTimeField()
    """The next pass is due `AGAIN_AFTER` after this, which the second pass moves towards the end of `KEPT`."""

    again = models.BooleanField(default=False)
    progress = models.JSONField(default=dict)
    """Of this pass, by the name of the step; "" for a step that is complete."""


class PermissionGroup(auth.Group):
    """A group of members with permissions, such as Moderators; unrelated to groups of articles."""

    class Meta:
        proxy = True
        default_permissions = ()
        verbose_name = _("permission group")
        verbose_name_plural = _("permission groups")
