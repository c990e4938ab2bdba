"""Transfer: articles and comments from and into files, and the demo content of a new site."""
