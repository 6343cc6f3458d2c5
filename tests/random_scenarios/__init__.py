"""Scenarios at random, each of which must be refused in one line or keep the laws of conservation.

`generate` makes the scenario of a seed, `run` runs it in a process of its own, `laws` says what a result must keep,
`differential` and `monotone` compare runs that must agree, and `shrink` makes a scenario that breaks something small.
`python -m random_scenarios` (with `tests` on the path) is the command line; `make random-scenarios` calls it.
"""
