"""Turn `python -m exactquote` into the command line."""

import sys

from exactquote.cli import main

if __name__ == "__main__":
    sys.exit(main())
