from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("articles", "0003_archived_views")]

    operations = [
        migrations.CreateModel(
            name="KnownStore",
            fields=[
                ("id", models.PositiveSmallIntegerField(primary_key=True, serialize=False)),
                ("site", models.CharField(help_text="UUID that the store has of the site.", max_length=36)),
            ],
            options={"default_permissions": ()},
        ),
    ]
