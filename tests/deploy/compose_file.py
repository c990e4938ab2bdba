"""What deploy/compose.yaml says."""

from pathlib import Path

import yaml
from django.conf import settings

FOLDER = Path(settings.BASE_DIR, "deploy")
TEXT = (FOLDER / "compose.yaml").read_text("utf-8")
COMPOSE = yaml.safe_load(TEXT)
SERVICES = COMPOSE["services"]
