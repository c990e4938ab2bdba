"""The site as a whole: its version, settings, launcher and web server."""

__version__ = "1.0.0"
