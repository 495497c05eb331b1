"""What the nodes of a pattern say of themselves: their kinds, their declarations, the channels that they share."""
