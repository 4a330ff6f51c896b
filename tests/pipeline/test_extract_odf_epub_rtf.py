"""OpenDocument, EPUB and RTF."""

from __future__ import annotations

import itertools

import pytest

from pipeline.extract import cells
from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.records import Extracted, Source
from pipeline.extract.registry import Registry
from tests.support.office import epub, odf, odf_p, odf_xml, page, rtf, rtf_p


def read(data: bytes, name: str) -> Extracted:
    return Registry().extract(Source(name, data))[1]


def pages(extracted: Extracted) -> list[str]:
    assert [one.number for one in extracted.pages] == list(range(1, len(extracted.pages) + 1))
    assert all(a.end <= b.start for a, b in itertools.pairwise(extracted.pages))
    return [extracted.text[one.start : one.end] for one in extracted.pages]


def reason(data: bytes, name: str) -> str:
    with pytest.raises(ExtractionFailed) as caught:
        read(data, name)
    return caught.value.reason


# --- ODT ---

HIDDEN = '<style:style style:name="H"><style:text-properties text:display="none"/></style:style>'


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<text:h>Head</text:h>" + odf_p("One") + odf_p("") + odf_p("Two"), "Head\n\nOne\n\nTwo"),
        ("<text:p>a<text:s text:c='3'/>b<text:tab/>c<text:line-break/>d <text:span>e</text:span></text:p>",
         "a b c\nd e"),
        (odf_p("A") + f"<text:list><text:list-item>{odf_p('b')}<text:list><text:list-item>{odf_p('c')}</text:list-item>"
         f"</text:list></text:list-item><text:list-item>{odf_p('d')}</text:list-item></text:list>" + odf_p("E"),
         "A\n\nb\nc\nd\n\nE"),
        ("<text:list><text:list-item><text:h>1 Head</text:h></text:list-item></text:list>" + odf_p("x"), "1 Head\n\nx"),
        (f"<table:table><table:table-row><table:table-cell>{odf_p('a')}</table:table-cell><table:table-cell>"
         f"{odf_p('b')}</table:table-cell></table:table-row><table:table-row><table:covered-table-cell/>"
         f"<table:table-cell>{odf_p('d')}{odf_p('e')}</table:table-cell></table:table-row></table:table>{odf_p('F')}",
         "a\tb\nd\n\ne\n\nF"),
        ("<text:tracked-changes><text:changed-region><text:deletion>" + odf_p("gone") + "</text:deletion>"
         "</text:changed-region></text:tracked-changes>" + odf_p("kept"), "kept"),
        ("<text:p>a<office:annotation><text:p>remark</text:p></office:annotation>b"
         "<text:span text:style-name='H'>hidden</text:span></text:p>", "ab"),
        ("<text:p>word<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>The note.</text:p>"
         "</text:note-body></text:note> goes on</text:p>" + odf_p("Next"), "word goes on\n\nNext\n\nThe note."),
        ("<text:p>a <draw:frame><draw:text-box><text:p>In the box.</text:p></draw:text-box><svg:title>T</svg:title>"
         "</draw:frame>b<draw:custom-shape><text:p>On the shape.</text:p></draw:custom-shape></text:p>" + odf_p("c"),
         "a b\n\nIn the box.\n\nOn the shape.\n\nc"),
        ("<text:section text:display='none'><text:p>x</text:p></text:section><text:section><text:p>y</text:p>"
         "</text:section>", "y"),
        ("<text:p>שלום 日本 👩‍👩‍👧</text:p>", "שלום 日本 👩‍👩‍👧"),
        ("", ""),
    ],
)  # fmt: skip
def test_texts(markup: str, text: str) -> None:
    for extracted in (
        read(odf("text", markup, HIDDEN), "a.odt"),
        read(odf_xml("text", markup, HIDDEN).encode(), "a.fodt"),
    ):
        assert (extracted.kind, extracted.text, extracted.pages) == ("odt", text, ())


def test_headers_and_footers_of_a_text_come_once() -> None:
    margins = "".join(
        f"<style:master-page><style:header>{odf_p('Travel rules')}</style:header>"
        f"<style:footer>{odf_p('3')}</style:footer></style:master-page>"
        for _ in range(2)
    )
    assert read(odf("text", odf_p("x"), masters=margins), "a.odt").text == "x\n\nTravel rules"


