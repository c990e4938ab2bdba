"""The Chinese catalogue: complete, current, and written in idiomatic Chinese."""

import ast
import gettext
import io
import re
import string

import pytest
from babel.messages.catalog import Message

from bench import messages as catalogues
from bench.messages import PLACES, ROOT, texts
from tests.cases import for_each
from tests.source import modules

HAN = r"[\u3400-\u9fff]"
TO_DO = "Run `make messages`, fill in what it says has no Chinese, and run it again."


def forms(value):
    return (value,) if isinstance(value, str) else tuple(value)


@pytest.fixture(scope="module")
def kept():
    """The texts of all catalogues."""
    return catalogues.everything()


def translations(catalogue) -> list[tuple[Message, str]]:
    return [(message, form) for message in texts(catalogue) for form in forms(message.string)]


@pytest.mark.source
@for_each("place", PLACES)
def test_a_catalogue_contains_exactly_the_texts_of_its_sources(place):
    gathered, kept = catalogues.extracted(place), catalogues.current(place)
    there, known = ({(m.id, m.context) for m in texts(one)} for one in (gathered, kept))

    assert not there - known, f"New texts. {TO_DO} {sorted(map(str, there - known))}"
    assert not known - there, f"No longer in the sources. {TO_DO} {sorted(map(str, known - there))}"


def test_every_text_has_a_translation(kept):
    assert not catalogues.untranslated(kept), TO_DO


@for_each("place", PLACES)
def test_the_files_match_the_output_of_the_command(place, kept):
    found = catalogues.merged(catalogues.extracted(place), kept)

    assert catalogues.written(found) == place.po.read_text("utf-8"), TO_DO
    assert catalogues.compiled(found) == place.mo.read_bytes(), TO_DO
    assert catalogues.compiled(catalogues.derived(found)) == place.derived.read_bytes(), TO_DO


def test_a_text_of_two_extras_has_one_translation():
    found = {}
    for message in (message for place in PLACES for message in texts(catalogues.current(place))):
        assert found.setdefault((message.id, message.context), message.string) == message.string


MAINLAND = """
信息 數據 網絡 互聯網 服務器 服務商 軟件 硬件 程序員 編程 源代碼 默認 缺省 質量 屏幕 顯示器 文件夾 登錄 註銷
用戶 賬 郵箱 視頻 音頻 圖像 鏈接 鏈路 端口 接口 界面 菜單 剪貼板 粘貼 打印 打開 保存 緩存 內存 硬盤 磁盤 光盤
線程 進程 隊列 堆棧 數組 字符 字節 比特 二進制 正則 函數 變量 常量 對象 循環 異步 實時 在線 博客 帖子 點擊 雙擊
鼠標 光標 快捷 回車 圖標 窗口 標籤 搜索 查找 添加 過濾 設備 設置 配置 高級 卸載 重啟 調用 調試 訪問 響應 全局
帶寬 網關 局域網 域名 主機名 掩碼 密鑰 私鑰 公鑰 哈希 證書 令牌 會話 數碼 概率 方差 置信 智能 激活 禁用 兼容
屏蔽 拉黑 舉報 投訴 點讚 關注 粉絲 私信 頭像 主頁 刷新 加載 發件 收件箱 短信 二維碼 客戶端 移動端 插件 腳本
模板 模塊 代碼生成 數據庫 字段 事務 集群 主從 報警 性能 優化 吞吐 採樣 批量 定時 鏡像 虛擬機 操作系統 命令
控制台 反饋 聯繫 知識產權 水平 渠道 計劃 示例 樣例 自定義 定製 加粗 字體 縮略圖 全角 半角 單詞 短語 拼寫 注釋
退出 周榜 本周 上周 時間戳 倒計時 納秒 升序 降序 遞歸 並發 崩潰 死機 訂閱源 推送 消息 站內信 刷票 馬甲 封禁
封號 運營 社區 獲取 上報 重置 恢復碼 丟失 丟棄 身份 生成 新建 兩步登 跳轉 重定向 公網 內網 副本 存儲 權限組
分組 評論 榜單 回復 許可權 引數 釋出 團伙 超時 檢測 星標 面容 鎖屏 落盤 正文 通過 發送郵件 后 隻 臺 裏 着 羣 爲
啓 衆 峯 綫 復制 複制 “ ” ‘ ’ 單個 核實 核查 概覽 時長 數字服務 不可用 預加載 預載入 獨立訪客 本組
無法撤銷 誠信宣告 程式造訪 連線裝置 連線主 連線伺服器 連線儲存庫 已尋找 停權了
"""
"""What Taiwan says, or writes, otherwise: in Traditional characters."""

