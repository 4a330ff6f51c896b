"""Office files, books and the like made by hand, for tests: the smallest that real programs would open."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

Parts = Mapping[str, str | bytes]

_OOXML = "http://schemas.openxmlformats.org"
_RELATIONS = f"{_OOXML}/officeDocument/2006/relationships"
_W = f'xmlns:w="{_OOXML}/wordprocessingml/2006/main" xmlns:r="{_RELATIONS}"'
_OTHERS = (
    f'xmlns:mc="{_OOXML}/markup-compatibility/2006" xmlns:m="{_OOXML}/officeDocument/2006/math" '
    f'xmlns:dgm="{_OOXML}/drawingml/2006/diagram" xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
)
_P = f'xmlns:p="{_OOXML}/presentationml/2006/main" xmlns:a="{_OOXML}/drawingml/2006/main" xmlns:r="{_RELATIONS}"'
_X = f'xmlns="{_OOXML}/spreadsheetml/2006/main" xmlns:r="{_RELATIONS}"'
_ODF = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"), ("style", "style"),
        ("presentation", "presentation"), ("svg", "svg-compatible"), ("manifest", "manifest"),
    )
)  # fmt: skip
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def zipped(parts: Parts, *, stored: Sequence[str] = ("mimetype",)) -> bytes:
    """A zip archive of these parts, in this order, the same bytes every time."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            member = zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(member, content)
    return out.getvalue()


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """By id: the last part of the type, and the target."""
    items = "".join(
        f'<Relationship Id="{i}" Type="{_RELATIONS}/{kind}" Target={quoteattr(target)}/>'
        for i, (kind, target) in targets.items()
    )
    return f'{_HEAD}<Relationships xmlns="{_OOXML}/package/2006/relationships">{items}</Relationships>'


def _opc(main: str, parts: Parts) -> bytes:
    types = f'{_HEAD}<Types xmlns="{_OOXML}/package/2006/content-types"/>'
    return zipped({"[Content_Types].xml": types, "_rels/.rels": relations({"r1": ("officeDocument", main)}), **parts})


# --- DOCX ---


def docx(body: str, related: Mapping[str, tuple[str, str]] | None = None, parts: Parts | None = None) -> bytes:
    """`body` is what stands in `w:body`; `related` are the document's relations, `parts` what they refer to, each
    without the name spaces, which are put into its first element."""
    return _opc(
        "word/document.xml",
        {
            "word/document.xml": f"{_HEAD}<w:document {_W} {_OTHERS}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations(related or {}),
            **{f"word/{name}": _declared(content, f"{_W} {_OTHERS}") for name, content in (parts or {}).items()},
        },
    )


def _declared(content: str | bytes, names: str) -> str | bytes:
    if isinstance(content, bytes) or not content.startswith("<"):
        return content
    head, end, rest = content.partition(">")
    return f"{_HEAD}{head[:-1]} {names}/>{rest}" if head.endswith("/") else f"{_HEAD}{head} {names}{end}{rest}"


def w_p(text: str, properties: str = "") -> str:
    """A paragraph; it may be several runs where `text` is markup of runs already."""
    runs = text if text.startswith("<w:") else w_r(text)
    return f"<w:p>{f'<w:pPr>{properties}</w:pPr>' if properties else ''}{runs}</w:p>"


def w_r(text: str, properties: str = "") -> str:
    inner = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{inner}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def w_table(rows: Sequence[Sequence[str]]) -> str:
    cells = ["".join(f"<w:tc><w:tcPr/>{w_p(cell)}</w:tc>" for cell in row) for row in rows]
    return f"<w:tbl><w:tblPr/>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


# --- PPTX ---


def a_p(text: str) -> str:
    return f"<a:p><a:r><a:t>{escape(text)}</a:t></a:r></a:p>"


def shape(paragraphs: Sequence[str], placeholder: str | None = None) -> str:
    """A shape with text; `placeholder` is its type, empty for a body."""
    kind = "" if placeholder is None else f'<p:ph type="{placeholder}"/>' if placeholder else '<p:ph idx="1"/>'
    texts = "".join(p if p.startswith("<a:") else a_p(p) for p in paragraphs)
    return f"<p:sp><p:nvSpPr><p:nvPr>{kind}</p:nvPr></p:nvSpPr><p:txBody>{texts}</p:txBody></p:sp>"


def a_table(rows: Sequence[Sequence[str]]) -> str:
    cells = ["".join(f"<a:tc><a:txBody>{a_p(cell)}</a:txBody></a:tc>" for cell in row) for row in rows]
    return f"<p:graphicFrame><a:tbl>{''.join(f'<a:tr>{row}</a:tr>' for row in cells)}</a:tbl></p:graphicFrame>"


def pptx(slides: Sequence[str], notes: Mapping[int, str] | None = None, parts: Parts | None = None) -> bytes:
    """Slides as what stands in `p:spTree`; notes by the slide's number, as plain text."""
    count = len(slides)
    ids = "".join(f'<p:sldId id="{255 + n}" r:id="s{n}"/>' for n in range(1, count + 1))
    made: dict[str, str | bytes] = {
        "ppt/presentation.xml": f"{_HEAD}<p:presentation {_P}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            {f"s{n}": ("slide", f"slides/slide{n}.xml") for n in range(1, count + 1)}
        ),
    }
    for number, slide in enumerate(slides, 1):
        made[f"ppt/slides/slide{number}.xml"] = (
            f"{_HEAD}<p:sld {_P} {_OTHERS}><p:cSld><p:spTree>{slide}</p:spTree></p:cSld></p:sld>"
        )
        if note := (notes or {}).get(number):
            made[f"ppt/slides/_rels/slide{number}.xml.rels"] = relations(
                {"n": ("notesSlide", f"../notesSlides/n{number}.xml")}
            )
            tree = shape(["the slide again"], "sldImg") + shape([note], "body") + shape(["7"], "sldNum")
            made[f"ppt/notesSlides/n{number}.xml"] = f"{_HEAD}<p:notes {_P}><p:spTree>{tree}</p:spTree></p:notes>"
    return _opc("ppt/presentation.xml", {**made, **(parts or {})})


