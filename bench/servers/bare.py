"""A lower bound for stdio: an asyncio loop that decodes each line and answers it."""

import asyncio
import os

import msgspec

decode = msgspec.json.decode
encode = msgspec.json.encode


def answer(line: bytes) -> bytes:
    request = decode(line)
    arguments = request["params"]["arguments"]
    total = arguments["a"] + arguments["b"]
    content = [{"type": "text", "text": str(total)}]
    result = {"content": content, "structuredContent": {"result": total}, "resultType": "complete"}
    return encode({"jsonrpc": "2.0", "id": request["id"], "result": result}) + b"\n"


async def main() -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    rest = b""

    def read() -> None:
        nonlocal rest
        data = os.read(0, 1 << 16)
        *lines, rest = (rest + data).split(b"\n")
        if lines:
            os.write(1, b"".join(map(answer, lines)))
        if not data:
            loop.remove_reader(0)
            ended.set()

    loop.add_reader(0, read)
    await ended.wait()


asyncio.run(main())
