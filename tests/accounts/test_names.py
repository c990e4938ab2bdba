import pytest

from accounts import names


@pytest.mark.parametrize("name", ["al", "alice", "Alice-2", "a_b", "a" * 30])
def test_a_name_of_letters_digits_and_separators_is_valid(name):
    assert names.is_valid(name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            "a",
            "a" * 31,
            "a" * 151,
            "1alice",
            "-alice",
            "_alice",
            "al ice",
            "al\nice",
            "alice\n",
            "al\x00ice",
        ),
        *(
            "<b>alice</b>",
            "alice'--",
            "аlice",
            "ａｌｉｃｅ",
            "alicé",
            "ali\u200bce",
            "ali\u202ece",
            "al/ice",
            "al.ice",
        ),
    ],
)
def test_any_other_name_is_invalid(name):
    assert not names.is_valid(name)


@pytest.mark.parametrize("spelling", ["alice", "ALICE", "Alice", "ａｌｉｃｅ", "ＡＬＩＣＥ"])
def test_spellings_of_one_name_have_one_canonical_form(spelling):
    assert names.canonical(spelling) == "alice"


@pytest.mark.parametrize("name", ["admin", "ADMIN", "ad-min", "_r_o_o_t", "No-Reply", "moderator", "deleted"])
def test_names_that_represent_the_site_are_reserved_in_every_spelling(name):
    assert names.is_reserved(name)


@pytest.mark.parametrize("name", ["alice", "administratrix", "rooty"])
def test_other_names_are_not_reserved(name):
    assert not names.is_reserved(name)


@pytest.mark.parametrize("name", ["alice", "Bob-2", "x" * 30])
def test_a_valid_name_is_unchanged(name):
    assert names.as_valid(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "b",
        "bob!",
        "42",
        "-dash",
        "a" * 200,
        "名字",
        "al\nice",
        "admin",
        "<b>",
        "\ud800",
        "ünïcode",
        "_" * 40,
    ],
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
