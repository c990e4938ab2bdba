"""Addresses of the owner's pages, in the namespace of the articles app."""

from django.urls import path

from articles.views.owner import administrator, mail, moderators, pages, settings, texts

urlpatterns = [
    path("accent/<str:colour>.css", settings.accent, name="accent"),
    path("administration/", pages.administration, name="administration"),
    path(administrator.PATH, administrator.create_first, name="first_administrator"),
    path("administration/hide/", pages.dismiss, name="dismiss_steps"),
    *(
        path(f"administration/{name}/", settings.page, {"name": name}, settings.view_of(name))
        for name in settings.PAGES
    ),
    path("administration/texts/", texts.index, name="owner_texts"),
    path("administration/texts/<str:name>/<str:language>/", texts.edit, name="owner_text"),
    path("administration/moderators/", moderators.index, name="owner_moderators"),
    path("administration/moderators/<str:name>/", moderators.edit, name="owner_moderator"),
    path("administration/mail/", mail.page, name="owner_mail"),
    path("administration/mail/test/", mail.test, name="test_mail"),
    path("administration/backups/", pages.backups, name="owner_backup"),
]
