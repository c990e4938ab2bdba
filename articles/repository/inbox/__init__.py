"""The members' inboxes: what they are notified of, how many notices are new, and the upkeep of both."""

from articles.repository.inbox.inbox import Inbox, Unread

__all__ = ["Inbox", "Unread"]
