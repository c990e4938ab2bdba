"""Make all records, reports and days again in format 2, in which each text that is hashed has one spelling.

Numbers, ballots, trees and days stay; hashes of heads, reports and days are others.
"""

import gzip
import hashlib
import json
from contextlib import suppress

from django.db import migrations, models

FIRST = "0" * 64


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def digest_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


def remake_records(model):
    former = {}
    for pk in model.objects.order_by("article_id", "version").values_list("pk", flat=True):
        row = model.objects.get(pk=pk)
        with suppress(ValueError, OSError, KeyError):  # a damaged record stays as it is, and is found
            remake_record(row, former.get(row.article_id, FIRST))
        former[row.article_id] = row.digest


def remake_record(row, former):
    *numbers, root, nonce = row.head.split(" ")
    names = ("article", "version", "votes", "opposes", "votes_left_out", "opposes_left_out", "unnamed_votes")
    counts = dict(zip((*names, "unnamed_opposes"), map(int, numbers), strict=True))
    unnamed = counts["unnamed_votes"] + counts["unnamed_opposes"]
    head = counts | {
        "ballots": counts["votes"] + counts["opposes"] - unnamed,
        "day": row.day.isoformat(),
        "format": 2,
        "former": former,
        "kind": "record",
        "nonce": nonce,
        "root": root,
    }
    if row.ballots:
        ballots = json.loads(gzip.decompress(bytes(row.ballots)))["ballots"]
        row.ballots = gzip.compress(canonical({"ballots": ballots, "head": head}).encode(), mtime=0)
    row.head = canonical(head)
    row.digest = digest_of(row.head)
    row.save(update_fields=["head", "digest", "ballots"])


def remake_all(apps, _schema):
    record, report, day = (apps.get_model("integrity", name) for name in ("BallotRecord", "MonthReport", "ChainDay"))
    remake_records(record)
    for row in report.objects.all():
        row.text = canonical(json.loads(row.text) | {"format": 2, "kind": "month"})
        row.digest = digest_of(row.text)
        row.save(update_fields=["text", "digest"])
    previous = FIRST
    for row in day.objects.order_by("day"):
        records = sorted(record.objects.filter(day=row.day).values_list("article_id", "version", "digest"))
        reports = sorted(
            (f"{month:%Y-%m}", digest)
            for month, digest in report.objects.filter(day=row.day).values_list("month", "digest")
        )
        text = {"day": row.day.isoformat(), "format": 2, "kind": "day", "previous": previous}
        row.text = canonical(text | {"records": records, "reports": reports})
        row.number = len(records) + len(reports)
        previous = row.hash = digest_of(row.text)
        row.save(update_fields=["text", "number", "hash"])


class Migration(migrations.Migration):
    dependencies = [
        ('integrity', '0001_initial'),
    ]

    operations = [
        migrations.AlterField(
            model_name='ballotrecord',
            name='head',
            field=models.TextField(help_text='JSON, of which the digest is the hash.'),
        ),
        migrations.AddField(
            model_name='chainday',
            name='number',
            field=models.PositiveIntegerField(default=0, help_text='How many records and reports it has.'),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='chainday',
            name='text',
            field=models.TextField(default='', help_text='JSON, of which the hash is taken.'),
            preserve_default=False,
        ),
        migrations.RunPython(remake_all, migrations.RunPython.noop),
        migrations.RemoveField(model_name='chainday', name='previous'),
        migrations.RemoveField(model_name='chainday', name='digests'),
    ]
