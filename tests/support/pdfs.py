"""PDFs made with reportlab, for tests."""

from __future__ import annotations

import io
from collections.abc import Sequence

from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate

_BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=10, leading=12, spaceAfter=6)
_HEADING = ParagraphStyle("heading", fontName="Helvetica-Bold", fontSize=16, leading=20, spaceAfter=8)


def typeset(paragraphs: Sequence[str], **style: object) -> bytes:
    """A5 pages of running text; a paragraph that begins with `# ` is a heading. `style` changes the body's."""
    out = io.BytesIO()
    body = ParagraphStyle("changed", _BODY, **style)
    flow = [Paragraph(p[2:], _HEADING) if p.startswith("# ") else Paragraph(p, body) for p in paragraphs]
    SimpleDocTemplate(out, pagesize=A5, leftMargin=50, rightMargin=50, topMargin=50, bottomMargin=50).build(flow)
    return out.getvalue()


def drawn(pages: Sequence[Sequence[str]], *, leading: float = 14, encrypt: object = None) -> bytes:
    """Pages of lines, each drawn where it is put: no typesetter between."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A5, encrypt=encrypt)
    for lines in pages:
        canvas.setFont("Helvetica", 10)
        for number, line in enumerate(lines):
            canvas.drawString(40, 520 - leading * number, line)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def scanned(pages: int) -> bytes:
    """Pages with a picture (a grey box) and no text."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A5)
    for _ in range(pages):
        canvas.setFillGray(0.5)
        canvas.rect(40, 40, 300, 400, fill=1)
        canvas.showPage()
    canvas.save()
    return out.getvalue()
