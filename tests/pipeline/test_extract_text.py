"""Bytes -> text: encodings, verbatim storage, and what is no text."""

from __future__ import annotations

import codecs
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.extract.decode import decode_page, decode_text
from pipeline.extract.errors import ExtractionFailed
from pipeline.extract.records import Source
from pipeline.extract.registry import Registry

FRENCH = (
    "Le système évalue chaque réponse selon sa qualité ; les employés doivent conserver les reçus pendant l'année. "
    "Ça dépend : 25 € par jour, « très bien » dit-il, l’hôtel n’est pas compris."
)
POLISH = "Zażółć gęślą jaźń. Zwrot kosztów podróży następuje po złożeniu wniosku, który musi być podpisany. Książka."
RUSSIAN = "Возмещение командировочных расходов производится на основании заявления сотрудника, подписанного отделом."
GREEK = "Η αποζημίωση των εξόδων ταξιδιού γίνεται μετά από αίτηση του υπαλλήλου, η οποία πρέπει να υπογραφεί."
HEBREW = "החזר הוצאות נסיעה יבוצע על סמך בקשה של העובד החתומה על ידי מנהל המחלקה. יש לשמור את כל הקבלות."
TURKISH = "Seyahat giderlerinin geri ödenmesi çalışanın başvurusu üzerine yapılır. Işık, göğüs, şeker, çığ, imza."
JAPANESE = (
    "出張旅費の払い戻しは、部門長が署名した従業員の申請に基づいて行われます。領収書の原本をすべて保管してください。"
)
CHINESE = "差旅费报销根据员工申请进行，该申请必须由部门负责人签字。请保留所有原始收据，并在每月月底之前提交给财务部门。"
KOREAN = "출장비 환급은 부서장이 서명한 직원의 신청에 따라 이루어집니다. 모든 원본 영수증을 보관하고 제출하십시오. "


def text_of(data: bytes, name: str = "a.txt") -> str:
    return Registry().extract(Source(name, data))[1].text


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
@pytest.mark.parametrize("text", [FRENCH, JAPANESE, "\N{GRINNING FACE} one\r\ntwo", "x"])
def test_a_byte_order_mark_decides_and_is_taken_off(mark: bytes, encoding: str, text: str) -> None:
    assert text_of(mark + text.encode(encoding)) == text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", [FRENCH, RUSSIAN, f"{CHINESE}\n一\u4e00\n", KOREAN, "plain ASCII\n", "hi"])
def test_unicode_is_recognised_without_a_mark(encoding: str, text: str) -> None:
    assert text_of(text.encode(encoding)) == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "cp1252"), (POLISH, "cp1250"), (POLISH, "iso8859_2"), (RUSSIAN, "cp1251"), (RUSSIAN, "koi8_r"),
        (RUSSIAN, "cp866"), (GREEK, "cp1253"), (HEBREW, "cp1255"), (TURKISH, "cp1254"), (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"), (JAPANESE, "iso2022_jp"), (CHINESE, "gb18030"), (KOREAN, "euc_kr"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("times", [1, 40])
def test_legacy_encodings_are_guessed(text: str, encoding: str, times: int) -> None:
    text = "\r\n".join([text] * times)
    assert text_of(text.encode(encoding)) == text


def test_one_accent_far_into_a_file_is_found() -> None:
    text = "a line of plain ASCII\n" * 20_000 + "café naïf, déjà vu à Orléans\n"
    assert text_of(text.encode("cp1252")) == text


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.py", "LICENSE"])
def test_line_ends_tabs_and_blanks_stay_as_they_are(name: str) -> None:
    text = " a\r\n\tb \rc\n\n\x0c d\u00a0e \u2028 f\v\n"
    assert text_of(text.encode(), name) == text


def test_one_bad_byte_does_not_change_what_a_utf8_file_is() -> None:
    data = FRENCH.encode() * 5
    decoded = decode_text(data + b"\n\xff\n" + data)
    assert decoded.text == FRENCH * 5 + "\n\ufffd\n" + FRENCH * 5
    assert decoded.warnings == ("1 place is not valid UTF-8; shown as \ufffd",)


def test_colours_of_a_terminal_log_are_text() -> None:
    assert text_of(b"\x1b[31mred\x1b[0m\n") == "\x1b[31mred\x1b[0m\n"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"text and\0then", "not text: it holds NUL bytes"),
        (bytes(range(256)) * 8, "not text: it holds NUL bytes"),
        (codecs.BOM_UTF16_LE + b"a\0b", "not text: it begins as UTF-16 but is damaged"),
        (codecs.BOM_UTF8 + b"a\0b", "not text: it holds NUL characters"),
        (b"\x01\x02\x03\x04\x05 a", "not text: it is mostly control characters"),
        (bytes(random.Random(7).choices(range(1, 256), k=3000)), "not text: no known encoding fits"),
    ],
)
def test_what_is_not_text_says_why(data: bytes, reason: str) -> None:
    with pytest.raises(ExtractionFailed) as caught:
        text_of(data)
    assert caught.value.reason == reason


