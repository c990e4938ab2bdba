"""The settings in effect, from `.env`, the environment and the browser, and what reading them needs."""
