"""Replies by mail: members answer a mail about a comment, and the site posts the answer."""
