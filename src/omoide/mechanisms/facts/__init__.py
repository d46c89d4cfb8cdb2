"""Facts: what each session tells, kept with its sources, dates and ends. The summary is a choice of
them."""

from omoide.mechanisms.facts.keeper import FactKeeper
from omoide.mechanisms.facts.profiles import PROFILES, Profile, profile_for
from omoide.mechanisms.facts.small_form import SHOWN
from omoide.mechanisms.facts.small_form import TunedForm as TunedFactForm

__all__ = ["PROFILES", "SHOWN", "FactKeeper", "Profile", "TunedFactForm", "profile_for"]
