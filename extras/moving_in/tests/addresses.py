"""Where a format says that an old address leads."""


def place_of(format_, path):
    for old in format_.addresses:
        if found := old.pattern.fullmatch(path):
            return old.kind, found[1], old.feed
    return format_.lists.get(path)
