"""What the reasons and the changes are called."""

from __future__ import annotations

import pytest

from pipeline.findings import PassageFinding, SettingChange, Standing, Ways
from pipeline.records import Location
from pipeline.words.why import (
    change_label,
    change_tip,
    score_words,
    standing_words,
    together_label,
    untried_sentence,
    ways_sentence,
)

PLACE = Location("docs/a.txt#chunk-0", "docs/a.txt", 0, "/docs/a.txt", 0, 10, None, None)


@pytest.mark.parametrize(
    ("change", "label"),
    [
        (SettingChange("return-n", 5, 7), "Return 7 blocks"),
        (SettingChange("retrieve-k", 20, 1_200), "Recall 1,200 texts"),
        (SettingChange("max-chunks-per-document", 2, 3), "Raise the cap to 3 a file"),
        (SettingChange("max-chunks-per-document", 4, 3), "Lower the cap to 3 a file"),
        (SettingChange("max-chunks-per-document", 0, 2), "Cap every file at 2 blocks"),
        (SettingChange("max-chunks-per-document", 2, 0), "Lift the cap"),
        (SettingChange("max-items", 2, 3), "Give the agent 3 blocks"),
        (SettingChange("fold-near", True, False), "Keep near twins apart"),
        (SettingChange("fold-near", False, True), "Fold near twins too"),
        (SettingChange("near-threshold", 0.5, 0.72), "Call texts near twins only from 72%"),
        (SettingChange("near-threshold", 0.5, 0.3), "Call texts near twins already from 30%"),
        (SettingChange("serve-stale", False, True), "Serve files whose re-indexing failed"),
        (SettingChange("policy", "source", "evidence"), "Use the policy “Evidence”"),
    ],
)
def test_every_change_says_what_it_does(change: SettingChange, label: str) -> None:
    assert change_label(change) == label
    assert change.setting in change_tip(change)


def test_several_changes_are_one_button() -> None:
    two = (SettingChange("return-n", 5, 7), SettingChange("fold-near", True, False))
    assert together_label(two) == "Return 7 blocks and keep near twins apart"
    assert "both of these" in ways_sentence(Ways(False, together=two))
    three = (*two, SettingChange("retrieve-k", 20, 40))
    assert together_label(three) == "Do all 3"
    said = ways_sentence(Ways(False, together=three))
    assert "return 7 blocks, keep near twins apart and recall 40 texts" in said


def test_what_was_not_tried_is_said() -> None:
    assert "“Fold near twins too”" in untried_sentence(Ways(False, untried=("fold-near",)))
    assert untried_sentence(Ways(False)) == ""


def test_reasons_are_sentences() -> None:
    assert ways_sentence(Ways(False, reason="no setting brings it in")) == "No setting brings it in."
    assert ways_sentence(Ways(True)) == ""


@pytest.mark.parametrize(
    ("standing", "words"),
    [
        (Standing(1, 1, 0.9), "1st of all rows"),
        (Standing(45, 12, 0.4), "45th of all rows, 12th of the different texts"),
        (Standing(), "nowhere: the search does not look at it"),
    ],
)
def test_where_it_stands(standing: Standing, words: str) -> None:
    assert standing_words(standing) == words


@pytest.mark.parametrize(
    ("lacking", "words"),
    [
        (0.05, "0.4000: 0.0500 too low to be the last block of the answer"),
        (0.0, "0.4000, no less than the last block of the answer"),
        (None, "0.4000"),
    ],
)
def test_the_score_that_it_lacks(lacking: float | None, words: str) -> None:
    finding = PassageFinding(PLACE, "", Standing(3, 3, 0.4), "fell", "", lacking=lacking)
    assert score_words(finding) == words
