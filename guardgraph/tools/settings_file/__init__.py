"""Files that people write settings in, read strictly: plain values, each with its line."""
