"""A retriever of our own: pairs of a question and the turn that answers it, and models that learn
from them.

`conversations` reads the talks, `asking` lets a language model ask about their turns, `pairs`
keeps the questions that find their turn again, `train` tunes a sentence encoder on them, `maps`
learns linear maps over frozen vectors, `export` writes int8 ONNX files.
"""
