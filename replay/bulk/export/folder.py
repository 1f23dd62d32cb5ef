"""Where an export lies: a folder of a disk, or of an object store that a URL names.

`s3://`, `gs://`, `hdfs://` and `file://` are read by Arrow itself, every other URL by fsspec and
what it asks for. Files are small enough to be read and written whole, so that what is checked and
what is used are the same bytes, and so that an object store shows a file whole or not at all.
"""

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path, PurePosixPath
from typing import Any, Final

import pyarrow as pa
from pyarrow import fs

from shoeproof.ledger.files.durable import locked, write_durably
from shoeproof.needs import need
from shoeproof.replay.errors import ExportUnusable

_OWN_MEMORY: Final = "memory://"


class Folder:
    """A folder named by a path or a URL; it can be sent to another process, which opens its own."""

    def __init__(self, place: Path | str) -> None:
        """Open the file system; raise ExportUnusable for a URL that none is known for."""
        is_path = isinstance(place, Path) or "://" not in place
        self.name = str(Path(place).absolute() if is_path else place)
        if is_path:
            self._files, self._path = fs.LocalFileSystem(), self.name
        else:
            self._files, self._path = _opened(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Folder, (self.name,)

    def __str__(self) -> str:
        return self.name

    @property
    def is_in_memory(self) -> bool:
        """Whether no other process can see this folder."""
        return self.name.startswith(_OWN_MEMORY)

    def make(self) -> None:
        """Make the folder where it is missing; raise OSError."""
        self._files.create_dir(self._path, recursive=True)

    @property
    def is_local(self) -> bool:
        """Whether it is on a disk of this machine."""
        return isinstance(self._files, fs.LocalFileSystem)

    def alone(self) -> AbstractContextManager[None]:
        """Keep other processes of this machine waiting that ask for the same, until it ends."""
        return locked(Path(self._path)) if self.is_local else nullcontext()

    def names(self) -> list[str]:
        """Return the names of what is in the folder; raise OSError."""
        found = self._files.get_file_info(fs.FileSelector(self._path, allow_not_found=True))
        return [each.base_name for each in found]

    def read(self, name: str) -> bytes:
        """Return a file's bytes.

        Raises ExportUnusable, which says why, for one that is not there or cannot be read.
        """
        if PurePosixPath(name).name != name:
            raise ExportUnusable(f"the manifest names {name!r}, which is not in {self}")
        try:
            with self._files.open_input_stream(self._at(name)) as file:
                return bytes(file.read())
        except FileNotFoundError as error:
            raise ExportUnusable(f"{self}/{name} is missing: is this a whole export?") from error
        except (OSError, pa.ArrowException) as error:
            raise ExportUnusable(f"{self}/{name} cannot be read: {_why(error)}") from error

    def write(self, name: str, data: bytes | pa.Buffer) -> None:
        """Write a file, on a disk of this machine durably and whole; raise OSError."""
        if self.is_local:
            write_durably(Path(self._at(name)), bytes(data))
            return
        with self._files.open_output_stream(self._at(name)) as file:
            file.write(data)

    def remove(self, names: Iterable[str]) -> None:
        """Remove those of the files that are there and can be removed."""
        for name in names:
            with suppress(OSError):
                self._files.delete_file(self._at(name))

    def _at(self, name: str) -> str:
        return f"{self._path}/{name}"


def _opened(url: str) -> tuple[fs.FileSystem, str]:
    try:
        found: tuple[fs.FileSystem, str] = fs.FileSystem.from_uri(url)
        return found
    except pa.ArrowInvalid:
        pass
    except (OSError, pa.ArrowException) as error:
        raise ExportUnusable(f"{url} cannot be reached: {_why(error)}") from error
    need(url, "fsspec", extra="object-store")
    from fsspec.core import url_to_fs

    try:
        files, path = url_to_fs(url)
    except (ImportError, OSError, ValueError) as error:
        raise ExportUnusable(f"{url} is no place for files: {_why(error)}") from error
    return fs.PyFileSystem(fs.FSSpecHandler(files)), path


def _why(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error)
