"""The peer's pages at the site's addresses, and the names of all others, which the templates link to."""

from django.urls import include, path

from bench.orm_peer import views

urlpatterns = [
    path("", views.front),
    path("articles/<int:article_id>/vote/", views.cast_vote),
    path("", include("voting_site.urls")),
]
