"""The web: pages are read over HTTP, within the hosts, addresses and limits of the run."""
