"""A hasher that counts its runs."""

from django.contrib.auth.hashers import MD5PasswordHasher


class CountingHasher(MD5PasswordHasher):
    algorithm = "counting"
    runs = 0

    def encode(self, password: str, salt: str) -> str:
        type(self).runs += 1
        return super().encode(password, salt)
