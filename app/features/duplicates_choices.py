"""Decisions about what is selected on the Duplicates page: asked about where something would be lost, then ordered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from app.features.duplicates_deciding import Deciding
from app.features.duplicates_scan import Scanning
from app.features.ground import Ground
from app.jobs.ends import End
from app.problems import problem_of
from pipeline.duplicates.decided import lies_in
from pipeline.duplicates.records import DecisionKind, Family, Member
from pipeline.words.phrases import count, file_name, listed
from pipeline.words.plain import one_line

if TYPE_CHECKING:
    from app.features.duplicates_trash import Trashing

_LOSING = "finding what would be lost"


class Choices(QObject):
    """What the user wants done with the selected members, families and folders."""

    def __init__(self, ground: Ground, scanning: Scanning, deciding: Deciding, trashing: Trashing) -> None:
        super().__init__(ground.window)
        self._ground, self._window, self._page = ground, ground.window, ground.window.duplicates
        self.scanning, self.deciding, self.trashing = scanning, deciding, trashing

    def connect_commands(self) -> None:
        """Each command with what it does."""
        on = self._window.actions_.on
        on("prefer-copy", self._prefer)
        on("leave-out-copies", self._leave_out)
        on("note-copy", self._note)
        on("protect-folder", self._protect_folder)
        on("trash-copies", lambda: self._trash([member.doc_id for member in self.members()]))
        on("leave-out-proposed", lambda: self._leave_out_proposed(self.families()))
        on("trash-proposed", lambda: self._trash(proposed_in(self.families())))
        on("not-duplicates", self._decline)
        self._page.protectRequested.connect(self._protect)
        self._page.folderRequested.connect(self._leave_out_in)

    def members(self) -> list[Member]:
        """The selected members of the family that is shown."""
        return self._page.chosen_members()

    def families(self) -> list[Family]:
        """The selected families."""
        return [row.family for row in self._page.chosen_rows()]

    def _decide_documents(self, kind: DecisionKind, members: Sequence[Member], value: str | None, said: str) -> None:
        doc_ids = [member.doc_id for member in members]
        seen = {member.doc_id: member.content_key for member in members}

        def work(library: Path) -> Any:
            from pipeline.duplicates.deciding import decide_documents

            return decide_documents(library, kind, doc_ids, value=value, seen=seen)

        self.deciding.decide(work, said)

    def _prefer(self) -> None:
        members = self.members()[:1]
        if members:
            held, name = members[0].preferred, file_name(members[0].doc_id)
            said = f"{name} is not preferred any more" if held else f"{name} is cited first from now on"
            self._decide_documents("preferred", members, None if held else "", said)

    def _note(self) -> None:
        members = self.members()[:1]
        if not members:
            return
        name = file_name(members[0].doc_id)
        words = self._ground.dialogs.text("Note", f"A note on {name}", members[0].note)
        if words is not None and words.strip() != members[0].note:
            said = f"Noted on {name}" if words.strip() else f"The note on {name} is taken away"
            self._decide_documents("note", members, words.strip() or None, said)

    def _leave_out(self) -> None:
        members = self.members()
        if members and all(member.left_out for member in members):
            said = f"{documents_words(members)} taken back into searches"
            self._decide_documents("left_out", members, None, said)
            return
        chosen = [member for member in members if not member.left_out]
        said = f"{documents_words(chosen)} left out of searches"
        self._after_losses(
            [member.doc_id for member in chosen],
            lambda: self._decide_documents("left_out", chosen, "", said),
            always=len(chosen) > 1,
        )

    def _leave_out_proposed(self, families: Sequence[Family], folder: str = "") -> None:
        """What is proposed of these families and, if told so, lies in this folder, and whose file is as indexed."""
        library = self.scanning.state.folder

        def work() -> list[Family]:
            from pipeline.duplicates.freshness import family_with_freshness

            found = [family_with_freshness(family) for family in families]
            return proposed_within(found, folder) if folder else found

        def ended(end: End[list[Family]]) -> None:
            self.scanning.working("")
            if end.how == "failed":
                self.scanning.notice(problem_of(end.error, end.details))
            if end.how != "done" or end.value is None or library != self.scanning.state.folder:
                return
            if proposed_in(end.value):
                self._leave_out_of(end.value)
            else:
                self._window.status.say(
                    "Nothing is left out: the files that were proposed are not as indexed any more."
                )

        self.scanning.working("Comparing the files with what was indexed…")
        self._ground.crew.look(_LOSING, work, ended)

    def _leave_out_of(self, families: Sequence[Family]) -> None:
        doc_ids = proposed_in(families)
        wanted = [family for family in families if any(member.proposed for member in family.members)]

        def work(library: Path) -> Any:
            from pipeline.duplicates.deciding import leave_out_proposed

            return leave_out_proposed(library, wanted)

        said = f"{count(len(doc_ids), 'document')} left out of searches, and the heads are cited first"
        self._after_losses(doc_ids, lambda: self.deciding.decide(work, said), always=True)

    def _leave_out_in(self, folder: str) -> None:
        """Everything that is proposed in this folder."""
        report = self.scanning.state.report
        families = [] if report is None else [each for each in report.families if proposed_within([each], folder)]
        if not families:
            self._window.status.say(f"Nothing in “{folder}” is proposed for removal.")
            return
        self._leave_out_proposed(families, folder)

    def _after_losses(self, doc_ids: Sequence[str], then: Callable[[], None], *, always: bool) -> None:
        """Find what searches would lose, list it, and go on if the user still wants it. Nothing lost, and not
        `always`: go on at once."""
        folder = self.scanning.state.folder
        if folder is None or not doc_ids:
            return
        wanted = list(doc_ids)

        def work() -> Any:
            from pipeline.duplicates.deciding import decided_in
            from pipeline.duplicates.lost import passages_lost

            return passages_lost(folder, wanted, left_out=[*decided_in(folder).left_out])

        def ended(end: End[Any]) -> None:
            self.scanning.working("")
            if end.how == "failed":
                self.scanning.notice(problem_of(end.error, end.details))
            if end.how != "done" or folder != self.scanning.state.folder:
                return
            if end.value or always:
                from app.views.trash_dialog import leaving_out_dialog

                dialog = leaving_out_dialog(wanted, end.value, self._window)
                agreed = self._ground.dialogs.ask(dialog)
                dialog.deleteLater()
                if not agreed:
                    return
            then()

        self.scanning.working("Finding what searches would lose…")
        self._ground.crew.look(_LOSING, work, ended)

    def _decline(self) -> None:
        families = self.families()

        def work(library: Path) -> Any:
            from pipeline.duplicates.deciding import decline

            return decline(library, families)

        said = (
            f"{count(len(families), 'set')} not proposed again"
            if len(families) != 1
            else "This set is not proposed again"
        )
        self.deciding.decide(work, said)

    def _protect_folder(self) -> None:
        """Protect the folder of the selected member, or stop protecting whatever folder protects it."""
        for member in self.members()[:1]:
            if not member.protected:
                self._protect((str(Path(member.path).parent),), True)
                continue
            held = [path for path in self.deciding.state.protected if lies_in(member.path, path)]
            if held and self._ground.dialogs.confirm(
                f"Stop protecting {'this folder' if len(held) == 1 else 'these folders'}?",
                f"{listed([f'“{one_line(path, 200)}”' for path in held])}\n\nWhat lies there may be proposed for "
                "removal again, and can be moved to the trash. This can be undone.",
                "Stop protecting",
            ):
                self._protect(held, False)

    def _protect(self, folders: Sequence[str], wanted: bool) -> None:
        def work(library: Path) -> Any:
            from pipeline.duplicates.deciding import protect

            return protect(library, folders, take_back=not wanted)

        name = file_name(folders[0]) if len(folders) == 1 else count(len(folders), "folder")
        self.deciding.decide(work, f"{name} is protected" if wanted else f"{name} is not protected any more")

    def _trash(self, doc_ids: Sequence[str]) -> None:
        folder = self.scanning.state.folder
        if folder is not None and doc_ids and not self.scanning.state.sample:
            self.trashing.ask(folder, doc_ids, lambda: folder == self.scanning.state.folder)


def proposed_in(families: Sequence[Family]) -> list[str]:
    """The doc_ids of every proposed member."""
    return [member.doc_id for family in families for member in family.members if member.proposed]


def proposed_within(families: Sequence[Family], folder: str) -> list[Family]:
    """The families with a proposed member below this folder, with no other member proposed."""
    beginning = f"{folder}/"
    kept = []
    for family in families:
        if any(member.proposed and member.doc_id.startswith(beginning) for member in family.members):
            members = tuple(
                replace(member, proposed=member.proposed and member.doc_id.startswith(beginning))
                for member in family.members
            )
            kept.append(replace(family, members=members))
    return kept


def documents_words(members: Sequence[Member]) -> str:
    """One by its name, more by their number."""
    return f"{file_name(members[0].doc_id)} is" if len(members) == 1 else f"{count(len(members), 'document')} are"
