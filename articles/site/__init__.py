"""What administrators write in the admin site: the site's own texts, and hosts whose links cannot be posted."""
