"""Keeps the memory of `--changed-only` in the cache folder of the user."""

from __future__ import annotations

import os

from jarvis_ops.cli.version import version
from jarvis_ops.model.settings import Settings
from jarvis_ops.operations.changed import Memory, state_name
from jarvis_ops.render.views import complain
from jarvis_ops.stores.disk import replace_file


class Remembering:
    """The memory of one store, and its file. Trouble with the file is a note, never a failure of the run."""

    def __init__(self, store: str, settings: Settings) -> None:
        """`store` is the name of the store; a relative one means another store in another folder."""
        self._path = os.path.join(_folder(), state_name(os.path.abspath(store), settings, version()))
        self.memory = self._recalled(settings)

    def _recalled(self, settings: Settings) -> Memory:
        try:
            with open(self._path, "rb") as file:
                return Memory(file.read(), settings)
        except FileNotFoundError:
            pass
        except OSError as error:
            complain(f"the memory of --changed-only cannot be read and is not used: {error.strerror}")
        except ValueError as error:
            complain(f"the memory of --changed-only is not used: {error}")
        return Memory(None, settings)

    def keep(self) -> None:
        """Write the file anew."""
        try:
            replace_file(self._path, self.memory.encoded(), make_parent=True)
        except OSError as error:
            complain(f"the memory of --changed-only cannot be kept: {error.strerror}")


def _folder() -> str:
    from platformdirs import user_cache_dir

    return os.path.join(user_cache_dir("jarvis-ops", appauthor=False), "changed")
