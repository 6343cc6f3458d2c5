"""mSAPL: what of it is computed, the schemes; its figures are TOML files."""
