"""The same pages and votes with Django's ORM on PostgreSQL, drawn with the site's templates."""
