"""The graphs of the app: the name of this package is the app's own."""
