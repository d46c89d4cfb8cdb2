"""Implementations of the ports: the only package that imports vendor libraries."""
