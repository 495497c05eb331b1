"""Pure decisions: data in, a validated value out, or a `Stop` with reason and evidence.

No LangGraph, no input or output, no clock. The same input gives the same verdict in every process.
"""
