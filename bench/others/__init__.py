"""Sites that others wrote, as an operator would set them up. What is here runs in their own environments."""
