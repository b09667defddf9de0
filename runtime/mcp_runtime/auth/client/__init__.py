"""A client's side of authorization: discovery, registration, tokens, and proofs of possession."""
