"""How large the site gets: a day of traffic against a real site, and machines for more. See docs/scaling.md."""
