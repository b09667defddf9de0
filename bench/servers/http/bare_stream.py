"""A lower bound for streams: an ASGI response that sends one comment and stays open."""

from plain import serve


async def app(scope, receive, send):
    if scope["type"] != "http":
        raise NotImplementedError  # no lifespan: uvicorn goes on without
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b":\n\n", "more_body": True})
    while (await receive())["type"] != "http.disconnect":
        pass


serve(app)
