"""Where people decide: the queue of the runs that wait for them, and a desk for it in a browser."""
