"""Mail, notebooks, JSON, XML, tables of values, and what is packed with gzip."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.records import Extracted, Source
from pipeline.extract.registry import Registry
from tests.support.office import docx, w_p


def read(data: bytes | str, name: str) -> Extracted:
    return Registry().extract(Source(name, data.encode() if isinstance(data, str) else data))[1]


def reason(data: bytes | str, name: str) -> str:
    with pytest.raises(ExtractionFailed) as caught:
        read(data, name)
    return caught.value.reason


# --- mail ---


def mail(text: str = "", html: str = "") -> EmailMessage:
    message = EmailMessage()
    message["Subject"], message["From"] = "Réunion 日本", "Ann Müller <ann@example.org>"
    message["To"], message["Date"] = "b@example.org", "Mon, 1 Jan 2024 10:00:00 +0100"
    message["X-Spam"] = "not shown"
    if text:
        message.set_content(text)
    if html:
        (message.add_alternative if text else message.set_content)(html, subtype="html")
    return message


HEADERS = (
    "Subject: Réunion 日本\nFrom: Ann Müller <ann@example.org>\nTo: b@example.org\n"
    "Date: Mon, 01 Jan 2024 10:00:00 +0100"
)


def test_of_alternatives_the_plain_text_is_read() -> None:
    extracted = read(mail("Hello Bob,\n\nünï.\n", "<p>Hello <b>Bob</b>").as_bytes(), "a.eml")
    assert (extracted.kind, extracted.text) == ("email", HEADERS + "\n\nHello Bob,\n\nünï.")


def test_html_is_read_as_it_is_seen() -> None:
    assert read(mail(html="<p>Hello<p>Bob<style>x</style>").as_bytes(), "a.eml").text == HEADERS + "\n\nHello\n\nBob"
    assert read(mail(" \n", "<p>Real").as_bytes(), "a.eml").text == HEADERS + "\n\nReal"


def test_attachments_are_named_and_not_read() -> None:
    message = mail("Body.")
    message.add_attachment(docx(w_p("not this")), maintype="application", subtype="msword", filename="größe.docx")
    message.add_attachment("nor this", filename="notes.txt")
    inner = EmailMessage()
    inner["Subject"] = "Forwarded"
    inner.set_content("nor this one")
    message.add_attachment(inner)
    wanted = HEADERS + "\n\nBody.\n\nAttachment: größe.docx\nAttachment: notes.txt\nAttachment: Forwarded"
    assert read(message.as_bytes(), "a.eml").text == wanted


def test_a_web_page_with_its_parts_is_read_as_a_mail() -> None:
    parts = ("text/html\n\n<p>Hello<p>two", "text/css\n\np { margin: 0 }", "image/png\nContent-Location: a.png\n\nx")
    body = "".join(f"--b\nContent-Type: {part}\n" for part in parts)
    data = f"Subject: A page\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n\n{body}--b--\n"
    assert read(data, "a.mhtml").text == "Subject: A page\n\nHello\n\ntwo"


@pytest.mark.parametrize(
    ("charset", "data", "text"),
    [
        ("iso-8859-1", "naïve €".encode("cp1252"), "naïve €"), ("us-ascii", "naïve".encode(), "naïve"),
        ("koi8-r", "Привет".encode("koi8_r"), "Привет"), ("iso-2022-jp", "日本語".encode("iso2022_jp"), "日本語"),
        ("no-such-thing", "ünï".encode(), "ünï"), ("utf-8", b"a\xffb", "aÿb"), ("utf-8", b"a\0b", "ab"),
    ],
)  # fmt: skip
def test_texts_in_the_encoding_that_they_name_or_another(charset: str, data: bytes, text: str) -> None:
    head = f"From: a@b\nMIME-Version: 1.0\nContent-Type: text/plain; charset={charset}\n"
    for encoding, body in (("8bit", data), ("base64", base64.b64encode(data))):
        found = read(f"{head}Content-Transfer-Encoding: {encoding}\n\n".encode() + body, "a.eml").text
        assert found == f"From: a@b\n\n{text}"


def test_mail_that_is_odd() -> None:
    assert read(b"Subject: caf\xc3\xa9\n over lines\nFrom: =?utf-8?q?=C3=A9?= <=?x?y?=>\n\n", "a.eml").text == (
        "Subject: café over lines\nFrom: é <=?x?y?=>"
    )
    nested = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(3000))
    assert reason("From: a\n" + nested, "a.eml") == "nested too deeply"
    assert read("Subject: x\n\n" + "words", "a.eml").text == "Subject: x\n\nwords"
    sealed = read("From: a\nContent-Type: multipart/encrypted; boundary=b\n\n--b\n\nx\n--b--\n", "a.eml")
    assert (sealed.text, sealed.warnings) == ("From: a", ("its text is encrypted",))
    assert read("just words", "a.eml").warnings == ("named .eml, but read as plain text",)


# --- notebooks ---


def test_a_notebook_is_the_markdown_that_it_exports() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title\n", "Text."]},
        {"cell_type": "code", "source": "print('a')\n# not a heading", "outputs": [
            {"output_type": "stream", "text": ["a\n", "\x1b[31mred\x1b[0m\n"]},
            {"output_type": "execute_result", "data": {"text/plain": "42", "text/html": "<b>42</b>"}},
            {"output_type": "display_data", "data": {"image/png": "iVBOR", "text/html": "<p>seen</p>"}},
            {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": ["\x1b[0m..."]},
        ]},
        {"cell_type": "raw", "source": "raw"}, {"cell_type": "code", "source": "```", "outputs": []}, "no cell",
    ]  # fmt: skip
    book = {"nbformat": 4, "metadata": {"language_info": {"name": "python"}}, "cells": cells}
    registry = Registry()
    extractor, extracted = registry.extract(Source("a.ipynb", json.dumps(book).encode()))
    assert (extractor.markup, extracted.kind) == ("markdown", "notebook")
    assert extracted.text == (
        "# Title\nText.\n\n```python\nprint('a')\n# not a heading\n```\n\n    a\n    red\n\n    42\n\n    seen\n\n"
        "    ValueError: bad\n\nraw\n\n````python\n```\n````"
    )


def test_old_and_broken_notebooks() -> None:
    old = {"worksheets": [{"cells": [{"cell_type": "heading", "level": 2, "source": "H"}, {"cell_type": "code",
           "input": "x = 1", "outputs": [{"output_type": "stream", "text": "1"}]}]}]}  # fmt: skip
    assert read(json.dumps(old), "a.ipynb").text == "## H\n\n```\nx = 1\n```\n\n    1"
    for data in ('{"a": 1}', "[1]", '{"cells": 3}', "<<<<<<< HEAD\n{"):
        assert "not a notebook: it has no cells" in read(data, "a.ipynb").warnings


# --- JSON ---


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ('{"name": "Ann", "age": 30, "ok": true, "no": null, "x": 1.50, "big": 1e999}',
         "name: Ann\nage: 30\nok: true\nno: null\nx: 1.50\nbig: 1e999"),
        ('{"b": {"c": {"d": "e"}, "f": 1}, "a": 2}', "b:\n  c:\n    d: e\n  f: 1\na: 2"),
        ('{"tags": ["x", "y"], "none": [], "nothing": {}, "n": [1, 2.0]}',
         "tags: x, y\nnone: []\nnothing: {}\nn: 1, 2.0"),
        ('[{"id": 1, "k": "a"}, {"id": 2}]', "id: 1\nk: a\n\nid: 2"),
        ('{"list": [{"id": 1, "k": "a"}, {"id": 2}, 3]}', "list:\n  - id: 1\n    k: a\n  - id: 2\n  - 3"),
        ('{"a": 1, "a": 2}', "a: 1\na: 2"),
        ('{"text": "One.\\n\\nTwo.", "after": "x"}', "text:\nOne.\n\nTwo.\nafter: x"),
        ('"words"', "words"), ("[1, 2, 3]", "1, 2, 3"), ("{}", ""), ("[]", "[]"), ("7", "7"),
        ('{"nul": "a\\u0000b", "half": "\\ud800", "pair": "\\ud83d\\ude00", "rtl": "שלום"}',
         "nul: ab\nhalf: \ufffd\npair: 😀\nrtl: שלום"),
        ("[[[1, 2], [3]], [[4]]]", "- 1, 2\n- 3\n\n- 4"),
        ("\ufeff" + '{"a": "' + "é" * 100_000 + '"}', "a: " + "é" * 100_000),
    ],
)  # fmt: skip
def test_json_is_lines_of_keys_and_values(data: str, text: str) -> None:
    extracted = read(data, "a.json")
    assert (extracted.kind, extracted.text, extracted.warnings) == ("json", text, ())


def test_json_lines_are_records() -> None:
    assert read('{"a": 1, "b": "x"}\n\n{"a": 2}\n', "a.jsonl").text == "a: 1\nb: x\n\na: 2"
    assert read('{"a": 1}\n{"a": 2}\n', "a.json").text == "a: 1\n\na: 2"
    mended = read('{"a": 1}\nnot json\n', "a.ndjson")
    assert (mended.text, mended.warnings) == ("a: 1\n\nnot json", ("1 line is not valid JSON",))


def test_what_is_no_json_is_read_as_it_is() -> None:
    config = '{\n  // a comment\n  "a": 1,\n}\n'
    extracted = read(config, "tsconfig.json")
    assert (extracted.kind, extracted.text) == ("text", config)
    assert extracted.warnings == ("not valid JSON in line 2: read as plain text",)
    assert read("words\n", "a.jsonl").text == "words\n"
    for data in ("[" * 5000 + "]" * 5000, '{"a":' * 5000 + "1" + "}" * 5000, "[" * 300 + "]" * 300):
        assert reason(data, "a.json").startswith("nested too deeply") or "[]" in data


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_no_value_of_a_json_gets_lost(value: object) -> None:
    def leaves(one: object) -> list[str]:
        if isinstance(one, dict):
            return [leaf for key, inner in one.items() for leaf in [key, *leaves(inner)]]
        if isinstance(one, list):
            return [leaf for inner in one for leaf in leaves(inner)]
        return [one] if isinstance(one, str) else [json.dumps(one)]

    text = read(json.dumps(value), "a.json").text
    for leaf in leaves(value):
        for word in leaf.split():
            assert "".join(char for char in word if char.isprintable()) in "".join(filter(str.isprintable, text))


# --- XML ---


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("<a><title>Short title</title><para>First.</para></a>", "Short title\nFirst."),
        (f"<s><p>{'long ' * 20}.</p><p>b</p></s>", f"{'long ' * 20}.\n\nb"),
        ("<p>One <b>bold</b> word.</p>", "One bold word."), ("<p><b>Note</b> that <i>x</i></p>", "Note that x"),
        ("<t><r><a>1</a><b>x</b></r>\n <r><a>2</a><b>y</b></r></t>", "1\nx\n\n2\ny"),
        ('<x y="attribute"/>', ""), ("<x><!-- c --><?pi y?><![CDATA[a < b]]></x>", "a < b"),
        ("<x>a\n   b\tc</x>", "a b c"), ("<x>&lt;&#233;&amp;</x>", "<é&"),
        ("<!DOCTYPE x [<!ENTITY n 'Name'>]><x>&n;</x>", "Name"),
        ("<!DOCTYPE x SYSTEM 'x.dtd'><x>a&nbsp;b</x>", "a\u00a0b"),
        ('<svg xmlns="http://www.w3.org/2000/svg"><style>x{}</style><text>Seen</text><script>y</script></svg>', "Seen"),
        ("<rss><item><title>T</title><description>&lt;p&gt;One&lt;p&gt;Two &lt;b&gt;x</description></item></rss>",
         "T\nOne\n\nTwo x"),
        ("<a>" * 9000 + "deep" + "</a>" * 9000, "deep"),
    ],
)  # fmt: skip
def test_xml_is_the_text_between_its_tags(data: str, text: str) -> None:
    extracted = read(data, "a.xml")
    assert (extracted.kind, extracted.text, extracted.warnings) == ("xml", text, ())


def test_xml_of_other_encodings_and_kinds() -> None:
    for encoding in ("iso-8859-1", "gb18030", "utf-16", "shift_jis"):
        text = "日本" if encoding in ("gb18030", "shift_jis", "utf-16") else "é"
        data = f'<?xml version="1.0" encoding="{encoding}"?><a>{text}</a>'.encode(encoding)
        assert read(data, "a.xml").text == text
    assert read("<html><body><p>a<p>b</html>", "a.xml").kind == "html"
    broken = read("<a>{{ x }} & y</a>", "a.xml")
    assert (broken.kind, broken.text) == ("text", "<a>{{ x }} & y</a>")
    assert broken.warnings == ("not well-formed XML in line 1: not well-formed (invalid token): read as plain text",)


def test_entities_cost_their_file_only_and_nothing_outside_is_read() -> None:
    levels = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10}'>" for n in range(1, 12))
    bombs = [
        f"<!DOCTYPE x [<!ENTITY e0 'lol'>{levels}]><x>&e11;</x>",
        f"<!DOCTYPE x [{levels}<!ENTITY e0 'lol'>]><x>&e11;</x>",
        "<!DOCTYPE x [<!ENTITY a '&b;'><!ENTITY b '&a;'>]><x>&a;</x>",
    ]
    for bomb in bombs:
        assert reason(bomb, "a.xml") == "an XML bomb: its entities grow without bound"
        assert reason(docx(w_p("x"), {"s": ("styles", "styles.xml")}, {"styles.xml": bomb.encode()}), "a.docx") == (
            "an XML bomb: its entities grow without bound"
        )
    quadratic = f"<!DOCTYPE x [<!ENTITY a '{'a' * 500_000}'>]><x>{'&a;' * 1000}</x>"
    assert reason(quadratic, "a.xml") in (
        "too much text: more than 20,000,000 characters", "an XML bomb: its entities grow without bound",
    )  # fmt: skip
    outside = "<!DOCTYPE x [<!ENTITY f SYSTEM 'file:///etc/passwd'><!ENTITY % p SYSTEM 'http://x/'> %p;]><x>[&f;]</x>"
    assert read(outside, "a.xml").text == "[]"


# --- tables of values, source code ---


@pytest.mark.parametrize(
    ("name", "kind"), [("a.csv", "csv"), ("a.tsv", "csv"), ("a.rst", "text"), ("a.py", "code"), ("a.yaml", "text")]
)
def test_texts_stay_as_they_are(name: str, kind: str) -> None:
    text = 'a;"b\r\nc";\td\n\nTitle\n=====\n'
    extracted = read(text, name)
    assert (extracted.kind, extracted.text, extracted.warnings) == (kind, text, ())


# --- gzip ---


@pytest.mark.parametrize(
    ("name", "data", "kind", "text"),
    [
        ("changelog.Debian.gz", b"pkg (1.0)\n", "text", "pkg (1.0)\n"), ("README.md.gz", b"# x", "markdown", "# x"),
        ("a.1.gz", b".TH A 1\n", "text", ".TH A 1\n"), ("a.html.gz", b"<p>x<p>y", "html", "x\n\ny"),
        ("a.json.gz", b'{"a": 1}', "json", "a: 1"), ("a.svgz", b"<svg>x</svg>", "xml", "x"),
        ("a.csv.GZ", b"a,b", "csv", "a,b"),
        ("a.gz", b"plain", "text", "plain"), ("packed.txt", b"words", "text", "words"),
    ],
)  # fmt: skip
def test_what_is_packed_is_read_by_its_inner_name(name: str, data: bytes, kind: str, text: str) -> None:
    registry = Registry()
    extractor, extracted = registry.extract(Source(name, gzip.compress(data)))
    assert (extracted.kind, extracted.text, extracted.warnings) == (kind, text, ())
    assert extractor.markup == ("markdown" if kind == "markdown" else "plain")
    assert registry.extractor_for(name, gzip.compress(data)).kind == kind


def test_packed_files_may_be_several_in_one() -> None:
    assert read(gzip.compress(b"one ") + gzip.compress(b"two") + b"\0" * 500, "a.txt.gz").text == "one two"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (gzip.compress(b"words " * 1000)[:-20], "a damaged GZ: its end is missing"),
        (gzip.compress(b"words")[:-8] + b"x" * 8, "a damaged GZ: it cannot be unpacked"),
        (gzip.compress(gzip.compress(b"x")), "an archive inside another is not opened"),
        (gzip.compress(docx(w_p("x"))), "an archive inside another is not opened"),
        (gzip.compress(b"\0" * 2000), "unknown kind: .gz"),
    ],
)
def test_packed_files_that_are_not_read_say_why(data: bytes, told: str) -> None:
    assert reason(data, "a.gz") == told


def test_a_bomb_of_gzip_is_refused_without_unpacking_it_all() -> None:
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(b"a line\n" * 150_000) for _ in range(250)) + packer.flush()
    assert len(bomb) < 2_000_000
    assert reason(bomb, "a.txt.gz") == "too large: it unpacks to more than 200 MB"
