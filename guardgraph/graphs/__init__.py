"""The grammar, how its patterns run and are decided again, its proof, and a builder for each that reads like its diagram.

`declaring` has what nodes say of themselves, `running` what LangGraph runs, `replay` what decides a recorded run again,
`proof` what `verify` proves. `grammar` stands on these, and the patterns on it.
"""
