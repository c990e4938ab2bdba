from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('accounts', '0029_oauth'),
    ]

    operations = [
        migrations.AddField(
            model_name='passkey',
            name='is_synced',
            field=models.BooleanField(null=True),
        ),
    ]
