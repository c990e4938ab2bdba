"""Members: accounts, sign-ups, vouches, sessions, bans, rules, notes, tokens, silencing, ballots."""

from accounts.models.ballots import BallotKey, BallotRecord
from accounts.models.blocks import Block, Mute
from accounts.models.group_moderators import GroupModerator
from accounts.models.law import LegalNotice, Statement
from accounts.models.members import (
    LOOKS_TAKEN,
    NAME_RULE,
    WAITING_MAIL,
    AccountDeletion,
    NameLook,
    PermissionGroup,
    User,
    UserManager,
)
from accounts.models.moderation import BAN_SCOPES, AboutFlag, Ban, BanManager, BanScope, MemberNote, Sweep
from accounts.models.rules import HeldPost, ModeratorRule, RuleVersion, TextDigest
from accounts.models.sign_in import Authenticator, Passkey, RecoveryCode
from accounts.models.sign_up import Invitation, InvitationLimitError, WaitingAccount
from accounts.models.tokens import (
    MODERATE,
    POST,
    READ,
    SCOPES,
    VOTE,
    Token,
    TokenLimitError,
    TokenManager,
)
from accounts.models.vouches import ENOUGH, Vouch, VouchLimitError, origins_of
from accounts.sessions import MemberSession
