"""Sessions of both roles: requests in flight, subscriptions, and the bytes held for a peer."""