# --- XLSX ---


def xlsx(
    sheets: Mapping[str, str],
    *,
    strings: Sequence[str] = (),
    formats: Sequence[str] = (),
    states: Mapping[str, str] | None = None,
    properties: str = "",
) -> bytes:
    """Sheets by name as what stands in `sheetData`; `formats` are number formats, of the cell styles from 1 on."""
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="s{n}" state="{(states or {}).get(name, "visible")}"/>'
        for n, name in enumerate(sheets, 1)
    )
    codes = "".join(f'<numFmt numFmtId="{164 + n}" formatCode={quoteattr(code)}/>' for n, code in enumerate(formats))
    styles = "".join(f'<xf numFmtId="{164 + n}"/>' for n in range(len(formats)))
    shared = "".join(f"<si>{text if text.startswith('<') else f'<t>{escape(text)}</t>'}</si>" for text in strings)
    return _opc(
        "xl/workbook.xml",
        {
            "xl/workbook.xml": f"{_HEAD}<workbook {_X}><workbookPr {properties}/><sheets>{listed}</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relations(
                {f"s{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)}
                | {"t": ("sharedStrings", "sharedStrings.xml"), "y": ("styles", "/xl/styles.xml")}
            ),
            "xl/sharedStrings.xml": f"{_HEAD}<sst {_X}>{shared}</sst>",
            "xl/styles.xml": f"{_HEAD}<styleSheet {_X}><numFmts>{codes}</numFmts><cellStyleXfs><xf numFmtId='9'/>"
            f"</cellStyleXfs><cellXfs><xf numFmtId='0'/>{styles}</cellXfs></styleSheet>",
            **{
                f"xl/worksheets/sheet{n}.xml": f"{_HEAD}<worksheet {_X}><sheetData>{rows}</sheetData></worksheet>"
                for n, rows in enumerate(sheets.values(), 1)
            },
        },
    )


def x_rows(rows: Sequence[Sequence[str]], first: int = 1) -> str:
    """Rows of texts that stand in their cells; an empty text is no cell."""
    return "".join(
        f'<row r="{number}">'
        + "".join(
            f'<c r="{chr(65 + column)}{number}" t="inlineStr"><is><t>{escape(text)}</t></is></c>'
            for column, text in enumerate(row)
            if text
        )
        + "</row>"
        for number, row in enumerate(rows, first)
    )


# --- OpenDocument ---


def odf_xml(kind: str, body: str, styles: str = "") -> str:
    return (
        f"{_HEAD}<office:document-content {_ODF}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )


def odf(kind: str, body: str, styles: str = "", parts: Parts | None = None, masters: str = "") -> bytes:
    """`kind` is `text`, `spreadsheet` or `presentation`; `masters` stands in `office:master-styles`."""
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": odf_xml(kind, body, styles),
            "styles.xml": f"{_HEAD}<office:document-styles {_ODF}><office:master-styles>{masters}"
            "</office:master-styles></office:document-styles>",
            "META-INF/manifest.xml": f"{_HEAD}<manifest:manifest {_ODF}/>",
            **(parts or {}),
        }
    )


def odf_p(text: str) -> str:
    return f"<text:p>{escape(text)}</text:p>"


# --- EPUB ---


def epub(chapters: Mapping[str, str | bytes], parts: Parts | None = None, folder: str = "OEBPS") -> bytes:
    """Chapters by file name, each a whole page; one that is called `nav.xhtml` is the table of contents."""
    items = "".join(
        f'<item id="i{n}" href={quoteattr(name.replace(" ", "%20"))} properties="{name.partition(".")[0]}"/>'
        for n, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(chapters)))
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": f'{_HEAD}<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            f'<rootfiles><rootfile full-path="{folder}/content.opf"/></rootfiles></container>',
            f"{folder}/content.opf": f'{_HEAD}<package xmlns="http://www.idpf.org/2007/opf">'
            f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
            **{f"{folder}/{name}": page for name, page in chapters.items()},
            **(parts or {}),
        }
    )


def page(paragraphs: Sequence[str], title: str = "Title") -> str:
    """A web page, as it stands in a book."""
    inner = "".join(f"<p>{escape(text)}</p>\n" for text in paragraphs)
    return (
        f'{_HEAD}<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{title}</title></head>'
        f"<body>{inner}</body></html>"
    )


# --- RTF ---


def rtf(body: str, fonts: str = r"{\f0\fswiss\fcharset0 Arial;}") -> bytes:
    return (r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl" + fonts + "}" + body + "}").encode("latin-1")


def rtf_p(text: str) -> str:
    """A paragraph, its characters beyond ASCII as Unicode ones."""
    units = text.encode("utf-16-le")
    codes = [int.from_bytes(units[i : i + 2], "little") for i in range(0, len(units), 2)]
    written = "".join(
        f"\\{chr(c)}" if chr(c) in "\\{}" else chr(c) if 32 <= c < 127 else f"\\u{c - 65536 if c > 32767 else c}?"
        for c in codes
    )
    return rf"\pard {written}\par" + "\n"
