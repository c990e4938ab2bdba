"""Notices pushed to members' devices by web push: the protocol, what is pushed when, and the members' choices."""
