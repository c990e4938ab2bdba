import pytest
from crawleruseragents import CRAWLER_USER_AGENTS_DATA

from articles.web.readership.programs import LONGEST, NARROWED, is_bot

PHONE = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36"
CHROME = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko)"
DESKTOP = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
)


@pytest.mark.parametrize(
    "agent",
    [
        "", "   ", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        f"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X) {PHONE} (compatible; Googlebot/2.1; +http://example.org)",
        "iisbot/1.0 (+http://www.iis.net/iisbot.html)", "SensikaBot/x.33", "Some_Bot_2", "robots.example",
        "NewsCrawler 2", "WebSpider/0.1 beta", "my scraper", "Feedly Fetcher 1.0",
        "Site Monitor, every minute", "FeedReader 3 (Windows)", "NetNewsWire (RSS Reader; 6.1)",
        "Akregator/1.2.9; syndication", "Link Checker 1", "python-requests/2.32", "Go-http-client/2.0",
        "okhttp/4.12.0", "curl/8.5.0", "Apache-HttpClient/4.5 (Java/17)", "Our App 1.0 (libcurl 8; Linux)",
        "Ours (Windows; WinHTTP 5)", "Java 17 of ours", "ruby 3.2 on a server",
        "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0 Safari/537.36",
        f"Mozilla/5.0 (X11; Linux x86_64) {PHONE} (+https://example.org/about)",
        "Some agent of ours; mail: ops@example.org", "Mozilla/5.0", "Mozilla/5.0 Keydrop",
        "Mozilla/5.0 (compatible; Dormouse/1.0)", "Mozilla/5.0 (compatible)", "masscan", "collectd/5.5.1",
        "${jndi:ldap://x}", "My User Agent 1.0",
        "Mozilla/5.0 (KHTML, like Gecko; compatible; X/1.0)", f"{CHROME[:-1]}; compatible; X/1.0) Chrome/120.0",
        f"{CHROME}; compatible; X/1.0; more", f"{DESKTOP} (compatible; X)", f"{DESKTOP} Agent-NovaAct/0.9",
        "GeminiCLI/0.1.9/gemini-2.5-pro (darwin; arm64)", "codex_cli_rs/0.40 (Mac OS)",
        "Mozilla/5.0 amazon-QBusiness-a",
        f"{DESKTOP}; Ours-User/1.0", "ChatGPT Agent", "Our-Assistant/1 (Linux)", f"{DESKTOP} Google-Ours",
        "WhatsApp/2.23.20.0 A", "WhatsApp/2.18.79 Android/5.1 Device/Meizu-MX5", "Viber",
        "Blackboard Safeassign", "Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)",
        "Fever/1.38 (Feed Parser)",
        f"Mozilla/5.0 (Linux; Android 8.0; Pixel 2 Build/OPD3.170816.012; DuplexWeb-Google/1.0) {PHONE}",
        f"Mozilla/5.0 (Linux; Android 4.1.2; cs-cz; Their Build/Q3; screenshot-generator) {PHONE}",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/534.34 (KHTML, like Gecko) wkhtmltopdf Safari/534.34",
        "npm/6.14.12 node/v10.24.1 linux x64", "LinkResolver 2", "Their automated tester",
    ],
)  # fmt: skip
def test_a_program_that_fetches_pages_is_a_bot(agent):
    assert is_bot(agent)


