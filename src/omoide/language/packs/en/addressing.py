"""English: verbs agree with "you", and pronouns that mean the user become "you" and "your". The
assistant speaks of itself as "I".

A pronoun is taken for the user only as long as nobody else was mentioned: in "The user lives with
her brother and his dog", "her" is the user's and "his" is not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_USER = r"(?:[Tt]he )?\b[Uu]ser\b"
NAMED = re.compile(r"(?:The user|User), ([A-Z][\w'-]+),")
OF_ASSISTANT = re.compile("(?:The a|A)ssistant(?= |'s|’s)")
_NOT_TOLD = r"(?<!\bcalled )(?<!\bnamed )(?<!\bis )(?<!\bare )"
"""A name that is itself what is told stays: "The user is called Ana"."""
_ADVERBS = (
    "almost also always already both even ever first just never now often once only quite rather "
    "seldom sometimes soon still then too twice"
)
_NO_ADVERBS = "ally apply bully comply fly imply multiply rally rely reply supply tally"
"""Verbs that end as adverbs do."""
_ADVERB = (
    rf"(?:(?:{'|'.join(_ADVERBS.split())}|no longer|(?:kind|sort) of"
    rf"|(?!(?:{'|'.join(_NO_ADVERBS.split())})\b)[a-z]+ly) )*"
)
_JOINS = (
    "so because that and but or while when whether if since where as after before until although"
)
"""What a further clause may begin with, besides a comma or the like."""
_FORMS = {
    "is": "are",
    "was": "were",
    "has": "have",
    "does": "do",
    "isn't": "aren't",
    "wasn't": "weren't",
    "hasn't": "haven't",
    "doesn't": "don't",
    "focuses": "focus",
}
_BACK = {new: old for old, new in _FORMS.items()}
_SECOND_VERBS = (
    "is was has does wants likes lives thinks enjoys prefers hates dislikes teaches studies knows "
    "owns speaks misses seems believes considers keeps gets goes takes makes feels finds swims"
)
_VERBS = "|".join(_SECOND_VERBS.split())
_WITH_TO = "wants plans hopes needs tries intends decides likes loves works"
_PEOPLE = (
    "brother sister mother father mom mum dad parent son daughter child wife husband partner "
    "girlfriend boyfriend friend neighbour neighbor boss colleague coworker teacher doctor aunt "
    "uncle cousin niece nephew grandmother grandfather grandma grandpa dog cat man woman boy girl "
    "someone roommate flatmate assistant"
)
_PERSON = re.compile(
    rf"\b(?:{'|'.join(_PEOPLE.split())})s?\b|(?<!^)(?<!\bin )(?<!\bat )(?<!\bto )(?<!\bof )"
    r"(?<!\bfrom )(?<!\bnear )(?<!\bfor )\b(?!I\b)[A-Z][a-z]+(?= (?:and|is|was|has|who|[a-z]+s)\b)"
)
_OPENINGS = (
    "A After An As At Before Both During Every For From He Her His In It Last Next On Once One She "
    "Since That The Their There They This When While With You Your"
)
_FIRST = re.compile(rf"(?!(?:{'|'.join(_OPENINGS.split())})\b)[A-Z][a-z]+(?<!ing)(?= [a-z])")
"""A first word that may be somebody's name: "Biscuit cut her paw"."""
_PRONOUN = re.compile(
    r"\b(?:(?P<subject>[Ss]he|[Hh]e|[Tt]hey)(?P<short>'s|'re|'ve|'ll|'d)?"
    rf"(?P<verb> {_ADVERB}[a-z']+)?|(?P<own>[Hh]is|[Tt]heir|[Hh]er(?= [\w'-]))"
    r"|(?P<object>[Hh]im|[Tt]hem|[Hh]er)|(?P<self>(?:him|her|them)sel(?:f|ves)))\b"
)
_MODALS = frozenset("can cannot could will would shall should ought must may might had did".split())
_ME = re.compile(
    r"\b(with|to|for|from|by|about|asks|asked|tells|told|thanks|thanked|calls|called|trusts) "
    r"the assistant\b(?= (?:to|about|that|for|on|in|with|how|and|when|if|what|why|not)\b|\W*$)"
)
"""Where "the assistant" is no subject. Not in "the assistant manager", who is somebody else."""
_OF_IT = re.compile(r"\b(?:it|that|this|which) [a-z]+ $")
_NOT_OWNED = re.compile(r" (?:to|and|in|on|at|for|with|from|when|because|as|that|every|a|the)\b")


