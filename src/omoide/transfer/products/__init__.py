"""Exports of other memory products, one file for each."""
