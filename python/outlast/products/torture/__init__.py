"""Crash tests of programs: the commands of a program to a drive are recorded, and the states after cuts are checked.

States are mounted and checked here; promises and drives are known to `products/torture` alone, which names the states.
Workers are threads with mounts of their own, and a second process cleans up if the first one is killed (`cleanup`;
decisions 0051 and 0052).
"""
