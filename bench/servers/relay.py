"""A relay in asyncio that copies the lines of a command, and reads none: `relay.py COMMAND…`."""

import asyncio
import sys


async def pipe_in() -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    return reader


async def pipe_out() -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, sys.stdout
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while line := await reader.readline():
        writer.write(line)
        await writer.drain()
    writer.close()


async def main() -> None:
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*sys.argv[1:], stdin=pipe, stdout=pipe)
    assert child.stdin is not None
    assert child.stdout is not None
    await asyncio.gather(copy(await pipe_in(), child.stdin), copy(child.stdout, await pipe_out()))
    await child.wait()


asyncio.run(main())