def row(*texts: str, repeated: int = 1) -> str:
    inner = "".join(f"<table:table-cell>{odf_p(text) if text else ''}</table:table-cell>" for text in texts)
    return f'<table:table-row table:number-rows-repeated="{repeated}">{inner}</table:table-row>'


def test_sheets_are_pages() -> None:
    wide = (
        '<table:table-row><table:table-cell table:number-columns-repeated="3"/><table:table-cell table:number-columns'
    )
    rows = row("Place", "Limit") + row("Bern", "120", repeated=2) + row("", repeated=1000) + row("end")
    sheets = (
        f'<table:table table:name="Rates">{rows}{wide}-repeated="2">{odf_p("x")}</table:table-cell></table:table-row>'
        '</table:table><table:table table:name="Empty"/><table:table table:name="Lists" table:style-name="S">'
        f"{row('q')}</table:table>"
    )
    hidden = '<style:style style:name="S"><style:table-properties table:display="false"/></style:style>'
    extracted = read(odf("spreadsheet", sheets, hidden), "a.ods")
    assert extracted.kind == "ods"
    assert pages(extracted) == ["Rates\n\nPlace\tLimit\nBern\t120\nBern\t120\n\nend\nx\tx", "", ""]
    assert extracted.warnings == ("hidden and left out: Lists",)


@pytest.mark.parametrize("text", ["x", "x" * 1000])
def test_cells_that_are_repeated_without_end_are_refused(text: str) -> None:
    cell = f'<table:table-cell table:number-columns-repeated="16384">{odf_p(text)}</table:table-cell>'
    bomb = f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'
    told = reason(odf("spreadsheet", f"<table:table>{bomb}</table:table>"), "a.ods")
    assert told in (cells.TOO_MANY_CELLS, "too much text: more than 20,000,000 characters")
    cell = f'<table:table-cell table:number-columns-repeated="999999999">{odf_p(text)}</table:table-cell>'
    bomb = f"<table:table><table:table-row>{cell}</table:table-row></table:table>"
    assert reason(odf("spreadsheet", bomb), "a.ods") == cells.TOO_MANY_CELLS


def test_slides_are_pages() -> None:
    slide = f"<draw:page><draw:frame><draw:text-box>{odf_p('Title')}</draw:text-box></draw:frame><draw:frame>"
    slide += f"<draw:text-box><text:list><text:list-item>{odf_p('a')}</text:list-item><text:list-item>{odf_p('b')}"
    slide += "</text:list-item></text:list></draw:text-box></draw:frame><draw:frame presentation:class='page-number'>"
    slide += f"<draw:text-box>{odf_p('7')}</draw:text-box></draw:frame><presentation:notes><draw:frame><draw:text-box>"
    slide += f"{odf_p('Say hello.')}</draw:text-box></draw:frame></presentation:notes></draw:page><draw:page/>"
    extracted = read(odf("presentation", slide), "a.odp")
    assert extracted.kind == "odp"
    assert pages(extracted) == ["Title\n\na\nb\n\nSay hello.", ""]


def test_odf_that_cannot_be_read_says_why() -> None:
    sealed = {"META-INF/manifest.xml": "<m><manifest:encryption-data/></m>"}
    assert reason(odf("text", odf_p("x"), parts=sealed), "a.odt") == "encrypted: it needs a password"
    broken = {"content.xml": "<content>"}
    told = "a damaged ODT: content.xml is not well-formed XML in line 1: no element found"
    assert reason(odf("text", "", parts=broken), "a.odt") == told
    assert reason(odf("chart", ""), "a.odt") == "not an OpenDocument file: it has no body"
    assert reason(b"<x/>", "a.fodt") == "not an OpenDocument file: it has no body"
    assert "a damaged OpenDocument file: not well-formed XML in line 2" in reason(b"\n<x>", "a.fodt")
    assert read(odf("text", odf_p("x"), parts={"styles.xml": "<"}), "a.odt").warnings == (
        "headers and footers could not be read",
    )


# --- EPUB ---


def test_chapters_come_in_the_order_of_the_book() -> None:
    book = {"z.xhtml": page(["One", "Two é"]), "nav.xhtml": page(["Contents"]), "a b.xhtml": page(["Three"])}
    extracted = read(epub(book), "a.epub")
    assert (extracted.kind, extracted.text, extracted.pages) == ("epub", "One\n\nTwo é\n\nThree", ())


