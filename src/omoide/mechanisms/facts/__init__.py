"""Facts: what each session tells, kept with its sources, dates and ends. The summary is a choice of
them."""

from omoide.mechanisms.facts.keeper import FactKeeper
from omoide.mechanisms.facts.profiles import PROFILES, Profile, profile_for

__all__ = ["PROFILES", "FactKeeper", "Profile", "profile_for"]
