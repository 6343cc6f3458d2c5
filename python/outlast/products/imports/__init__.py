"""Configurations of other simulators as scenarios: MQSim, FEMU, NVMeVirt and SimpleSSD.

Each number of a draft says which parameter it comes from, and each parameter without a counterpart says what it would
change. What the others' parameters mean was taken from their source code, not from their documentation.
"""
