"""The command line as a user meets it: in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cilbook.experiments.claim import claim


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
    "run --benchmark digits --method gc --seed -1": "the seed must be a whole number",
    "run --benchmark digits --method gc --seed x": "invalid int value: 'x'",
    "run --benchmark digits --method gc --set depth=3": "gc has no setting 'depth'",
    "run --benchmark digits --method gc --set batch": "--set takes field=value",
    "run --benchmark digits --method gc --set batch=x": "batch must be a whole number",
    "run --benchmark digits --method gc --set iterations=0": "iterations must be at",
    "run --benchmark digits --method slda --set iterations=5": "no setting 'iterations'",
    "run --benchmark digits --method gc --device tpu": "unknown device 'tpu'",
    "run --benchmark digits --method none --threads 0": "threads must be at least 1",
    "run --method gc": "the following arguments are required: --benchmark",
    "run --benchmark digits --method none --keep-bank": "has a bank to keep, not None",
    "run --benchmark digits --method slda --results here": "cannot write to here",
    "run --benchmark digits --method gc --set samples=0": "samples must be at least 1",
    "run --benchmark digits --method gc --set scored_as=x": "unknown scored_as 'x'",
    "reproduce --benchmarks digits mnits": "unknown benchmark 'mnits'; expected digits",
    "reproduce --methods none,slad": "unknown method 'slad'; expected none",
    "reproduce --benchmarks digits --seeds 0": "expected at least one seed, got '0'",
    "reproduce --benchmarks digits --seeds 3,-7": "the seed must be a whole number",
    "reproduce --benchmarks digits --seeds many": "expected numbers with commas between",
    "reproduce --benchmarks digits --workers 0": "workers must be at least 1, got 0",
    "reproduce --benchmarks digits --threads 0": "threads must be at least 1, got 0",
    "reproduce --benchmarks digits --device tpu": "unknown device 'tpu'",
    "reproduce --benchmarks digits --budget huge": "unknown budget 'huge'",
    "reproduce --methods none slda --samples 5": "none takes no samples",
    "reproduce --benchmarks digits --samples 0": "samples must be at least 1, got 0",
    "reproduce --benchmarks digits --likelihood x": "unknown likelihood 'x'",
    "reproduce --benchmarks digits --set depth=3": "has no setting 'depth'",
    "reproduce --benchmarks digits --set batch": "--set takes field=value",
    "reproduce --benchmarks digits --results here": "cannot write results to here",
    "table 2 --format pdf": "invalid choice: 'pdf'",
    "table 2 --budget custom": "unknown budget 'custom'; expected quick, paper",
    "table 4 --benchmarks digitz": "unknown benchmark 'digitz'",
    "table 2 --results nowhere": "there is no folder nowhere",
    "verify nowhere.json": "there is no file nowhere.json",
    "verify here": "here is not a run that can be verified",
    "walk": "invalid choice: 'walk'",
    "run --benchmark digits --method gc --set learning_rate=nan": "must be a number",
    "run --benchmark digits --method none --set learning_rate=-1": "at least 0, got -1.0",
    "run --benchmark digits --method ewc --set fisher_samples=0": "at least 1, got 0",
    "run --benchmark digits --method gc --seed 5000000000": "from 0 to 2^32 - 1",
    "run --benchmark digits --method gc --likelihood gram": "whose last layer is linear",
    "run --benchmark core50 --method gc --likelihood closed-form --samples 9": "leave out",
    "run --benchmark digits --method bir --set closed=60": "closed is a share, at most 1",
    "run --benchmark digits --method bir --set temperature=0": "larger than 0, got 0.0",
    "run --benchmark digits --method si --set damping=0": "damping must be larger than 0",
    "run --benchmark mnist --method bir": "the paper leaves it out, a dash",
    "book --budget big": "unknown budget 'big'",
    "book --chapters x": "expected numbers with commas between",
}


@pytest.mark.filterwarnings("ignore:here is damaged")
@pytest.mark.parametrize("words", BAD)
def test_bad_input_gets_one_sentence(words, capsys, tmp_path, monkeypatch):
    """There is a file `here` where a folder or a run is expected."""
    from cilbook.cli import main

    monkeypatch.chdir(tmp_path)
    Path("here").write_text("")
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


def test_a_failed_run_is_listed_the_rest_goes_on_and_the_exit_code_says_so(tmp_path):
    words = "reproduce --benchmarks digits --methods none,slda --set learning_rate=1e30"
    done = cilbook(*words.split(), "--results", "r", folder=tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    *_, listed, last = done.stderr.strip().splitlines()
    assert listed.startswith("failed: digits-none-custom-seed11-")
    assert ": RunFailed: training diverged" in listed
    assert last == "cilbook: error: 1 of 2 runs failed, listed above"
    assert "| digits | slda | – | 1 |" in done.stderr
    (stored,) = (tmp_path / "r").iterdir()
    assert stored.name.startswith("digits-slda-quick-seed11-")


def test_a_sweep_is_interrupted_quickly_and_says_how_to_go_on(tmp_path):
    words = "reproduce --benchmarks digits --methods joint --set iterations=1000000"
    command = [sys.executable, "-m", "cilbook", *words.split()]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    heard = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    sweep = subprocess.Popen(
        command, cwd=tmp_path, start_new_session=True, **heard, **pipes
    )
    while not list(tmp_path.glob("results/.work/*/lock")):
        assert sweep.poll() is None, sweep.stderr.read()
        time.sleep(0.02)
    os.killpg(sweep.pid, signal.SIGINT)
    out, err = sweep.communicate(timeout=120)
    assert sweep.returncode == 130 and out == ""
    sentence = "cilbook: error: interrupted; the same command goes on where it stopped"
    assert err.strip().splitlines()[-1] == sentence
    assert "Traceback" not in err
    (work,) = tmp_path.glob("results/.work/*")
    with claim(work, wait=False) as free:  # no worker lives on
        assert free


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store with a run of slda in it."""
    folder = tmp_path_factory.mktemp("store")
    words = "run --benchmark digits --method slda --seed 11 --results .".split()
    assert cilbook(*words, folder=folder).returncode == 0
    return folder


