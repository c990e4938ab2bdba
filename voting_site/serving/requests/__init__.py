"""What happens to every request before and after Django: proxies, bodies, text, security headers."""
