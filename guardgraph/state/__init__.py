"""The data that flows: channels, outcomes, recordings, settings, the stop-reason catalogue."""
