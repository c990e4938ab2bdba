"""OAuth 2.1: apps that ask members for permission, instead of a token that is copied by hand."""
