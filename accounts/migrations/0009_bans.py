import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0008_inbox'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='ban_ends_at',
            field=models.DateTimeField(editable=False, null=True, verbose_name='end of the ban'),
        ),
        migrations.AddField(
            model_name='user',
            name='banned_from',
            field=models.CharField(blank=True, default='', db_default='', editable=False, max_length=7, verbose_name='banned from'),
        ),
        migrations.CreateModel(
            name='Ban',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('scope', models.CharField(max_length=7)),
                ('reason', models.TextField()),
                ('begins_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('ends_at', models.DateTimeField(help_text='Null: it has no end.', null=True)),
                ('lifted_at', models.DateTimeField(null=True)),
                ('appeal', models.TextField(default='')),
                ('appealed_at', models.DateTimeField(null=True)),
                ('answer', models.TextField(default='')),
                ('answered_at', models.DateTimeField(null=True)),
                ('member', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='bans', to=settings.AUTH_USER_MODEL)),
                ('moderator', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-begins_at', '-pk'],
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Sweep',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.TextField()),
                ('since', models.DateTimeField(help_text='What was posted before stays.')),
                ('begun_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('removed', models.PositiveIntegerField(default=0, help_text='Articles and comments that it removed so far.')),
                ('is_complete', models.BooleanField(default=False)),
                ('restored_at', models.DateTimeField(null=True)),
                ('member', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sweeps', to=settings.AUTH_USER_MODEL)),
                ('moderator', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-begun_at', '-pk'],
                'default_permissions': (),
            },
        ),
    ]
