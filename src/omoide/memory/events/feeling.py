"""How strongly something was felt, told without a model: words, intensifiers, punctuation.

Paper B names emotional significance as a factor it leaves open. The lists are small and our own,
made for everyday talk in the first person; a text without any of their words, and without marks
of excitement, is 0. What the figure is worth to recall is measured by
`benchmarks/recall_protocol.py`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from omoide.language import detect

STRONG = 0.6
"""What a word weighs that marks a life: a death, a birth, a wedding, a dismissal."""
MILD = 0.25
"""What a word of everyday feeling weighs."""
VERY = 1.4
"""By how much an intensifier raises the words it stands with."""

_STRONG = {
    "en": """died death funeral cancer miscarriage divorce divorced heartbroken devastated
    grief grieving terrified panicked assaulted accident hospital fired suicide cheated
    betrayed married wedding engaged pregnant newborn birth proposed thrilled ecstatic
    overjoyed passed_away laid_off broke_up lost_my gave_birth was_born""",
    "zh": """去世 过世 死了 葬礼 癌症 流产 离婚 心碎 崩溃 绝望 悲痛 恐惧 车祸 住院 手术 被裁
    被开除 背叛 出轨 结婚 婚礼 订婚 求婚 怀孕 出生 生了 狂喜 梦想成真 分手""",
    "ja": """亡くな 死んだ 死去 葬式 葬儀 癌 がんと診断 流産 離婚 絶望 号泣 恐怖 事故 入院
    手術 クビ 解雇 裏切 浮気 結婚 婚約 プロポーズ 妊娠 出産 生まれ 感動 夢が叶 失恋 別れた""",
    "ko": """돌아가셨 죽었 사망 장례 암_진단 유산 이혼 절망 오열 공포 사고 입원 수술 해고 배신
    결혼 약혼 프러포즈 임신 출산 태어났 감격 꿈을_이뤘 이별 헤어졌""",
    "vi": """qua_đời mất_rồi chết đám_tang ung_thư sảy_thai ly_hôn tan_nát tuyệt_vọng đau_khổ
    kinh_hoàng tai_nạn nhập_viện phẫu_thuật sa_thải phản_bội ngoại_tình kết_hôn đám_cưới
    đính_hôn cầu_hôn mang_thai chào_đời vỡ_òa chia_tay""",
}
_MILD = {
    "en": """sad happy love loved hate hated afraid scared worried anxious nervous excited
    proud angry upset lonely stressed frustrated embarrassed ashamed jealous grateful relieved
    disappointed hurt crying cried tears joy glad missed depressed annoyed awful terrible
    wonderful amazing awesome best worst""",
    "zh": """难过 伤心 开心 高兴 快乐 讨厌 害怕 担心 焦虑 紧张 兴奋 激动 自豪 骄傲 生气 孤独
    压力 郁闷 尴尬 羡慕 感激 失望 哭 眼泪 想念 糟糕 太棒 幸福 热爱""",
    "ja": """悲し 嬉し うれし 楽し 大好き 嫌い 怖 心配 不安 緊張 わくわく 興奮 誇り 怒 寂し
    ストレス 恥ずかし 羨まし 感謝 ほっと がっかり 泣 涙 辛 つらい 最悪 最高 素晴らし 幸せ""",
    "ko": """슬프 슬펐 기쁘 기뻤 행복 사랑 싫어 무서 걱정 불안 긴장 설레 신나 자랑스 화가 외로
    스트레스 부끄 부럽 감사 안심 실망 울었 눈물 그립 최악 최고 멋진 속상""",
    "vi": """buồn vui hạnh_phúc yêu ghét sợ lo_lắng hồi_hộp háo_hức tự_hào tức_giận cô_đơn
    căng_thẳng xấu_hổ ghen_tị biết_ơn nhẹ_nhõm thất_vọng khóc nước_mắt nhớ_nhung tệ tuyệt_vời""",
}
_VERY = {
    "en": "very really so extremely absolutely totally incredibly deeply terribly ever",
    "zh": "非常 特别 太 极其 真的 超级 十分",
    "ja": "とても すごく 本当に 非常に めちゃくちゃ 超 かなり",
    "ko": "너무 정말 진짜 매우 굉장히 엄청 아주",
    "vi": "rất quá lắm thật_sự vô_cùng cực_kỳ",
}
_LOUD = re.compile(r"[!！]{1,}|[😀-🙏🤗-🤯🥰-🥺💔❤]|(?<!\S)[A-Z]{4,}(?!\S)|[ㅠㅜ]{2,}|(?:哈|w){4,}")


def feeling(text: str, language: str | None = None) -> float:
    """From 0, matter of fact, to 1: what marks a life, said with emphasis."""
    code = language or detect(text)
    lowered = text.lower()
    strong = len(_pattern(code, "strong").findall(lowered))
    mild = len(_pattern(code, "mild").findall(lowered))
    weight = STRONG * strong + MILD * mild
    if weight and _pattern(code, "very").search(lowered):
        weight *= VERY
    loud = min(len(_LOUD.findall(text)), 3)
    return min(weight + 0.05 * loud * (1 + (weight > 0)), 1.0)


@lru_cache(maxsize=32)
def _pattern(language: str, which: str) -> re.Pattern[str]:
    lists = {"strong": _STRONG, "mild": _MILD, "very": _VERY}[which]
    listed = lists.get(language, lists["en"]).replace("\n", " ").split()
    joined = "|".join(re.escape(word.replace("_", " ")) for word in listed)
    # Chinese, Japanese and Korean words have no edges to look for.
    return re.compile(rf"\b(?:{joined})\b" if language in ("en", "vi") else f"(?:{joined})")
