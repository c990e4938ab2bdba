import re

import pytest

from accounts import names
from accounts.name_characters import character_class


@pytest.mark.parametrize("name", ["al", "alice", "Alice-2", "a_b", "a" * 30])
def test_a_name_of_letters_digits_and_separators_is_valid_everywhere(name):
    assert names.is_permitted(name, "ascii")
    assert names.is_valid(name)


@pytest.mark.parametrize(
    "name",
    [
        "小明", "王小明2", "Nguyễn", "Ẹ\u0301lá", "Вася-2", "علي", "אבי", "田中tarou", "たろう", "김철수",
        "ㄅㄆ小明", "佐々木", "मनीष", "สมชาย", "กํา", "ကျွန်ုပ်", "பெயர்", "Straße", "İlker", "𠮷野",
    ],
)  # fmt: skip
def test_a_name_in_the_script_of_any_language_is_valid_where_they_are_permitted(name):
    assert names.is_permitted(name, "any")
    assert not names.is_permitted(name, "ascii")
    assert names.is_valid(names.canonical(name))
    assert len(names.canonical(name)) <= names.MAX_LENGTH


@pytest.mark.parametrize(
    "name",
    [
        "小", "2小明", "小 明", "小明·", "小明！", "小明😀", "ali\u0430", "小明Вася", "たろう김", "小3٣",
        "ａｌｉｃｅ", "ﬁona",
        "x\u0302\u0303",
        "ก" + "\u0e49" * 2,
        "小明\u0301", "\u0301x", "a\u00ad", "小\u200d明", "\u2066علي", "\u115f小明",
        "小" * 31, "𠮷" * 23, "ß" * 16, "\ud800小", "①小", "ⅷx", "ᚠᚢ", "a\U0001d18d", "ᏣᎳ",
    ],
)  # fmt: skip
def test_marks_mixtures_and_what_cannot_be_seen_are_valid_nowhere(name):
    assert not names.is_valid(name)


def test_every_character_that_names_can_have_keeps_its_identity_when_it_is_folded_again():
    has_only = re.compile(f"[{character_class()}]+").fullmatch
    for char in filter(has_only, map(chr, range(0x110000))):
        folded = names.canonical(char)
        assert names.canonical(folded) == folded
        assert has_only(folded), char


@pytest.mark.parametrize(
    "name",
    [
        "", "a", "a" * 31, "a" * 151, "1alice", "-alice", "_alice", "al ice", "al\nice", "alice\n", "al\x00ice",
        "<b>alice</b>", "alice'--", "аlice", "ａｌｉｃｅ", "alice\u0301", "ali\u200bce", "ali\u202ece",
        "al/ice", "al.ice",
    ],
)  # fmt: skip
def test_any_other_name_is_invalid(name):
    assert not names.is_valid(name)


@pytest.mark.parametrize("spelling", ["alice", "ALICE", "Alice", "ａｌｉｃｅ", "ＡＬＩＣＥ"])
def test_spellings_of_one_name_have_one_canonical_form(spelling):
    assert names.canonical(spelling) == "alice"


@pytest.mark.parametrize("name", ["admin", "ADMIN", "ad-min", "_r_o_o_t", "No-Reply", "moderator", "deleted"])
def test_names_that_represent_the_site_are_reserved_in_every_spelling(name):
    assert names.is_reserved(name)


@pytest.mark.parametrize(
    "name",
    [
        "mod-team", "ModTeam", "admin1", "admin2026", "1admin", "adm1n", "4dm1n", "r00t", "m0d", "0fficial",
        "the_mods", "site-admin", "siteadmin", "alice-admin", "admin_alice", "official-bob", "supp0rt",
        "support-team", "super-moderator", "m0derat0r", "5upport", "rootuser", "security_team", "Staff-7",
        "real-admin",
    ],
)  # fmt: skip
def test_names_that_claim_a_role_are_reserved(name):
    assert names.is_reserved(name)


