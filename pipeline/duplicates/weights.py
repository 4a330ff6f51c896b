"""As what a word matters when it stands in one of two texts alone, and which words are the same in another spelling."""

from __future__ import annotations

import re
import unicodedata

from pipeline.duplicates.records import WeightyKind

KINDS: tuple[WeightyKind, ...] = ("negation", "number", "date", "name", "word")  # the weightiest first


def _all(words: str) -> frozenset[str]:
    return frozenset(words.split())


_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})")
_CALENDAR = _all(
    "january february march april june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday januar februar märz mai juni juli oktober dezember montag dienstag mittwoch "
    "donnerstag freitag samstag sonntag janvier février mars avril juin juillet août septembre octobre novembre "
    "décembre lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo "
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
)
_NUMBERS = _all(
    "zero one first second third fourth fifth sixth seventh eighth ninth tenth dozen score quarter triple single "
    "erste ersten erster zweite zweiten dritte dritten premier première deuxième primero primera segundo segunda "
    "halb dutzend demi douzaine medio docena trillion thrice "
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half double twice "
    "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig hundert tausend deux trois quatre cinq sept "
    "huit neuf dix vingt cent mille dos tres cuatro cinco seis siete ocho nueve diez "
    "一 二 三 四 五 六 七 八 九 十 百 千 万 億"
)
# With a number they say how much it is.
_UNITS = _all(
    "mg g kg t µg μg mcg ml cl dl l mm cm m km mi ft oz lb lbs w kw mw v kv hz khz mhz ghz kb mb gb tb am pm "
    "% ‰ $ € £ ¥ ° "
    "percent pound pounds sterling dollar dollars euro euros eur usd gbp chf yen cent cents pence penny "
    "gram grams kilogram kilograms milligram milligrams litre litres liter liters metre metres meter meters "
    "second seconds minute minutes hour hours day days week weeks month months year years + - − –"
)
_ROMAN = re.compile(r"(?=..)l?x{0,3}(?:ix|iv|v?i{0,3})")
_NEGATIONS = _all(
    "not no never none nor neither nobody nothing nowhere without cannot unless except excluding "
    "nicht kein keine keinen keiner keinem keines nie niemals ohne außer "
    "ne pas jamais aucun aucune sans sauf nunca jamás ningún ninguna ni sin mai senza niet geen nooit "
    "不 没 沒 無 无 非 未 勿 "
    "hardly barely scarcely rarely seldom forbidden prohibited banned disallowed refused rejected denied excluded void "
    "verboten untersagt interdit interdite prohibido prohibida "
    "! != ~~ [x] [] ❌ ✅ ✗ ✘ ✓ ✔ ☐ ☑ ☒"
)
_DENYING = ("un", "in", "im", "il", "ir", "dis", "non", "mis", "anti")
HARMLESS = _all("a an the and der das und le les los")  # "die", "la" and "y" are words of another language, or names
# At the head of a sentence these have a capital and are no names.
_PLAIN = _all(
    "a about after again all also although an and any are as at be because before both but by can could did do does "
    "during each either every first finally for from further had has have he hence her here his how however i if in "
    "instead into is it its last later let like many may maybe more moreover most must my new next now of often on "
    "once only or other our out over please see several she should since so some such than that the their them then "
    "there therefore these they this those though through thus to under until up use used using was we were what when "
    "where whether which while who why will with within would yes yet you your der die das ein eine und oder wenn le "
    "la les un une et si el los las una y"
)


_BRITISH = re.compile(r"^([a-z]{3,})our(?=$|s$|ed$|ing$|ite$|able$|ful$)|(?<=[a-z]{3}[iy])s(?=e$|ed$|es$|ing$|ation$)")


def kind_of(word: str, *, begins: bool = False, known: frozenset[str] = frozenset()) -> WeightyKind:
    """As what a word matters. `begins`: it begins a sentence, where a capital says little; `known` are the words
    around, in which a name would not stand in small letters."""
    folded = fold(word)
    if folded in _NEGATIONS or folded.endswith("n't"):
        return "negation"
    if _DATE.search(word) or folded in _CALENDAR or (folded == "may" and word[0].isupper() and not begins):
        return "date"
    if folded in _NUMBERS or folded in _UNITS or any(map(str.isnumeric, word)) or unicodedata.category(word[0]) == "Sc":
        return "number"
    if _ROMAN.fullmatch(folded):
        return "number"
    if any(sign in word for sign in "@/\\_.:") and len(word) > 1:
        return "name"
    if not word[0].isupper():
        return "word"
    if word.isupper() and len(word) > 1:
        return "name"
    if begins and (folded in _PLAIN or folded in known):
        return "word"
    return "name" if len(word) > 1 else "word"


def opposite(one: str, other: str) -> bool:
    """Whether one of two folded words denies the other by what it begins or ends with."""
    short, long = sorted((one, other), key=len)
    if not short:
        return False
    if any(long == f"{prefix}{short}" for prefix in _DENYING):
        return True
    return any(word.endswith("less") and rest.startswith(word[:-4]) for word, rest in ((one, other), (other, one)))


def spelt(word: str) -> str:
    """The word as it is spelt on one side of the Atlantic: "organise" and "colour" are "organize" and "color"."""
    if len(word) < 6 or not word.isascii() or not word.islower():
        return fold(word)
    return _BRITISH.sub(lambda match: f"{match[1]}or" if match[1] else "z", word)


def fold(word: str) -> str:
    """The word as it is compared: case and the look of its signs make no difference."""
    if not word.isascii():
        word = unicodedata.normalize("NFC", word)
    if word[0:1] == "-" and word[-1].isalpha():  # an option of a command, where "-R" is another one than "-r"
        return word
    return word.lower().replace("\u2019", "'").replace("\u2212", "-").replace("\u2013", "-")
