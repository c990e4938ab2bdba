from itertools import islice

from accounts.names import look_digests
from django.db import migrations


def note_looks(apps, _schema_editor):
    """Keep what the names of the members look like without separators; of equal ones, it is the first member's."""
    looks = apps.get_model('accounts', 'NameLook').objects
    members = apps.get_model('accounts', 'User').objects.exclude(username__startswith='~')
    rows = members.order_by('imported', 'pk').values_list('pk', 'username').iterator()
    while batch := list(islice(rows, 500)):
        rows_of = [looks.model(digest=one, user_id=pk) for pk, name in batch for one in look_digests(name)]
        looks.bulk_create(rows_of, ignore_conflicts=True)


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0030_synced_passkeys'),
    ]

    operations = [
        migrations.RunPython(note_looks, migrations.RunPython.noop),
    ]
