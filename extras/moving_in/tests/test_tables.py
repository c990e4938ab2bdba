"""Dumps of other sites' databases, as each program writes them."""

import time

import pytest

from extras.moving_in.sources import BadSource
from extras.moving_in.sources.rows import seconds
from extras.moving_in.sources.tables import opened

WANTED = {"users": "id INTEGER PRIMARY KEY, name, about, gone"}

OF_MYSQL_8 = r"""
DROP TABLE IF EXISTS `users`;
CREATE TABLE `users` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `order` binary(3) NOT NULL,
  `name` varchar(50) COLLATE utf8mb4_general_ci DEFAULT 'it''s, (a) name',
  `about` mediumtext,
  PRIMARY KEY (`id`),
  KEY `name` (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
INSERT INTO `users` VALUES (1,_binary '\0\'\\','O\'Neil',NULL),(2,_binary ')(,','(b), \'c\';','Line\nINSERT INTO');
INSERT INTO `users` VALUES (3,0xFF00AA,'NULL','C:\\new\\0 \Z');
CREATE TABLE `other` (
  `id` int NOT NULL
);
INSERT INTO `other` VALUES (9);
"""
OF_MARIADB_11 = r"""/*M!999999\- enable the sandbox mode */
CREATE TABLE `users` (
  `id` bigint(20) unsigned NOT NULL,
  `order` binary(3) NOT NULL,
  `name` varchar(50) DEFAULT NULL,
  `about` mediumtext DEFAULT NULL
);
INSERT INTO `users` VALUES
(1,'\0\'\\','O\'Neil',NULL),
(2,')(,','(b), \'c\';','Line\nINSERT INTO');
INSERT INTO `users` (`id`, `about`, `name`) VALUES
(3,'C:\\new\\0 \Z','NULL');
"""
OF_PG_DUMP = r"""
CREATE TABLE public.users (
    id integer NOT NULL,
    name text
);
COPY public.other (name, id) FROM stdin;
COPY public.users (id, name) FROM stdin;	7
\.

COPY public.users (about, id, name) FROM stdin;
\N	1	O'Neil
Line\nINSERT INTO	2	(b), 'c';
C:\\new\\0 """ + "\x1a\t3\tNULL\n\\.\n"  # fmt: skip


@pytest.mark.parametrize("dump", [OF_MYSQL_8, OF_MARIADB_11, OF_PG_DUMP])
def test_a_dump_has_the_rows_of_each_program(tmp_path, dump):
    (tmp_path / "dump.sql").write_text(dump, "utf-8", newline="\n")

    with opened(str(tmp_path / "dump.sql"), WANTED, ["users"], print) as db:
        assert db.execute("SELECT * FROM users ORDER BY id").fetchall() == [
            (1, "O'Neil", None, None),
            (2, "(b), 'c';", "Line\nINSERT INTO", None),
            (3, "NULL", "C:\\new\\0 \x1a", None),
        ]


def test_reading_a_dump_can_be_interrupted(tmp_path):
    (tmp_path / "dump.sql").write_text("-- a line\n" * 20_000)

    with pytest.raises(KeyboardInterrupt), opened(str(tmp_path / "dump.sql"), WANTED, ["users"], _interrupt):
        pass


def _interrupt(_rows):
    raise KeyboardInterrupt


HOSTILE = [" " * 200_000, "(" * 200_000, "'" * 200_001, "'" + "\\" * 200_001, "_" + "a" * 200_000, "1," * 200_000]


def test_a_table_without_rows_is_there(tmp_path):
    (tmp_path / "dump.sql").write_text("CREATE TABLE `users` (\n  `id` int\n);\n", "utf-8")

    with opened(str(tmp_path / "dump.sql"), WANTED, ["users"], print) as db:
        assert db.execute("SELECT count(*) FROM users").fetchone() == (0,)


@pytest.mark.parametrize(
    "dump",
    [
        OF_MYSQL_8[: OF_MYSQL_8.index("'O\\'Neil")],
        OF_MYSQL_8[: OF_MYSQL_8.index(",'C:")] + ");\n",
        OF_MARIADB_11[: OF_MARIADB_11.index("(2,")],
        OF_PG_DUMP[: OF_PG_DUMP.index("C:")],
        OF_PG_DUMP[: OF_PG_DUMP.index("\t3\t")] + "\n\\.\n",
        *(f"{OF_MARIADB_11}INSERT INTO `users` VALUES (1,{text}" for text in HOSTILE),
    ],
)
def test_a_dump_that_ends_within_a_table_or_a_row_is_refused(tmp_path, dump):
    (tmp_path / "dump.sql").write_text(dump, "utf-8", newline="\n")

    with pytest.raises(BadSource), opened(str(tmp_path / "dump.sql"), WANTED, ["users"], print):
        pass


@pytest.mark.parametrize(
    ("moment", "at"),
    {
        "2020-01-01 10:00:00": 1577872800,
        "2020-01-01 10:00:00.25": 1577872800.25,
        "2020-01-01 12:00:00.123456+02": 1577872800.123,
        "2020-01-01T10:00:00.000Z": 1577872800,
        "0000-00-00 00:00:00": None,
        "": None,
        None: None,
    }.items(),
)
def test_a_moment_without_a_zone_is_utc(monkeypatch, moment, at):
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        assert seconds(moment) == at
    finally:
        monkeypatch.undo()
        time.tzset()
