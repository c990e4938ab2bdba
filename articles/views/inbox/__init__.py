"""The inbox: its page, and what members silence."""
