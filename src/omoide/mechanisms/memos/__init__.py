"""Compressed memos (paper C) and MemoChat: writing, compression, search, upkeep."""

from omoide.mechanisms.memos import segments
from omoide.mechanisms.memos.compression import (
    Compressor,
    FunctionWordCompressor,
    NoCompression,
    RandomTokenCompressor,
)
from omoide.mechanisms.memos.compression_budget import BudgetCompressor
from omoide.mechanisms.memos.compressors import TextTools, no_analyser
from omoide.mechanisms.memos.mechanism import ChosenMemos, CompressedMemos, MemoChat
from omoide.mechanisms.memos.reading import read_choice, read_entries
from omoide.mechanisms.memos.search import MemoSearch, choice_request
from omoide.mechanisms.memos.topics import keywords, topic
from omoide.mechanisms.memos.writer import (
    MemoDraft,
    MemoWriter,
    checked_memos,
    schema,
    write_request,
)

__all__ = [
    "BudgetCompressor",
    "ChosenMemos",
    "CompressedMemos",
    "Compressor",
    "FunctionWordCompressor",
    "MemoChat",
    "MemoDraft",
    "MemoSearch",
    "MemoWriter",
    "NoCompression",
    "RandomTokenCompressor",
    "TextTools",
    "checked_memos",
    "choice_request",
    "keywords",
    "no_analyser",
    "read_choice",
    "read_entries",
    "schema",
    "segments",
    "topic",
    "write_request",
]
