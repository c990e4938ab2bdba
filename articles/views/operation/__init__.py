"""Pages for operators and their programs: the operator's page, metrics, health checks."""
