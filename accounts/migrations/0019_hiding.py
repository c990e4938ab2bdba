from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0018_read_marks'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='hidden',
            field=models.TextField(blank=True, db_default='', default='', editable=False, verbose_name='hidden'),
        ),
    ]
