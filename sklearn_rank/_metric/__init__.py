"""Definition of a metric: formula, properties, name, keywords and conventions."""