def test_a_guess_never_holds_controls() -> None:
    # as Latin-1 the bytes 80-9F are C1 controls; as windows-1252 they are quotes and dashes
    assert (
        text_of(b"\x93Sch\xf6n\x94, sagte er \x96 und schlo\xdf die T\xfcr.")
        == "“Schön”, sagte er – und schloß die Tür."
    )


@given(st.binary(max_size=200))
def test_any_bytes_give_clean_text_or_a_reason(data: bytes) -> None:
    for decode in (decode_text, decode_page):
        try:
            text = decode(data).text
        except ExtractionFailed as error:
            text = error.reason
        assert text.encode("utf-8").decode("utf-8") == text
        assert "\0" not in text


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=200))
def test_utf8_is_never_guessed_away(text: str) -> None:
    assert decode_text(text.encode()).text == text.removeprefix("\ufeff")


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("README", b"plain words", "text"), ("notes.unheard-of", FRENCH.encode(), "text"), ("A.TXT", b"x", "text"),
        ("a.MD", b"# x", "markdown"), ("a.mdx", b"x", "markdown"), ("page", b"<!DOCTYPE html><p>x", "html"),
        ("page.php5", b"<?xml version='1.0'?>\n<html><p>x</html>", "html"), (".profile", b"export A=1\n", "text"),
        ("wide", "a b c\n".encode("utf-16"), "text"), ("a.xht", b"<p>x", "html"),
        ("long", b"words and words\n" * 9000 + "é\n".encode(), "text"),
    ],
)  # fmt: skip
def test_kinds_are_known_by_suffix_then_by_content(name: str, data: bytes, kind: str) -> None:
    assert Registry().extract(Source(name, data))[1].kind == kind


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("setup.exe", b"MZ\x90\0\x03\0\0\0", "unknown kind: .exe"),
        ("photo.JPG", b"\xff\xd8\xff\xe0\0\x10JFIF\0", "unknown kind: .jpg"),
        ("blob", bytes(range(256)), "unknown kind: no suffix, and not text"),
        ("drawing.ps", b"%!PS-Adobe-3.0\n(hello) show\n", "unknown kind: .ps"),
        ("late.dat", b"words and words\n" * 9000 + b"\0" * 9001, "unknown kind: .dat"),
    ],
)
def test_binary_files_of_no_known_suffix_are_an_unknown_kind(name: str, data: bytes, reason: str) -> None:
    with pytest.raises(ExtractionFailed) as caught:
        Registry().extract(Source(name, data))
    assert caught.value.reason == reason


def test_too_much_text_is_refused() -> None:
    with pytest.raises(ExtractionFailed, match="too much text: more than 1,000 characters"):
        Registry().extract(Source("a.txt", b"x" * 1001, max_chars=1000))
