"""CORe50 on a small folder in its layout: one frame per object and session, or two."""

import zipfile
from collections.abc import Iterator
from hashlib import md5
from io import BytesIO
from pathlib import Path

import pytest
import torch
from PIL import Image
from torch import nn
from torchvision.models import resnet18

from cilbook.benchmarks import BENCHMARKS, core50
from cilbook.benchmarks.core50 import ALL_SESSIONS, load, pretrained_resnet18
from cilbook.benchmarks.core50_files import (
    FOLDER,
    LIST,
    SPLIT,
    Core50Source,
    read_images,
    read_list,
    training_names,
)
from cilbook.errors import BadInput
from cilbook.experiments.request import Request
from cilbook.experiments.run import task_stream

TEST = (3, 7, 10)
CATEGORIES = [o // 5 for o in range(50)]


def name(session: int, number: int, frame: int = 0) -> str:
    return f"C_{session:02}_{number:02}_{frame:03}"


def png(session: int, number: int) -> bytes:
    """A flat colour that tells session and object, so it packs and computes quickly."""
    buffer = BytesIO()
    Image.new("RGB", (128, 128), (20 * session, 5 * number, 0)).save(buffer, "PNG")
    return buffer.getvalue()


def lay_out(folder: Path) -> None:
    lines = ["Filename,xmin,ymin,xmax,ymax,class"]
    for session in range(1, 12):
        for number in range(1, 51):
            own = folder / FOLDER / f"s{session}" / f"o{number}"
            own.mkdir(parents=True)
            (own / f"{name(session, number)}.png").write_bytes(png(session, number))
            if session not in TEST:
                lines.append(f"{name(session, number)}.jpg,0,0,9,9,o{number}")
    (folder / SPLIT).write_text("\n".join(lines))


@pytest.fixture(scope="module")
def weights(tmp_path_factory) -> Path:
    """A ResNet18 with random weights."""
    path = tmp_path_factory.mktemp("weights") / "resnet18.pth"
    torch.save(resnet18().state_dict(), path)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("core50")
    lay_out(folder)
    Core50Source().ensure(folder)
    return folder


@pytest.fixture(scope="module")
def mean_colour(tmp_path_factory) -> Iterator[Path]:
    """Weights of a network that is quicker than a ResNet18: the mean of each channel."""
    path = tmp_path_factory.mktemp("weights") / "none"
    path.write_bytes(b"")
    net = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())

    def either(data_dir: Path, weights: Path) -> nn.Module:
        return net if weights == path else pretrained_resnet18(data_dir, weights)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core50, "pretrained_resnet18", either)
        yield path


@pytest.fixture(scope="module")
def loaded(folder, mean_colour):
    return load(folder, weights=mean_colour)


def test_seven_sessions_train_and_three_test_as_in_the_paper(loaded):
    assert (len(loaded.train), len(loaded.test)) == (7 * 50, 3 * 50)
    colour = 255 * loaded.train.stored
    expected = [[20 * s, 5 * o] for s in (1, 2, 4, 5, 6, 8, 9) for o in range(1, 51)]
    assert colour[:, :2].round().int().tolist() == expected
    assert loaded.train.y.tolist() == CATEGORIES * 7
    assert loaded.test.y.tolist() == CATEGORIES * 3


def test_all_eight_training_sessions_need_only_the_eleventh_computed(
    folder, mean_colour, loaded
):
    kept = set((folder / "features").iterdir())
    everything = load(folder, ALL_SESSIONS, mean_colour)
    assert (len(everything.train), len(everything.test)) == (8 * 50, 3 * 50)
    (new,) = set((folder / "features").iterdir()) - kept
    assert new.name.startswith("core50-s11-")
    assert torch.equal(everything.train.stored[:350], loaded.train.stored)
    assert everything.sha256 != loaded.sha256


def test_features_are_the_resnets_on_the_bytes_over_255(folder, weights):
    data = load(folder, sessions=[2], weights=weights)
    assert data.train.stored.shape == (50, 512) and data.train.stored.min() >= 0
    frames = [f for f in read_list(folder) if f.session == 2][7:9]
    images = read_images(folder, frames)
    assert images[0, :, 5, 5].tolist() == [40, 40, 0]
    with torch.no_grad():
        expected = pretrained_resnet18(folder, weights)(images.float() / 255)
    torch.testing.assert_close(data.train.stored[7:9], expected)


