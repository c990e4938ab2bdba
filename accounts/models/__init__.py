"""Members: accounts, sign-ups, sessions, bans, sweeps, notes, tokens, and whom and what they silence."""

from accounts.models.blocks import Block, Mute
from accounts.models.members import (
    BLOCKED,
    HAS_PERMISSIONS,
    IS_MUTING,
    LOOKS_TAKEN,
    MAIL_KINDS,
    NAME_RULE,
    WAITING_MAIL,
    AccountDeletion,
    NameLook,
    PermissionGroup,
    User,
    UserManager,
)
from accounts.models.moderation import (
    BAN_SCOPES,
    AboutFlag,
    Ban,
    BanManager,
    BanScope,
    BranchAct,
    MemberNote,
    Sweep,
)
from accounts.models.sign_in import Authenticator, Identity, Passkey, RecoveryCode
from accounts.models.sign_up import Invitation, InvitationLimitError, WaitingAccount
from accounts.models.tokens import MODERATE, POST, READ, SCOPES, VOTE, Token, TokenLimitError, TokenManager
from accounts.sessions import MemberSession

__all__ = [
    "BAN_SCOPES",
    "BLOCKED",
    "HAS_PERMISSIONS",
    "IS_MUTING",
    "LOOKS_TAKEN",
    "MAIL_KINDS",
    "MODERATE",
    "NAME_RULE",
    "POST",
    "READ",
    "SCOPES",
    "VOTE",
    "WAITING_MAIL",
    "AboutFlag",
    "AccountDeletion",
    "Authenticator",
    "Ban",
    "BanManager",
    "BanScope",
    "Block",
    "BranchAct",
    "Identity",
    "Invitation",
    "InvitationLimitError",
    "MemberNote",
    "MemberSession",
    "Mute",
    "NameLook",
    "Passkey",
    "PermissionGroup",
    "RecoveryCode",
    "Sweep",
    "Token",
    "TokenLimitError",
    "TokenManager",
    "User",
    "UserManager",
    "WaitingAccount",
]
