"""Whether a knowledge base is what was put in, and its index made anew."""
