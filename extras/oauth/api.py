"""What the description of the API says of apps."""

from articles.api.protocol.site_api import api

api.description += (
    " Apps can also get a token from the member by OAuth 2.1: see `/.well-known/oauth-authorization-server`."
)
