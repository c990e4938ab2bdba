"""What anyone can recount: the ballot records of closed articles, published in a chain that keeps them unchanged.

README.md specifies both, and says what they prove.
"""