@pytest.mark.parametrize(
    "agent",
    [
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:125.0) Gecko/20100101 Firefox/125.0",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Safari/605.1.15",
        "Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko",
        "Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2; Trident/6.0)",
        "Mozilla/5.0 (compatible; Konqueror/4.5; Linux) KHTML/4.5.4 (like Gecko)",
        "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 5.1; Embedded Web Browser from: http://bsalsa.com/)",
        "Opera/9.80 (Windows NT 6.1) Presto/2.12.388 Version/12.18",
        "Lynx/2.8.9rel.1 libwww-FM/2.14 SSL-MM/1.4.1",
        "w3m/0.5.3+git20230121", "Links (2.29; Linux 6.1 x86_64; GNU C 12.2; text)", "Dillo/3.0.5",
        "Mozilla/5.0 (Macintosh; U) AppleWebKit/528.16 (KHTML, like Gecko) Fluid/0.9.6 Safari/528.16",
        "Mozilla/4.0 (compatible; MSIE 8.0; User-agent: Mozilla/4.0 (compatible; MSIE 6.0; http://bsalsa.com))",
        "Mozilla/5.0 (compatible; StaffsStudentImage; Windows NT 6.3; WOW64; rv:26.0) Gecko/20100101 Firefox/26.0",
        "DESAY TS1008/1.0 Release/07.12.2013 Mozilla/5.0 (Linux; U; Android 4.0.3; zh-cn) AppleWebKit/534.30",
        f"{IPHONE} Blackboard/3.7.0",
        f"{IPHONE} [FBAN/FBIOS;FBAV/450.0.0;FBBV/1;FBDV/iPhone15,3;FBSN/iOS;FBSV/17.4]",
        f"{IPHONE} Instagram 330.0.3 (iPhone15,3; iOS 17_4; en_US; scale=3.00)",
        f"Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) {PHONE} Version/4.0 MicroMessenger/8.0.48 NetType/WIFI",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chat/1.2 Electron/30.0",
    ],
)  # fmt: skip
def test_a_readers_browser_is_not_a_bot(agent):
    assert not is_bot(agent)


DEVICES = {
    "Samsung": ("14; SM-S918B Build/UP1A.231005.007", "15; SM-A556E Build/AP3A.240905.015.A2", "16; SM-F966N"),
    "Google": (
        "14; Pixel 8 Pro Build/UD1A.231105.004", "15; Pixel 9 Build/AP4A.250205.002", "16; Pixel 10 Pro XL",
    ),
    "Xiaomi": (
        "13; 2201117TY Build/TKQ1.221114.001", "15; 24129PN74G Build/AQ3A.240829.003", "14; Redmi Note 13 Pro",
    ),
    "POCO": ("14; 23113RKC6G Build/UKQ1.230804.001",),
    "OPPO": ("15; CPH2557 Build/AP3A.240617.008", "14; CPH2525 Build/UP1A.231005.007", "15; PKH120"),
    "OnePlus": ("15; CPH2581 Build/AP3A.240617.008", "15; PJZ110 Build/AP3A.240617.008", "14; LE2113"),
    "realme": ("15; RMX5020 Build/AP3A.240617.008", "14; RMX3890 Build/UKQ1.230924.001"),
    "vivo": ("15; V2405A Build/AP3A.240905.015.A1", "14; V2254 Build/UP1A.231005.007", "15; I2405"),
    "Huawei": ("12; ALN-AL00 Build/HUAWEIALN-AL00", "10; ELS-NX9 Build/HUAWEIELS-N29"),
    "Honor": ("15; BVL-N49 Build/HONORBVL-N49", "14; REA-NX9 Build/HONORREA-N39"),
    "Motorola": ("14; motorola edge 50 pro Build/U1UMS34M", "11; Moto G Power (2022); Robot"),
    "Nokia": ("14; Nokia G42 5G Build/UKQ1.230917.001",),
    "Sony": ("14; XQ-DQ54 Build/67.2.A.2.94",),
    "Asus": ("14; ASUS_AI2401_A Build/UKQ1.231003.002",),
    "Transsion": (
        "14; TECNO CK9n Build/UP1A.231005.007", "13; Infinix X6833B", "13; itel A666L Build/TP1A.220624.014",
    ),
    "ZTE": ("14; NX769J Build/UKQ1.230917.001", "13; ZTE Blade V50 Vita Build/TP1A.220624.014"),
    "Nothing": ("15; A065 Build/AP3A.240905.015.A2",),
    "Fairphone": ("14; FP5 Build/UKQ1.231222.001",),
    "Lenovo": ("14; TB373FU Build/UKQ1.231222.001",),
    "Amazon": ("11; KFTUWI Build/RS8331",),
    "HTC": ("4.2.2; HTC Butterfly Build/JDQ39", "4.4.2; HTCButterflys901s Build/KOT49H"),
    "ViewSonic": ("4.4.2; ViewSonic V500 Build/KVT49L", "5.1; O+ Sonic"),
    "Wiko": ("8.1.0; Fever_Plus Build/O11019", "5.1; FEVER"),
    "others": (
        "13; CUBOT_X18_Plus Build/O00623", "13; CUBOT NOTE 21", "13; M bot 60", "13; XBot_Senior",
        "13; Spider 8", "8.0.0; Expanse", "12; Monitor 5", "9; Crawler",
    ),
}  # fmt: skip
INSIDE_APPS = (
    "MetaIAB Facebook", "[FB_IAB/FB4A;FBAV/450.0.0.40.109;IABMV/1;]",
    "Instagram 406.0.0.58.159 Android (35/15; 480dpi; 1080x2400; OPPO; CPH2557; OP573DL1; mt6833; en_MY)",
    "WhatsApp/2.25.1.81", "Viber/27.4.0.0", "MicroMessenger/8.0.48 NetType/WIFI Language/zh_CN",
    "QQ/9.0.60.14600 NetType/WIFI WebP/0.4.1", "AWP/2.0 SogouMSE,SogouMobileBrowser/6.1.54",
    "baiduboxapp/13.60.0.10", "Weibo (OPPO-CPH2557__weibo__14.1.0__android__android15)",
    "NewsArticle/9.8.4 JsSdk/2.0 NetType/wifi (News 9.8.4 15)",
    "BytedanceWebview/d8a21c6 trill_390003 musical_ly", "Line/14.2.0/IAB",
    "KAKAOTALK 2410420;KAKAOTALK 10.4.2;INAPP", "Snapchat/12.64.0.38 (CPH2557; Android 15)",
)  # fmt: skip


