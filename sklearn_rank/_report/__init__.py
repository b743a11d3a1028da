"""The page to look at: one file with the verdict, pictures, values and lists, made of plain numbers and texts."""
