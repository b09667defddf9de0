"""The least that a stream of ASGI is: begun, one comment sent, open until the client is gone."""

from plain import serve


async def app(scope, receive, send):
    if scope["type"] != "http":
        raise NotImplementedError
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b":\n\n", "more_body": True})
    while (await receive())["type"] != "http.disconnect":
        pass


serve(app)
