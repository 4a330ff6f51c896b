"""PPTX and XLSX: slides and sheets are pages."""

from __future__ import annotations

import itertools

import pytest

from pipeline.extract import cells
from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.records import Extracted, Source
from pipeline.extract.registry import Registry
from pipeline.extract.xlsx_formats import NumberFormats
from tests.support.office import a_p, a_table, pptx, relations, shape, x_rows, xlsx, zipped


def read(data: bytes, name: str) -> Extracted:
    return Registry().extract(Source(name, data))[1]


def pages(extracted: Extracted) -> list[str]:
    assert [page.number for page in extracted.pages] == list(range(1, len(extracted.pages) + 1))
    assert all(a.end <= b.start for a, b in itertools.pairwise(extracted.pages))
    return [extracted.text[page.start : page.end] for page in extracted.pages]


# --- slides ---


def test_slides_with_titles_lists_tables_and_notes_are_pages() -> None:
    slides = [
        shape(["First point", "Second point"], "") + shape(["The title"], "title"),
        "",
        shape(["Loose text.", "More of it."])
        + f"<p:grpSp>{shape(['In a group'])}</p:grpSp>"
        + a_table([["A", "B"], ["1", ""]]),
    ]
    extracted = read(pptx(slides, {1: "Say hello.", 3: "Say goodbye."}), "a.pptx")
    assert extracted.kind == "pptx"
    assert pages(extracted) == [
        "The title\n\nFirst point\nSecond point\n\nSay hello.",
        "",
        "Loose text.\n\nMore of it.\n\nIn a group\n\nA\tB\n1\n\nSay goodbye.",
    ]


def test_what_stands_on_every_slide_is_there_once() -> None:
    every = shape(["Ours, confidential"], "ftr") + shape(["1"], "sldNum") + shape(["1.1.2024"], "dt")
    extracted = read(pptx([shape(["A"]) + every, shape(["B"]) + every]), "a.pptx")
    assert pages(extracted) == ["A\n\nOurs, confidential", "B"]


def test_lines_fields_and_alternatives_of_a_slide() -> None:
    lines = (
        "<a:p><a:r><a:t>a </a:t></a:r><a:br/><a:r><a:t>b</a:t></a:r><a:fld type='slidenum'><a:t>7</a:t></a:fld></a:p>"
    )
    twice = f"<mc:AlternateContent><mc:Choice>{shape(['new'])}</mc:Choice><mc:Fallback>{shape(['new'])}</mc:Fallback>"
    assert pages(read(pptx([shape([lines]) + twice + "</mc:AlternateContent>"]), "a.pptx")) == ["a\nb\n\nnew"]


def test_a_diagram_is_part_of_its_slide() -> None:
    names = 'xmlns:dgm="d" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    parts = {
        "ppt/slides/_rels/slide1.xml.rels": relations({"d": ("diagramData", "../diagrams/data1.xml")}),
        "ppt/diagrams/data1.xml": f"<dgm:dataModel {names}>{a_p('Plan')}{a_p('')}{a_p('Do')}</dgm:dataModel>",
    }
    slide = shape(["T"], "title") + '<p:graphicFrame><dgm:relIds r:dm="d"/></p:graphicFrame>' + shape(["after"])
    assert pages(read(pptx([slide], parts=parts), "a.pptx")) == ["T\n\nPlan\nDo\n\nafter"]


def test_slides_that_cannot_be_read_are_named_and_the_others_are_read() -> None:
    extracted = read(pptx([shape(["one"]), "<p:sp>", shape(["three"])]), "a.pptx")
    assert pages(extracted) == ["one", "", "three"]
    assert extracted.warnings == ("slide 2 could not be read",)
    with pytest.raises(ExtractionFailed, match="a damaged PPTX: none of its slides can be read"):
        read(pptx(["<p:sp>", "</p:sp>"]), "a.pptx")


# --- sheets ---


def test_sheets_are_pages_their_names_headings_and_empty_rows_part_paragraphs() -> None:
    rows = x_rows([["Place", "", "Limit"], ["Bern", "", "120"]]) + x_rows([["Total", "210"], ["", "x"]], 9)
    extracted = read(xlsx({"Rates": rows, "Empty": "", "Sheet3": x_rows([["z"]])}), "a.xlsx")
    assert extracted.kind == "xlsx"
    assert pages(extracted) == ["Rates\n\nPlace\t\tLimit\nBern\t\t120\n\nTotal\t210\nx", "", "Sheet3\n\nz"]


def test_cells_of_every_type() -> None:
    shared = ["one", "<r><t>ri</t></r><r><t>ch</t></r><rPh><t>reading</t></rPh>", "tab\there", "_x0041_ lines\r\nof it"]
    row = (
        '<row r="1"><c t="s"><v>0</v></c><c t="s"><v>1</v></c><c t="s"><v>2</v></c><c t="s"><v>3</v></c>'
        '<c t="b"><v>1</v></c><c t="e"><v>#REF!</v></c><c t="str"><f>A1&amp;"x"</f><v>onex</v></c>'
        '<c><f>SUM(1,2)</f><v>3</v></c><c t="d"><v>2024-02-29</v></c><c t="s"><v>99</v></c><c t="s"><v>x</v></c></row>'
    )
    text = "S\n\none\trich\ttab here\tA lines\nof it\tTRUE\t#REF!\tonex\t3\t2024-02-29"
    assert read(xlsx({"S": row}, strings=shared), "a.xlsx").text == text


