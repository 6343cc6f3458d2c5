"""`outlast torture` and its commands, each loaded when it is called."""
