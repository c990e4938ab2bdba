"""The error of a site that cannot start."""


class CannotServe(Exception):
    """The site cannot start; the message is one sentence for the operator."""