def browsers_on(device: str) -> list[str]:
    """Return the user agents of browsers on an Android device: Chrome, a web view, and those by UC and Yandex."""
    version, _, model = device.partition("; ")
    return [
        f"Mozilla/5.0 (Linux; Android {device}) {PHONE}",
        f"Mozilla/5.0 (Linux; Android {device}; wv) {PHONE.replace('Chrome', 'Version/4.0 Chrome')}",
        f"Mozilla/5.0 (Linux; U; Android {version}; zh-CN; {model}) {PHONE.replace('Mobile', 'UCBrowser/17')}",
        f"Mozilla/5.0 (Linux; arm_64; Android {device}) {PHONE.replace('Mobile', 'YaBrowser/24.1 SA/3 Mobile')}",
        f"UCWEB/2.0 (Linux; U; Adr {version}; en-US; {model}) U2/1.0.0 UCMini/10.9.8.1006 U2/1.0.0 Mobile",
    ]


@pytest.mark.parametrize("brand", DEVICES)
def test_browsers_on_every_brand_of_android_are_readers(brand):
    agents = [agent for device in DEVICES[brand] for agent in browsers_on(device)]

    assert [agent for agent in agents if is_bot(agent)] == []


def test_browsers_inside_apps_are_readers():
    views = [f"Mozilla/5.0 (Linux; Android 15; CPH2557 Build/AP3A.240617.008; wv) {PHONE}", IPHONE]

    assert [f"{view} {app}" for view in views for app in INSIDE_APPS if is_bot(f"{view} {app}")] == []


def test_what_the_list_is_narrowed_by_is_in_it_and_loses_only_readers():
    listed = {one["pattern"]: one["instances"] for one in CRAWLER_USER_AGENTS_DATA}
    assert NARROWED.keys() <= listed.keys(), "it is no longer in the list"

    passed = {pattern: [a for a in listed[pattern] if not is_bot(a)] for pattern in NARROWED}
    found = {pattern: len(agents) for pattern, agents in passed.items() if agents}
    assert found == {r"AP3A\.240617\.008": 1, "MetaIAB Facebook": 1, "Fluid": 1}
    assert [
        a for pattern, agents in listed.items() if pattern not in passed for a in agents if not is_bot(a)
    ] == []


def test_a_user_agent_is_examined_up_to_a_limit():
    browser = "Mozilla/5.0 (Windows NT 10.0; rv:125.0) Gecko/20100101 Firefox/125.0 "

    assert not is_bot(browser.ljust(LONGEST) + "crawler")
