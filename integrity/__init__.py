"""What anyone can recount: ballot records of closed articles, and the chain that keeps them unchanged.

docs/integrity.md specifies both, and says what they prove.
"""
