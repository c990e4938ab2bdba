"""Members: accounts, sign-ups, sessions, bans, sweeps, notes, tokens, and whom and what they silence."""

from accounts.models.blocks import Block, BlockLimitError, Mute, Silence
from accounts.models.members import (
    HAS_PERMISSIONS,
    IS_SILENCING,
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
from accounts.models.moderation import BAN_SCOPES, AboutFlag, Ban, BanManager, BanScope, MemberNote, Sweep
from accounts.models.sign_up import Invitation, InvitationLimitError, WaitingAccount
from accounts.models.tokens import MODERATE, POST, READ, SCOPES, VOTE, Token, TokenLimitError, TokenManager
from accounts.sessions import MemberSession

__all__ = [
    "BAN_SCOPES",
    "HAS_PERMISSIONS",
    "IS_SILENCING",
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
    "Ban",
    "BanManager",
    "BanScope",
    "Block",
    "BlockLimitError",
    "Invitation",
    "InvitationLimitError",
    "MemberNote",
    "MemberSession",
    "Mute",
    "NameLook",
    "PermissionGroup",
    "Silence",
    "Sweep",
    "Token",
    "TokenLimitError",
    "TokenManager",
    "User",
    "UserManager",
    "WaitingAccount",
]
