"""The nodes of the graphs: thin bodies that propose, act, guard or end, with their declarations and prompts."""
