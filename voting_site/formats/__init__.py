"""Where our numbers and dates differ from Django's own formats; one package for each such language."""
