"""A checkpointer that keeps every long text of a thread once, by its hash, beside the checkpoints.

LangGraph writes the whole state into every checkpoint. Pages of five megabytes that a run of eighty steps has read
would be kept eighty times; here a checkpoint holds their hashes.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint, CheckpointMetadata, CheckpointTuple

from guardgraph.plain.errors import ConfigurationError

LEAST_CHARS: Final = 4_000  # characters of a text from which on it is kept by its hash

_PLACE: Final = "guardgraph_texts"
"""The namespace of a thread in which its texts are kept: a checkpoint each, whose id is the hash."""

_MARK: Final = "guardgraph:text"  # the only key of what stands for a text in a checkpoint

_KNOWN: Final = 10_000


def keep_texts_once(saver: BaseCheckpointSaver[Any]) -> BaseCheckpointSaver[Any]:
    """Return a checkpointer that keeps by another one, and every long text of a thread once, packed.

    Args:
        saver: of LangGraph's. It reads what it kept before; what is kept from now on is read through this one alone.

    Raises:
        ConfigurationError: it is no checkpointer.
    """
    if not isinstance(saver, BaseCheckpointSaver):
        raise ConfigurationError(f"saver: a LangGraph checkpointer is required; given: {type(saver).__name__}")
    return _TextsOnce(saver)


class _TextsOnce(BaseCheckpointSaver[Any]):
    def __init__(self, saver: BaseCheckpointSaver[Any]) -> None:
        super().__init__(serde=saver.serde)
        self._saver = saver
        self._known: dict[tuple[str, str], None] = {}

    def get_next_version(self, current: Any, channel: None) -> Any:
        return self._saver.get_next_version(current, channel)

    def with_allowlist(self, *given: Any, **named: Any) -> BaseCheckpointSaver[Any]:
        return _TextsOnce(self._saver.with_allowlist(*given, **named))

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = self._saver.get_tuple(config)
        return None if found is None else self._read_texts(found)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = await self._saver.aget_tuple(config)
        return None if found is None else await self._aread_texts(found)

    def list(self, config: RunnableConfig | None, **given: Any) -> Iterator[CheckpointTuple]:
        # All at once: a checkpointer may hold a lock while it yields, which reading a text wants too.
        for found in [*self._saver.list(config, **given)]:
            if _get_place(found.config).get("checkpoint_ns") != _PLACE:
                yield self._read_texts(found)

    async def alist(self, config: RunnableConfig | None, **given: Any) -> AsyncIterator[CheckpointTuple]:
        for found in [each async for each in self._saver.alist(config, **given)]:
            if _get_place(found.config).get("checkpoint_ns") != _PLACE:
                yield await self._aread_texts(found)

    def put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: Any
    ) -> RunnableConfig:
        texts: dict[str, str] = {}
        short: Any = {**checkpoint, "channel_values": _take_texts(checkpoint["channel_values"], texts)}
        for given in self._make_text_checkpoints(config, texts):
            self._saver.put(*given)
        return self._saver.put(config, short, metadata, new_versions)

    async def aput(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, new_versions: Any
    ) -> RunnableConfig:
        texts: dict[str, str] = {}
        short: Any = {**checkpoint, "channel_values": _take_texts(checkpoint["channel_values"], texts)}
        for given in self._make_text_checkpoints(config, texts):
            await self._saver.aput(*given)
        return await self._saver.aput(config, short, metadata, new_versions)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        texts: dict[str, str] = {}
        short = [(channel, _take_texts(value, texts)) for channel, value in writes]
        for given in self._make_text_checkpoints(config, texts):
            self._saver.put(*given)
        self._saver.put_writes(config, short, task_id, task_path)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        texts: dict[str, str] = {}
        short = [(channel, _take_texts(value, texts)) for channel, value in writes]
        for given in self._make_text_checkpoints(config, texts):
            await self._saver.aput(*given)
        await self._saver.aput_writes(config, short, task_id, task_path)

    def delete_thread(self, thread_id: str) -> None:
        self._known.clear()
        self._saver.delete_thread(thread_id)

    async def adelete_thread(self, thread_id: str) -> None:
        self._known.clear()
        await self._saver.adelete_thread(thread_id)

    def _read_texts(self, found: CheckpointTuple) -> CheckpointTuple:
        kept = {name: self._saver.get_tuple(place) for name, place in self._locate_texts(found).items()}
        return _restore_texts(found, kept)

    async def _aread_texts(self, found: CheckpointTuple) -> CheckpointTuple:
        kept = {name: await self._saver.aget_tuple(place) for name, place in self._locate_texts(found).items()}
        return _restore_texts(found, kept)

    def _make_text_checkpoints(self, config: RunnableConfig, texts: Mapping[str, str]) -> Iterator[tuple[Any, ...]]:
        """Yield what is given to `put` for each text that the thread does not have yet; it is known once it is kept."""
        thread = str(_get_place(config)["thread_id"])
        if "checkpoint_id" not in _get_place(config):  # a thread that begins; one of this name may have been deleted
            self._known = {known: None for known in self._known if known[0] != thread}
        for name, text in texts.items():
            if (thread, name) in self._known:
                continue
            packed = zlib.compress(text.encode("utf-8", "surrogatepass"))
            checkpoint = Checkpoint(
                v=1,
                id=name,
                ts=datetime.now(UTC).isoformat(),
                channel_values={"text": packed},
                channel_versions={"text": name},
                versions_seen={},
                updated_channels=None,
            )
            place = {"configurable": {"thread_id": thread, "checkpoint_ns": _PLACE}}
            yield place, checkpoint, {"source": "update", "step": -1, "parents": {}}, {"text": name}
            self._remember(thread, name)

    def _remember(self, thread: str, name: str) -> None:
        while len(self._known) >= _KNOWN:
            self._known.pop(next(iter(self._known), (thread, name)), None)
        self._known[thread, name] = None

    def _locate_texts(self, found: CheckpointTuple) -> dict[str, RunnableConfig]:
        """Return where the texts of a checkpoint are kept, by their hashes."""
        names: dict[str, None] = {}
        _list_marks(found.checkpoint["channel_values"], names)
        for _, _, value in found.pending_writes or ():
            _list_marks(value, names)
        thread = str(_get_place(found.config)["thread_id"])
        for name in names:
            self._remember(thread, name)
        place = {"thread_id": thread, "checkpoint_ns": _PLACE}
        return {name: {"configurable": {**place, "checkpoint_id": name}} for name in names}


def _restore_texts(found: CheckpointTuple, kept: Mapping[str, CheckpointTuple | None]) -> CheckpointTuple:
    texts = {name: _unpack_text(name, each) for name, each in kept.items()}
    checkpoint: Any = {**found.checkpoint, "channel_values": _put_back(found.checkpoint["channel_values"], texts)}
    if (pending := found.pending_writes) is not None:
        pending = [(task, channel, _put_back(value, texts)) for task, channel, value in pending]
    return found._replace(checkpoint=checkpoint, pending_writes=pending)


def _unpack_text(name: str, kept: CheckpointTuple | None) -> str:
    if kept is None:
        raise LookupError(f"the checkpointer has no text {name}: it was deleted, or kept by another checkpointer")
    text = zlib.decompress(kept.checkpoint["channel_values"]["text"]).decode("utf-8", "surrogatepass")
    if _hash_text(text) != name:
        raise LookupError(f"the checkpointer has another text in the place of {name}")
    return text


def _hash_text(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _get_place(config: RunnableConfig) -> Mapping[str, Any]:
    return config.get("configurable", {})


def _take_texts(value: Any, texts: dict[str, str]) -> Any:
    """Return a value with marks in the place of long texts, which are added to `texts` by their hashes."""
    if isinstance(value, str):
        if len(value) < LEAST_CHARS:
            return value
        name = _hash_text(value)
        texts[name] = str(value)
        return {_MARK: name}
    if type(value) is dict:
        short = {key: _take_texts(item, texts) for key, item in value.items()}
        return {_MARK: [short]} if _MARK in value else short  # somebody else's mark stays a value
    if type(value) is list:
        return [_take_texts(item, texts) for item in value]
    return value


def _list_marks(value: Any, names: dict[str, None]) -> None:
    if type(value) is dict:
        mark = value.get(_MARK)
        if isinstance(mark, str):
            names[mark] = None
        for item in mark[0].values() if isinstance(mark, list) else value.values():
            _list_marks(item, names)
    elif type(value) is list:
        for item in value:
            _list_marks(item, names)


def _put_back(value: Any, texts: Mapping[str, str]) -> Any:
    if type(value) is dict:
        mark = value.get(_MARK)
        if isinstance(mark, str):
            return texts[mark]
        inner = mark[0] if isinstance(mark, list) else value
        return {key: _put_back(item, texts) for key, item in inner.items()}
    if type(value) is list:
        return [_put_back(item, texts) for item in value]
    return value
