"""Whether a program survives the loss of power: what it asks of a drive is recorded, what a cut leaves is checked.

States are mounted and checked here; promises and drives are known to `crates/torture` alone, which names the states.
Workers are threads with mounts of their own, and a second process cleans up if the first one is killed (`afterwards`;
decisions 0051 and 0052).
"""
