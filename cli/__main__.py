"""The program, as `shoeproof` and as `python -m shoeproof`: what is loaded first, so that nothing
ends it with a traceback, Ctrl-C in its first moment included.
"""

import sys

from shoeproof.cli.exit_codes import CRASHED, INTERRUPTED, USAGE
from shoeproof.cli.streams import show_on_any_console
from shoeproof.needs import NotInstalled, need


def run() -> None:
    """Load the list of commands, and run the one that was asked for."""
    try:
        show_on_any_console()
        need("the command line", "typer", "rich")
        from shoeproof.cli.main import run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except NotInstalled as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(USAGE)
    except Exception as error:
        from shoeproof.cli.crash import tell_crash

        tell_crash(error)
        sys.exit(CRASHED)


if __name__ == "__main__":
    run()
