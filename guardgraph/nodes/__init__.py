"""What stands in the graphs: thin bodies that propose, act, guard or end. Prompts are files beside them."""