def output(words: list[str], capsys) -> str:
    from cilbook.cli import main

    with pytest.raises(SystemExit) as exit:
        main(words)
    out, err = capsys.readouterr()
    assert exit.value.code == 0, err
    return out


def test_reproducing_what_is_stored_only_prints_the_table(store, capsys):
    words = "reproduce --benchmarks digits --methods slda --seeds 11, --results"
    out = output([*words.split(), str(store)], capsys)
    assert "| digits | slda | – | 1 |" in out and "budget quick" in out


def test_a_table_is_made_from_a_store_in_every_format(store, capsys):
    words = ["table", "2", "--budget", "quick", "--results", str(store)]
    words += ["--benchmarks", "digits,mnist", "--format"]
    rows = json.loads(output([*words, "json"], capsys))["rows"]
    assert [(row["benchmark"], row["n"]) for row in rows if row["n"]] == [("digits", 1)]
    assert len(output([*words, "csv"], capsys).splitlines()) == 1 + len(rows)
    assert output([*words, "md"], capsys).count("\n| ") == 2 + len(rows)
    assert output([*words, "html"], capsys).count("<tr>") == len(rows)


def test_a_table_is_by_default_of_the_committed_runs_at_the_papers_budget(capsys):
    words = "table 4 --benchmarks digits --format json".split()
    rows = json.loads(output(words, capsys))["rows"]
    assert [row["samples"] for row in rows] == [1, 10, 100, 1_000, 10_000]
    assert all(row["n"] >= 1 for row in rows)


def test_a_stored_run_is_verified_and_the_rule_is_named(store, capsys):
    (path,) = store.glob("*.json")
    out = output(["verify", str(path)], capsys)
    assert "is confirmed, compared bit for bit, because" in out


def test_a_run_that_does_not_repeat_exits_with_one(store, capsys):
    from cilbook.cli import main

    (path,) = store.glob("*.json")
    wrong = path.with_name("wrong.json")
    wrong.write_text(json.dumps(json.loads(path.read_text()) | {"accuracy": 12.5}))
    with pytest.raises(SystemExit) as exit:
        main(["verify", str(wrong)])
    wrong.unlink()
    out, err = capsys.readouterr()
    assert exit.value.code == 1 and out == ""
    assert "wrong.json: accuracy was 12.5 and is 95" in err.strip().splitlines()[-1]
