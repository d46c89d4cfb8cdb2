"""Contracts that every adapter of a port must fulfil, as pytest classes to subclass.

    class TestMyStore(StoreContract):
        async def open(self, folder):
            return await MyStore.open(folder / "memory")

They need pytest and pytest-asyncio, in any of its modes. docs/extending.md has an example of each.
"""

import pytest

pytest.register_assert_rewrite(
    *(
        f"{__name__}.{name}"
        for name in ("embedder", "making", "mechanism", "model", "store", "vectors")
    )
)
