"""The program, as `shoeproof` and as `python -m cli`: what is loaded first, so that nothing ends it
with a traceback, Ctrl-C in its first moment included.
"""

import sys

from cli.exit_codes import CRASHED, INTERRUPTED
from cli.streams import show_on_any_console


def run() -> None:
    """Load the list of commands, and run the one that was asked for."""
    try:
        show_on_any_console()
        from cli.main import run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:
        from cli.crash import tell_crash

        tell_crash(error)
        sys.exit(CRASHED)


if __name__ == "__main__":
    run()
