"""The flags of each command, by area. They import little more than argparse, so that `moot COMMAND --help` is fast."""
