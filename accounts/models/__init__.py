"""Members, their sessions, and their tokens for the API."""

from accounts.models.members import HAS_PERMISSIONS, AccountDeletion, PermissionGroup, User, UserManager
from accounts.models.tokens import MODERATE, POST, READ, SCOPES, VOTE, Token, TokenLimitError, TokenManager
from accounts.sessions import MemberSession

__all__ = [
    "HAS_PERMISSIONS",
    "MODERATE",
    "POST",
    "READ",
    "SCOPES",
    "VOTE",
    "AccountDeletion",
    "MemberSession",
    "PermissionGroup",
    "Token",
    "TokenLimitError",
    "TokenManager",
    "User",
    "UserManager",
]
