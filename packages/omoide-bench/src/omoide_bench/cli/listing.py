"""`omoide bench list`: the tasks and the methods."""

from __future__ import annotations

import click

from omoide import bootstrap
from omoide.cli import Scope, emit, scoped, table


@click.command("list")
@scoped
def list_(scope: Scope) -> None:
    """List the tasks with their data sets and licences, and the methods."""
    from omoide_bench.methods import ALWAYS, registry
    from omoide_bench.tasks import TASKS

    known = registry(analyser=bootstrap.word_analyser)
    if scope.json:
        emit(
            {
                "tasks": [
                    {
                        "name": task.name,
                        "about": task.about,
                        "data": task.source.title if task.source else None,
                        "licence": task.source.licence if task.source else None,
                        "measures": {m.name: m.about for m in task.measures},
                        "options": dict(task.options),
                        "usual": list(task.default_methods),
                        "rivals": list(task.alternatives),
                    }
                    for task in TASKS.values()
                ],
                "methods": {name: entry.about for name, entry in known.items()},
                "always": list(ALWAYS),
            }
        )
        return
    click.echo(table(("task", "what it measures"), [(t.name, t.about) for t in TASKS.values()]))
    click.echo()
    sources = [
        (
            t.name,
            t.source.title if t.source else "synthetic",
            t.source.licence if t.source else "",
        )
        for t in TASKS.values()
    ]
    click.echo(table(("task", "data", "licence"), sources))
    click.echo()
    click.echo(table(("method", "what it is"), [(n, e.about) for n, e in known.items()]))
    click.echo(
        f"\nCombine methods with +, such as summary+search. {', '.join(ALWAYS)} always run as "
        "baselines, unless --only is given or the task is about notes only (quiet, stories)."
    )
