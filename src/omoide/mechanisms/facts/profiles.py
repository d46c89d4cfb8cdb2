"""Profiles: how a model is asked, by its strength.

A rule that helps a model of 1.5 B parameters only takes away from what a large one writes, so each
has its own form. A model's strength is read from its name, or set by `OMOIDE_PROFILE`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omoide.errors import BadInput
from omoide.mechanisms.facts.large_form import LargeForm
from omoide.mechanisms.facts.small_form import SmallForm, TunedForm
from omoide.ports import Skill, is_tuned_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from omoide.claims.attribution import Partner
    from omoide.mechanisms.facts.operations import FactForm
    from omoide.ports import ChatModel

LARGE_FROM = 7.0
"""Billions of parameters from which a model counts as large."""
_SIZE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s?b(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Profile:
    """How models of one strength are asked."""

    name: str
    form: Callable[[Partner], FactForm]
    """The form in which a session's facts are asked for."""
    tuned: Callable[[Partner], FactForm] | None = None
    """The form for models with an adapter for `Skill.FACTS`, if it is another one."""
    known: int
    """How many known facts the model is shown at most, in a session with no more turns."""
    known_long: int
    """How many of a longer session: one for each turn, so that their share of the prompt stays."""
    newest: int
    """How many of the newest it is shown, whether or not the session has their words. A large model
    is shown as many as fit, so that it also sees what changed in other words."""
    further: int
    """How many facts besides the summary's go into every prompt. Each is one short sentence: twenty
    of them hold less than the twenty sentences that a large model would write itself."""

    def form_for(self, model: ChatModel, partner: Partner) -> FactForm:
        """The form in which that model is asked."""
        if self.tuned is not None and is_tuned_for(model, Skill.FACTS):
            return self.tuned(partner)
        return self.form(partner)


PROFILES = {
    "small": Profile(
        name="small",
        form=SmallForm,
        tuned=TunedForm,
        known=60,
        known_long=60,
        newest=12,
        further=0,
    ),
    "large": Profile(
        name="large",
        form=lambda _: LargeForm(),
        known=48,
        known_long=200,
        newest=48,
        further=40,
    ),
}


def profile_for(chosen: str, *, model: str, remote: bool) -> Profile:
    """The profile of that name; with `auto`, by the size in the model's name. Without a size there,
    a model behind an endpoint counts as large and an embedded one as small.

    >>> [profile_for("auto", model=name, remote=True).name
    ...  for name in ("llama3.2:3b", "qwen2.5-72b-instruct", "gpt-5.2", "gemma-2-9b-it")]
    ['small', 'large', 'large', 'large']
    """
    if chosen == "auto":
        sizes = [float(size) for size in _SIZE.findall(model)]
        large = max(sizes) >= LARGE_FROM if sizes else remote
        return PROFILES["large" if large else "small"]
    if chosen not in PROFILES:
        raise BadInput(
            f"there is no profile {chosen!r}; choose from auto, {', '.join(sorted(PROFILES))}"
        )
    return PROFILES[chosen]
