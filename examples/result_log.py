"""A service that keeps tool results. Each line that it reads and writes is JSON, by msgspec alone.

python examples/result_log.py       # serves a free port of 127.0.0.1, and prints it
"""

from __future__ import annotations

import asyncio

import msgspec

from mcp_wire.v2025_11_25.models_msgspec import (
    CallToolResult,
    ContentBlock,
    TextContent,
    dec_hook,
    enc_hook,
)


class Finished(msgspec.Struct, tag="finished"):
    """A tool has finished."""

    tool: str
    result: CallToolResult


class Last(msgspec.Struct, tag="last"):
    """Asks for the last result of a tool."""

    tool: str


class Reply(msgspec.Struct, omit_defaults=True):
    """What is known of a tool: how many results, the last of them, and its texts."""

    count: int = 0
    last: CallToolResult | None = None
    texts: list[str] = []
    error: str = ""


requests = msgspec.json.Decoder(Finished | Last, dec_hook=dec_hook)
replies = msgspec.json.Encoder(enc_hook=enc_hook)


def text_of(block: ContentBlock) -> str:
    match block:
        case TextContent(text=text):
            return text
        case _:
            return f"({block.type})"


class ResultLog:
    """The results of each tool, in their order."""

    def __init__(self) -> None:
        self.results: dict[str, list[CallToolResult]] = {}

    def answer(self, line: bytes) -> bytes:
        try:
            request = requests.decode(line)
        except msgspec.ValidationError as error:
            return replies.encode(Reply(error=str(error)))
        results = self.results.setdefault(request.tool, [])
        if isinstance(request, Finished):
            results.append(request.result)
        last = results[-1] if results else None
        texts = [text_of(block) for block in last.content] if last else []
        return replies.encode(Reply(len(results), last, texts))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for line in reader:
            writer.write(self.answer(line) + b"\n")
            await writer.drain()
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(ResultLog().serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
