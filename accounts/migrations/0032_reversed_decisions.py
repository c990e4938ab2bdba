from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('accounts', '0031_looks_without_separators'),
    ]

    operations = [
        migrations.AddField(
            model_name='statement',
            name='reversed_at',
            field=models.DateTimeField(help_text='When moderators took the decision back.', null=True),
        ),
    ]