@pytest.mark.parametrize("name", ["pythonnews", "Python-News", "pyth0nnews", "PythonNews1", "PythonNewsTeam"])
def test_the_name_of_the_site_is_reserved(name):
    assert names.is_reserved(name, "Python News!")
    assert not names.is_reserved(name)


@pytest.mark.parametrize(
    "name",
    [
        "adminton", "badminton", "Adminah", "modesty", "modern-art", "Mod-Rocker", "rootbeer", "security-nerd",
        "supporter", "steamer", "teamwork", "stafford", "botanist", "Helper", "systematic", "officiala",
        "python", "news-fan", "alice1", "l33t", "user-1-x", "crew", "senior", "verified", "me2you",
        "administratrix",
    ],
)  # fmt: skip
def test_ordinary_names_that_contain_a_word_are_free(name):
    assert not names.is_reserved(name, "Python News")


def test_a_site_without_a_latin_name_reserves_no_further_name():
    assert not names.is_reserved("alice", "文章投票")


def test_a_longest_name_is_judged_at_once():
    assert not names.is_reserved("a" + "1" * 29, "x")
    assert not names.is_reserved("mod" * 9 + "xyz")


@pytest.mark.parametrize(
    "name", ["管理员", "管理員小王", "版主", "MODÉRATEUR", "Администратор_2", "系统", "ВОТ", "ádm1n"]
)
def test_names_that_represent_the_site_are_reserved_in_every_script(name):
    assert names.is_reserved(name)


@pytest.mark.parametrize("name", ["管仲", "小明的猫", "Вася", "Модест", "公主", "Adélie", "系外行星"])
def test_ordinary_names_of_other_scripts_are_free(name):
    assert not names.is_reserved(name, "文章投票")
    assert names.is_reserved("文章-投票1", "文章投票")


def test_imported_posters_keep_names_of_any_script_where_members_can_have_them():
    assert [names.as_valid(name, "any") for name in ("小明", "Zoe\u0301")] == ["小明", "Zoé"]
    assert names.is_permitted(names.as_valid("管理员", "any"), "ascii")


def test_imported_posters_keep_names_that_only_newcomers_cannot_take():
    assert names.as_valid("mod-team") == "mod-team"
    assert names.as_valid("ad-min") != "ad-min"


@pytest.mark.parametrize("name", ["alice", "Bob-2", "x" * 30])
def test_a_valid_name_is_unchanged(name):
    assert names.as_valid(name) == name


@pytest.mark.parametrize(
    "name",
    ["", "b", "bob!", "42", "-dash", "a" * 200, "名字", "al\nice", "admin", "<b>", "\ud800", "ünïcode", "_" * 40],
)
def test_an_invalid_or_reserved_name_becomes_a_valid_unreserved_one(name):
    valid = names.as_valid(name)

    assert names.is_valid(valid)
    assert not names.is_reserved(valid)
    assert valid == names.as_valid(name)


def test_names_that_differ_only_in_invalid_characters_stay_different():
    assert len({names.canonical(names.as_valid(name)) for name in ("bob", "bob!", "bob?", "名字", "字")}) == 5


def test_a_long_name_keeps_its_beginning():
    assert names.as_valid("1" + "a" * 100).startswith("u1aaaaa")


def test_names_longer_than_any_members_are_equal_and_nobodys(bob):
    long = "bob" + "\u0300" * 30_000 + "\u0316" * 30_000

    assert names.canonical(long) == names.canonical("x" * 31) != names.canonical("x" * 30)
    assert not names.is_valid(names.canonical(long))
    assert not type(bob).objects.is_taken(long)
    with pytest.raises(type(bob).DoesNotExist):
        type(bob).objects.get_by_natural_key(long)


def test_long_names_of_imported_posters_stay_apart_as_before():
    imported = ["An unusually long name of a poster", "An unusually long name of another poster"]

    valid = ["Anunusuallylongnameof-534a78ea", "Anunusuallylongnameof-6a776210"]
    assert [names.as_valid(name) for name in imported] == valid
    assert names.as_valid("a" * 400 + "b") != names.as_valid("a" * 400 + "c")
