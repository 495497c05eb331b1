"""What reaches outside: the calls of a run, who is called, and the world that performs them."""