def test_features_are_read_from_the_cache_the_second_time(
    folder, mean_colour, loaded, monkeypatch
):
    monkeypatch.setattr(core50, "extract", None)
    again = load(folder, weights=mean_colour)
    assert torch.equal(again.test.stored, loaded.test.stored)
    assert again.sha256 == loaded.sha256


def test_the_frozen_network_has_the_parameters_that_the_spec_says(weights):
    net = pretrained_resnet18(None, weights)
    assert sum(p.numel() for p in net.parameters()) == BENCHMARKS["core50"].frozen


@pytest.mark.parametrize("method", ["none", "joint", "gc", "slda"])
def test_every_method_sees_each_sample_once(loaded, method):
    plan = Request("core50", method, budget="paper").resolve()
    assert plan.iterations is None and plan.view == "single_pass"
    batches = list(task_stream(plan, loaded.train, 0))
    assert sum(len(y) for _, y in batches) == 350
    if method != "slda":
        assert plan.settings.batch == 1 and plan.settings.learning_rate == 1e-4


def test_the_archive_is_fetched_checked_and_unpacked_into_its_folder(tmp_path, serve):
    web, here = tmp_path / "web", tmp_path / "here" / "data"
    lay_out(web)
    with zipfile.ZipFile(web / "core50.zip", "w") as archive:
        for path in (web / FOLDER).rglob("*.png"):
            archive.write(path, path.relative_to(web))
        archive.writestr("../evil.png", b"!")
        archive.writestr(f"{FOLDER}/s1/o1/../../../../evil.png", b"!")
    base, digest = serve(web), md5((web / "core50.zip").read_bytes()).hexdigest()
    source = Core50Source(f"{base}/core50.zip", digest, f"{base}/{SPLIT}")
    source.ensure(here)
    assert list(source.check(here)) == [here / SPLIT, here / FOLDER]
    assert len(read_list(here)) == 550
    assert not list(tmp_path.rglob("evil.png"))
    assert not list(here.rglob("*.part"))


def test_an_archive_with_another_md5_is_not_opened(tmp_path, serve):
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "core50.zip").write_bytes(b"PK")
    (tmp_path / "web" / SPLIT).write_text("")
    base = serve(tmp_path / "web")
    source = Core50Source(f"{base}/core50.zip", "0" * 32, f"{base}/{SPLIT}")
    with pytest.raises(BadInput, match="md5 begins with .*, expected 00000000"):
        source.ensure(tmp_path / "data")
    assert not (tmp_path / "data" / FOLDER).exists()


def test_a_changed_image_is_named_when_it_is_read(tmp_path):
    lay_out(tmp_path)
    source = Core50Source()
    source.ensure(tmp_path)
    changed = tmp_path / FOLDER / "s4" / "o9" / f"{name(4, 9)}.png"
    changed.write_bytes(png(5, 9))
    with pytest.raises(BadInput, match=f"{changed} is damaged.*cilbook data core50"):
        list(source.check(tmp_path))
    with pytest.raises(BadInput, match=f"{changed} is damaged"):
        read_images(tmp_path, [f for f in read_list(tmp_path) if f.session == 4])


@pytest.mark.parametrize("break_it", ["cut", "test session", "folder"])
def test_a_split_that_does_not_fit_the_images_is_refused(folder, tmp_path, break_it):
    """A shortened split file would silently turn training images into test images."""
    frames, text = read_list(folder), (folder / SPLIT).read_text()
    if break_it == "folder":
        frames = [f for f in frames if (f.session, f.object) != (7, 3)]
    if break_it == "test session":
        text += f"\n{name(10, 4)}.jpg,0,0,9,9,o4"
    (tmp_path / SPLIT).write_text(text[:5000] if break_it == "cut" else text)
    with pytest.raises(BadInput, match=f"{SPLIT} and .* do not agree on session"):
        training_names(tmp_path, frames)


def test_a_damaged_list_gets_a_sentence(tmp_path):
    (tmp_path / LIST).write_text("0123  core50_128x128/../../etc/passwd\n")
    with pytest.raises(BadInput, match=f"{LIST} has a line.*delete"):
        read_list(tmp_path)
