"""The owner's first hour and settings in the browser: a capability. docs/adr/0016 says why."""