def to_user(text: str, *, name: str, about_user: bool) -> str:
    """See `omoide.language.addressing.to_user`."""
    if OF_ASSISTANT.match(text):
        about_user = False  # "The assistant likes her garden": not the user's
    text = _first_person(text)
    who = rf"(?:{_USER}|{_NOT_TOLD}{re.escape(name)}\b)" if name else _USER
    aside = rf"(?:, [A-Z][\w'-]*(?: [A-Z][\w'-]*)?,|,? {re.escape(name)}\b,?)?" if name else ""
    aside = aside or r"(?:, [A-Z][\w'-]*(?: [A-Z][\w'-]*)?,)?"
    said = re.sub(rf"{who}{aside}['’]s\b", _like("your"), text)
    said = re.sub(rf"^{who}{aside} ({_ADVERB})([a-z']+)(?: (and|or) ([a-z]+s)\b)?", _clause, said)
    joined = rf"((?:\b(?:{'|'.join(_JOINS.split())})|[,;:]) ){who}{aside} ({_ADVERB})([a-z']+)"
    said = re.sub(joined, lambda m: f"{m[1]}you {m[2]}{second(m[3])}", said)
    said = re.sub(rf"{who}{aside} (is|was|has|does)\b", lambda m: f"you {_FORMS[m[1]]}", said)
    said = re.sub(rf"{who}{aside}", _like("you"), said)
    subject = said.lower().startswith("you ")
    if subject:
        said = _second_verbs(said)
    return _pronouns(said) if about_user or said != text else said


def from_user(text: str) -> str:
    """See `omoide.language.addressing.from_user`."""
    said = re.sub(r"^(?:My|Your)\b", "The user's", _with_subject(text, "The user", "I|You"))
    if said == text:
        return text
    for first, third in _THIRD_PERSON:
        said = first.sub(third, said)
    return re.sub(r"(?<=[.!?] )the(?:y|ir|irs|m|mselves)\b", lambda m: m[0].capitalize(), said)


def _with_subject(text: str, subject: str, pronouns: str) -> str:
    """The text with the subject of its first clause, and with verbs that agree."""
    said = re.sub(r"^(I|You)['’](m|re|ve|ll)\b", lambda m: f"{m[1]} {_WHOLE[m[2]]}", text)
    begun = re.match(rf"^(?:{pronouns}) ({_ADVERB})([a-z'’]+)", said)
    if begun is None:
        return text
    verb = _third(begun[2].replace("’", "'"), recurs=bool(_HABIT.search(said)))
    rest = said[begun.end() :]
    rest = re.sub(rf"\b(and|but|or) ({_ADVERB})({_BASES})\b", _agree_back, rest)
    return f"{subject} {begun[1]}{verb}{rest}"


def from_assistant(text: str) -> str:
    """See `omoide.language.addressing.from_user`."""
    said = re.sub(r"^My\b", "The assistant's", _with_subject(text, "The assistant", "I"))
    return re.sub(r"\byou(r?)\b", lambda m: "the user's" if m[1] else "the user", said)


def _first_person(text: str) -> str:
    """What is said of the assistant, as it says it of itself."""
    said = re.sub(rf"^(?:The a|A)ssistant ({_ADVERB})([a-z']+)", _own_clause, text)
    if said.startswith("I "):
        said = re.sub(rf"\b(and|but|or) ({_ADVERB})({_VERBS})\b", _own_agree, said)
    said = re.sub(r"\b(?:[Tt]he a|^A)ssistant['’]s\b", _like("my"), said)
    said = re.sub(r"\bthe assistant (is|was|has|does)\b", lambda m: f"I {_first(m[1])}", said)
    return _ME.sub(r"\1 me", said)


