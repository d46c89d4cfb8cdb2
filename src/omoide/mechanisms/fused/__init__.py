"""The fused writer: summary, memos and events of a session from one model call."""

from omoide.mechanisms.fused.json_form import JsonForm
from omoide.mechanisms.fused.notes import gist

__all__ = ["JsonForm", "gist"]
