"""Tests of omoide-tune. They need its package and, at most, the tiny model."""
