"""Products on top of the simulator, which knows none of them: the table of commands names their modules as text.

A product uses public modules of `outlast` and no other product; `tests/test_products.py` compares imports.
"""