def test_cells_without_a_place_and_far_away_cells() -> None:
    near = '<row><c t="str"><v>a</v></c><c r="XFD1" t="str"><v>far</v></c></row>'
    rows = near + '<row r="1048576"><c t="str"><v>b</v></c></row>'
    assert read(xlsx({"S": rows}), "a.xlsx").text == "S\n\na" + "\t" * 8 + "far\n\nb"


@pytest.mark.parametrize(
    ("code", "raw", "shown"),
    [
        ("yyyy-mm-dd", "45351", "2024-02-29"), ("d.m.yy", "45351", "29.2.24"), ("dd/mm/yyyy", "1", "01/01/1900"),
        ("mmmm d, yyyy", "45351", "February 29, 2024"), ("[$-407]ddd d. mmm", "45351.5", "Thu 29. Feb"),
        ("yyyy-mm-dd hh:mm:ss", "45351.999999", "2024-03-01 00:00:00"), ("h:mm AM/PM", "0.75", "6:00 PM"),
        ("[h]:mm:ss", "1.5", "36:00:00"), ("mm:ss.0", "0.00001", "00:00.8"), ("yyyy-mm-dd", "-5", "-5"),
        ("0%", "0.125", "13%"), ("0.00%", "0.12345", "12.35%"), ("0.00", "2.675", "2.68"), ("0", "-0.4", "0"),
        ("#,##0", "1234567.5", "1,234,568"), ("#,##0.00", "-1234.5", "-1,234.50"), ("0.##", "2.5", "2.5"),
        ('#,##0.00 "CHF"', "1234.5", "1,234.50 CHF"), ("[$€-407] #,##0", "5000", "€ 5,000"), ("0000", "42", "0042"),
        ("#,##0;(#,##0)", "-5", "(5)"), ('0;-0;"none"', "0", "none"), (";;;", "5", ""),
        ("0.00E+00", "12345", "1.23E+04"),
        ("#,##0,", "1234567", "1,235"), ("000-00-0000", "123456789", "123-45-6789"), ("# ?/?", "0.5", "0.5"),
        ("[>100]0.0;0", "150", "150"), ("General", "0.1", "0.1"), ("General", "1E+20", "100000000000000000000"),
        ("@", "007", "007"), ("General", "0.30000000000000004", "0.3"), ("0.00", "words", "words"),
        ("0.00", "nan", "nan"), ("0.00", "1e308", "1E+308"), ("General", "123456789012345678", "123456789012345678"),
    ],
)  # fmt: skip
def test_numbers_are_shown_as_their_format_says(code: str, raw: str, shown: str) -> None:
    text = read(xlsx({"S": f'<row><c s="1"><v>{raw}</v></c><c><v>1</v></c></row>'}, formats=[code]), "a.xlsx").text
    assert text == (f"S\n\n{shown}\t1" if shown else "S\n\n1")


def test_a_workbook_may_count_days_from_1904_and_name_no_formats() -> None:
    data = xlsx({"S": '<row><c s="1"><v>43889</v></c></row>'}, formats=["yyyy-mm-dd"], properties='date1904="1"')
    assert read(data, "a.xlsx").text == "S\n\n2024-02-29"
    assert NumberFormats().shown("1.50", 7) == "1.5"


def test_hidden_sheets_are_left_out_and_named() -> None:
    data = xlsx({"Seen": x_rows([["a"]]), "Lists": x_rows([["b"]])}, states={"Lists": "veryHidden"})
    extracted = read(data, "a.xlsx")
    assert pages(extracted) == ["Seen\n\na", ""]
    assert extracted.warnings == ("hidden and left out: Lists",)


def test_sheets_that_cannot_be_read_keep_their_good_rows_and_are_named() -> None:
    extracted = read(xlsx({"Good": x_rows([["a"]]), "Bad": x_rows([["b"]]) + "<row>"}), "a.xlsx")
    assert pages(extracted) == ["Good\n\na", "Bad\n\nb"]
    assert extracted.warnings == ("sheet Bad could not be read",)
    with pytest.raises(ExtractionFailed, match="a damaged XLSX: none of its sheets can be read"):
        read(xlsx({"Bad": "<row>"}), "a.xlsx")


def test_a_cell_of_100_000_characters_merged_cells_and_scripts() -> None:
    long = "x y " * 25_000
    rows = x_rows([[long, "שלום"], ["日本", "👩‍👩‍👧"]])
    assert read(xlsx({"S": rows}), "a.xlsx").text == f"S\n\n{long.strip()}\tשלום\n日本\t👩‍👩‍👧"


def test_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.extract.xlsx.MAX_CELLS", 100)
    with pytest.raises(ExtractionFailed, match=cells.TOO_MANY_CELLS):
        read(xlsx({"S": x_rows([["a", "b"]] * 30), "T": x_rows([["a", "b"]] * 30)}), "a.xlsx")


def test_a_binary_workbook_says_what_would_help() -> None:
    related = relations({"r": ("officeDocument", "xl/workbook.bin")})
    data = zipped({"[Content_Types].xml": "<Types/>", "_rels/.rels": related, "xl/workbook.bin": b"\x83\x01"})
    with pytest.raises(ExtractionFailed, match="a binary workbook: save it as XLSX"):
        read(data, "a.xlsb")
