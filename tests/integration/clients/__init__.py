"""The vendors' own clients against the server, one suite over all of them."""
