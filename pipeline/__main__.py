"""`python -m pipeline`: the command line without the window."""

import sys

from pipeline.cli import main

sys.exit(main(sys.argv[1:]))
