"""How folders and documents become what a knowledge base keeps: rules, what documents say of themselves, reports."""
