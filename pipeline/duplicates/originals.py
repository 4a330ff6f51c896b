"""What tells an original from a backup or an export of it, by its path and its format alone."""

from __future__ import annotations

import re

_WORDS = re.compile(r"[^\W\d_]+")
# Names of folders for what is kept besides: backup, old, archive, copy, export.
_NAMES = (
    "backup backups bak old older archive archives archived copy copies export exports exported "  # English
    "sicherung sicherungen sicherungskopie sicherungskopien alt alte altes archiv kopie kopien exporte "  # German
    "sauvegarde sauvegardes ancien anciens ancienne anciennes copie copies exportation exportations "  # French
    "respaldo respaldos antiguo antiguos antigua antiguas viejo viejos copia copias exportación "  # Spanish
    "vecchio vecchi vecchia archivio archiviati esportazione esportazioni "  # Italian
    "cópia cópias antigo antigos antiga antigas exportação "  # Portuguese
    "oud oude reservekopie archief "  # Dutch
    "gammal gamla gammel gamle arkiv säkerhetskopia sikkerhetskopi kopia kopior kopi kopier "  # Nordic
    "stare stary archiwum kopie "  # Polish
    "архив архивы копия копии старое старые старый резервная резервные экспорт "  # Russian
    "yedek yedekler eski arşiv kopya"  # Turkish
)
_ASIDE = frozenset(_NAMES.split())
_ASIDE_UNSPACED = (
    "备份",
    "備份",
    "副本",
    "归档",
    "歸檔",
    "旧",
    "导出",
    "バックアップ",
    "アーカイブ",
    "コピー",
    "백업",
    "사본",
)
# What carries layout and structure comes before what is made from it by leaving those out.
_RICH = {
    **dict.fromkeys(("docx", "odt", "pptx", "odp", "xlsx", "ods", "odg", "rtf"), 0),
    **dict.fromkeys(("pdf", "epub"), 1),
    **dict.fromkeys(("text", "txt", "plain"), 3),
}
_BETWEEN = 2  # Markdown, HTML and the like: marked-up text


def lies_aside(doc_id: str) -> bool:
    """Whether a folder on the way to the document is named like a place for backups, old versions, copies, exports."""
    for folder in doc_id.casefold().split("/")[:-1]:
        if not _ASIDE.isdisjoint(_WORDS.findall(folder)) or any(name in folder for name in _ASIDE_UNSPACED):
            return True
    return False


def plainness(kind: str) -> int:
    """How little the format carries besides the text: 0 for office documents, 3 for plain text."""
    return _RICH.get(kind.casefold(), _BETWEEN)
