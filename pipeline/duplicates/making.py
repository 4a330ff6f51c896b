"""From what texts share to families of documents: members, figures, what differs, what is proposed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from pipeline.duplicates.decided import Decided
from pipeline.duplicates.differences import Words, indentation_differs, minds_indentation, weighty_among, words_of
from pipeline.duplicates.families import Star, Tie, Ties, stars, ties_of
from pipeline.duplicates.ground import Differing, Ground, family_key
from pipeline.duplicates.heads import ranked
from pipeline.duplicates.records import (
    TIERS,
    DuplicateSettings,
    Family,
    FolderShare,
    Member,
    Tier,
    Weighty,
)
from pipeline.progress import CancelToken
from pipeline.store.duplicates import DocumentRow
from pipeline.words import proposing

WORDS_SHOWN = 12  # of those that matter and differ; the others are counted
PROPOSED_FROM = 0.70  # of a member that has to stand in the head before letting it go is proposed
MUCH = 0.75  # of a head that has to stand in a member for them to be near rather than one a part of the other
_EQUAL = Tie(1.0, 1.0, 1.0)
TextOf = Callable[[int], str | None]  # a document's row id -> its text, None when it is not what it was


class Maker:
    """Makes the families of one ground under one set of settings and decisions."""

    def __init__(
        self,
        ground: Ground,
        settings: DuplicateSettings,
        decided: Decided,
        text_of: TextOf,
        cancel: CancelToken | None = None,
    ) -> None:
        self._ground, self._settings, self._decided, self._cancel = ground, settings, decided, cancel
        self._documents = ground.documents
        self._text_of_document = {number: text for text, held in enumerate(ground.texts) for number in held}
        self._declined = _declined_by_content(decided)
        self.declined: set[str] = set()  # keys of the sets that kept something apart
        order = ranked(ground.documents, settings.head, decided.preferred, decided.left_out)
        self._rank = {number: place for place, number in enumerate(order)}
        self._order = list(dict.fromkeys(self._text_of_document[n] for n in order if n in self._text_of_document))
        self._words = lru_cache(maxsize=4)(self._words_of)
        self._text_of = text_of
        self._spans = _spans(ground)
        self._near = {} if ground.passages is None else ground.passages.at_least(settings.near)
        self.used: dict[tuple[int, int, bool], Differing] = {}

    def equal_only(self) -> Iterator[Family]:
        """The families of equal texts: known before anything is compared."""
        for text, held in enumerate(self._ground.texts):
            if len(held) > 1 and (family := self._family(Star(text, ()), None)) is not None:
                yield family

    def all(self) -> Iterator[Family]:
        """Every family, as they are made."""
        ground, settings = self._ground, self._settings
        ties = ties_of(ground.pairs, ground.sizes, settings.near, settings.contained, self._may_be_tied)
        preferred = frozenset(
            self._text_of_document[number]
            for number, document in enumerate(self._documents)
            if document.doc_id in self._decided.preferred and number in self._text_of_document
        )
        largest_first = settings.head == "most_complete"
        found = stars(ties, self._order, ground.sizes, preferred, largest_first)
        heads = {star.head for star in found}
        tied = {text for star in found for text in star.tied}
        alone = [Star(text, ()) for text, held in enumerate(ground.texts) if len(held) > 1]
        for star in (*found, *(star for star in alone if star.head not in heads and star.head not in tied)):
            if self._cancel is not None:
                self._cancel.check()
            if (family := self._family(star, ties)) is not None:
                yield family

    # --- one family ---

    def _family(self, star: Star, ties: Ties | None) -> Family | None:
        """None where what was decided leaves nothing of it."""
        ground = self._ground
        first, *others = self._by_rank(ground.texts[star.head])
        head = self._documents[first]
        chosen: list[tuple[int, Member]] = []
        for number in others:
            tier: Tier = "identical" if _same_bytes(self._documents[number], head) else "same_text"
            chosen.append((number, self._member(number, tier, _EQUAL)))
        for text in star.tied:
            tie = ties.between(text, star.head) if ties is not None else None
            if tie is None:
                continue
            tier = _tier(tie, self._settings)
            words, in_all = self._differing(star.head, text, tier == "contained", tie)
            for number in self._by_rank(ground.texts[text]):
                member = self._member(number, tier, tie)
                chosen.append((number, replace(member, weighty=words, weighty_in_all=in_all)))
        chosen = [(number, member) for number, member in chosen if not self._kept_apart(number, first)]
        if not chosen:
            return None
        chosen.sort(key=lambda each: (TIERS.index(each[1].tier or "identical"), each[1].doc_id))
        chosen = [(first, self._member(first, None, _EQUAL)), *chosen]
        members = self._judged([number for number, _ in chosen], [member for _, member in chosen])
        tiers = [member.tier for member in members[1:] if member.tier is not None]
        texts, characters, nearly = self._redundant([number for number, _ in chosen])
        return Family(
            family_key(member.content_key or member.text_key for member in members),
            members,
            max(tiers, key=TIERS.index),
            texts,
            characters,
            near_texts=nearly,
        )

    def _by_rank(self, numbers: Iterable[int]) -> list[int]:
        return sorted(numbers, key=self._rank.__getitem__)

    def _member(self, number: int, tier: Tier | None, tie: Tie) -> Member:
        document, decided = self._documents[number], self._decided
        return Member(
            doc_id=document.doc_id,
            path=document.path,
            kind=document.kind,
            size=document.size,
            mtime_ns=document.mtime_ns,
            characters=document.characters,
            content_key=document.content_sha256,
            text_key=document.fold_key or "",
            tier=tier,
            in_head=tie.in_other,
            head_in=tie.other_in,
            similarity=tie.similarity,
            protected=decided.protects(document.path),
            preferred=document.doc_id in decided.preferred,
            left_out=document.doc_id in decided.left_out,
            note=decided.notes.get(document.doc_id, ""),
        )

    def _judged(self, numbers: Sequence[int], members: Sequence[Member]) -> tuple[Member, ...]:
        """The members with what is proposed and why; hard links are told from copies."""
        files: set[tuple[str, str]] = set()
        stays = self._staying(numbers, members)
        judged: list[Member] = []
        for number, member in zip(numbers, members, strict=True):
            document = self._documents[number]
            file = (document.device, document.inode)
            linked = document.link_count > 1 and file in files
            files.add(file)
            kept, copied = stays.get(member.text_key, (number, member))
            copy = kept != number and not self._kept_apart(number, kept)
            # What is proposed itself does not stay: then its copies are judged against the head, as it is.
            copy = copy and not _judgement(copied, self._documents[kept], False, None)[1]
            why, proposed = _judgement(member, document, linked, copied if copy else None)
            if proposed and self._indented_otherwise(number, kept if copy else numbers[0]):
                why, proposed = proposing.INDENTED, False
            judged.append(replace(member, hard_link=linked, proposed=proposed, why=why))
        return tuple(judged)

    def _indented_otherwise(self, number: int, other: int) -> bool:
        """Whether a text that counts as the same, blanks being folded, is not so where blanks mean something."""
        one, two = self._documents[number], self._documents[other]
        if one.fold_key != two.fold_key or _same_bytes(one, two) or not minds_indentation(one.kind, one.path):
            return False
        texts = (self._text_of(one.id), self._text_of(two.id))
        return None in texts or indentation_differs(str(texts[0]), str(texts[1]), one.kind, one.path)

    def _staying(self, numbers: Sequence[int], members: Sequence[Member]) -> dict[str, tuple[int, Member]]:
        """Of every text that is tied to the head without being its equal, the member that its copies are copies of:
        the best by the rule in force that searches serve. They may differ from the head in what matters, and still be
        the same as each other."""
        head = members[0].text_key
        best: dict[str, tuple[int, Member]] = {}
        for number, member in sorted(zip(numbers, members, strict=True), key=lambda each: self._rank[each[0]]):
            served = self._documents[number].state == "indexed" and not member.left_out
            if member.text_key and member.text_key != head and served:
                best.setdefault(member.text_key, (number, member))
        return best

    # --- decisions ---

    def _kept_apart(self, number: int, other: int) -> bool:
        """Whether it was said of a set with both that they are no duplicates."""
        sets = self._declined
        if not sets:
            return False
        one, two = (self._documents[n].content_sha256 for n in (number, other))
        both = sets.get(one, frozenset()) & sets.get(two, frozenset())
        self.declined |= both
        return bool(both)

    def _may_be_tied(self, one: int, other: int) -> bool:
        if not self._declined:
            return True
        texts = self._ground.texts
        return not all(self._kept_apart(number, against) for number in texts[one] for against in texts[other])

    # --- what differs ---

    def _differing(self, head: int, member: int, contained: bool, tie: Tie) -> Differing:
        """The words that matter and differ. Where the member holds the head, the head is the part."""
        part = contained
        known = self._ground.differing.get((head, member, part))
        if known is None:
            one, other = self._words(head), self._words(member)
            if one is None or other is None:
                known = ((), -1)
            elif part and tie.other_in > tie.in_other:
                turned = weighty_among(other, one, part=True)
                words = tuple(Weighty(word.kind, word.in_member, word.in_head) for word in turned)
                known = (words[:WORDS_SHOWN], len(words))
            else:
                words = weighty_among(one, other, part=part)
                known = (words[:WORDS_SHOWN], len(words))
            if known[1] >= 0:
                self._ground.differing[head, member, part] = known
        self.used[head, member, part] = known
        return known

    def _words_of(self, text: int) -> Words | None:
        found = self._text_of(self._documents[self._ground.texts[text][0]].id)
        return None if found is None else words_of(found)

    # --- what is redundant ---

    def _redundant(self, numbers: Sequence[int]) -> tuple[int, int, int]:
        """(passages of later documents that stand in an earlier one too, their characters, passages of later documents
        that nearly do)."""
        chunks = self._ground.chunks
        seen: set[int] = set()
        texts = characters = nearly = 0
        for number in numbers:
            start, end = self._spans.get(self._documents[number].id, (0, 0))
            groups = chunks.groups[start:end].tolist()
            lengths = chunks.characters[start:end].tolist()
            again = [length for group, length in zip(groups, lengths, strict=True) if group in seen]
            texts += len(again)
            characters += sum(again)
            nearly += sum(
                group not in seen and not seen.isdisjoint(self._near[group]) for group in groups if group in self._near
            )
            seen.update(groups)
        return texts, characters, nearly

    @property
    def near_texts(self) -> int:
        """Different texts of passages that are near another one."""
        return len(self._near)


def _tier(tie: Tie, settings: DuplicateSettings) -> Tier:
    """What ties a text to its head. Of what is both, it is contained where much of the larger one is not in it."""
    larger, smaller = max(tie.in_other, tie.other_in), min(tie.in_other, tie.other_in)
    part = larger >= settings.contained - 1e-9 and smaller < MUCH
    return "contained" if part or tie.similarity < settings.near - 1e-9 else "near"


def _judgement(member: Member, document: DocumentRow, linked: bool, copied: Member | None) -> tuple[str, bool]:
    """(why, proposed): the first that holds. `copied` is another member of the same text, which stays."""
    if member.tier is None:
        return proposing.HEAD, False
    for holds, why in (
        (linked, proposing.HARD_LINK),
        (member.protected, proposing.PROTECTED),
        (member.preferred, proposing.PREFERRED),
        (document.state == "stale", proposing.STALE),
        (document.state == "failed", proposing.UNREAD),
        (member.left_out, proposing.LEFT_OUT),
        (member.weighty_in_all < 0, proposing.STALE),
    ):
        if holds:
            return why, False
    if copied is not None:
        same_bytes = bool(member.content_key) and member.content_key == copied.content_key
        if same_bytes or not document.reason:
            return proposing.copy_of(copied.path, same_bytes), True
    if document.reason and member.tier != "identical":
        return proposing.PARTLY_READ, False
    if member.tier == "contained" and member.head_in > member.in_head:
        return proposing.HOLDS_MORE, False
    if member.in_head < PROPOSED_FROM:
        return proposing.TOO_LITTLE, False
    if member.weighty_in_all:
        return proposing.differs(member.weighty, member.weighty_in_all), False
    whys: dict[Tier, str] = {
        "identical": proposing.IDENTICAL,
        "same_text": proposing.SAME_TEXT,
        "near": proposing.NEAR,
        "contained": proposing.PART,
    }
    return whys[member.tier], True


def _same_bytes(document: DocumentRow, head: DocumentRow) -> bool:
    return bool(document.content_sha256) and document.content_sha256 == head.content_sha256


def _declined_by_content(decided: Decided) -> dict[str, frozenset[str]]:
    """Content key -> the declined sets that it is in."""
    found: dict[str, set[str]] = {}
    for key, contents in decided.declined.items():
        for content in contents:
            found.setdefault(content, set()).add(key)
    return {content: frozenset(keys) for content, keys in found.items()}


def _spans(ground: Ground) -> dict[int, tuple[int, int]]:
    """Row id -> where its chunks stand in the columns."""
    documents = ground.chunks.documents
    if not len(documents):
        return {}
    firsts = np.flatnonzero(np.concatenate([[True], documents[1:] != documents[:-1]]))
    ends = np.append(firsts[1:], len(documents))
    return dict(zip(documents[firsts].tolist(), zip(firsts.tolist(), ends.tolist(), strict=True), strict=True))


def in_order(families: Iterable[Family]) -> tuple[Family, ...]:
    """The costliest first: by measured cost where there is one, then by what is redundant."""
    return tuple(
        sorted(
            families,
            key=lambda family: (
                -(family.cost or 0.0),
                -family.redundant_characters,
                -len(family.members),
                family.head.doc_id,
            ),
        )
    )


def folder_shares(documents: Sequence[DocumentRow], families: Iterable[Family]) -> tuple[FolderShare, ...]:
    """Every folder that holds duplicates somewhere below it, by path. A hard link is none."""
    duplicates = Counter(
        folder
        for family in families
        for member in family.members[1:]
        if not member.hard_link
        for folder in _folders(member.doc_id)
    )
    everything = Counter(folder for document in documents for folder in _folders(document.doc_id))
    return tuple(FolderShare(folder, everything[folder], duplicates[folder]) for folder in sorted(duplicates))


def _folders(doc_id: str) -> list[str]:
    parts = doc_id.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]
