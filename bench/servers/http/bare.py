"""A lower bound for HTTP: an ASGI application that answers a body with that body."""

from plain import serve


async def app(scope, receive, send):
    if scope["type"] != "http":
        raise NotImplementedError  # no lifespan: uvicorn goes on without
    body = (await receive())["body"]
    length = str(len(body)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", length)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


serve(app)
