"""The command line as a user meets it: in a process of its own."""

import json
import subprocess
import sys

import pytest


def cilbook(*words: str, folder) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "cilbook", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


def test_a_run_prints_one_line_of_json_and_keeps_it_in_the_store(tmp_path):
    done = cilbook("run", "--benchmark", "digits", "--method", "slda", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    result = json.loads(done.stdout)
    (stored,) = (tmp_path / "results").iterdir()
    assert json.loads(stored.read_text()) == result
    assert result["budget"] == "quick" and result["seed"] == 0


def test_a_changed_setting_makes_a_custom_run(tmp_path):
    words = "run --benchmark digits --method gc --samples 3 --seed 4 --results r".split()
    changes = ["--set", "iterations=2", "--set", "scored_as=bernoulli"]
    done = cilbook(*words, *changes, folder=tmp_path)
    result = json.loads(done.stdout)
    assert result["budget"] == "custom" and result["seed"] == 4
    assert result["config"]["scored_as"] == "bernoulli"
    assert list(result["by_samples"]) == ["1", "3"]
    assert len(list((tmp_path / "r").iterdir())) == 1


BAD = {
    "run --benchmark digitz --method gc": "unknown benchmark 'digitz'; expected digits",
    "run --benchmark digits --method gcc": "unknown method 'gcc'; expected none",
    "run --benchmark digits --method gc --budget big": "unknown budget 'big'",
    "run --benchmark digits --method gc --samples 0": "samples must be at least 1",
    "run --benchmark digits --method slda --samples 5": "slda takes no samples",
    "run --benchmark digits --method none --likelihood gram": "takes no likelihood",
    "run --benchmark digits --method gc --likelihood x": "unknown likelihood 'x'",
    "run --benchmark digits --method gc --seed -1": "the seed must be 0 or larger",
    "run --benchmark digits --method gc --seed x": "invalid int value: 'x'",
    "run --benchmark digits --method gc --set depth=3": "gc has no setting 'depth'",
    "run --benchmark digits --method gc --set batch": "--set takes field=value",
    "run --benchmark digits --method gc --set batch=x": "batch must be a whole number",
    "run --benchmark digits --method gc --set iterations=0": "iterations must be at",
    "run --benchmark digits --method slda --set iterations=5": "no setting 'iterations'",
    "run --benchmark digits --method gc --device tpu": "unknown device 'tpu'",
    "run --benchmark digits --method none --threads 0": "threads must be at least 1",
    "run --method gc": "the following arguments are required: --benchmark",
    "walk": "invalid choice: 'walk'",
    "book --chapters x": "expected numbers with commas between",
}


@pytest.mark.parametrize("words", BAD)
def test_bad_input_gets_one_sentence(words, capsys):
    from cilbook.cli import main

    with pytest.raises(SystemExit) as exit:
        main(words.split())
    out, err = capsys.readouterr()
    assert exit.value.code == 2
    assert out == ""
    last = err.strip().splitlines()[-1]
    assert last.startswith("cilbook: error: ") and BAD[words] in last


def test_cuda_where_there_is_none_gets_one_sentence(capsys, monkeypatch):
    import torch

    from cilbook.cli import main

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit) as exit:
        main("run --benchmark digits --method none --device cuda".split())
    assert exit.value.code == 2
    assert "CUDA was asked for" in capsys.readouterr().err


def test_a_failing_run_exits_with_one_and_no_traceback(capsys, monkeypatch):
    from cilbook.cli import main
    from cilbook.methods.slda import SLDA

    def broken(self, x, y):
        raise RuntimeError("the disk\ncaught fire")

    monkeypatch.setattr(SLDA, "observe", broken)
    with pytest.raises(SystemExit) as exit:
        main("run --benchmark digits --method slda".split())
    out, err = capsys.readouterr()
    assert exit.value.code == 1 and out == ""
    assert err.endswith("cilbook: error: RuntimeError: the disk caught fire\n")


def test_an_interrupt_exits_with_130(capsys, monkeypatch):
    from cilbook.cli import main
    from cilbook.methods.slda import SLDA

    def interrupted(self, x, y):
        raise KeyboardInterrupt

    monkeypatch.setattr(SLDA, "observe", interrupted)
    with pytest.raises(SystemExit) as exit:
        main("run --benchmark digits --method slda".split())
    assert exit.value.code == 130
    assert capsys.readouterr().err.endswith("cilbook: error: interrupted\n")
