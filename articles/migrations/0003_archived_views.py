from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("articles", "0002_operation_permissions"),
    ]

    operations = [
        migrations.CreateModel(
            name="ArchivedViews",
            fields=[
                ("article_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("pv", models.PositiveBigIntegerField(help_text="Page views that count.")),
                ("uv", models.PositiveBigIntegerField(help_text="Unique visitors, estimated.")),
                ("sketch", models.BinaryField(help_text="HyperLogLog of the visitors, as the store keeps it.")),
                ("suspects", models.JSONField(default=dict, help_text="Suspect views by reason.")),
                ("viewed_at", models.FloatField(help_text="When the last view counted, in Unix seconds.")),
                ("archived_at", models.DateTimeField()),
            ],
            options={
                "default_permissions": (),
            },
        ),
    ]