LIKE_MAINLAND = re.compile("用戶端|主機名稱|鎖定時|版主頁面|登入並發布|通過審核")  # what only looks so
BY_PLACE = {
    "Apply": "套用",
    "Data and deletion": "資料與刪除帳號",
    "Added on %(date)s": "新增於 %(date)s",
    "Send": "傳送",
    "Send the link": "寄送連結",
    "Used to reset your password, and for the emails you turn on. We’ll send a link to verify it.": (
        "用於重設密碼和寄送你開啟的郵件。我們會寄出一個連結來驗證它。"
    ),
    "Email": "電子郵件",
    "Your email address has been saved.": "電子郵件地址已儲存。",
    "Skip to the content": "跳至主要內容",
    "View your profile": "查看你的個人頁面",
    "Set `TRUSTED_PROXIES` to the addresses of the proxies only.": "`TRUSTED_PROXIES` 只應列出代理伺服器的位址。",
    "code": "行內程式碼",
    "Code": "一次性代碼",
    "Undo": "復原",
    "Revoke": "撤銷權杖",
    "Programs": "程式存取",
}
"""Texts whose words depend on where they are."""


def test_the_traditional_catalogue_is_derived_from_the_simplified_one_with_the_words_of_taiwan(kept):
    traditional = catalogues.derived(kept)

    assert not catalogues.untranslated(traditional)
    for (message, simplified), (_, text) in zip(translations(kept), translations(traditional), strict=True):
        assert sorted(re.findall(r"%(?:\(\w+\))?[ds%]", text)) == sorted(
            re.findall(r"%(?:\(\w+\))?[ds%]", simplified)
        ), message.id
        "".join(re.findall(HAN, text)).encode("big5")  # it has no character that is simplified only
        plain = LIKE_MAINLAND.sub("", text)
        assert [word for word in MAINLAND.split() if word in plain] == [], text
    found = {forms(message.id)[0]: text for message, text in translations(traditional) if not message.context}
    assert {english: found[english] for english in BY_PLACE} == BY_PLACE


def test_each_line_of_the_table_of_words_has_a_text_that_it_is_for(kept):
    simplified = [text for _message, text in translations(kept)]
    together = "\n".join([*simplified, *(path.read_text("utf-8") for path in catalogues.contents())])
    lines = [line for path in catalogues.words_paths() for line in path.read_text("utf-8").splitlines()]
    words = {line.split("\t")[0] for line in lines if line and not line.startswith("#")}

    whole = {word for word in words if word.startswith("=")}
    assert {word[1:] for word in whole} <= set(simplified)
    assert not [word for word in words - whole if word not in together]


def test_content_of_extras_has_traditional_texts_derived_from_the_simplified_ones():
    for path in catalogues.contents():
        content = path.read_text("utf-8")
        assert content == catalogues.with_traditional(content)


def test_gettext_reads_the_compiled_catalogue(kept):
    found = gettext.GNUTranslations(io.BytesIO(catalogues.compiled(kept)))

    assert found.gettext("Front page") == "首页"
    assert {found.ngettext("%(n)s hour ago", "%(n)s hours ago", n) for n in (0, 1, 2, 100)} == {"%(n)s 小时前"}


@for_each("place", PLACES)
def test_a_file_contains_no_dates_and_no_names(place):
    text = place.po.read_text("utf-8")

    assert not re.search(r"Date:|@|Translator:|^#: .*:\d+$|^#~|fuzzy", text, re.MULTILINE)


def places(text: str) -> set[str]:
    return set(re.findall(r"%(?:\(\w+\))?[ds]", text.replace("%%", "")))


def test_placeholders_are_the_same_in_both_languages(kept):
    for message, chinese in translations(kept):
        english = forms(message.id)
        assert places(chinese) == set().union(*map(places, english)), english


