"""Patterns for admitting that one does not know something, in five languages.

They cover what models say on their own ("I'm not sure", "我不太清楚"), but not phrases that only
look similar: "I don't know how you do it", "you told me that you don't know him".
"""

from __future__ import annotations

import re

_EN = r"""
    \b(?:you|we)(?:['’]ve|\ have|['’]d)?(?:\ (?:also|actually|honestly|just))*
        (?:n['’]t|\ not|\ never|haven['’]t|didn['’]t|\ haven['’]t|\ have\ not|\ didn['’]t)
        (?:\ (?:actually|really|ever|yet|even))*
        \ (?:tell|told|mention(?:ed)?|sa(?:y|id)|share[d]?|talk(?:ed)?|spoken?|discuss(?:ed)?|
          specif(?:y|ied)|give[n]?|brought)
  | \bi\ (?:really\ |honestly\ |still\ |actually\ |just\ )?(?:don['’]t|do\ not)
        (?:\ (?:actually|really|yet|even))*
        \ (?:know(?!\ (?:how\ you|about\ you))|remember|recall|have\ (?:that|any|this|your|the))
  | \bi\ (?:can(?:['’]t|not)|could\ ?n['’]t)\ (?:say|tell|recall|remember|know|answer)
  | \bi(?:['’]m|\ am)\ (?:not\ (?:sure|certain|aware)|unsure)
  | \bi\ (?:have|['’]ve)\ (?:no\ (?:idea|clue|record)|forgotten|never\ heard)
  | \bno\ idea\b | \bi\ wish\ i\ knew\b | \bi\ forg[eo]t\b
  | \b(?:never|not\ yet|hasn['’]t\ been|wasn['’]t|not)\ (?:told\ me|mentioned|shared\ with\ me)
  | \bthat['’]s\ (?:new\ to\ me|something\ you\ haven['’]t)
  | \b(?:isn['’]t|not)\ in\ my\ (?:memory|notes)
  | \bi\ don['’]t\ think\ (?:so\b|you(?:['’]ve|\ have)?(?:\ ever)?\ (?:told|mentioned|said))
"""
_ZH = r"""
    (?:没有?|未|沒有?)(?:跟我|对我|和我|向我)?(?:提|说(?!错)|讲|告诉|聊(?!了)|谈)
  | 从(?:来没|未)(?:有)?(?:跟我|对我|和我)?(?:提|说|讲|告诉|聊|谈|听)
  | (?<!你)(?:不|并不)(?:太|大|是很|是)?(?:知道|清楚|记得|确定|晓得|了解)
        (?!吗|你(?:今天|最近|想|会|是否|有没有)|[^，。！？]{0,10}(?:会不会|是不是))
  | 记不(?:得|清|起|住) | 想不起 | 不好说 | 说不(?:上来|好) | (?<!别)(?<!不要)(?<!不会)忘(?:了|记了)
  | 没(?:有)?(?:印象|听(?:你|说|过))
  | 没法(?:确定|知道|回答) | 无法(?:确定|得知|回答|知道) | 难倒我
"""
_JA = r"""
    (?:聞|教|話|伺|言(?!うまでも))[ぁ-ん]{0,10}?(?:ない|なかっ|なく|ません)
  | (?:知ら|分から|わから|覚えて|存じ|思い出せ)い?(?:ない|なく|なかっ|ません|ねえ)(?!人|うち)
  | 忘れ(?:ちゃっ|まし|てしま) | 話に出て(?:い)?ない | 初耳 | 不明
"""
_KO = r"""
    (?<!지도\ )(?<!지도)(?:모르|몰라|몰랐|모릅|모른)(?!는\ ?사람|\ ?척)
  | (?:말|얘기|이야기|언급)(?:을|은|는)?\ ?(?:해|한|했던|하신|해\ ?준|해\ ?주신)?\ ?
        (?:적|일)(?:이|은|도)?\ ?(?:없|있었나)
  | (?:말해|얘기해|이야기해|알려|들려|가르쳐)\ ?(?:준|주신|줬던)?\ ?적(?:이|은|도)?\ ?(?:없|있)
  | (?:안|못)\ ?(?:말해|알려|얘기|들었|들은|해\ ?줬|말했|물어)
  | (?:말|얘기|이야기)(?:[을를은는])?\ ?(?:안|못)\ ?(?:했|해|들)
  | 들은\ ?적(?:이|은|도)?\ ?없 | 듣지\ ?못 | (?:알려|말해|얘기해)\ ?주지\ ?않
  | 기억(?:이|은|나지)?\ ?(?:안|없|못|않|나지\ ?않) | 잊어버렸 | 까먹었 | 알\ ?(?:수\ ?없|길이\ ?없)
  | 확실(?:하지|치)\ ?않 | 처음\ ?듣
"""
_VI = r"""
    \bchưa(?:\ (?:hề|bao\ giờ|từng|được|có|thấy|ai))*
        \ (?:kể|nói|nhắc|cho\ (?:mình|tớ|tôi)\ biết|bảo|chia\ sẻ|đề\ cập|nghe)
  | \b(?:không|chẳng)(?:\ (?:hề|bao\ giờ|từng|có|thấy|ai))*
        \ (?:kể|nhắc|nói\ (?:cho|với|gì)|chia\ sẻ|đề\ cập)
  | \b(?:mình|tớ|tôi)(?:\ (?:thật\ sự|cũng|vẫn|thực\ sự|thì))*
        \ (?:không|chưa|chẳng|đâu|chả)(?:\ (?:hề|thể|có|được))*
        \ (?:biết|rõ|nhớ|chắc|dám\ đoán|có\ thông\ tin|trả\ lời)
  | \bkhông\ (?:rõ|nhớ\ (?:ra|rõ|được|là)|biết\ (?:rõ|chắc|được)|chắc) | \bchưa\ biết\b
  | \bkhông\ biết\b(?!\ (?:cậu|bạn)\ (?:có|đã)) | (?<!đừng\ )\bquên\ (?:mất|rồi|tên)
  | \bchịu\ thôi\b
"""
_ADMITS = {
    language: re.compile(pattern, re.IGNORECASE | re.VERBOSE)
    for language, pattern in {"en": _EN, "zh": _ZH, "ja": _JA, "ko": _KO, "vi": _VI}.items()
}
_ASKS = {
    "en": r"\b(?:what|which|who|whose|where|when|how)\b",
    "zh": r"什么|哪|谁|几|多少|多大|怎么|如何",
    "ja": r"何|なに|なん|どこ|誰|だれ|いつ|どれ|どの|どんな|いくつ",
    "ko": r"뭐|무슨|무엇|뭔|어디|어느|누구|언제|몇|어떤|얼마",
    "vi": r"\b(?:gì|nào|ai|đâu|mấy|bao nhiêu|bao giờ|sao)\b",
}


def admits(reply: str, language: str) -> bool:
    """Whether the reply says that it does not know, or was not told."""
    return _ADMITS[language].search(" ".join(reply.split())) is not None


def only_asks(reply: str, language: str) -> bool:
    """Whether the reply consists of open questions only. "You live in Porto, right?" is not an open
    question: it states something."""
    parts = [
        part.strip() for part in re.findall(r"[^.!?。！？]+[.!?。！？]*", reply) if part.strip()
    ]
    return bool(parts) and all(
        part.endswith(("?", "？")) and re.search(_ASKS[language], part, re.IGNORECASE)
        for part in parts
    )
