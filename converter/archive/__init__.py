"""Reading `.pt2` files: from the bytes of an untrusted archive to a typed exported program."""
