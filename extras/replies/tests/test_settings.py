"""The address for replies, and what doctor says of their folder."""

import pytest

from articles.configuration.kinds import BadSetting
from tests.doctor.examining import levels
from voting_site.configuration.loading import load


def test_replies_by_mail_take_an_address(monkeypatch, tmp_path):
    monkeypatch.setenv("REPLY_ADDRESS", "Reply@News.example.org")
    assert load(tmp_path)["REPLY_ADDRESS"] == "reply@news.example.org"

    for wrong in (
        "reply",
        "re+ply@x.org",
        "a" * 20 + "@x.org",
        "réply@x.org", "a@b@c.org", "a b@c.org", "-a@c.org",
    ):  # fmt: skip
        monkeypatch.setenv("REPLY_ADDRESS", wrong)
        with pytest.raises(BadSetting, match="REPLY_ADDRESS"):
            load(tmp_path)


def test_a_folder_for_replies_that_cannot_be_used_is_an_error(settings, tmp_path):
    assert levels("mail", "replies") == []
    settings.REPLY_ADDRESS, settings.DATA_DIR = "reply@news.example.org", tmp_path
    box = tmp_path / "replies"

    assert levels("mail", "replies") == ["error"]
    (box / "new").mkdir(parents=True)
    assert levels("mail", "replies") == ["fine"]
    (box / "cur").mkdir()
    (box / "cur" / "mail").touch()
    assert levels("mail", "replies") == ["warning"]
