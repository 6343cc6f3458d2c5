"""Analysis of a drive's limits: sentences made of a result's own figures, and the gain of each part made 10 % faster.

`parts` says how busy each part was, `limit` which of them sets the pace, `sentences` puts the figures into words, and
`trial` runs the scenario again with one part improved at a time.

Figures are those of `result.json` alone; `origins` gives sentences the names of their figures. Changed scenarios run
as jobs of `outlast.points` (decision 0078).
"""

from __future__ import annotations

from outlast.why.explanation import Explanation, explain
from outlast.why.sentences import Sentence
from outlast.why.trial import Gain, Trials

__all__ = ["Explanation", "Gain", "Sentence", "Trials", "explain"]
