"""`python -m pipeline`: the command line without the window."""

import sys

from pipeline.cli import leave, main

leave(main(sys.argv[1:]))
