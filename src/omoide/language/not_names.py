"""What people say they are and what is no name, so that "I'm Irish" introduces nobody."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class NotNames:
    """Words of one language."""

    words: frozenset[str]
    """No names where somebody only says that they are this."""
    never: frozenset[str] = frozenset()
    """No names, whatever was said before them."""
    endings: tuple[str, ...] = ()
    """How jobs, peoples and states end."""


NOT_NAMES = {
    "en": NotNames(
        words=frozenset(
            """i a an the my your not so no yes ok okay well sure sorry glad happy tired fine
            good here american british english french german italian spanish portuguese dutch
            irish scottish welsh chinese japanese korean vietnamese indian canadian mexican
            russian polish swedish norwegian danish finnish greek turkish thai filipino
            brazilian cuban african asian european australian hispanic latino latina
            italian-american african-american native catholic christian muslim jewish buddhist
            hindu mormon protestant baptist lutheran aries taurus gemini cancer leo virgo libra
            scorpio sagittarius capricorn aquarius pisces mom mum dad mother father mr mrs ms dr
            gen team head vegan vegetarian republican democrat monday tuesday wednesday thursday
            friday saturday sunday january february march april may june july august september
            october november december christmas pronounced spelled hard unusual common weird
            long short also too very same just what who how god ai""".split()
        )
    ),
    "zh": NotNames(
        words=frozenset(
            """妈妈 爸爸 老婆 老公 小孩 小白
            小心 小区 小学 小众 周末 于是 许多 林业 叶子 曾经 余下 杜绝 何人 田园 苏州 宋朝 唐朝
            朋友 名字""".split()
        ),
        never=frozenset(("什么", "什麼", "外卖", "出租车", "救护车", "滴滴", "朋友", "名字")),
        endings=tuple("人师生员手者家的座工族党迷粉狗派妈爸友兵医商民型"),
    ),
    "ja": NotNames(
        words=frozenset(
            """エンジニア プログラマー サラリーマン オタク フリーター ニート アルバイト パート
            バイト デザイナー ライター カフェ パスタ ダメ マジ オッケー ペット イヌ ネコ
            シングル パパ ママ アイドル ゲーマー ベジタリアン クリスチャン アメリカ フランス
            ドイツ アレルギー ストレス インドア アウトドア ミュージシャン イラストレーター
            コンサル テスト ラーメン カレー コーヒー メール ゲーム アニメ リモート テレワーク
            ワクワク ドキドキ バッチリ ホント ソロ ペーパードライバー フリーランス 東京 大阪
            京都 名古屋 福岡 北海道 神奈川 千葉 埼玉 沖縄 日本 独身 既婚 元気 大丈夫 最高 最近
            今日 明日 昨日 本当 残念 一緒 同感 同意 了解 納得 賛成 反対 無理 微妙 普通 結構 完全
            大変 大好 幸 正解 図星 主婦 主夫 専業主婦 社会人 文系 理系 一人暮 実家暮 夜型 朝型
            猫派 犬派 甘党 辛党 下戸 公務員 問題 質問 報告 相談 朗報 悲報 連絡 速報 失敗 合格
            成功 感謝 緊急 宿題 退職 転職 離婚 結婚 妊娠 出産 入院 退院 風邪 観光 ともかく 秘密
            内緒 自営業 無職 双子 長男 長女 次男 次女 末 末子 一人 二人 初心者 毎日 時々 半分
            夕方 午後 午前 久""".split()
        ),
        endings=(
            *tuple(
                "師員生者人家手身気婦職親派型系業党日歳才時分回社医士官長民的好嫌様症館店便売室局院課会"
            ),
            *(
                "事中",
                "務中",
                "娠中",
                "職中",
                "動中",
                "強中",
                "習中",
                "養中",
                "策中",
                "活中",
                "十代",
                "番目",
                "年目",
            ),
            *("マン", "ニア", "ナー", "スト", "ライター", "ファン", "ドライバー", "アン"),
        ),
    ),
    "ko": NotNames(
        words=frozenset(
            """학생 교사 의사 간호사 엄마 아빠 남자 여자 바보 친구 직원 회사원 공무원 연구원
            은행원 사람 혼자 교수 주부 백수 비건 기자 작가 화가 가수 배우 요리사 변호사 개발자
            디자이너 프로그래머 직장인 한국인 외국인 일본인 미국인 중국인 서울 부산 대구 인천
            광주 대전 울산 제주 제주도 내일 오늘 지금 처음 아직 정말 진짜 별로 최고 이제 요즘
            그냥 아마 그거 이거 저거 여기 거기 집 회사 학교 괜찮 싱글 솔로 미혼 기혼 외동 막내
            첫째 둘째 무교 기독교 불교 천주교 반대 찬성 동감 마찬가지 비슷 그쪽 어디 누구 무엇
            뭐 언제 이상 사실 문제 중학생 대학생 고등학생 취준생 신입 사장 대표 팀장 매니저 군인
            경찰 소방관 운동 등산 여행 독서 요리 음악 영화 커피 고양이 강아지 채식 휴가 야근
            퇴근 출근 방학 감기 다이어트""".split()
        ),
        endings=(
            "생",
            "사원",
            "자이",
            "주의자",
            "기사",
            "님",
            "중",
            "편",
            "파",
            "형",
            "쪽",
            "씩",
            "번째",
        ),
    ),
    "vi": NotNames(
        words=frozenset(
            ("phật", "hà nội", "sài gòn", "việt nam", "đà nẵng", "huế", "cần thơ", "mẹ")
        ),
        never=frozenset(("gì", "ai")),
    ),
}
