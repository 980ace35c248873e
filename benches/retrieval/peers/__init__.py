"""Other tools behind one way of asking: see `peers.table`."""
