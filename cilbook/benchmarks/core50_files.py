"""CORe50's files: eleven sessions, fifty objects, about 300 frames of each in each.

    core50_128x128/s1/o1/C_01_01_000.png ... s11/o50/C_11_50_299.png
    core50_train.csv            begins each line with the name of a training image
    core50_128x128.sha256       our own list of all images, in the format of `sha256sum`

For the archive only an md5 is published, so that is checked before it is opened; the list
is written once the images are there, and every image is compared with it when it is read.
"""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from tqdm.auto import tqdm

from cilbook.benchmarks.files import chunks, digest_of, fetch, place
from cilbook.errors import BadInput

FOLDER, SPLIT, LIST = "core50_128x128", "core50_train.csv", "core50_128x128.sha256"
TEST_SESSIONS = (3, 7, 10)
_IMAGE = re.compile(rf"{FOLDER}/s(\d+)/o(\d+)/(C_\d\d_\d\d_\d\d\d)\.png")


@dataclass(frozen=True)
class Frame:
    """One image of an object."""

    path: str  # under the data folder
    sha256: str
    session: int
    object: int
    name: str

    @property
    def category(self) -> int:
        """Five neighbouring objects are one class."""
        return (self.object - 1) // 5


@dataclass(frozen=True)
class Core50Source:
    """The images and the split file."""

    images_url: str = "http://bias.csr.unibo.it/maltoni/download/core50/core50_128x128.zip"
    images_md5: str = "745f3373fed08d69343f1058ee559e13"
    split_url: str = "https://vlomonaco.github.io/core50/data/core50_train.csv"

    def found(self, folder: Path) -> bool:
        return (folder / SPLIT).exists() or (folder / FOLDER).exists()

    def ensure(self, folder: Path) -> None:
        if not (folder / SPLIT).exists():
            place(fetch(self.split_url), folder / SPLIT, None)
        if not (folder / FOLDER).exists():
            archive = folder / f"{FOLDER}.zip"
            if not archive.exists():
                content = fetch(self.images_url)
                place(content, archive, self.images_md5, algorithm="md5")
            elif digest_of(archive, "md5") != self.images_md5:
                raise BadInput(f"{archive} is damaged or incomplete; {_remedy(archive)}")
            unpack(archive, folder)
        if not (folder / LIST).exists():
            _write_list(folder)

    def check(self, folder: Path) -> Iterator[Path]:
        frames = read_list(folder)
        training_names(folder, frames)
        yield folder / SPLIT
        for frame in tqdm(frames, desc=FOLDER, unit="image", leave=False):
            read_checked(folder, frame)
        yield folder / FOLDER


def unpack(archive: Path, folder: Path) -> None:
    """Write the images of the archive, and nothing that is named otherwise.

    They are unpacked beside their place, and the whole folder is renamed at the end.
    """
    part = folder / f"{FOLDER}.{os.getpid()}.part"
    shutil.rmtree(part, ignore_errors=True)
    with zipfile.ZipFile(archive) as zipped:
        names = [name for name in zipped.namelist() if _IMAGE.fullmatch(name)]
        for name in tqdm(names, desc=f"unpacking {archive.name}", unit="image"):
            with zipped.open(name) as content:
                place(chunks(content), part / name.removeprefix(f"{FOLDER}/"), None)
    if not names:
        raise BadInput(f"{archive} holds no images of CORe50; {_remedy(archive)}")
    try:
        part.rename(folder / FOLDER)
    except OSError:  # another process was faster
        shutil.rmtree(part)


def _write_list(folder: Path) -> None:
    found = sorted(path.relative_to(folder) for path in (folder / FOLDER).glob("s*/o*/*"))
    names = [path.as_posix() for path in found if _IMAGE.fullmatch(path.as_posix())]
    bar = tqdm(names, desc=f"sha256 of {FOLDER}", unit="image", leave=False)
    lines = [f"{digest_of(folder / name)}  {name}\n" for name in bar]
    place(iter([line.encode() for line in lines]), folder / LIST, None)


def read_list(folder: Path) -> list[Frame]:
    """All images, by session, object and number."""
    if not (folder / LIST).exists():
        raise BadInput(f"{folder / LIST} is missing; {_COMMAND.format(folder)} makes it")
    frames = []
    for line in (folder / LIST).read_text().splitlines():
        digest, _, path = line.partition("  ")
        match = _IMAGE.fullmatch(path)
        if not match or len(digest) != 64:
            raise BadInput(f"{folder / LIST} has a line {line!r}; {_remedy(folder / LIST)}")
        session, number, name = int(match[1]), int(match[2]), match[3]
        frames.append(Frame(path, digest, session, number, name))
    return sorted(frames, key=lambda frame: (frame.session, frame.object, frame.name))


def training_names(folder: Path, frames: Sequence[Frame]) -> set[str]:
    """The training images by name, from the split file; the others are for testing."""
    if not (folder / SPLIT).exists():
        raise BadInput(f"{folder / SPLIT} is missing; {_COMMAND.format(folder)} gets it")
    lines = (folder / SPLIT).read_text().splitlines()
    names = {line.partition(",")[0].partition(".")[0] for line in lines}
    there = {(f.session, f.object) for f in frames}
    listed = {(f.session, f.object) for f in frames if f.name in names}
    for session in range(1, 12):
        for number in range(1, 51):
            own = session, number
            if own not in there or (own in listed) == (session in TEST_SESSIONS):
                raise BadInput(
                    f"{folder / SPLIT} and {folder / FOLDER} do not agree on session "
                    f"{session}, object {number}: expected sessions 3, 7 and 10 for "
                    f"testing, all others for training; {_remedy(folder / SPLIT)}"
                )
    return names


def read_checked(folder: Path, frame: Frame) -> bytes:
    """An image file's content, or BadInput if it is not what the list says."""
    path = folder / frame.path
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None
    if sha256(content).hexdigest() != frame.sha256:
        raise BadInput(
            f"{path} is damaged: its sha256 is not the one in {LIST}; delete the folder "
            f"{folder / FOLDER} and {LIST}, and run {_COMMAND.format(folder)}"
        )
    return content


def read_images(folder: Path, frames: Sequence[Frame]) -> Tensor:
    """Bytes [n, 3, 128, 128]; a loop, because every image is a file of its own."""
    images = []
    for frame in frames:
        content = BytesIO(read_checked(folder, frame))
        try:
            image = np.asarray(Image.open(content).convert("RGB"))
        except OSError:
            raise BadInput(f"{folder / frame.path} is not an image") from None
        if image.shape != (128, 128, 3):
            raise BadInput(f"{folder / frame.path} is not 128 x 128 pixels large")
        images.append(image)
    return torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2)


_COMMAND = "`cilbook data core50 --data-dir {}`"


def _remedy(path: Path) -> str:
    return f"delete {path.name} and run {_COMMAND.format(path.parent)}"
