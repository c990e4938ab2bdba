"""The owner's overview of all steps, and backups."""

from pathlib import Path

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _, gettext_lazy

from accounts.web.form_pages import private_act, private_form, private_page
from articles.backup import folders
from articles.configuration import choices
from articles.formatting import units
from articles.views.owner.administrator import administrators_only
from articles.views.owner.settings import choose
from articles.views.owner.steps import DISMISSED, last_backup, steps
from articles.web.identity import actor


@private_page(administrators_only)
def administration(request: HttpRequest) -> HttpResponse:
    """Show the six steps, and the way to what is done rarely."""
    return render(request, "owner/administration.html", {"steps": list(steps())})


@private_act(administrators_only, page="articles:administration", button=gettext_lazy("Hide this list"))
def dismiss(request: HttpRequest) -> HttpResponse:
    choices.save(DISMISSED, "yes")
    messages.success(request, _("You can find the list under Administration, in the menu of your account."))
    return redirect("articles:front")


@private_form(administrators_only)
def backups(request: HttpRequest) -> HttpResponse:
    """Show the newest backup; let an administrator switch backups into the data directory on or off."""
    is_fixed = "BACKUP_DIR" in settings.FIXED_SETTINGS
    if request.method == "POST" and not is_fixed:
        text = folders.IN_DATA if request.POST.get("BACKUP_DIR") == "on" else ""
        if text != choices.text_of("BACKUP_DIR"):
            choose({"BACKUP_DIR": text}, actor(request))
        told = _("Backups are on. The first one is made within minutes.") if text else _("Backups are off.")
        messages.success(request, told)
        return redirect("articles:owner_backup")
    folder = folders.chosen_folder()
    newest = folders.newest_in(folder) if folder else None
    context = {
        "folder": folder,
        "data_dir": settings.DATA_DIR,
        "in_data": Path(settings.DATA_DIR, folders.IN_DATA),
        "is_fixed": is_fixed,
        "age": last_backup(),
        "size": units.size(folders.size_of(newest)) if newest else "",
        "kept": settings.BACKUP_KEEP,
    }
    return render(request, "owner/backup.html", context)
