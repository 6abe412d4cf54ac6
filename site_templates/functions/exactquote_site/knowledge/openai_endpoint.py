"""Turns texts into vectors by asking an endpoint that speaks OpenAI's protocol.

https://platform.openai.com/docs/api-reference/embeddings/create describes it. What comes back
is believed only after it was looked at, and no message repeats what the endpoint wrote, since
some repeat the key.
"""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from exactquote_site.knowledge.embedders import EmbedderDown, EmbedderUnfit, Patience, clean
from exactquote_site.knowledge.vectors import unit

if TYPE_CHECKING:
    from openai import OpenAI

# Within what OpenAI takes in one request: 2,048 texts, 300,000 tokens.
BATCH_TEXTS_MAX = 64
BATCH_CHARS_MAX = 100_000
ANSWER_BYTES_MAX = 64_000_000
_BACKOFF_SECONDS = 0.5
_PASSING = frozenset((408, 409, 425, 429))
# An account that is used up isn't filled again by waiting.
_LASTING = "insufficient_quota"
_CODE = re.compile(r"[a-z][a-z_]{1,39}", re.ASCII)
_CURES: Mapping[int, str] = {
    400: "the model may not take texts this long; lower `chunk_chars`",
    401: "check the key",
    403: "check the key and what it may do",
    404: "check `base_url` and `model`",
    413: "the model may not take texts this long; lower `chunk_chars`",
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask, for which model, and which environment variable holds the key.

    With an empty `key_env` no key is sent. A `dimension` of 0 leaves it to the model.
    """

    base_url: str
    model: str
    key_env: str = ""
    dimension: int = 0


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, waiting and chance, so that a test can be all three."""

    now: Callable[[], float] = time.monotonic
    today: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random


class OpenAIEndpoint:
    """An embedder that is asked over the network.

    Its id names the model and not the address: the same model may be asked at one place
    for a build and at another for its visitors. A model that is changed under its old name
    can't be told.
    """

    def __init__(self, endpoint: Endpoint, patience: Patience, clock: Clock | None = None) -> None:
        """Raises `EmbedderUnfit` when the endpoint can't be asked at all."""
        self._endpoint = endpoint
        self._where = _where(endpoint)
        self._patience = patience
        self._clock = clock or Clock()
        self._client = _client(endpoint, self._where, patience)
        self.dimension = endpoint.dimension
        asked = f"@{endpoint.dimension}" if endpoint.dimension else ""
        self.id = f"endpoint:{endpoint.model}{asked}"

    def __repr__(self) -> str:
        """Its id alone."""
        return f"OpenAIEndpoint({self.id!r})"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row of length 1 for each text, shape (n, d); a blank text has a row of zeros.

        Raises `EmbedderDown` when the endpoint doesn't answer in time, or answers wrongly.
        """
        asked = [(i, text) for i, text in enumerate(map(clean, texts)) if text]
        answered = [
            (batch, self._patiently([text for _, text in batch])) for batch in batches(asked)
        ]
        made = np.zeros((len(texts), self.dimension), np.float32)
        for batch, vectors in answered:
            made[[number for number, _ in batch]] = vectors
        return made

    def close(self) -> None:
        """Close the connections to the endpoint."""
        self._client.close()

    def _patiently(self, texts: list[str]) -> NDArray[np.float64]:
        clock, patience = self._clock, self._patience
        end = clock.now() + patience.total_seconds
        for number in range(1, patience.tries + 1):
            try:
                return self._vectors(self._ask(texts, end), len(texts))
            except _Passing as passing:
                backoff = _BACKOFF_SECONDS * 2 ** (number - 1) * (1 + clock.jitter())
                wait = min(backoff, patience.wait_seconds_max)
                why = f"{self._where} {passing}"
                if passing.asked is not None:
                    # To come back earlier than asked would only be refused again.
                    if passing.asked > patience.wait_seconds_max:
                        raise EmbedderDown(
                            f"{why}, and asks to wait for {passing.asked:.0f} seconds"
                        ) from None
                    wait = max(wait, passing.asked)
                if number == patience.tries or clock.now() + wait > end:
                    raise EmbedderDown(f"{why}; gave up after {_times(number)}") from None
                clock.sleep(wait)
        raise EmbedderDown(f"{self._where} was not asked: no tries are allowed")

    def _ask(self, texts: list[str], end: float) -> bytes:
        """The body of the endpoint's answer, once; every read and the whole have a limit."""
        import httpx2
        import openai

        left = max(end - self._clock.now(), 0.001)
        read = min(self._patience.read_seconds, left)
        limits = openai.Timeout(read, connect=min(self._patience.connect_seconds, left))
        size: dict[str, Any] = {}
        if self._endpoint.dimension:
            size["dimensions"] = self._endpoint.dimension
        try:
            with self._client.embeddings.with_streaming_response.create(
                input=texts,
                model=self._endpoint.model,
                encoding_format="float",
                timeout=limits,
                **size,
            ) as response:
                body = bytearray()
                for part in response.iter_bytes():
                    body += part
                    if len(body) > ANSWER_BYTES_MAX:
                        raise self._wrong(f"sent more than {ANSWER_BYTES_MAX:,} bytes")
                    if self._clock.now() > end:
                        raise _Passing("was too slow")
                return bytes(body)
        except openai.APIStatusError as error:
            raise self._status(error) from None
        except (openai.APITimeoutError, httpx2.TimeoutException):
            raise _Passing("didn't answer in time") from None
        except (openai.APIConnectionError, httpx2.HTTPError):
            raise _Passing("can't be reached, or broke the connection") from None
        except (openai.OpenAIError, httpx2.InvalidURL, httpx2.StreamError):
            raise self._wrong("doesn't answer as OpenAI's protocol has it") from None

    def _status(self, error: Any) -> Exception:
        status = int(error.status_code)
        code = error.code if isinstance(error.code, str) and _CODE.fullmatch(error.code) else ""
        # A code is one of a few words, but nothing holds an endpoint to that.
        code = "" if self._client.api_key in code else code
        told = f"answered {status}" + (f" ({code})" if code else "")
        if (status in _PASSING or status >= 500) and code != _LASTING:
            return _Passing(told, _retry_after(error.response.headers, self._clock.today()))
        cure = _CURES.get(status, "")
        if status in (401, 403) and self._endpoint.key_env:
            cure += f" in ${self._endpoint.key_env}"
        return self._wrong(told + (f"; {cure}" if cure else ""))

    def _vectors(self, body: bytes, count: int) -> NDArray[np.float64]:
        """The vectors in an answer, in the order of the texts."""
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            # Cut short on the way, most likely.
            raise _Passing("sent something that isn't JSON") from None
        listed = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(listed, list) or len(listed) != count:
            told = len(listed) if isinstance(listed, list) else "no"
            raise self._wrong(f"sent {told} vectors for {count} texts")
        by_index: dict[int, list[Any]] = {}
        for item in listed:
            index = item.get("index") if isinstance(item, dict) else None
            vector = item.get("embedding") if isinstance(item, dict) else None
            if type(index) is not int or not isinstance(vector, list):
                raise self._wrong("sent a vector without index or numbers")
            by_index[index] = vector
        if by_index.keys() != set(range(count)):
            raise self._wrong(f"sent vectors whose indexes aren't 0 to {count - 1}, once each")
        return self._matrix([by_index[index] for index in range(count)])

    def _matrix(self, vectors: list[list[Any]]) -> NDArray[np.float64]:
        if not all(type(number) in (int, float) for vector in vectors for number in vector):
            raise self._wrong("sent a vector with something that isn't a number")
        lengths = sorted({len(vector) for vector in vectors} | {self.dimension or len(vectors[0])})
        if len(lengths) != 1 or not lengths[0]:
            raise self._wrong(f"sent vectors of {' and '.join(map(str, lengths))} dimensions")
        try:
            matrix = unit(np.array(vectors, np.float64))
        except (ValueError, OverflowError):
            raise self._wrong("sent a vector with a number that isn't finite") from None
        if not matrix.any(axis=1).all():
            raise self._wrong("sent a vector of zeros for a text")
        self.dimension = lengths[0]
        return matrix

    def _wrong(self, told: str) -> EmbedderDown:
        return EmbedderDown(f"{self._where} {told}")


class _Passing(Exception):
    """A failure that another try may not meet; `asked` are seconds to wait before it."""

    def __init__(self, told: str, asked: float | None = None) -> None:
        super().__init__(told)
        self.asked = asked


def batches(asked: Sequence[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Texts with their numbers, as many together as one request may hold."""
    batch: list[tuple[int, str]] = []
    chars = 0
    for number, text in asked:
        if batch and (len(batch) == BATCH_TEXTS_MAX or chars + len(text) > BATCH_CHARS_MAX):
            yield batch
            batch, chars = [], 0
        batch.append((number, text))
        chars += len(text)
    if batch:
        yield batch


def _where(endpoint: Endpoint) -> str:
    """How messages name the endpoint: without path, user or anything else that is private."""
    try:
        url = urlsplit(endpoint.base_url)
        host, port = url.hostname, url.port
    except ValueError:
        raise EmbedderUnfit("`base_url` isn't a URL") from None
    if url.scheme not in ("http", "https") or not host:
        raise EmbedderUnfit("`base_url` must begin with http:// or https:// and name a host")
    if url.username is not None or url.password is not None or url.query or url.fragment:
        raise EmbedderUnfit(
            "`base_url` must hold no user, password or query; name the variable of a key"
        )
    if not endpoint.model:
        raise EmbedderUnfit("an endpoint wants the name of its `model`")
    named = f"[{host}]" if ":" in host else host
    return f"{url.scheme}://{named}" + (f":{port}" if port else "")


def _client(endpoint: Endpoint, where: str, patience: Patience) -> OpenAI:
    key = "none"
    if endpoint.key_env:
        key = os.environ.get(endpoint.key_env, "").strip()
        if not key:
            raise EmbedderUnfit(f"the key for {where} is missing; set ${endpoint.key_env}")
        # Libraries quote a header that they can't send.
        if not (key.isascii() and key.isprintable()):
            raise EmbedderUnfit(f"${endpoint.key_env} holds characters that no key has")
    from openai import OpenAI

    return OpenAI(
        base_url=endpoint.base_url, api_key=key, max_retries=0, timeout=patience.read_seconds
    )


def _retry_after(headers: Mapping[str, str], today: float) -> float | None:
    """Seconds that an answer asks to wait (RFC 9110, 10.2.3), or None."""
    given = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", given, re.ASCII):
        return float(given)
    try:
        return max(parsedate_to_datetime(given).timestamp() - today, 0.0)
    except (ValueError, OverflowError):
        return None


def _times(number: int) -> str:
    return "one try" if number == 1 else f"{number} tries"
