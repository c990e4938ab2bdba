"""What transfer adds to the core's tables."""

from articles.domain.extras import Rows, Setting

ROWS = Rows(settings=(Setting("DEMO", "yes/no", ""),))
