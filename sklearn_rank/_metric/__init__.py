"""What a metric is: its formula, name, keywords and conventions."""
