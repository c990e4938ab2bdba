"""What the core's tests need of transfer."""

QUIET = {"DEMO": "0"}
