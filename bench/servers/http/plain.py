"""Serves an ASGI application on uvicorn, at a free port that it prints.

With the argument `h11` that is uvicorn alone: on asyncio, with h11.
"""

import socket
import sys

import uvicorn


def serve(app):
    # asyncio sends without delay only where a socket says that it is of TCP
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    print(listening.getsockname()[1], flush=True)
    alone = {"loop": "asyncio", "http": "h11"} if "h11" in sys.argv else {}
    options = {"log_level": "warning", "access_log": False, "timeout_keep_alive": 600, **alone}
    config = uvicorn.Config(app, **options)
    uvicorn.Server(config).run(sockets=[listening])