def _own_clause(match: re.Match[str]) -> str:
    """With "I", if a verb follows: "The assistant manager helped" stays."""
    verb = match[2]
    known = verb in _FORMS or verb in _MODALS or verb.endswith("s") or _is_past(verb)
    return f"I {match[1]}{_first(verb)}" if known else match[0]


def _own_agree(match: re.Match[str]) -> str:
    return f"{match[1]} {match[2]}{_first(match[3])}"


def _first(verb: str) -> str:
    """A verb of the third person as "I" has it."""
    own = {"is": "am", "was": "was", "isn't": "am not", "wasn't": "wasn't"}
    return own.get(verb) or second(verb)


def _like(word: str) -> Callable[[re.Match[str]], str]:
    def of(match: re.Match[str]) -> str:
        return word.capitalize() if match.start() == 0 else word

    return of


def _clause(match: re.Match[str]) -> str:
    more = f" {match[3]} {second(match[4])}" if match[3] else ""
    return f"You {match[1]}{second(match[2])}{more}"


def second(verb: str) -> str:
    """A verb of the third person as "you" has it: "lives" becomes "live". Others stay."""
    if verb in _FORMS:
        return _FORMS[verb]
    if not verb.endswith("s") or verb.endswith(("ss", "us", "'s")) or len(verb) < 3:
        return verb
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return verb[:-2]
    return verb[:-1]


