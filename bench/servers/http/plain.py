"""Serves an ASGI application on a plain uvicorn, at a free port that it prints."""

import socket

import uvicorn


def serve(app):
    # asyncio sends without delay only where a socket says that it is of TCP
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_keep_alive=600)
    uvicorn.Server(config).run(sockets=[listening])
