"""Automatic rules, as acts ask them: `matching` decides, `acting` does what follows.

`moderation.rules` writes them, tries them on what is there, and decides on what they hold.
"""
