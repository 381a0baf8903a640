"""`cilbook data` and `cilbook pretrain` as a user meets them."""

import pytest

from cilbook.cli import main


def told(capsys, *words: str) -> tuple[int, str, str]:
    """The exit code, what was printed, and the last line of what went wrong."""
    with pytest.raises(SystemExit) as exit:
        main(list(words))
    out, err = capsys.readouterr()
    return exit.value.code, out, (err.strip().splitlines() or [""])[-1]


def test_a_check_of_an_empty_folder_lists_what_is_absent(capsys, tmp_path):
    code, out, _ = told(capsys, "data", "--check", "--data-dir", str(tmp_path))
    assert code == 0
    assert out.splitlines() == [
        "ok digits: nothing to download",
        *(f"absent {name}" for name in ("mnist", "cifar10", "cifar100", "core50")),
    ]


def test_a_damaged_file_exits_with_two_and_a_sentence_that_names_it(capsys, tmp_path):
    damaged = tmp_path / "cifar-100-python" / "train"
    damaged.parent.mkdir()
    damaged.write_bytes(b"half a fi")
    code, out, last = told(capsys, "data", "--check", "--data-dir", str(tmp_path))
    assert (code, out) == (2, "")
    assert last.startswith(f"cilbook: error: {damaged} is damaged or incomplete")


def test_the_environment_names_the_folder(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("CILBOOK_DATA", str(tmp_path / "named"))
    code, out, last = told(capsys, "data", "mnist", "--check")
    assert (code, out) == (2, "")
    assert f"{tmp_path / 'named' / 'MNIST' / 'raw'}" in last and "is missing" in last


def test_an_unknown_data_set_or_device_is_bad_input(capsys, tmp_path):
    assert told(capsys, "data", "imagenet")[0] == 2
    code, _, last = told(capsys, "pretrain", "--device", "tpu")
    assert code == 2 and "unknown device 'tpu'" in last
