from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ('accounts', '0032_reversed_decisions'),
    ]

    operations = [
        migrations.DeleteModel(
            name='BranchAct',
        ),
    ]
