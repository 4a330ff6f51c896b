"""HTML -> what a reader of the page sees."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.extract.records import Extracted, Source
from pipeline.extract.registry import Registry
from pipeline.textkeys import fold


def read(page: str | bytes, name: str = "page.html") -> Extracted:
    return Registry().extract(Source(name, page.encode() if isinstance(page, str) else page))[1]


@pytest.mark.parametrize(
    ("page", "text"),
    [
        # paragraphs and lines
        ("<h1>Head</h1><p>One <b>two</b>,\n  three.</p><p>four", "Head\n\nOne two, three.\n\nfour"),
        ("<div><div><p>a</p></div></div><section>b</section>", "a\n\nb"),
        ("a<br>b<br/>c<br><br>d<br><br><br>e", "a\nb\nc\n\nd\n\ne"),
        ("<p>a<br></p><p><br></p><p>b", "a\n\nb"),
        ("x <i>y</i><span> z </span> w<em>v</em>", "x y z wv"),
        ("<p>  </p> text <p>\n</p>", "text"),
        # what nobody sees
        ("<head><title>T</title><style>s{}</style></head><body>seen</body>", "seen"),
        ("a<script>if (1 < 2) alert('x')</script>b<style>p{}</style><!-- c --><template>t</template>", "ab"),
        ("<noscript>turn on scripts</noscript><p>a<svg><title>icon</title></svg></p>", "a"),
        ("<p hidden>h</p><p style='color:red; DISPLAY : none'>x</p><p style='color:red'>seen</p>", "seen"),
        ("<dialog>closed</dialog><details><summary>more</summary>inside</details>", "more\n\ninside"),
        ("hy&shy;phen<wbr>ation", "hyphenation"),
        # entities
        ("<p>R&amp;D &lt;b&gt; &eacute;&#233;&#xe9; &copy;&nbsp;x &#xD800;", "R&D <b> ééé ©\u00a0x \ufffd"),
        # verbatim
        ("<p>a</p><pre>\n x\n   y  z\n\n<b>w</b>\n</pre><p>b", "a\n\n x\n   y  z\n\nw\n\nb"),
        ("<pre>a<br>  b</pre><textarea>\nc\n  d</textarea>", "a\n  b\n\nc\n  d"),
        # lists
        ("<p>a</p><ul><li>b<li>c<ol><li>d</ol></ul>e", "a\n\nb\nc\nd\n\ne"),
        ("<ul><li><p>a</p></li><li><p>b</p></li></ul>", "a\n\nb"),
        ("<dl><dt>term<dd>meaning</dl>", "term\nmeaning"),
        # tables
        ("<table><tr><th>A<th>B<tr><td>1<td>2</table>", "A\tB\n1\t2"),
        ("<table><tr><td><p>a</p><td><p>b</p><tr><td><td>c</table>d", "a\tb\n\tc\n\nd"),
        ("<table><tr><td>a</td> <td></td>\n<td>c</td></tr></table>", "a\t\tc"),
        ("<table><tr><td><h1>Big</h1><p>para</p></td><td>side</td></tr></table>", "Big\n\npara\n\nside"),
        ("<table><tr><td>a<br>b</td><td>c</td></tr></table>", "a\nb\tc"),
        # nothing at all
        ("", ""),
        ("<html><body><img src=x alt=y></body></html>", ""),
    ],
)
def test_visible_text(page: str, text: str) -> None:
    assert read(page).text == text


def test_xhtml_elements_that_close_themselves_do_not_swallow_the_page() -> None:
    page = '<?xml version="1.0"?><html><head><title/><script src="x"/></head><p>a<a id="q"/>b</p><br/>c</html>'
    assert read(page, "page.xhtml").text == "ab\n\nc"
    assert read(page, "page.html").text == "ab\n\nc"


def test_a_page_nests_as_deep_as_it_likes() -> None:
    assert read("<div>" * 5000 + "deep" + "<b><i>" * 5000 + "er").text == "deeper"


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("iso-8859-1", "cp1252"), ("windows-1251", "cp1251"), ("Shift_JIS", "shift_jis"), ("GB2312", "gb18030"),
        ("euc-kr", "euc_kr"), ("iso-2022-jp", "iso2022_jp"), ("utf-8", "utf-8"), ("utf-16", "utf-16"),
        ("no-such-thing", "utf-8"), ("unicode_escape", "utf-8"),
    ],
)  # fmt: skip
def test_a_page_is_read_in_the_encoding_that_it_names(declared: str, encoding: str) -> None:
    texts = {
        "cp1252": "déjà “vu”",
        "cp1251": "Привет",
        "shift_jis": "日本語",
        "iso2022_jp": "日本語",
        "gb18030": "简体",
    }
    text = texts.get(encoding, "한국" if encoding == "euc_kr" else "ünï")
    page = f'<html><meta http-equiv="Content-Type" content="text/html; charset={declared}"><p>{text}</p></html>'
    assert read(page.encode(encoding)).text == text


def test_a_page_that_is_utf8_is_read_so_whatever_it_says() -> None:
    assert read("<meta charset='iso-8859-1'><p>naïve “quotes”").text == "naïve “quotes”"


PARAGRAPH = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\u00ad"), min_size=1
)


@given(st.lists(PARAGRAPH.map(lambda text: " ".join(text.split())).filter(bool), min_size=1, max_size=6))
def test_a_text_and_its_html_rendering_have_the_same_paragraphs(paragraphs: list[str]) -> None:
    page = "<!doctype html><html><head><title>Title</title></head><body>\n" + "\n".join(
        f"  <p>{html.escape(text)}</p>" for text in paragraphs
    )
    assert [fold(text) for text in read(page).text.split("\n\n")] == [fold(text) for text in paragraphs]
