"""No query of a hot path reads rows of other owners: PostgreSQL's own plans say so.

The same at a million turns: `python -m tests.postgres_plans`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omoide.adapters.stores.postgres import PostgresStore
from omoide.domain import Owner
from omoide.ports import Space
from tests.postgres import databases
from tests.postgres_filling import TENANTS, fill
from tests.postgres_plans import explain

if TYPE_CHECKING:
    from pathlib import Path

USERS, EACH = 40, 60
SPACE = Space(name="random", version="1", dimensions=8)


async def test_every_call_stays_on_one_users_rows(tmp_path: Path) -> None:
    """Each statement looks into one partition of a table, by an index, at no more rows than the
    user has. Tables are small here, so the server is told not to prefer reading them whole."""
    url = databases().for_folder(tmp_path)
    await (await PostgresStore.open(url, partitions=2)).close()
    fill(url, turns=USERS * EACH, users=USERS, space=SPACE)
    store = await PostgresStore.open(f"{url}&options=-cenable_seqscan%3Doff")
    owners = [Owner(tenant=f"t{n % TENANTS}", user=f"u{n}") for n in (3, 17)]
    seen = await explain(store, SPACE, owners, each=EACH)
    await store.close()
    assert len({(one.call, one.statement) for one in seen}) > 50
    assert len({scan.table for one in seen for scan in one.scans}) >= 13
    wrong = [
        (one.call, problem, one.statement)
        for one in seen
        for problem in one.problems(most=EACH + 20)
    ]
    assert wrong == []
