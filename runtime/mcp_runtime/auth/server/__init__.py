"""A server's side of authorization: it checks tokens, and says where a client gets one."""
