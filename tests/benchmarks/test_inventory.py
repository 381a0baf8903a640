from dataclasses import replace
from hashlib import sha256

import pytest

from cilbook.benchmarks import BENCHMARKS, inventory
from cilbook.benchmarks.files import Download
from cilbook.errors import BadInput


@pytest.fixture
def one_file(monkeypatch, tmp_path, serve) -> None:
    """Let MNIST be a single small file on a server of our own."""
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "images").write_bytes(b"digits")
    digest = sha256(b"digits").hexdigest()
    url = f"{serve(tmp_path / 'web')}/images"
    source = Download("mnist", url, digest, {"raw/images": digest})
    spec = replace(BENCHMARKS["mnist"], sources=(source,))
    monkeypatch.setitem(BENCHMARKS, "mnist", spec)


def test_what_is_missing_is_downloaded_and_each_file_gets_a_line(tmp_path, one_file):
    lines = list(inventory.prepare(["mnist", "digits"], tmp_path))
    assert lines == [f"ok {tmp_path / 'raw/images'}", "ok digits: nothing to download"]
    assert (tmp_path / "raw" / "images").read_bytes() == b"digits"


def test_a_check_downloads_nothing(tmp_path, one_file):
    with pytest.raises(BadInput, match="raw/images is missing; `cilbook data mnist"):
        list(inventory.check(["mnist"], tmp_path))
    assert not (tmp_path / "raw").exists()


def test_a_check_of_nothing_in_particular_passes_over_what_is_absent(tmp_path, one_file):
    absent = [f"absent {name}" for name in ("mnist", "cifar10", "cifar100", "core50")]
    assert list(inventory.check([], tmp_path))[1:] == absent
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "images").write_bytes(b"dig")
    with pytest.raises(BadInput, match="damaged or incomplete"):
        list(inventory.check([], tmp_path))


def test_an_unknown_name_is_refused_before_anything_happens(tmp_path):
    with pytest.raises(BadInput, match="unknown benchmark 'imagenet'; expected digits"):
        list(inventory.prepare(["mnist", "imagenet"], tmp_path))
    assert not list(tmp_path.iterdir())
