from django.db import migrations, models


class Migration(migrations.Migration):
    """Existing tokens may do what they could before: everything, for ever."""

    dependencies = [
        ('accounts', '0005_account_deletion'),
    ]

    operations = [
        migrations.AddField(
            model_name='token',
            name='scopes',
            field=models.CharField(default='read vote post moderate', max_length=40),
        ),
        migrations.AddField(
            model_name='token',
            name='expires_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
