"""Real drives: measured write amplification, rates and latency against load beside what Outlast makes of them."""
