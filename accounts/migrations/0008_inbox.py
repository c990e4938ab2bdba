from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0007_member_sessions'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='inbox_read_until',
            field=models.FloatField(default=0, editable=False),
        ),
    ]
