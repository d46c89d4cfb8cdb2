"""Talks of real people (RealPersonaChat), with their plain statements about themselves.

Facts are extracted by rule, and only if the rule is sure: a sentence that may be about somebody
else, about one moment, or that depends on the context gives none. So the talks are not `complete`:
other statements must be cut before training, and `TELLS` finds them in Japanese.
"""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING

from omoide.domain import Speaker
from omoide.errors import BadInput
from omoide.language import split_sentences
from omoide.mechanisms import Line
from omoide_tune.talk import TrainingTalk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FIRST_PERSON = re.compile(
    r"私|僕|俺|自分|うちの?|主人|旦那|家内|嫁|夫|妻|息子|娘|子ども|子供|両親|実家"
    r"|(?:ました|ています|てます|ていました|てました|んです|のです|たいです|好きです|嫌いです"
    r"|苦手です|あります|ありません|います|いません|ません|派です|ことがない|です)"
    r"(?:けど|けれど|が|ね|よ|よね|ので|から|し|（笑）|笑|w)*[。.！!]*$"
)
"""A Japanese sentence that may be about its speaker. It matches more than that:
Japanese omits the subject, so every polite statement that is not a question may be one."""

_LEAD = re.compile(
    r"^(?:(?:はい|いえ|いいえ|ええ|あー?|うん|いやー?|おー?|へー|そうですね|そうなんですね|そうなんです|なるほど|確かに|たしかに"
    r"|実は|ちなみに|でも|そして|あと|それと|それに|ただ|因みに|まあ|えー?と|そういえば)[、。！!ー]+"
    r"|実は|ちなみに|因みに|たしかに|確かに|いやー)+"
)
_SELF = re.compile(
    r"^(?:(?:私|わたし|僕|ぼく|俺|自分|当方)(?:自身)?(?:は|も|の場合は)、?|私、?(?=[ァ-ヶ一-龥])|うちは、?)"
)
_SETTING = re.compile(
    r"^(?:今は|今|現在は|現在|一応|最近は|最近|昔から|ずっと|もともと|普段は|基本的に|専ら)、?"
)
_END = (
    r"(?:ね|よ|よね|が|けど|けれど|けども|けどね|し|ので|から|（笑）|\(笑\)|笑|ｗ+|w+)*[。.！!]*$"
)
_IS = r"(?:です|なんです(?!ね)|なので|なんで$|だから|だけど)"
_DOES = r"(?:い?ます|い?るんです(?!ね)|い?るので|い?るから|い?るけど|おります|おり$|い?て$)"
_VAGUE = re.compile(
    r"^(?:これ|それ|あれ|ここ|そこ|あそこ|こう|そう|ああ|この|その|あの|どの|どんな|何|なん|こっち|そっち|あっち"
    r"|こちら|そちら|あちら|どちら|前者|後者|同じ|両方|全部|どれ|みんな|皆|誰|やっぱり|やはり|特に|どっち|なかなか"
    r"|まだ|もう|たまに|一緒|結構|けっこう|すごく|とても|本当|ほんと|実際|一回|一度|何度|数回|っ|ー|ずっと|全然|単に|大$|いつ|よく|わりと|割と|かなり|あまり|少し|ちょっと|逆に|むしろ|今日|昨日|どうしても)"
    r"|方|ほう|やつ|[はがも](?![んの])|[、。？?「」『』（）()！!…私僕俺]|という|って|けど|ので|から|たら|なら|れば"
    r"|そんな|こんな|あんな|それ|これ|あれ|さん|ちゃん|くん|様|(?<!寒)(?<!暑)(?<!辛)(?<!熱)いの$|[たな]の$|[0-9０-９]+時|頃|ころ|たまたま|^あと|あたり|こと$|^時期|[大多をでてに]$|一番|[ァ-ヶー一-龥]の$|一緒|なんて|しか|お互い|以外|系$|感じ"
)
"""What a phrase must not contain: references elsewhere, its own subject, or a continuation."""
_OTHERS = re.compile(
    r"(?:母|父|親|兄|弟|姉|妹|祖母|祖父|友達|友人|友だち|彼女?|彼氏|旦那|主人|夫|妻|嫁|子供?|子ども|娘|息子|知人|知り合い"
    r"|同僚|上司|先輩|後輩|さん|ちゃん|人|方|猫|犬)(?:は|が|も)(?!大?好き|苦手|大?嫌い)"
    r"|(?:旦那|主人|夫|妻|嫁|母|父|娘|息子|妹|弟|姉|兄|子供)$|もし|例えば|たとえば"
)
_NOUN = r"(?<=[ァ-ヶー一-龥])"
"""Where a particle may be omitted: after a word in katakana or kanji."""
_COUNT = "0-9０-９一二三四五六七八九十数"
_KIN = "夫|妻|主人|旦那|息子|娘|子供|子ども|兄|弟|姉|妹|双子|孫|姪|甥|彼女|彼氏"
_WORK = (
    "仕事|パート|アルバイト|バイト|事務|営業|接客|内職|在宅ワーク|フリーランス|自営業|専業主婦|主婦"
)
_WHO = (
    "会社員|主婦|主夫|大学生|学生|公務員|自営業|フリーランス|パート|教師|社会人|無職|フリーター|"
    r"[1-6]0代|\d{2}歳"
)
_PLAIN = {
    "見": "見る", "食べ": "食べる", "飲み": "飲む", "読み": "読む", "聴き": "聴く", "聞き": "聞く",
    "行き": "行く", "作り": "作る", "買い": "買う", "使い": "使う", "観": "観る",
}  # fmt: skip
_NEVER = {
    "見": "見ない", "食べ": "食べない", "飲み": "飲まない", "読み": "読まない", "聴き": "聴かない",
    "聞き": "聞かない", "行き": "行かない", "し": "しない", "観": "観ない",
    "飲め": "飲めない", "食べられ": "食べられない",
}  # fmt: skip
_RULES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern + _END), made)
    for pattern, made in (
        (rf"^(.{{1,18}}?)(?:が|も|は|{_NOUN})(大?好き|苦手|大?嫌い|得意|趣味){_IS}", "{0}が{1}だ"),
        (rf"^(.{{2,14}}?)に住んで{_DOES}", "{0}に住んでいる"),
        (rf"^(.{{1,14}}?)(?:を|{_NOUN})([{_COUNT}]{{1,3}}[匹羽])?飼って{_DOES}",
         "{0}を{1}飼っている"),
        (rf"^(.{{0,16}}?(?:{_WORK}))を?して{_DOES}", "{0}をしている"),
        (rf"^(.{{2,16}}?)で(働いて|仕事をして){_DOES}", "{0}で{1}いる"),
        (rf"^(.{{2,16}}?)に(通って|勤めて|ハマって|はまって){_DOES}", "{0}に{1}いる"),
        (rf"^(.{{2,16}}?)を(習って|勉強して|育てて|持って|集めて|続けて){_DOES}", "{0}を{1}いる"),
        (r"^(.{2,12}?)(に|を|へ)((?:行|見|食べ|飲|読|買|登|使|作|住|乗|習)[^、。]{0,4}[ただ])ことが?(?:あります|あるんです(?!ね))",
         "{0}{1}{2}ことがある"),
        (r"^(.{2,12}?)(に|を|へ)((?:行|見|食べ|飲|読|買|登|使|作|住|乗|習)[^、。]{0,4}[ただ])ことが?"
         r"(?:ありません|ないです|ないんです(?!ね)|なくて)", "{0}{1}{2}ことがない"),
        (r"^(.{1,10}?)の?アレルギー(?:です|なんです(?!ね)|が?ありま?す|があるんです|なので)",
         "{0}のアレルギーがある"),
        (rf"^(.{{0,10}}?(?:{_KIN}))が([{_COUNT}]{{1,2}}人)?"
         r"(?:います(?!よね)|いるんです(?!ね)|おります|いるので|いて$)", "{0}が{1}いる"),
        (rf"^趣味は(.{{2,16}}?){_IS}", "趣味は{0}だ"),
        (rf"^(.{{2,8}}?)の?出身{_IS}", "{0}の出身だ"),
        (rf"^出身は(.{{2,8}}?){_IS}", "{0}の出身だ"),
        (rf"^(一人暮らし|実家暮らし|二人暮らし)(?:を?して{_DOES}|{_IS})", "{0}をしている"),
        (rf"^(結婚|同棲|婚約)して{_DOES}", "{0}している"),
        (rf"^({_WHO})(?:です(?!よね)|なんです(?!ね)|なので)", "{0}だ"),
        (rf"^(.{{2,14}}?)([をに])よく({'|'.join(_PLAIN)})ます", "{0}{1}よく{plain}"),
        (rf"^(.{{1,12}}?)は(あまり|全く|全然|ほとんど|まったく)({'|'.join(_NEVER)})"
         r"(?:ません|ないです|ないんです(?!ね))",
         "{0}は{1}{never}"),
    )
)  # fmt: skip
_NOT_ONES = re.compile(
    r"^(?:家|会社|自宅|外|近く|近所|地元|今|独身|趣味|とき|時|前|頃|県内?|所|場所|もの|物|私|食べるの|見るの)$"
)


