"""Language models as judges: of one reply, of two, and of an answer.

A verdict that cannot be read leaves the item unscored, and is counted; it is never a zero. Before
a judge is believed, `calibration` measures how often it accepts what is deliberately wrong; that
figure belongs beside every result that the judge gave.
"""

from omoide.evals.judges.answers import Answered, AnswerJudge, Marked
from omoide.evals.judges.calibration import (
    AnswerCalibration,
    Labelled,
    ReplyCalibration,
    Unanswerable,
    calibrate_answers,
    calibrate_pairs,
)
from omoide.evals.judges.marks import MarkCalibration, calibrate_marks
from omoide.evals.judges.pairwise import Pair, PairJudge, PairReport, PairVerdict, pair_report
from omoide.evals.judges.single import CRITERIA, Case, Rated, Rating, SingleJudge, rated

__all__ = [
    "CRITERIA",
    "AnswerCalibration",
    "AnswerJudge",
    "Answered",
    "Case",
    "Labelled",
    "MarkCalibration",
    "Marked",
    "Pair",
    "PairJudge",
    "PairReport",
    "PairVerdict",
    "Rated",
    "Rating",
    "ReplyCalibration",
    "SingleJudge",
    "Unanswerable",
    "calibrate_answers",
    "calibrate_marks",
    "calibrate_pairs",
    "pair_report",
    "rated",
]
