"""Papers that are folders of data: `paper.toml`, and a TOML file for each figure.

A figure's points are those of a sweep file, its columns and checks are expressions over what runs gave.
"""

from outlast.products.reproduce.data.reading import figure, load

__all__ = ["figure", "load"]
