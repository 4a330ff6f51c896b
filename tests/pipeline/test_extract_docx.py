"""DOCX -> what a reader of the document sees."""

from __future__ import annotations

import pytest

from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.records import Extracted, Source
from pipeline.extract.registry import Registry
from tests.support.office import docx, relations, w_p, w_r, w_table, zipped

STYLES = """<w:styles>
<w:style w:type="paragraph" w:default="1" w:styleId="Normal"/>
<w:style w:type="paragraph" w:styleId="Heading1"><w:basedOn w:val="Normal"/><w:pPr><w:numPr><w:numId w:val="2"/>
</w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="ListBullet"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Mine"><w:basedOn w:val="ListBullet"/></w:style>
<w:style w:type="character" w:styleId="Strong"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
</w:styles>"""
NUMBERED = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr>'


def read(data: bytes, name: str = "a.docx") -> Extracted:
    return Registry().extract(Source(name, data))[1]


def body(markup: str) -> str:
    return read(docx(markup, {"s": ("styles", "styles.xml")}, {"styles.xml": STYLES})).text


def styled(style: str) -> str:
    return f'<w:pStyle w:val="{style}"/>'


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        # paragraphs and runs
        (w_p("One") + w_p("") + w_p("Two & <three>"), "One\n\nTwo & <three>"),
        (w_p(w_r("a b") + w_r("c ") + w_r("d", "<w:b/>")), "a bc d"),
        (w_p("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:cr/><w:t>d</w:t></w:r>"), "a b\nc\nd"),
        (w_p("<w:r><w:t>e</w:t><w:noBreakHyphen/><w:t>mail sof</w:t><w:softHyphen/><w:t>t</w:t></w:r>"), "e‑mail soft"),
        (w_p('<w:r><w:sym w:font="Symbol" w:char="03B1"/><w:sym w:font="Wingdings" w:char="F04A"/></w:r>'), "α"),
        (w_p("tab stops", '<w:tabs><w:tab w:val="left" w:pos="9"/></w:tabs>'), "tab stops"),
        (w_p('<w:hyperlink r:id="x"><w:r><w:t>link</w:t></w:r></w:hyperlink>'), "link"),
        (f"<w:sdt><w:sdtPr/><w:sdtContent>{w_p('in a control')}</w:sdtContent></w:sdt>", "in a control"),
        (w_p("<w:r><m:oMath><m:r><m:t>x=1</m:t></m:r></m:oMath></w:r>"), "x=1"),
        # lists and headings: an item is a line, a heading with a number is none
        (w_p("A") + w_p("b", NUMBERED) + w_p("c", NUMBERED) + w_p("D"), "A\n\nb\nc\n\nD"),
        (w_p("H", styled("Heading1")) + w_p("b", styled("Mine")) + w_p("c", styled("ListBullet")), "H\n\nb\nc"),
        (w_p("x", styled("Mine") + '<w:numPr><w:numId w:val="0"/></w:numPr>') + w_p("y"), "x\n\ny"),
        (w_p("a", NUMBERED) + w_table([["b"]]) + w_p("c", NUMBERED), "a\n\nb\n\nc"),
        # tables
        (w_p("T") + w_table([["a", "b"], ["", "d"]]) + w_p("E"), "T\n\na\tb\n\td\n\nE"),
        (w_table([["a", "b"]]).replace("</w:p></w:tc>", f"</w:p>{w_p('more')}</w:tc>"), "a\n\nmore\n\nb\n\nmore"),
        # what was deleted, moved away or hidden; what was put in
        (w_p(w_r("kept") + "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins>" + w_r(" new") + "</w:ins>"),
         "kept new"),
        (w_p(w_r("a ") + f"<w:moveFrom>{w_r('moved')}</w:moveFrom><w:moveTo>{w_r('here')}</w:moveTo>"), "a here"),
        (w_p("one, ", "<w:rPr><w:del/></w:rPr>") + w_p("two") + w_p("three"), "one, two\n\nthree"),
        (w_table([["a"], ["b"]]).replace("<w:tr>", "<w:tr><w:trPr><w:del/></w:trPr>", 1), "b"),
        (w_p(w_r("seen ") + w_r("hidden", "<w:vanish/>") + w_r("too", '<w:vanish w:val="0"/>')), "seen too"),
        (w_p("x", f"<w:pPrChange><w:pPr>{NUMBERED}</w:pPr></w:pPrChange>") + w_p("y"), "x\n\ny"),
        (w_p("<w:r><w:ruby><w:rt><w:r><w:t>かんじ</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase>"
             "</w:ruby></w:r>"), "漢字"),
        # fields: their results, not their codes
        (w_p('<w:r><w:t>p. </w:t></w:r><w:r><w:fldChar w:fldCharType="begin"/></w:r>'
             '<w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:fldChar w:fldCharType="begin"/>'
             '<w:t>inner</w:t><w:fldChar w:fldCharType="end"/></w:r>'
             '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>7</w:t></w:r>'
             '<w:r><w:fldChar w:fldCharType="end"/><w:t> end</w:t></w:r>'), "p. 7 end"),
        (w_p(f'<w:fldSimple w:instr="DATE">{w_r("today")}</w:fldSimple>'), "today"),
        # text boxes come behind their paragraph, once
        (w_p("<w:r><w:t>before </w:t><mc:AlternateContent><mc:Choice Requires='wps'><wps:txbx><w:txbxContent>"
             f"{w_p('In the box.')}{w_p('Two.')}</w:txbxContent></wps:txbx></mc:Choice><mc:Fallback><w:pict><v:textbox>"
             f"<w:txbxContent>{w_p('In the box.')}</w:txbxContent></v:textbox></w:pict></mc:Fallback>"
             "</mc:AlternateContent><w:t>behind</w:t></w:r>") + w_p("Next."),
         "before behind\n\nIn the box.\n\nTwo.\n\nNext."),
        # odd contents
        (w_p("שלום עולם") + w_p("日本語のテキスト") + w_p("👩‍👩‍👧 🇨🇭"), "שלום עולם\n\n日本語のテキスト\n\n👩‍👩‍👧 🇨🇭"),
        ("", ""), (w_p(""), ""),
    ],
)  # fmt: skip
def test_what_is_seen(markup: str, text: str) -> None:
    assert body(markup) == text