def fact(clause: str) -> str:
    """What a Japanese clause says about its speaker, in the form of a note without subject and full
    stop; empty if that is not sure.

    >>> fact("はい、私も犬を二匹飼っています。"), fact("その店が好きです")
    ('犬を二匹飼っている', '')
    """
    plain = _LEAD.sub("", _SELF.sub("", _LEAD.sub("", "".join(clause.split()))))
    plain = _SETTING.sub("", plain)
    if re.search(
        r"[?？]|でしょう|ですか|そうです|らしい|みたい|られま|されて|かな|かも|思い|思っ", plain
    ):
        return ""
    for rule, made in _RULES:
        if found := rule.match(plain):
            parts = [part or "" for part in found.groups()]
            if _VAGUE.search(parts[0]) or _NOT_ONES.match(parts[0]):
                return ""
            last = parts[-1]
            return made.format(*parts, plain=_PLAIN.get(last, ""), never=_NEVER.get(last, ""))
    return ""


def facts(sentence: str) -> list[str]:
    """What each clause of a sentence says about its speaker, up to a clause with another
    subject."""
    found: list[str] = []
    plain = _LEAD.sub("", "".join(sentence.split()))
    if re.search(r"[?？]", plain):
        return []
    clauses = re.split(r"(?<=[^はも])、", plain)
    for clause in clauses:
        if _OTHERS.search(clause) and not re.match(r"^(?:私|僕|自分)", clause):
            made = fact(clause)
            return [*found, made] if made.endswith("いる") and re.search(_KIN, made) else found
        if made := fact(clause):
            found.append(made)
    return found


def real_persona_chat(folder: Path) -> Iterator[TrainingTalk]:
    """The pairs that met on many days: one chain per pair, one talk per meeting."""
    path = folder / "real_persona_chat" / "multi_day_pairs.jsonl.gz"
    try:
        rows = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); is --data right?") from error
    for row in rows:
        pair = json.loads(row)
        speakers = dict(zip(pair["pair"], (Speaker.USER, Speaker.ASSISTANT), strict=True))
        chain = "-".join(pair["pair"])
        for talk in pair["dialogues"]:
            lines = tuple(
                Line(speaker=speakers[said["interlocutor_id"]], text=" ".join(said["text"].split()))
                for said in talk["utterances"]
                if said["text"].strip()
            )
            known = {
                (line.speaker, made): None
                for line in lines
                for sentence in split_sentences(line.text)
                for made in facts(sentence)
            }
            yield TrainingTalk(
                key=f"{chain}/{talk['dialogue_id']}",
                chain=chain,
                language="ja",
                lines=lines,
                known=tuple(known),
            )
