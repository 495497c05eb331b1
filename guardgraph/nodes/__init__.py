"""What stands in the graphs: thin bodies that propose, act, guard or end, each with what it declares; their prompts."""
