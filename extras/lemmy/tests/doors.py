"""What the core's tests have of Lemmy's API."""

NAMESPACES_WITHOUT_PAGES = {"lemmy": "answers in JSON", "lemmy_pages": "redirects to pages"}
READ_BY_PROGRAMS = ("/version",)
SWITCHES = {"LEMMY_API": "1"}

_LISTS = (
    "post/list?sort=New", "post/list?sort=TopDay", "user?username=alice", "user?username=bob", "modlog?x=",
    "community/list?x=", "community?name=python", "comment/list?sort=New", "search?q=title",
    "search?q=title&type_=Comments",
)  # fmt: skip
READINGS = ("/api/v3/site", *(f"/api/v3/{part}&page={page}" for part in _LISTS for page in (1, 2, 3, 4)))
STAY = "Lemmy Voyager Jerboa Thunder"
