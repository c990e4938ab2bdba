"""What operators see of the site: its measurements."""
