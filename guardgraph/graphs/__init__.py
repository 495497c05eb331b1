"""The grammar, how its patterns run and are decided again, its proof, and a diagram in code for each pattern.

`declaring` has what nodes say of themselves, `running` what LangGraph runs, `replay` what decides a recorded run again,
`proof` what `verify` proves. `grammar` stands on these, and the patterns on it.
"""
