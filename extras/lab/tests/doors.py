"""What the core's tests have of the ranking lab."""

PAGES = (
    ("lab", "/lab/", "moderator"),
    ("lab, the hot list", "/lab/?list=hot&gamma=2&base=3", "moderator"),
    ("lab, something to apply", "/lab/?votes_per_day=50", "moderator"),
    ("lab, out of range", "/lab/?half_life=6&votes_per_day=0", "moderator", 400),
    ("lab of an empty site", "/lab/", "moderator", 200, None, "empty"),
)
WITHOUT_PAGE = {"a form's target": "articles:apply_lab articles:follow_site articles:roll_back"}
OF_MODERATORS = {"/lab/": None, "/lab/apply/": {}, "/lab/rollback/": {}, "/lab/follow/": {}}
PICTURES = {"lab": "/lab/?votes_per_day=20"}
TABS = {"/lab/": ["Ranking lab"]}
