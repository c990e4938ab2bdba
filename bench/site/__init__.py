"""The whole site under load, beside what else could serve the same pages. See docs/performance.md."""
