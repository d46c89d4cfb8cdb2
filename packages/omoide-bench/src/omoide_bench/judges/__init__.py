"""Language models as judges of one reply, of two replies, and of an answer.

An unreadable verdict leaves the item unscored and is counted; it is never a zero. `calibration`
measures how often a judge accepts deliberately wrong answers; report that figure with every result
of the judge.
"""

from omoide_bench.judges.answers import AnsweredQuestion, AnswerJudge, MarkedAnswer
from omoide_bench.judges.calibration import (
    AnswerCalibration,
    Labelled,
    ReplyCalibration,
    Unanswerable,
    calibrate_answers,
    calibrate_pairs,
)
from omoide_bench.judges.marks import RIGHT, MarkCalibration, calibrate_marks, mark_calibration
from omoide_bench.judges.pairwise import Pair, PairJudge, PairReport, PairVerdict, pair_report
from omoide_bench.judges.rubric import RubricCase, RubricJudge, RubricMark, calibrate_rubric
from omoide_bench.judges.single import CRITERIA, MeanRating, Rating, ReplyCase, SingleJudge, rated

__all__ = [
    "CRITERIA",
    "RIGHT",
    "AnswerCalibration",
    "AnswerJudge",
    "AnsweredQuestion",
    "Labelled",
    "MarkCalibration",
    "MarkedAnswer",
    "MeanRating",
    "Pair",
    "PairJudge",
    "PairReport",
    "PairVerdict",
    "Rating",
    "ReplyCalibration",
    "ReplyCase",
    "RubricCase",
    "RubricJudge",
    "RubricMark",
    "SingleJudge",
    "Unanswerable",
    "calibrate_answers",
    "calibrate_marks",
    "calibrate_pairs",
    "calibrate_rubric",
    "mark_calibration",
    "pair_report",
    "rated",
]
