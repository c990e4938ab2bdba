"""The formulas that rank, pure. The scripts in `repository/lua` compute the same; tests hold them equal."""


def score(posted_at: float, points: int, *, seconds_per_point: float) -> float:
    """Front-page score, in Unix seconds: posting time pushed forward by each point.

    With 200 votes a day a point is worth 432 s, so that 200 votes now equal none a day later.
    """
    return posted_at + seconds_per_point * points