def test_books_that_cannot_be_read_say_why() -> None:
    locked = (
        '<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:CipherData>'
        '<enc:CipherReference URI="{}"/></enc:CipherData></enc:EncryptedData></encryption>'
    )
    for uri, sealed in (("OEBPS/a.xhtml", True), ("OEBPS/font.ttf", False)):
        data = epub({"a.xhtml": page(["x"])}, {"META-INF/encryption.xml": locked.format(uri)})
        if sealed:
            assert reason(data, "a.epub") == "encrypted: it needs a password"
        else:
            assert read(data, "a.epub").text == "x"
    gone = epub({"a.xhtml": page(["x"]), "b.xhtml": page(["y"])}).replace(b"OEBPS/b.xhtml", b"OEBPS/c.xhtml")
    assert (read(gone, "a.epub").text, read(gone, "a.epub").warnings) == ("x", ("chapter 2 could not be read",))
    assert reason(epub({"a.xhtml": b"\0\1\2"}), "a.epub") == "a damaged EPUB: none of its chapters can be read"


# --- RTF ---


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (rtf_p("One {braces} \\ back") + rtf_p("") + rtf_p("Zwei ü 日本 👩‍👩‍👧 שלום"),
         "One {braces} \\ back\n\nZwei ü 日本 👩‍👩‍👧 שלום"),
        (r"a\line b\tab c\~d\_e\-f\par\bullet x\endash\ldblquote q\rdblquote", "a\nb c\u00a0d‑ef\n\n•x–“q”"),
        (r"caf\'e9 \'93q\'94", "café “q”"),
        (r"\u8364?uro \uc2\u9731??! {\uc0\u233 t\u233}", "€uro ☃! été"),
        (r"{\f1 \'cf\'f0\'e8\'e2\'e5\'f2} {\f2\'93\'fa\'96\'7b\'8c\'ea} {\f2\'83\\}", "Привет 日本語 ソ"),
        (r"seen {\v hidden} {\deleted gone}\v no\v0 yes\plain .", "seen yes."),
        (r"{\*\generator x}{\info{\title T}}{\stylesheet{\s1 Heading;}}{\pict\bin5 {}{}}}x\bin3 }}}y", "xy"),
        (r"{\field{\*\fldinst HYPERLINK a}{\fldrslt link}} {\*\unknown z}{\upr{ans}{\*\ud{uni}}}", "link uni"),
        (r"\pard A\par\pard\ls1 b\par c\par\pard D{\listtext 1.}\par", "A\n\nb\nc\n\nD"),
        (r"\pard A\par\trowd\intbl a\cell b\cell\row\trowd\intbl\cell d\par e\cell\row\pard F\par",
         "A\n\na\tb\n\td\n\ne\n\nF"),
        (r"word{\footnote\chftn The note.} on\par{\header Rules\par}{\headerf Rules}{\footer - 1 -}Next",
         "word on\n\nNext\n\nThe note.\n\nRules"),
        (r"a{\shp{\*\shpinst{\sp{\sn n}{\sv 1}}{\shptxt In the box.\par}}{\shprslt old}} b\par",
         "a\n\nIn the box.\n\nb"),
        (r"\trowd\intbl lost\cell row", "lost\n\nrow"),
        ("", ""),
    ],
)  # fmt: skip
def test_rtf(body: str, text: str) -> None:
    fonts = r"{\f0\fswiss\fcharset0 Arial;}{\f1\fcharset204 Cyr;}{\f2\fcharset128 Gothic;}"
    extracted = read(rtf(body, fonts), "a.rtf")
    told = ("it holds pictures, which are not read",) if r"\pict" in body else ()
    assert (extracted.kind, extracted.text, extracted.warnings) == ("rtf", text, told)


def test_the_code_page_of_a_whole_rtf() -> None:
    assert read(rb"{\rtf1\ansi\ansicpg1251 \'cf\'f0}", "a.rtf").text == "Пр"
    assert read(rb"{\rtf1\mac \'8e}", "a.rtf").text == "é"
    assert read("{\\rtf1\\ansi raw é}".encode("cp1252"), "a.rtf").text == "raw é"


def test_rtf_that_was_cut_off_keeps_what_there_is() -> None:
    extracted = read(rb"{\rtf1\ansi One\par {\b Two", "a.rtf")
    assert (extracted.text, extracted.warnings) == ("One\n\nTwo", ("its end is missing",))
    assert reason(b"{\\rtf1" + b"{" * 20_000, "a.rtf") == "nested too deeply: more than 10,000 groups"
