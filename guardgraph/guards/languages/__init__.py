"""How people write: words, numbers, names of months and places in many languages, sentences and terms of a text.

The tables are shipped as data and read when they are first asked for.
"""
