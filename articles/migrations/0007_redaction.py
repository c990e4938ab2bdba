"""The permission to redact. Moderators get it, once: what is taken from them later stays taken."""

from django.db import migrations

_NAME = "Can redact texts in the moderation log and in what is removed"


def let_moderators_redact(apps, schema_editor):
    """Add the permission to the group. A site without it gets it, with all permissions, after the migrations."""
    using = schema_editor.connection.alias
    group = apps.get_model("auth", "Group").objects.using(using).filter(name="Moderators").first()
    if group is None:
        return
    kinds = apps.get_model("contenttypes", "ContentType").objects.using(using)
    kind, _ = kinds.get_or_create(app_label="articles", model="articlepermissions")
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    permission, _ = permissions.get_or_create(content_type=kind, codename="redact", defaults={"name": _NAME})
    group.permissions.add(permission)


class Migration(migrations.Migration):
    dependencies = [
        ("articles", "0006_bans"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="articlepermissions",
            options={
                "default_permissions": (),
                "managed": False,
                "permissions": [
                    ("assign_groups", "Can assign articles to groups, and create, rename and merge groups"),
                    ("edit_any_article", "Can edit every article"),
                    ("remove_articles", "Can remove and restore articles"),
                    ("tune_ranking", "Can tune the ranking"),
                    ("see_operation", "Can see the operator's page"),
                    ("ban_members", "Can ban members from posting and voting, and answer their appeals"),
                    ("see_views", "Can see who views what: counted, unique and suspect views"),
                    ("redact", _NAME),
                ],
            },
        ),
        migrations.RunPython(let_moderators_redact, migrations.RunPython.noop),
    ]
