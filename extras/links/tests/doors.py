"""What the core's tests have of titles of links."""

WITHOUT_PAGE = {"JSON for a script": "articles:link_info"}
STATUSES = {"-404": "post link-info"}
CALLS = (("fetch_link_info", 200, "LinkInfo", "alice", (), ("Link", {"link": "https://example.org/b"})),)
