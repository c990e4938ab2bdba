from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0004_permission_groups'),
    ]

    operations = [
        migrations.RenameModel(old_name='Departure', new_name='AccountDeletion'),
    ]
