"""The WSGI application that gunicorn serves."""

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from voting_site.serving.whole_bodies import with_whole_bodies

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "voting_site.settings")

application = with_whole_bodies(get_wsgi_application(), settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
