"""First-person statements as notes in the third person: "I have a cat" becomes "has a cat".

By rule, and only if the rule is sure: a sentence it cannot rewrite gives an empty string, since
the model would learn a wrong answer.
"""

from __future__ import annotations

import re

_FIXED = {
    "am": "is",
    "have": "has",
    "do": "does",
    "go": "goes",
    "don't": "does not",
    "haven't": "has not",
    "was": "was",
    "had": "had",
    "did": "did",
    **{
        word: word
        for word in "can cannot can't could will won't would should must might may used went "
        "bought got grew made met lost won ran took taught wrote saw came became began broke left "
        "said told knew thought found felt kept spent wore drove ate gave quit sold built fell "
        "drew "
        "slept spoke stood understood caught fought rode sang swam threw woke lived moved".split()
    },
}
_EXCLUDED = frozenset("cut hit hurt let put read set shut bet cost".split())
"""Verbs whose past looks like their present: no rule can decide."""
_ADVERBS = frozenset(
    "just really also always never often usually currently recently still only absolutely truly "
    "sometimes actually once now secretly definitely regularly frequently mostly mainly "
    "rarely seldom".split()
)
_NOT_VERBS = frozenset("and or but not in on at for with as to of the a an my if when".split())
_KIN = (
    "mother father mom dad mum wife husband brother sister son daughter boyfriend girlfriend "
    "grandmother grandfather grandma grandpa uncle aunt cousin friend boss roommate fiance partner"
).split()
_MANY = (
    "parents brothers sisters kids children sons daughters friends grandparents cats dogs".split()
)
_SECOND = re.compile(
    r"\b(?:and|but|so|or) (?:(?:then|also|now|just|really) )?(?:am|own|have|like|love|live|work|"
    r"want|go|play|run|do|get|take|make|eat|read|study|hate|enjoy|prefer|need|try|teach|drive|"
    r"ride|sing|write|watch|listen|collect|volunteer|travel|cook|bake|paint|speak|think|feel|hope|plan)\b"
)
"""A second verb, which would have to be rewritten too."""
_BROKEN = re.compile(
    r"\b(?:s|t|m|ve|re|ll|d)\b(?<!'s)(?<!'t)(?<!'m)(?<!'ve)(?<!'re)(?<!'ll)(?<!'d)"
)
"""Rest of a word that lost its apostrophe."""
_MISCOUNTED = re.compile(
    r"\ban? (?:\w+ )?(?:dogs|cats|kids|children|brothers|sisters|pets|horses|sons|daughters)\b"
)
_OTHERS = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|we|we're|our|ours|us|you|your|yours)\b", re.I)
_OWN = (
    (r"\bmyself\b", "themselves"),
    (r"\bmine\b", "theirs"),
    (r"\bmy\b", "their"),
    (r"\bme\b", "them"),
)
_FAVOURITE = re.compile(r"my favou?rite ([\w ]{2,30}?) (?:is|are|was) (.+)", re.I)
_RELATION = re.compile(
    rf"my (?:(\w+) )?({'|'.join(_KIN + _MANY)}) ((?:is|are|was|were|has|have|had|works?|lives?|"
    r"loves?|likes?|died|passed|owns?|owned|left|taught|plays?|runs?|can|cannot) .+)",
    re.I,
)


_THING = re.compile(
    r"my ((?:dog|cat|horse|pet|car|truck|house|apartment|garden|family|company|band|class|job|boat|"
    r"farm|bike|puppy|kitten)s?) ((?:is|are|was|were|has|have|had|loves?|likes?|lives?|died|"
    r"spends?|works?) .+)",
    re.I,
)
_NAMED = re.compile(r"my (?:(\w+)['’]s )?name is ([A-Z][\w'-]*)", re.I)
_AND = re.compile(r",? (?:and|but|so) (?=i(?:'m|'ve)? |my )", re.I)


def clauses(sentence: str) -> list[str]:
    """The parts on both sides of "and I", "but my" and the like: each is a fact by itself.

    >>> clauses("I like tea but I am too busy.")
    ['I like tea', 'I am too busy.']
    """
    return _AND.split(sentence)


def predicate(sentence: str, language: str) -> str:
    """What the sentence says about its speaker, without subject and full stop; empty if
    that is not sure."""
    plain = " ".join(sentence.replace("’", "'").split()).strip(" .!。！")
    if language == "zh":
        return _chinese(plain)
    if language != "en" or re.search(r"[?:;\"“”!\n]", plain):
        return ""
    made = re.sub(r"^also ", "", _english(plain))
    if not made or _OTHERS.search(made) or _BROKEN.search(made) or not made[0].islower():
        return ""
    if _MISCOUNTED.search(made):
        return ""
    verb = made.split(" ")[0]
    if _SECOND.search(made) and verb not in ("can", "cannot", "will", "would", "used", "likes"):
        return ""
    for pattern, word in _OWN:
        made = re.sub(pattern, word, made, flags=re.I)
    return made