def _third(verb: str, *, recurs: bool = False) -> str:
    """The reverse of `second`, for the present tense; modal verbs and the past stay, and what is
    no verb. A verb that is the same in both tenses stays too, unless it is said to recur."""
    verb = {"am": "are"}.get(verb, verb)
    if verb in _BACK:
        return _BACK[verb]
    if verb in _MODALS or verb in _NO_VERBS or verb.endswith("n't") or _is_past(verb):
        return verb
    if verb in _SAME_IN_PAST and not recurs:
        return verb
    if verb.endswith(("s", "sh", "ch", "x", "zz", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def _is_past(verb: str) -> bool:
    """Whether a verb is in the past tense and in no other."""
    regular = verb.endswith("ed") and verb not in _NOT_PAST
    return regular or verb in _PAST or verb.endswith(_PAST_ENDS)


_PAST_ENDS = tuple(
    """
    bought broke brought built came caught did drew drove flew fought gave got grew heard held
    knew laid made paid ran sat shot slept sold spent spoke stood taught thought threw told took
    wove wrote
    """.split()
)
"""Past tenses that others end in: understood, overslept, babysat. No present tense does."""
_PAST = frozenset(
    """
    arose ate awoke bade been befell began bent besought bit blew bore bound burnt chose clung
    crept dealt dove drank dreamt dug dwelt fell felt flung forbade foresaw forsook found froze
    ground had hid hung kept knelt lay leant leapt learnt left lent lit lost meant met overate
    overhung overrode oversaw rang rode rose said sang sank saw sent shod shone shook shrank
    slew slid slung slunk smelt snuck sought spat spelt spilt spoilt sprang spun stank stole
    strode strove struck strung stuck stung sung swam swept swore swung tore trod underwent
    unwound was went wept woke won wore wound wrought wrung
    """.split()
)
"""The other past tenses that do not end in "ed". There are no more: new verbs are regular."""
_SAME_IN_PAST = frozenset(
    """
    beat bet bid broadcast burst bust cast cost cut fit forecast hit hurt input knit let misread
    offset proofread put quit read reread reset rid set shed shut slit split spread sublet thrust
    upset wed wet
    """.split()
)
_WHOLE = {"m": "am", "re": "are", "ve": "have", "ll": "will"}
"""What is short for it after an apostrophe."""
_HABIT = re.compile(r"\b(?:always|often|usually|regularly|sometimes|currently|mostly|every|each)\b")
_NOT_PAST = frozenset(
    "bleed breed embed exceed feed heed need proceed seed speed succeed weed".split()
)
"""Present tenses that end as the past does."""
_NO_VERBS = frozenset("and or nor who whom whose as at by for from in of on to with".split())
"""What may follow a subject in place of its verb: "You and your sister live in Porto"."""


_BASES = "|".join(second(verb) for verb in f"{_SECOND_VERBS} {_WITH_TO}".split())


_THIRD_PERSON = tuple(
    (re.compile(first), third)
    for first, third in (
        (r"\b(?:[Mm]y|[Yy]our)\b", "their"),
        (r"\bof mine\b", "of theirs"),
        (r"\byours\b", "theirs"),
        (r"\b(?:my|your)self\b", "themselves"),
        (r"\b(?:I(?: am|['’]m)|[Yy]ou(?: are|['’]re))\b", "they are"),
        (r"\b(?:I was|[Yy]ou were)\b", "they were"),
        (r"\b(?:I wasn|[Yy]ou weren)(?=['’]t\b)", "they weren"),
        (r"\bI\b(?=[ '’])|\bYou\b|(?<=[;,] )you\b", "they"),
        (r"\b(since|when|because|that|if|and|while) you\b", r"\1 they"),
        (rf"\byou(?= (?:have|do|{'|'.join(sorted(_MODALS))})\b)", "they"),
        (r"\b(?:[Mm]e|you)\b", "them"),
    )
)
"""Words for the user after the beginning of a note, and what a note has in their place."""


def _agree_back(match: re.Match[str]) -> str:
    return f"{match[1]} {match[2]}{_third(match[3])}"


def _second_verbs(text: str) -> str:
    """Let further verbs of the sentence agree: "… and wants to learn" becomes "… and want to"."""
    text = re.sub(rf"\b(and|but|or) ({_ADVERB})({_VERBS})\b", _agree, text)
    with_to = "|".join(_WITH_TO.split())
    return re.sub(rf"\b(and|but|or) ({_ADVERB})({with_to})(?= to\b)", _agree, text)


def _agree(match: re.Match[str]) -> str:
    return f"{match[1]} {match[2]}{second(match[3])}"


def _pronouns(text: str) -> str:
    """Replace pronouns as long as they can only mean the user."""
    if _FIRST.match(text):
        return text
    done, rest = "", text
    while match := _PRONOUN.search(rest):
        before = done + rest[: match.start()]
        if _PERSON.search(before) or _is_of_things(match, before):
            return done + rest
        after = rest[match.end() :]
        owned = match["own"] and not (match[0].lower() == "her" and _NOT_OWNED.match(after))
        if not owned and not match["subject"] and not match["self"] and not _OF_IT.search(before):
            return done + rest  # "you asked her": not the user, who would be "yourself"
        done = before + _replacement(match)
        rest = rest[match.end() :]
    return done + rest


def _is_of_things(match: re.Match[str], before: str) -> bool:
    """Whether "they" may mean things that were mentioned before."""
    if not match[0].lower().startswith(("they", "them", "their")):
        return False
    return bool(re.search(r"\b(?!this|yes|always)[a-z]{3,}s\b", before))


def _replacement(match: re.Match[str]) -> str:
    if match["subject"]:
        verb = match["verb"] or ""
        *adverbs, last = verb.split(" ") if verb else [""]
        verb = " ".join([*adverbs, second(last)]) if verb else ""
        short = {"'s": "'ve" if last in ("been", "got") else "'re"}.get(
            match["short"] or "", match["short"] or ""
        )
        said = f"you{short}{verb}"
    elif match["self"]:
        said = "yourself"
    elif match["own"]:
        said = "your"
    else:
        said = "you"
    return said.capitalize() if match[0][0].isupper() else said
