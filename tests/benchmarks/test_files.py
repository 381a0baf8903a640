import gzip
import io
import tarfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from cilbook.benchmarks.files import Download, data_folder, ensure, fingerprint
from cilbook.errors import BadInput

CONTENT = {"set/train": b"training" * 1000, "set/test": b"testing" * 500}


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def tar(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def source(url: str, packed: bytes, files: dict[str, bytes] = CONTENT) -> Download:
    digests = {path: digest(content) for path, content in files.items()}
    return Download("mnist", url, digest(packed), digests)


@pytest.fixture
def published(tmp_path, serve) -> Download:
    """An archive on a server; beside the known files it holds one that climbs out."""
    packed = tar({**CONTENT, "../evil": b"!", "set/readme": b"hello"})
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "set.tar.gz").write_bytes(packed)
    return source(f"{serve(tmp_path / 'web')}/set.tar.gz", packed)


def files_below(folder: Path) -> dict[str, bytes]:
    found = [p for p in folder.rglob("*") if p.is_file()]
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in found}


def test_an_absent_archive_is_fetched_and_only_its_known_files_are_unpacked(
    tmp_path, published
):
    folder = tmp_path / "here" / "data"
    assert ensure([published], folder) == folder
    assert files_below(tmp_path / "here") == {f"data/{k}": v for k, v in CONTENT.items()}


def test_what_is_there_is_not_fetched_again(tmp_path, published):
    ensure([published], tmp_path / "data")
    ensure([replace(published, url="http://127.0.0.1:9/none")], tmp_path / "data")


def test_single_files_come_plain_or_compressed(tmp_path, serve):
    web = tmp_path / "web"
    web.mkdir()
    (web / "weights").write_bytes(b"plain")
    (web / "images.gz").write_bytes(gzip.compress(b"unpacked"))
    base = serve(web)
    plain = source(f"{base}/weights", b"plain", {"w/weights": b"plain"})
    packed = (web / "images.gz").read_bytes()
    compressed = source(f"{base}/images.gz", packed, {"raw/images": b"unpacked"})
    ensure([plain, compressed], tmp_path / "data")
    assert files_below(tmp_path / "data") == {
        "w/weights": b"plain",
        "raw/images": b"unpacked",
    }


@pytest.mark.parametrize("content", [b"", CONTENT["set/test"][:-1], b"x" * 3500])
def test_a_damaged_or_partial_file_gets_a_sentence_and_is_never_overwritten(
    tmp_path, published, content
):
    ensure([published], tmp_path)
    damaged = tmp_path / "set" / "test"
    damaged.write_bytes(content)
    with pytest.raises(BadInput) as error:
        ensure([published], tmp_path)
    sentence = str(error.value)
    assert str(damaged) in sentence and "damaged or incomplete" in sentence
    assert f"delete it and run `cilbook data mnist --data-dir {tmp_path}`" in sentence
    assert damaged.read_bytes() == content
    damaged.unlink()
    ensure([published], tmp_path)
    assert damaged.read_bytes() == CONTENT["set/test"]


def test_a_damaged_download_leaves_nothing_behind(tmp_path, published):
    wrong = replace(published, sha256="0" * 64)
    with pytest.raises(BadInput, match="damaged or incomplete.*expected 00000000"):
        ensure([wrong], tmp_path / "data")
    assert files_below(tmp_path / "data") == {}


def test_a_failed_download_names_the_address_and_what_to_do(tmp_path, published):
    gone = replace(published, url=published.url.replace("set.tar", "gone.tar"))
    with pytest.raises(BadInput, match=r"cannot download .*gone.tar.gz.*CILBOOK_DATA"):
        ensure([gone], tmp_path / "data")
    nobody = replace(published, url="http://127.0.0.1:9/set.tar.gz")
    with pytest.raises(BadInput, match="cannot download .*refused"):
        ensure([nobody], tmp_path / "data")
    assert files_below(tmp_path / "data") == {}


def test_a_folder_that_cannot_be_written_gets_a_sentence(tmp_path, published):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(BadInput, match="cannot write .*--data-dir"):
        ensure([published], tmp_path / "file")


def test_the_folder_is_the_one_given_then_the_environments_then_the_users_cache(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("CILBOOK_DATA", "/named")
    assert data_folder(tmp_path) == tmp_path
    assert data_folder() == Path("/named")
    monkeypatch.delenv("CILBOOK_DATA")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "cilbook"


def test_a_fingerprint_changes_with_any_file():
    one, other = source("u", b"x"), source("u", b"x", {**CONTENT, "set/test": b"other"})
    assert fingerprint(one) != fingerprint(other)
    assert fingerprint(one) == fingerprint(replace(one, url="elsewhere"))