def test_a_cell_of_100_000_characters() -> None:
    long = "long words " * 10_000
    assert body(w_table([["a", long.strip()]])) == "a\t" + long.strip()


def test_notes_headers_and_footers_come_behind_the_text_and_once() -> None:
    notes = (
        f'<w:footnotes><w:footnote w:type="separator" w:id="-1">{w_p("---")}</w:footnote>'
        f'<w:footnote w:id="1">{w_p("The note.")}</w:footnote><w:footnote w:id="2">{w_p("Another.")}</w:footnote>'
        "</w:footnotes>"
    )
    sections = "".join(
        f'<w:sectPr><w:headerReference r:id="h{n}"/><w:footerReference r:id="f1"/></w:sectPr>' for n in (1, 2, 3)
    )
    related = {
        "n": ("footnotes", "footnotes.xml"), "e": ("endnotes", "endnotes.xml"), "h1": ("header", "header1.xml"),
        "h2": ("header", "header2.xml"), "h3": ("header", "header3.xml"), "f1": ("footer", "footer1.xml"),
    }  # fmt: skip
    parts = {
        "footnotes.xml": notes,
        "endnotes.xml": f'<w:endnotes><w:endnote w:id="1">{w_p("The end.")}</w:endnote></w:endnotes>',
        "header1.xml": f"<w:hdr>{w_p('Travel rules')}</w:hdr>",
        "header2.xml": f"<w:hdr>{w_p('Travel rules')}</w:hdr>",
        "header3.xml": f"<w:hdr>{w_p('Annex')}</w:hdr>",
        "footer1.xml": f"<w:ftr>{w_p('- 12 -')}</w:ftr>",
        "header9.xml": f"<w:hdr>{w_p('of no section')}</w:hdr>",
    }
    extracted = read(docx(w_p('<w:r><w:t>Text.</w:t><w:footnoteReference w:id="1"/></w:r>') + sections, related, parts))
    assert extracted.text == "Text.\n\nThe note.\n\nAnother.\n\nThe end.\n\nTravel rules\n\nAnnex"
    assert (extracted.kind, extracted.pages, extracted.warnings) == ("docx", (), ())


def test_a_diagram_is_read_behind_its_paragraph() -> None:
    diagram = (
        '<dgm:dataModel xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><dgm:pt><dgm:t><a:p><a:r><a:t>Plan'
        "</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p><a:r><a:t>Do</a:t></a:r></a:p></dgm:t></dgm:pt>"
        "</dgm:dataModel>"
    )
    drawing = w_p('<w:r><w:t>See:</w:t><w:drawing><dgm:relIds r:dm="d"/></w:drawing></w:r>')
    data = docx(drawing + w_p("Next"), {"d": ("diagramData", "diagrams/data1.xml")}, {"diagrams/data1.xml": diagram})
    assert read(data).text == "See:\n\nPlan\nDo\n\nNext"


def test_other_name_spaces_prefixes_and_places_of_parts_are_understood() -> None:
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    data = zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations({"r": ("officeDocument", "/Word/document2.xml")}),
            "word\\document2.xml": f'<ns0:document xmlns:ns0="{strict}"><ns0:body><ns0:p><ns0:pPr><ns0:numPr>'
            '<ns0:numId ns0:val="1"/></ns0:numPr></ns0:pPr><ns0:r><ns0:t>one</ns0:t></ns0:r></ns0:p><ns0:p><ns0:pPr>'
            '<ns0:numPr><ns0:numId ns0:val="1"/></ns0:numPr></ns0:pPr><ns0:r><ns0:t>two</ns0:t></ns0:r></ns0:p>'
            "</ns0:body></ns0:document>",
        }
    )
    assert read(data).text == "one\ntwo"


def test_a_damaged_part_beside_the_text_costs_itself_only() -> None:
    related = {"n": ("footnotes", "footnotes.xml"), "h": ("header", "header1.xml"), "s": ("styles", "missing.xml")}
    parts = {"footnotes.xml": f'<w:footnotes><w:footnote w:id="1">{w_p("A note.")}', "header1.xml": b"\0\1\2"}
    extracted = read(docx(w_p("Text.") + '<w:sectPr><w:headerReference r:id="h"/></w:sectPr>', related, parts))
    assert extracted.text == "Text.\n\nA note."
    assert extracted.warnings == ("the footnotes and a header could not be read",)


def test_parts_of_other_kinds_are_told() -> None:
    assert read(docx(w_p("x") + '<w:altChunk r:id="c"/>')).warnings == ("it holds other files, which are not read",)


def test_a_damaged_document_says_so() -> None:
    good = docx(w_p("x"))
    for data, reason in (
        (docx("<w:p>"), "a damaged DOCX: word/document.xml is not well-formed XML in line 2: mismatched tag"),
        (good[:-30], "a damaged DOCX: its end is missing"),
        (good.replace(b"word/document.xml", b"word/dacument.xml"), "an archive of other files, and no DOCX"),
    ):
        with pytest.raises(ExtractionFailed) as caught:
            read(data)
        assert caught.value.reason == reason
