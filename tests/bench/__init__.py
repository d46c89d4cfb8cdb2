"""Tests of omoide-bench. They need its package, no weights and no server."""
