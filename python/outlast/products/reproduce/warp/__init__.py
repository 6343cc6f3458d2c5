"""WARP: streams of writes on drives with reclaim unit handles."""
