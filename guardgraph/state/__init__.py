"""The data that flows: channels, settings, the stop-reason catalogue. Imports nothing of ours."""