def _english(plain: str) -> str:
    if found := _FAVOURITE.fullmatch(plain):
        return f"has {found[2]} as favorite {found[1].lower()}"
    if found := _RELATION.fullmatch(plain):
        which, who, does = found[1] or "", found[2].lower(), found[3]
        article = "" if who in _MANY else "an " if (which or who)[0] in "aeiou" else "a "
        return f"has {article}{which + ' ' if which else ''}{who} who {does}"
    if found := _NAMED.fullmatch(plain):
        whose = (found[1] or "").lower()
        return f"has a {whose} named {found[2]}" if whose else f"is named {found[2]}"
    if found := _THING.fullmatch(plain):
        thing, does = found[1].lower(), found[2]
        many = thing.endswith("s") and thing != "class"
        article = "" if many else "an " if thing[0] in "aeiou" else "a "
        return f"has {article}{thing} that {does}"
    found = re.match(r"i(?:'(m|ve|ll|d))? (.+)", plain, re.I)
    if not found:
        return ""
    short, rest = (found[1] or "").lower(), found[2]
    if short:
        return {"m": "is", "ve": "has", "ll": "will", "d": "would"}[short] + f" {rest}"
    before = []
    words = rest.split(" ")
    while words and words[0].lower() in _ADVERBS:
        before.append(words.pop(0).lower())
    if not words:
        return ""
    verb = third_person_verb(words[0].lower())
    return " ".join([*before, verb, *words[1:]]) if verb else ""


_PROPER = {
    name.lower(): name
    for name in "America American Canada Canadian England English France French Spain Spanish "
    "Italy "
    "Italian Germany German Japan Japanese China Chinese Mexico Mexican Texas Florida California "
    "Chicago Boston Seattle London Paris Europe Africa Asia Christmas Halloween Disney Harvard "
    "Hawaii Alaska Ohio Michigan Virginia Georgia Colorado Kansas Iowa Nebraska".split()
}


def recased(text: str, heard: str) -> str:
    """`text` with the capitals that its words always have inside sentences of `heard`: lists of
    facts are often all lower case, and the model should learn names as names."""
    inside = re.findall(r"(?<![.!?] )(?<!^)\b[A-Z][\w'-]*", heard)
    small = set(re.findall(r"\b[a-z][\w'-]*", heard))
    names = {name.lower(): name for name in inside if name.lower() not in small and name != "I"}
    names = _PROPER | names
    return re.sub(r"\b[a-z][\w'-]*", lambda found: names.get(found[0], found[0]), text)


def third_person_verb(verb: str) -> str:
    """The verb's form after he or she; a past form stays. Empty if that is not sure."""
    if verb in _FIXED:
        return _FIXED[verb]
    if not verb.isalpha() or len(verb) < 3 or verb in _EXCLUDED | _NOT_VERBS:
        return ""
    if verb.endswith(("ed", "ly", "ing")) and verb not in ("need", "feed", "bring", "sing"):
        return verb if verb.endswith("ed") else ""
    if verb.endswith(("s", "x", "z", "ch", "sh")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def _chinese(plain: str) -> str:
    joined = plain.replace(" ", "")
    if not joined.startswith("我"):
        return ""
    rest = joined[1:]
    return rest if rest and not re.search(r"[我你您咱？！：，]", rest) and rest[0] != "的" else ""


_LASTING = re.compile(
    r"i (?:(?:really|also|absolutely|just|still|currently|usually|always|often|recently) )?"
    r"(?:live|work|study|teach|play|own|drive|collect|volunteer|grew|moved|was born|have|love|"
    r"like|enjoy|hate|prefer|want to|plan to|am (?:an? |from |married|single|vegan|vegetarian|"
    r"allergic|afraid|learning|studying|working|living|planning|training|saving|retired|"
    r"\d+ years)|used to|graduated|bought|adopted|speak|run|write|paint|cook|bake)\b.+"
    r"|i'm (?:an? |from |married|single|vegan|vegetarian|allergic|afraid|learning|studying|"
    r"working|living|planning|training|saving|retired|\d+ years).+"
    r"|my (?:favou?rite|mother|father|mom|dad|wife|husband|brother|sister|son|daughter|boyfriend|"
    r"girlfriend|dog|cat) .+",
    re.IGNORECASE,
)
_HANGING = re.compile(
    r"\b(?:it|its|that|this|these|those|them|their|there|one|ones|too|so|same|he|she|him|her|his|they|do|"
    r"does|did|either|neither|well|yet|then|here|glad|sure|sorry|bit|talk|chat|hear|guess|"
    r"think|question|idea|point|lot of fun|good time|great day|nice day|big fan|such|able|"
    r"something|anything|everything|someone|few|some|many|kinds?|things?|time to|to know|"
    r"lot about|more about|best|what|why|how|when|where|because|since|if|but|although|"
    r"advice|lot of|ways?|feeling|experience|part|company|other)\b",
    re.IGNORECASE,
)
"""Words that depend on the context, or that mark small talk."""


_DEFINITE = re.compile(
    r"\b(?:love|like|enjoy|hate|prefer) (?:\w+ing )?the (?!ocean|sea\b|beach|outdoors|"
    r"mountains?\b|snow|"
    r"city|country|piano|guitar|violin|drums|water|winter|summer|rain|gym|movies|park|[A-Z])"
)
"""References to something mentioned before."""


def durable(sentence: str) -> str:
    """The predicate of an English sentence that by itself states something lasting about its
    speaker; empty if a rule cannot be sure."""
    plain = " ".join(sentence.replace("’", "'").split()).strip(" .!")
    plain = re.sub(r"^(?:well|oh|yes|yeah|actually|and|so),? ", "", plain, flags=re.IGNORECASE)
    if not 3 <= len(plain.split()) <= 16 or ("," in plain and plain.count(",") > 2):
        return ""
    if not _LASTING.fullmatch(plain) or _HANGING.search(plain) or _DEFINITE.search(plain):
        return ""
    return predicate(plain, "en")
