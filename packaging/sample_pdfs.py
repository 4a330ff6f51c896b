"""Make the PDF documents of the built-in sample from the plain text beside this script.

    pip install reportlab
    python packaging/sample_pdfs.py            write them below resources/sample/documents
    python packaging/sample_pdfs.py --check    write nothing; exit 1 if one differs from its source

A source in packaging/sample_pdfs/ starts with `key: value` lines (file, title, page, size, footer) and an
empty line. Then one line is one paragraph, `# ` and `## ` are headings, `---` is a page break. The same
source always gives the same bytes. Products/Packraft field guide.txt holds the text of its PDF, and so does
the copy of it with CRLF in backup 2024-11: change all three together.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from xml.sax.saxutils import escape

from reportlab.lib.colors import HexColor
from reportlab.lib.pagesizes import A5, A6
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate

HERE = Path(__file__).resolve().parent
DOCUMENTS = HERE.parent / "resources" / "sample" / "documents"
PAGES = {"A5": (A5, 16 * mm), "A6": (A6, 11 * mm)}
GREEN, INK, GREY = HexColor("#2f5d50"), HexColor("#1c1c1c"), HexColor("#6b6b6b")


def read_source(path: Path) -> tuple[dict[str, str], list[str]]:
    head, _, body = path.read_text(encoding="utf-8").partition("\n\n")
    keys = dict(line.split(": ", 1) for line in head.splitlines())
    return keys, [line for line in body.splitlines() if line.strip()]


def flow(lines: list[str], size: float) -> list[Flowable]:
    text = ParagraphStyle("text", fontName="Times-Roman", fontSize=size, leading=size * 1.4, textColor=INK)
    text.spaceAfter = size * 0.6
    title = ParagraphStyle("title", text, fontName="Helvetica-Bold", fontSize=size * 1.4, leading=size * 1.9)
    title.textColor = GREEN
    heading = ParagraphStyle("heading", text, fontName="Helvetica-Bold", fontSize=size * 1.15, keepWithNext=1)
    heading.spaceBefore, heading.spaceAfter = size * 0.8, size * 0.3
    story: list[Flowable] = []
    for line in lines:
        if line == "---":
            story.append(PageBreak())
        elif line.startswith("## "):
            story.append(Paragraph(escape(line[3:]), heading))
        elif line.startswith("# "):
            story.append(Paragraph(escape(line[2:]), title))
        else:
            story.append(Paragraph(escape(line), text))
    return story


def make(path: Path) -> tuple[Path, bytes]:
    keys, lines = read_source(path)
    page, margin = PAGES[keys["page"]]

    class FooterLast(Canvas):
        """Draws the footer last, so that it also comes last when the text of a page is extracted."""

        def showPage(self) -> None:
            if "footer" in keys:
                self.setFont("Helvetica", 7)
                self.setFillColor(GREY)
                self.drawString(margin + 6, margin * 0.6, keys["footer"].format(page=self.getPageNumber()))
            super().showPage()

    out = io.BytesIO()
    document = SimpleDocTemplate(
        out,
        pagesize=page,
        leftMargin=margin,
        rightMargin=margin,
        topMargin=margin,
        bottomMargin=margin,
        title=keys["title"],
        author="Skerrow & Vane",
        invariant=1,
        lang="en-GB",
    )
    document.build(flow(lines, float(keys["size"])), canvasmaker=FooterLast)
    return DOCUMENTS / keys["file"], out.getvalue()


def main(arguments: list[str]) -> int:
    differing = 0
    for source in sorted((HERE / "sample_pdfs").glob("*.txt")):
        target, data = make(source)
        if "--check" in arguments:
            if not target.is_file() or target.read_bytes() != data:
                print(f"{target} differs from {source.name}", file=sys.stderr)
                differing += 1
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            print(f"{target}  {len(data):,} bytes")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
