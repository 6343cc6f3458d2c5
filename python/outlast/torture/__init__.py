"""Whether a program survives the loss of power: what it asks of a drive is recorded, what a cut leaves is checked."""