IN_CHINESE = {
    "age", "ago", "ban", "banned", "comment", "current", "description", "end", "hours", "log", "node", "other",
    "page", "period", "reason", "report", "texts", "time", "wait", "when",
}  # fmt: skip
"""Placeholders that are filled with Chinese, or end with it."""


def test_a_name_or_title_beside_chinese_is_quoted_or_has_a_space(kept):
    for message, chinese in translations(kept):
        text = chinese.replace("分组%(what)s", "")  # which has quotes of its own
        beside = re.findall(rf"{HAN}%\((\w+)\)s", text) + re.findall(rf"%\((\w+)\)s(?={HAN})", text)
        assert set(beside) <= IN_CHINESE, chinese
        if "“%(title)s”" in chinese:
            of_group = all(name.startswith("templates/groups/") for name, _line in message.locations)
            assert of_group or message.id in OF_ANYTHING, chinese


@pytest.mark.source
def test_quotes_belong_to_translated_texts():
    """Each language has its own."""
    for path in (one for place in PLACES for source in place.sources for one in (ROOT / source).rglob("*.html")):
        text = re.sub(r"\{[{%].*?[%}]\}|\{#.*?#\}", "", path.read_text("utf-8"), flags=re.DOTALL)
        assert not re.search("[“”]", text), path
    for path in modules().values():
        formatted = [
            node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.JoinedStr)
        ]
        assert not [node.lineno for node in formatted if re.search("[“”]", ast.unparse(node))], path


OF_ANYTHING = {"“%(title)s”", "in the group “%(title)s”", "Redact an entry about “%(title)s”"}
"""Texts with a title that may be a group's. An article's alone is in 《》."""


def test_every_template_text_and_every_text_with_placeholders_can_be_formatted(kept):
    """Jinja formats each text: a lone percent sign would be an error on the page."""
    for message, chinese in translations(kept):
        if ("%(" in chinese) or any(name.endswith(".html") for name, _line in message.locations):
            for text in (chinese, *forms(message.id)):
                _ = text % dict.fromkeys(re.findall(r"%\((\w+)\)", text), 1)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (rf"{HAN}[,;:!?()]|[,;:!?(]\s*{HAN}", "half-width punctuation beside Chinese"),
        (rf"{HAN}\.(?!\w)", "a Latin full stop behind Chinese"),
        (rf"{HAN}[A-Za-z0-9]|[A-Za-z0-9]{HAN}", "no space between Chinese and Latin letters or digits"),
        (rf"{HAN} {HAN}|{HAN} +[，。：；？！、）”]|[，。：；？！、（“] +{HAN}", "a space inside Chinese"),
        (r"您|\.\.\.|''|‘|’", "你, … and “” are used here"),
        (r"用户(?!名)|会员|点赞|投稿|标签|话题|点踩|趋势|帖", "another word for one of the site's words"),
    ],
)
def test_chinese_texts_follow_chinese_typography(kept, wrong, why):
    for _message, chinese in translations(kept):
        if chinese == "n月j日":  # a date is written without spaces
            continue
        plain = re.sub(r"%(?:\(\w+\))?[ds]", "¤", chinese)
        assert not re.search(wrong, plain), f"{why}: {chinese}"


IN_DATABASES = "Can see the operator's page"  # the name of a permission


@pytest.mark.source
def test_english_texts_have_typographic_apostrophes(kept):
    ids = [text for message in texts(kept) if message.id != IN_DATABASES for text in forms(message.id)]

    assert not [text for text in ids if re.search(r"[A-Za-z]'|\"", text)], "write ’ and “” in texts"


def test_an_english_sentence_stays_a_sentence_in_chinese(kept):
    ends = {".": "。", "?": "？", ":": "："}
    for message, chinese in translations(kept):
        for english in forms(message.id):
            end = ends.get(english[-1])
            is_sentence = end and " " in english
            assert not is_sentence or chinese.endswith((end, "）", "^ gamma。", *string.digits)), chinese


def test_no_translation_is_just_the_english_text(kept):
    same = {forms(m.id)[0] for m, chinese in translations(kept) if chinese in forms(m.id)}

    assert {text for text in same if re.search("[A-Za-z]{2}", re.sub(r"%\(\w+\)[ds]", "", text))} <= {"API"}
