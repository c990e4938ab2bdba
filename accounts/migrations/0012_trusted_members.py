from django.db import migrations, models


class Migration(migrations.Migration):
    """Members who are no longer new."""

    dependencies = [("accounts", "0011_sign_up")]

    operations = [
        migrations.AddField(
            "user",
            "trusted_at",
            models.DateTimeField(editable=False, null=True, verbose_name="trusted since"),
        ),
    ]
