"""Client of Vedette's history service: other programs write and read history.

Standard library only. `Client` for programs that wait, `AsyncClient` for asyncio; `Writer` and
`AsyncWriter` write in the background, in batches, until everything is acknowledged. It speaks the
HTTP/JSON form of the service; docs/history-service.md has examples.
"""

from .clients import AsyncClient, Client
from .messages import MESSAGE_MAX, VALUES_MAX, Error, Hour, Log, Refusal, Sample, Written, value
from .writers import BATCH_BYTES, AsyncWriter, Writer

__version__ = "1.0"
__all__ = [
    "BATCH_BYTES", "MESSAGE_MAX", "VALUES_MAX", "AsyncClient", "AsyncWriter", "Client", "Error",
    "Hour", "Log", "Refusal", "Sample", "Writer", "Written", "value",
]
