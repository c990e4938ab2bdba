"""The inbox: its page, and what members do not want to hear of."""
