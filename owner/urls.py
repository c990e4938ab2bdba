"""Addresses of the owner's pages, in the namespace of the articles app."""

from django.urls import path

from owner import administrator

urlpatterns = [
    path("administration/first/", administrator.create_first, name="first_administrator"),
]
