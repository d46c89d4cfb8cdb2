"""The command line: one module per command. Commands of plug-ins may use what is exported here."""

from omoide.cli.cost import Prices
from omoide.cli.main import cli, main
from omoide.cli.progress import bar
from omoide.cli.scope import Scope, options, scoped
from omoide.cli.show import as_json, emit, table

__all__ = ["Prices", "Scope", "as_json", "bar", "cli", "emit", "main", "options", "scoped", "table"]
