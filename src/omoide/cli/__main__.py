"""`python -m omoide.cli`."""

from omoide.cli import main

main()
