from cilbook.experiments import obtain as module
from cilbook.experiments.obtain import committed_runs, obtain
from cilbook.experiments.request import Request
from cilbook.experiments.results import Store


def test_a_missing_run_is_made_once_and_then_read(tmp_path, monkeypatch):
    made = []

    def counted(request, **options):
        made.append(request)
        return run(request, **options)

    run = module.run
    monkeypatch.setattr(module, "run", counted)
    requests = [Request("digits", "slda", seed=s) for s in (11, 12)]
    first = obtain(requests, store=Store(tmp_path))
    again = obtain(requests, store=Store(tmp_path))
    assert made == requests and first == again


def test_the_store_of_a_page_is_named_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("CILBOOK_RESULTS", str(tmp_path / "here"))
    obtain([Request("digits", "slda")])
    assert len(list((tmp_path / "here").iterdir())) == 1


def test_committed_runs_are_chosen_by_what_they_are_and_sorted_by_seed():
    runs = committed_runs("digits", "gc", "paper", scored_as="gaussian")
    assert [run["seed"] for run in runs] == list(range(2, 12))
    assert {run["config"]["scored_as"] for run in runs} == {"gaussian"}
    assert committed_runs("digits", "gc", "paper", scored_as="bernoulli") == []
