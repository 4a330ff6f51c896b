"""A tiny tokenizer file for tests: one token a word, and two special ones around them."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing


def word_tokenizer(folder: Path, truncate_at: int | None = None) -> str:
    """Path of the file. With `truncate_at` it is one that cuts and pads, as those of real models do."""
    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    if truncate_at is not None:
        tokenizer.enable_truncation(truncate_at)
        tokenizer.enable_padding(length=truncate_at)
    path = folder / "word-tokenizer.json"
    tokenizer.save(str(path))
    return str(path)
