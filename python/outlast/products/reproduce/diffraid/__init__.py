"""Diff-RAID: what of it is real code; its figures are TOML files."""
