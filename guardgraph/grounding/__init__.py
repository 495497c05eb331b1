"""What the sources of a text say of it: sentence by sentence, by a few general rules and tables of languages."""
