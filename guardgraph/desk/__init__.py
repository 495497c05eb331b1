"""The desk of people who decide: the queue of the runs that wait for them, and its pages in a browser."""
