import pytest

from articles.readership.detection import LONGEST, is_bot

PHONE = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36"
IPHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"
)


@pytest.mark.parametrize(
    "agent",
    [
        *("", "   "),
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        f"Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X) {PHONE} (compatible; Googlebot/2.1; +http://example.org)",
        *("iisbot/1.0 (+http://www.iis.net/iisbot.html)", "SensikaBot/x.33", "Some_Bot_2", "robots.example"),
        *("NewsCrawler 2", "WebSpider/0.1 beta", "my scraper", "Feedly Fetcher 1.0", "Site Monitor, every minute"),
        *(
            "FeedReader 3 (Windows)",
            "NetNewsWire (RSS Reader; 6.1)",
            "Akregator/1.2.9; syndication",
            "Link Checker 1",
        ),
        *(
            "python-requests/2.32",
            "Go-http-client/2.0",
            "okhttp/4.12.0",
            "curl/8.5.0",
            "Apache-HttpClient/4.5 (Java/17)",
        ),
        *(
            "Our App 1.0 (libcurl 8; Linux)",
            "Ours (Windows; WinHTTP 5)",
            "Java 17 of ours",
            "ruby 3.2 on a server",
        ),
        "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0 Safari/537.36",
        f"Mozilla/5.0 (X11; Linux x86_64) {PHONE} (+https://example.org/about)",
        "Some agent of ours; mail: ops@example.org",
        *(
            "Mozilla/5.0",
            "Mozilla/5.0 Keydrop",
            "Mozilla/5.0 (compatible; Dormouse/1.0)",
            "Mozilla/5.0 (compatible)",
        ),
        *("masscan", "collectd/5.5.1", "${jndi:ldap://x}", "My User Agent 1.0"),
    ],
)
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
        *(
            "Opera/9.80 (Windows NT 6.1) Presto/2.12.388 Version/12.18",
            "Lynx/2.8.9rel.1 libwww-FM/2.14 SSL-MM/1.4.1",
        ),
        *("w3m/0.5.3+git20230121", "Links (2.29; Linux 6.1 x86_64; GNU C 12.2; text)", "Dillo/3.0.5"),
        *(
            f"Mozilla/5.0 (Linux; Android 13; {model}) {PHONE}"
            for model in ("CUBOT_X18_Plus Build/O00623", "CUBOT NOTE 21", "M bot 60", "XBot_Senior", "Spider 8")
        ),
        f"Mozilla/5.0 (Linux; Android 11; Moto G Power (2022); Robot) {PHONE}",
        f"{IPHONE} [FBAN/FBIOS;FBAV/450.0.0;FBBV/1;FBDV/iPhone15,3;FBSN/iOS;FBSV/17.4]",
        f"{IPHONE} Instagram 330.0.3 (iPhone15,3; iOS 17_4; en_US; scale=3.00)",
        f"Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) {PHONE} Version/4.0 MicroMessenger/8.0.48 NetType/WIFI",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chat/1.2 Electron/30.0",
    ],
)
def test_a_readers_browser_is_not_a_bot(agent):
    assert not is_bot(agent)


def test_a_user_agent_is_examined_up_to_a_limit():
    browser = "Mozilla/5.0 (Windows NT 10.0; rv:125.0) Gecko/20100101 Firefox/125.0 "

    assert not is_bot(browser.ljust(LONGEST) + "crawler")
