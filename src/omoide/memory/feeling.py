"""How strongly something was felt, told without a model: words, intensifiers, punctuation.

Paper B names emotional significance as a factor it leaves open. The lists are small, ours, and
meant for the first person's everyday talk; a text without any of them is 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_STRONG = {
    "en": """died death funeral cancer miscarriage divorce divorced heartbroken devastated grief
    grieving terrified panic assaulted accident hospital fired suicide cheated betrayed abused
    married wedding engaged pregnant born birth newborn proposed thrilled ecstatic overjoyed
    dream miracle proudest""",
    "zh": """去世 过世 死了 葬礼 癌症 流产 离婚 心碎 崩溃 绝望 悲痛 恐惧 车祸 住院 手术 被裁 被开除 背叛
    出轨 结婚 婚礼 订婚 求婚 怀孕 出生 生了 狂喜 激动 梦想成真 太幸福""",
    "ja": """亡くな 死んだ 死去 葬式 葬儀 癌 がんと診断 流産 離婚 絶望 号泣 恐怖 事故 入院 手術 クビ 解雇
    裏切 浮気 結婚 婚約 プロポーズ 妊娠 出産 生まれ 感動 夢が叶 最高に幸せ 失恋""",
    "ko": """돌아가셨 죽었 사망 장례 암 진단 유산 이혼 절망 오열 공포 사고 입원 수술 해고 배신 바람을
    결혼 약혼 프러포즈 임신 출산 태어났 감격 꿈을 이뤘 너무 행복 이별""",
    "vi": """qua đời mất rồi chết đám tang ung thư sảy thai ly hôn tan nát tuyệt vọng đau khổ
    kinh hoàng tai nạn nhập viện phẫu thuật sa thải phản bội ngoại tình kết hôn đám cưới đính hôn
    cầu hôn mang thai chào đời vỡ òa hạnh phúc nhất""",
}
"""Things that mark a life. Written with `_` for a space inside a word of Vietnamese or Korean."""

_MILD = {
    "en": """sad happy love loved hate hated afraid scared worried anxious nervous excited proud
    angry upset lonely stressed frustrated embarrassed ashamed jealous grateful relieved
    disappointed hurt crying cried tears joy glad miss missed depressed annoyed awful terrible
    wonderful amazing awesome best worst""",
    "zh": """难过 伤心 开心 高兴 快乐 讨厌 害怕 担心 焦虑 紧张 兴奋 自豪 骄傲 生气 孤独 压力 郁闷 尴尬
    羡慕 感激 失望 哭 眼泪 想念 糟糕 太棒 最好 最差 喜欢 爱""",
    "ja": """悲し 嬉し うれし 楽し 大好き 嫌い 怖 心配 不安 緊張 わくわく 興奮 誇り 怒 寂し ストレス 恥ずかし
    羨まし 感謝 ほっと がっかり 泣 涙 辛 つら 最悪 最高 素晴らし""",
    "ko": """슬프 슬펐 기쁘 기뻤 행복 사랑 싫어 무서 걱정 불안 긴장 설레 신나 자랑스 화가 외로 스트레스 부끄
    부럽 감사 안심 실망 울었 눈물 그립 최악 최고 멋진 속상""",
    "vi": """buồn vui hạnh phúc yêu ghét sợ lo lắng hồi hộp háo hức tự hào tức giận cô đơn
    căng thẳng xấu hổ ghen tị biết ơn nhẹ nhõm thất vọng khóc nước mắt nhớ nhung tệ tuyệt vời""",
}

_VERY = {
    "en": "very really so extremely absolutely totally incredibly deeply terribly never ever",
    "zh": "非常 特别 太 极其 真的 超级 好 十分",
    "ja": "とても すごく 本当に 非常に めちゃくちゃ 超 かなり",
    "ko": "너무 정말 진짜 매우 굉장히 엄청 아주",
    "vi": "rất quá lắm thật_sự vô_cùng cực_kỳ kinh_khủng",
}

_PHRASES_VI = """qua_đời mất_rồi đám_tang ung_thư sảy_thai ly_hôn tan_nát tuyệt_vọng đau_khổ
    kinh_hoàng tai_nạn nhập_viện phẫu_thuật sa_thải phản_bội ngoại_tình kết_hôn đám_cưới đính_hôn
    cầu_hôn mang_thai chào_đời vỡ_òa hạnh_phúc_nhất chết"""
_MILD_VI = """buồn vui hạnh_phúc yêu ghét sợ lo_lắng hồi_hộp háo_hức tự_hào tức_giận cô_đơn
    căng_thẳng xấu_hổ ghen_tị biết_ơn nhẹ_nhõm thất_vọng khóc nước_mắt nhớ_nhung tệ tuyệt_vời"""
