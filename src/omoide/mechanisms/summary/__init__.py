"""The recursive summary of paper A: the summariser, its forms and the mechanism."""

from omoide.mechanisms.summary.both_form import BothForm
from omoide.mechanisms.summary.forms import PaperForm, SummaryForm
from omoide.mechanisms.summary.shortening import shortened
from omoide.mechanisms.summary.small_form import MAX_FACTS, SmallForm, grammar

__all__ = [
    "MAX_FACTS",
    "BothForm",
    "PaperForm",
    "SmallForm",
    "SummaryForm",
    "grammar",
    "shortened",
]
