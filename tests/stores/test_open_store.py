"""What a person types becomes a store, or one clear sentence."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_ops.errors import StoreError, UsageError
from jarvis_ops.stores.open import open_store, open_to_read
from tests.stores.disk_state import put


def test_a_directory_and_a_file(tmp_path: Path) -> None:
    put(tmp_path, {"a.jsonl": b"{}\n"})
    for path in (tmp_path, tmp_path / "a.jsonl"):
        store = open_store(str(path))
        assert store.name == str(path)
        assert [each.id for each in store.inventory().conversations] == ["a"]


@pytest.mark.parametrize("opening", [open_store, open_to_read])
def test_another_kind_of_database(opening: Callable[[str], object]) -> None:
    with pytest.raises(UsageError, match="reads JSONL stores and Postgres"):
        opening("sqlite:x.db")


@pytest.mark.parametrize("where", ["postgresql://u:secret@127.0.0.1:1/db", "host=127.0.0.1 port=1 password=secret"])
@pytest.mark.parametrize("opening", [open_store, open_to_read])
def test_a_database_that_is_not_there(where: str, opening: Callable[[str], object]) -> None:
    with pytest.raises(StoreError, match="no server answers there") as caught:
        opening(where)
    assert "secret" not in caught.value.message


def test_no_path() -> None:
    with pytest.raises(UsageError, match="empty"):
        open_store("")


def test_a_missing_path(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"nowhere: No such file or directory") as caught:
        open_store(str(tmp_path / "nowhere"))
    assert caught.value.exit_code == 3


def test_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(folder)
    assert open_store(os.fsdecode(folder)).name == str(tmp_path) + r"/\xff"


def test_a_store_and_its_listing_go_to_another_process(tmp_path: Path) -> None:
    store = pickle.loads(pickle.dumps(open_store(str(put(tmp_path, {"a.jsonl": b"{}\n"})))))  # noqa: S301 - our own
    (conversation,) = pickle.loads(pickle.dumps(store.inventory())).conversations  # noqa: S301 - our own
    with store.open(conversation) as snapshot:
        assert len(list(snapshot.records())) == 1
