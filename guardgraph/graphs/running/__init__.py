"""How a pattern runs under LangGraph: the door, the session, and nodes that are driven, judged or ended."""
