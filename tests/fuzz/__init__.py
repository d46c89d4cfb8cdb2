"""Fuzzing of whatever reads what others wrote: files of other programs, answers of models.

With the tests, hypothesis tries some hundred inputs. For longer, with coverage as a guide:

    pip install atheris
    python -m tests.fuzz import -max_total_time=300
"""
