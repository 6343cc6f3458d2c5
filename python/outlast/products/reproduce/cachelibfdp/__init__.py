"""CacheLib on a drive with reclaim unit handles."""
