import os
import signal
import subprocess
import sys
from threading import Thread

import pytest

from cilbook.errors import BadInput
from cilbook.experiments.claim import claim, clear


def test_a_claim_excludes_others_and_leaves_no_trace(tmp_path):
    folder = tmp_path / ".work" / "run"
    with claim(folder, wait=False) as ours:
        assert ours
        with claim(folder, wait=False) as theirs:
            assert not theirs
    assert list(tmp_path.iterdir()) == []
    with claim(folder, wait=False) as ours:
        assert ours


def test_claims_of_two_runs_do_not_touch_each_other(tmp_path):
    with claim(tmp_path / "w" / "a", wait=False) as one:
        with claim(tmp_path / "w" / "b", wait=False) as other:
            assert one and other
        assert (tmp_path / "w" / "a" / "lock").exists()


def test_what_a_run_left_stays_until_it_is_cleared(tmp_path):
    folder = tmp_path / "run"
    with claim(folder, wait=False):
        (folder / "checkpoint").write_text("half a run")
    assert [p.name for p in folder.iterdir()] == ["checkpoint"]
    with claim(folder, wait=False):
        clear(folder)
    assert not folder.exists()


def test_a_claim_is_waited_for_and_said_to_be(tmp_path):
    """The first owner removes the lock file: the second must not hold a ghost."""
    order = []
    folder = tmp_path / "run"
    with claim(folder, wait=False):

        def second():
            sentence = "waiting for another process that makes run"
            waiting = pytest.warns(UserWarning, match=sentence)
            with waiting, claim(folder, wait=True) as ours:
                order.append(("second", ours, (folder / "lock").exists()))

        thread = Thread(target=second)
        thread.start()
        thread.join(0.2)
        order.append("first")
    thread.join()
    assert order == ["first", ("second", True, True)]


def test_a_killed_process_gives_up_its_claim_at_once(tmp_path):
    code = (
        "import sys; from pathlib import Path\n"
        "from cilbook.experiments.claim import claim\n"
        "with claim(Path(sys.argv[1]), wait=False):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "run")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen(command, **pipes)
    assert process.stdout.readline() == b"held\n"
    with claim(tmp_path / "run", wait=False) as ours:
        assert not ours
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    with claim(tmp_path / "run", wait=False) as ours:
        assert ours


def test_a_folder_that_cannot_be_written_gets_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(BadInput, match="cannot write to .*: Not a directory"),
        claim(tmp_path / "file" / "run", wait=False),
    ):
        pass


def test_claims_that_come_and_go_at_once_never_fail(tmp_path):
    """The folder may vanish between any two steps of another process's claim."""
    script = (
        "import sys; from pathlib import Path;"
        "from cilbook.experiments.claim import claim\n"
        "for _ in range(2000):\n"
        "    with claim(Path(sys.argv[1]), wait=False): pass"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "work" / "run")]
    racers = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(3)]
    for racer in racers:
        _, err = racer.communicate(timeout=120)
        assert racer.returncode == 0, err.decode()[-300:]
