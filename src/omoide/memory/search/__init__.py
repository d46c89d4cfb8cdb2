"""Recall without a model call: seven kinds of evidence, weighed."""
