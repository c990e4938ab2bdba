from django.conf import settings
from django.db import migrations, models


def drop_requests(apps, _schema_editor):
    """Drop all codes: they are valid for a minute, and apps ask again."""
    apps.get_model('accounts', 'AppRequest').objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [
        ('accounts', '0033_no_branch_acts'),
    ]

    operations = [
        migrations.RunPython(drop_requests, migrations.RunPython.noop),
        migrations.RemoveField(
            model_name='apprequest',
            name='polled_at',
        ),
        migrations.RemoveField(
            model_name='apprequest',
            name='state',
        ),
        migrations.RemoveField(
            model_name='apprequest',
            name='user_code',
        ),
        migrations.AddField(
            model_name='apprequest',
            name='is_used',
            field=models.BooleanField(default=False),
        ),
        migrations.AlterField(
            model_name='apprequest',
            name='address',
            field=models.TextField(),
        ),
        migrations.AlterField(
            model_name='apprequest',
            name='challenge',
            field=models.CharField(max_length=128),
        ),
        migrations.AlterField(
            model_name='apprequest',
            name='user',
            field=models.ForeignKey(on_delete=models.deletion.CASCADE, to=settings.AUTH_USER_MODEL),
        ),
    ]
