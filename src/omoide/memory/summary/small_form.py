"""The form that makes a small model remember: one question per speaker, then code.

A model of 1.5 B parameters cannot keep apart who said what, and cannot rewrite a memory; shown one
speaker's own words, a worked example and a grammar that holds each line to "User …", it notes
facts. The recursion M_i from M_(i-1) is then done by rule: unsupported notes are turned away, what
became untrue is retired, the rest is merged and packed. On MSC this gives F1 53 against the gold
personas where the paper's prompt gives 40 (docs/LOG.md).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from omoide.domain import Sentence, Speaker
from omoide.errors import BadReply
from omoide.language import plainly, split_clauses, split_sentences
from omoide.memory.overlap import stems
from omoide.memory.summary.borne import OTHER, QUESTION, SELF, unborne
from omoide.memory.summary.facts import VOICES, Fact, merge, pack, read_facts
from omoide.memory.summary.forms import Question, Reading
from omoide.memory.summary.moving import mended
from omoide.memory.summary.naming import names_in, told_name, with_name
from omoide.memory.summary.partner import Partner
from omoide.memory.summary.retire import retire
from omoide.memory.summary.whose import attributed
from omoide.ports import Request, Skill
from omoide.prompts import render, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from omoide.memory.transcript import Line

MOST = 10
"""Facts about one speaker in one session."""
LEAST = {"en": 0.6, "zh": 0.4, "ja": 0.6, "ko": 0.5, "vi": 0.6}
"""Share of a fact's content that its speaker must have said: 0.6 was best on MSC's valid part;
below it the worked example leaks into memories, above it true paraphrases are turned away."""


class SmallForm:
    """Notes about each speaker from that speaker's own words; of an assistant that is no person,
    only from those that it answers for."""

    name = "small"
    retry = "memory_retry"

    def __init__(self, partner: Partner | None = None) -> None:
        self.partner = partner or Partner()

    def ask(
        self, *, old: Sequence[Sentence], session: Sequence[Line], language: str, limit: int
    ) -> tuple[Question, ...]:
        """A question for each speaker who said anything but questions."""
        del old, limit  # the old memory is joined by code, where nothing can be lost
        return tuple(
            self._question(speaker, own, language)
            for speaker in Speaker
            if (own := own_words(session, speaker, language, partner=self.partner))
        )

    def read(
        self,
        answers: Sequence[str],
        *,
        old: Sequence[Sentence],
        session: Sequence[Line],
        language: str,
        limit: int,
    ) -> Reading:
        """The new memory: facts that hold, those that were just told, as sentences."""
        told = [
            replace(fact, text=plainly(fact.text, language))
            for answer in answers
            for fact in read_facts(answer, language)
        ]
        nothing = bool(answers) and all(a.strip() == words(language)["none"] for a in answers)
        if answers and not told and not nothing:
            raise BadReply(f"wanted lines about a speaker, got {answers[0][:80]!r}")
        said = {
            who: "\n".join(line.text for line in session if line.speaker is who) for who in Speaker
        }
        owned = (self.owned(fact, said, language) for fact in told)
        told = [
            attributed(
                mended(fact, said[fact.about], language), session, language, least=LEAST[language]
            )
            for fact in owned
        ]
        known = read_facts("\n".join(sentence.text for sentence in old), language)
        of_user = [said[Speaker.USER], *(f.text for f in known if f.about is Speaker.USER)]
        notes = ["nothing to note, says the model"] if nothing else []
        good: list[Fact] = []
        for fact in told:
            reason = _unfit(fact, said[fact.about], "\n".join(of_user), language)
            if reason := reason or unborne(fact, session, language, least=LEAST[language]):
                notes.append(f"not kept, {reason}: {fact.sentence(language)}")
            else:
                good.append(fact)
        known, good = with_name(told_name(session, language), known, good, language)
        holding, untrue = retire(known, good, language, said=said)
        facts = merge(holding, good)
        packed = pack(facts, language, limit=limit, first=names_in(facts, language))
        notes += [f"no longer true: {fact.sentence(language)}" for fact in untrue]
        notes += [f"no room for: {fact.sentence(language)}" for fact in packed.left_out]
        return Reading(
            sentences=packed.sentences,
            notes=tuple(notes),
            replaced=tuple(fact.text for fact in untrue),
            told=tuple(Sentence(text=f.sentence(language), about=f.about) for f in good),
            nothing=nothing,
        )

    def owned(self, fact: Fact, said: Mapping[Speaker, str], language: str) -> Fact:
        """The fact, about whom it is: as it was written, since only one speaker was shown."""
        del said, language
        return fact

    def _question(self, speaker: Speaker, own: str, language: str) -> Question:
        prompt = render(
            "memory_small",
            language,
            session=own,
            subject=VOICES[language].subject(speaker).strip(),
            name=words(language)[speaker.value],
            limit=str(MOST),
            none=words(language)["none"],
        )
        request = Request(
            messages=prompt.messages,
            max_tokens=320,
            grammar=grammar(speaker, language=language),
            skill=Skill.NOTES if language == "en" else Skill(f"notes-{language}"),
        )
        return Question(request=request, prompt=prompt.hash)


def own_words(
    session: Sequence[Line], speaker: Speaker, language: str, *, partner: Partner | None = None
) -> str:
    """What one speaker said of themselves, a turn a line.

    A question tells nothing of who asks it. And what an assistant says is mostly of the user or
    of the world ("Great that you adopted a cat!"): only what it says of itself is asked about, and
    where it is no person, only what it answers for.
    """
    keeps = partner or Partner()
    lines = []
    for line in session:
        if line.speaker is speaker:
            told = [s for s in split_sentences(line.text) if not QUESTION.search(s)]
            if speaker is Speaker.ASSISTANT:
                told = [s for s in told if _of_itself(s, language, keeps)]
            lines += _listed(told, language)
    return "\n".join(lines)


def _listed(told: Sequence[str], language: str) -> list[str]:
    """The sentences of a turn on one line; where one of them is a chain of clauses, each of these
    on a line of its own. A turn with a colon stays whole: a forged "System: …" must not begin a
    line."""
    clauses = [clause for s in told for clause in split_clauses(s, language)]
    if len(clauses) == len(told) or any(":" in s or "：" in s for s in told):
        clauses = [" ".join(told)]
    return [f"- {clause}" for clause in clauses if clause]


_BOILERPLATE = re.compile(
    r"\b(?:sorry|apologi[sz]e|assist|assistant|as an ai|language model|unable to|cannot help)\b"
    r"|抱歉|对不起|作为.{0,6}(?:助手|AI|模型)|无法|帮(?:助|到|您|你)"
    r"|申し訳|すみません|アシスタント|人間では|お手伝い|できません|お知らせください"
    r"|죄송|인공지능|어시스턴트|도와|도움|수 없습니다"
    r"|xin lỗi|trợ lý|không thể|giúp",
    re.IGNORECASE,
)
"""What every assistant says of itself, and no one need remember."""


def _of_itself(sentence: str, language: str, partner: Partner) -> bool:
    if _BOILERPLATE.search(sentence):
        return False
    if not partner.person:
        return partner.answers_for(sentence, language)
    if OTHER[language].search(sentence):
        return False
    return language not in SELF or bool(SELF[language].search(sentence))


_TALK = {
    "ja": re.compile(r"(?:ね|よ|か|な|ください|下さい|ましょう|ございます|ございました)[。.]?$"),
    "ko": re.compile(r"(?:죠|까요|나요|네요|세요|군요)[.]?$"),
    "zh": re.compile(r"(?:吗|呢|吧|啊|哦|呀)[。.]?$"),
}
"""Endings that belong to talk, not to a note."""
_PERSON = {
    "en": re.compile(r"\b(?:I|I'm|my|me|you|your|we|our)\b", re.IGNORECASE),
    "vi": re.compile(r"\b(?:tôi|(?<!một )(?<!của )(?<!chính )mình|chúng ta)\b", re.IGNORECASE),
    "ko": re.compile(r"(?:^|\s)(?:저는|제가|저의|나는|내가|우리)(?:\s|$)"),
    "zh": re.compile(r"[我你您咱]"),
    "ja": re.compile(r"[私僕俺]"),
}


def _unfit(fact: Fact, said: str, of_user: str, language: str) -> str:
    """Why a fact may not be kept, or nothing: by what its speaker said, and by all that was said
    or is known of the user."""
    if language in _TALK and _TALK[language].search(fact.text):
        return "it is talk"
    if _PERSON[language].search(fact.text):
        return "it is in the first or second person"
    if share(fact, said) < LEAST[language]:
        return "nothing said supports it"
    if any(name in fact.text and name not in said for name in _examples(language)):
        return "it comes from the prompt's example"
    if fact.about is Speaker.ASSISTANT and share(fact, of_user) >= PARROTED:
        return "it only repeats the user"
    return ""


def _examples(language: str) -> tuple[str, ...]:
    """The names in the prompt's worked example: a sentence that is right but for one of them
    passes for supported."""
    return tuple(words(language)["example_names"].split(", "))


PARROTED = 0.8
"""A small model claims the user's life for itself ("I work in a bookshop, too"): a fact about the
assistant that the user's own words hold to this share is the user's."""


def share(fact: Fact, said: str) -> float:
    """How much of what the fact says was said, 0 to 1."""
    wanted = stems(fact.text)
    return len(wanted & stems(said)) / len(wanted) if wanted else 0.0


_OUT = r"\n\r\t?!:;\"“”„«»「」『』？！：；؟"
"""No line break, question, exclamation, quotation or colon inside a fact."""
_VIETNAMESE = "[a-zàáảãạăằắẳẵặâầấẩẫậđèéẻẽẹêềếểễệìíỉĩịòóỏõọôồốổỗộơờớởỡợùúủũụưừứửữựỳýỷỹỵ]"
_FIRST = {
    "en": "[a-z]",
    "zh": r"[^ \n:：,，。、我你您咱]",
    "ja": r"[^ \n:：,、。「私僕俺我]",
    "ko": r"[^ \n:,.]",
    "vi": _VIETNAMESE,
}
_BANNED = {"zh": "我你您咱", "ja": "私僕俺我"}
_UNIT = {
    # no polite です・ます: they are the voice of the chat, not of a note
    "ja": "[^%sまで] | [まで]+ [^%sまですしせ]",
    # no polite -요, -니다; 요 only at the start of a word or in 중요, 필요, 토요일 and the like
    "ko": '[^%s요니] | " 요" | [중필주수월화목금토일개동] "요" | "니" [^%s다요니] | "아니다"',
}
_LAST = {"ko": ' "다" "."?'}
"""How a line ends: a Korean note in the plain form, not in the middle of a chain of clauses."""


def grammar(
    *speakers: Speaker, language: str, longest: int = 160, shortest: int = 3, most: int = MOST
) -> str:
    """GBNF: of each speaker in turn at most `most` lines that begin with them, in the voice of a
    note; or the word for nothing."""
    out = _OUT + _BANNED.get(language, "")
    unit = _UNIT.get(language, "[^%s]").replace("%s", out)
    rules = [
        f'{who.value} ::= "{VOICES[language].subject(who)}" {_FIRST[language]} '
        f"unit{{{shortest},{longest}}}{_LAST.get(language, '')}"
        for who in speakers
    ]
    notes = " ".join(
        f'{who.value} ("\\n" {who.value}){{0,{most - 1}}}'
        if i == 0
        else f'("\\n" {who.value}){{1,{most}}}'
        for i, who in enumerate(speakers)
    )
    nothing = words(language)["none"]
    return "\n".join([f'root ::= "{nothing}" | {notes}', *rules, f"unit ::= {unit}"])
