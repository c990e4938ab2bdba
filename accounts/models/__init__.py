"""Members, their sessions, bans and sweeps, their tokens for the API, and what they do not want to hear of."""

from accounts.models.bans import Ban, BanManager, BanScope
from accounts.models.blocks import Block, BlockLimitError, Mute, Silence
from accounts.models.members import (
    HAS_PERMISSIONS,
    MAIL_KINDS,
    AccountDeletion,
    PermissionGroup,
    User,
    UserManager,
)
from accounts.models.sweeps import Sweep
from accounts.models.tokens import MODERATE, POST, READ, SCOPES, VOTE, Token, TokenLimitError, TokenManager
from accounts.sessions import MemberSession

__all__ = [
    "HAS_PERMISSIONS",
    "MAIL_KINDS",
    "MODERATE",
    "POST",
    "READ",
    "SCOPES",
    "VOTE",
    "AccountDeletion",
    "Ban",
    "BanManager",
    "BanScope",
    "Block",
    "BlockLimitError",
    "MemberSession",
    "Mute",
    "PermissionGroup",
    "Silence",
    "Sweep",
    "Token",
    "TokenLimitError",
    "TokenManager",
    "User",
    "UserManager",
]
