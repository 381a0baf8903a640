"""What all explorers promise: two faces, the same numbers, nothing from outside."""

import json
import re
from collections.abc import Callable

import numpy as np
import pytest
from bs4 import BeautifulSoup

from cilbook.show import (
    Curve,
    Examples,
    ForgettingPlayer,
    LatentExplorer,
    SExplorer,
    SStudy,
    StreamPainter,
    StrengthExplorer,
    StrengthStudy,
)
from cilbook.show.widgets import WIDGET_VIEW, Explorer
from cilbook.show.widgets.controls import Select, Slider, positions
from cilbook.show.widgets.elements import tag

NASTY = '</script><b>"it\'s" & <!--'


def make_s_explorer(name: str) -> SExplorer:
    posterior = {1: [[0.4, 0.6]], 10: [[0.9, 0.1]]}
    examples = Examples([435], posterior, [np.eye(8)], [0], [name, "b"])
    study = SStudy([1, 10], [Curve(name, [70.0, 90.0], [1, 2], "#D55E00")], examples)
    other = SStudy([1, 10, 100], [Curve(name, [60, 70, 80], None, "#D55E00")])
    return SExplorer.over({name: study, "other": other})


def make_forgetting_player(name: str) -> ForgettingPlayer:
    run = {
        "method": "none",
        "config": {"class_order": [1, 0]},
        "accuracy_matrix": [[99.0, None], [0.0, 98.0]],
        "confusion": [[[9, 0], [0, 0]], [[0, 9], [1, 8]]],
    }
    return ForgettingPlayer({name: run, "other": run}, names=[name, "b"])


def make_latent_explorer(name: str) -> LatentExplorer:
    grids = {name: np.zeros((3, 3, 4, 4)), "other": np.ones((3, 3, 4, 4, 3))}
    return LatentExplorer(grids, [-1, 0, 1], dimensions=(name, "z2"))


def make_stream_painter(name: str) -> StreamPainter:
    return StreamPainter([0, 1] * 40, [0, 20, float("inf")], names=[name, "b"])


def make_strength_explorer(name: str) -> StrengthExplorer:
    ewc = StrengthStudy("ewc", [0, 1, 10], [20, 40, 60], [99, 90, 50], symbol=name)
    si = StrengthStudy("si", [0.1, 1], [20, 40], [99, 90])
    return StrengthExplorer({name: ewc, "SI": si}, (name, "new"))


MAKERS = [
    make_s_explorer,
    make_forgetting_player,
    make_latent_explorer,
    make_stream_painter,
    make_strength_explorer,
]


@pytest.fixture(params=MAKERS, ids=lambda make: make.__name__[5:])
def make(request: pytest.FixtureRequest) -> Callable[[str], Explorer]:
    """Return a function that makes each kind of explorer in turn."""
    return request.param


def page(explorer: Explorer) -> BeautifulSoup:
    return BeautifulSoup(explorer.html(), "html.parser")


def data(soup: BeautifulSoup) -> dict:
    return json.loads(soup.find("script", type="application/json").string)


def test_the_bundle_has_a_live_a_static_and_a_plain_face(make):
    explorer = make("a")
    bundle = explorer._repr_mimebundle_()
    assert bundle[WIDGET_VIEW]["model_id"] == explorer.live.model_id
    assert bundle["text/html"].startswith('<div class="cil-explorer"')
    assert bundle["text/plain"] == repr(explorer)


def test_every_position_has_its_words_and_every_change_one_word_per_position(make):
    explorer = make("a")
    carried = data(page(explorer))
    for panel, part in zip(explorer.panels, carried["panels"], strict=True):
        controls = [c for c in explorer.controls if c.name in panel.follows]
        texts = [panel.text(v, None) for v in positions(controls).values()]
        assert [carried["words"][n] for n in part["texts"]] == texts
        assert len(set(part["positions"])) == len(texts)
        assert all(len(numbers) == len(texts) for _, _, numbers in part["slots"])


def test_the_page_starts_with_the_words_and_controls_of_the_first_position(make):
    explorer = make("a")
    soup = page(explorer)
    texts = [p.text(explorer.start, None) for p in explorer.panels]
    assert [output.get_text() for output in soup("output")] == texts
    for control, label in zip(explorer.controls, soup.select("label"), strict=True):
        shown = label.select_one("option[selected], .cil-value").get_text()
        assert shown == control.caption(explorer.start[control.name])


def test_every_control_and_picture_has_a_name_for_those_who_cannot_see(make):
    soup = page(make("a"))
    assert all(label.span.get_text() for label in soup("label"))
    assert all(slider["aria-label"] for slider in soup("input"))
    drawings = [svg for svg in soup("svg") if svg.get("aria-hidden") != "true"]
    assert drawings and all(svg["role"] == "img" for svg in drawings)
    assert all(svg["aria-label"] for svg in drawings)
    assert soup.div["role"] == "group" and soup.div["aria-label"]


def test_the_tables_are_those_of_the_plain_face(make):
    explorer = make("a")
    tables = page(explorer).select(".cil-tables table")
    assert len(tables) == len(explorer.tables)
    for table, shown in zip(explorer.tables, tables, strict=True):
        lines = [[cell.get_text() for cell in row(["th", "td"])] for row in shown("tr")]
        rows = [[row.head, *row.cells] for row in table.rows]
        assert lines == [list(table.heads), *rows]
        assert shown.caption.get_text() == table.caption
        assert all(cell in repr(explorer) for line in lines for cell in line)


def test_both_faces_say_what_the_figure_shows(make):
    explorer = make("a")
    for markup in (explorer.html(), explorer.live.children[0].value):
        heading = BeautifulSoup(markup, "html.parser").find(class_="cil-title")
        assert heading.get_text() == explorer.title != ""


def test_the_numbers_also_stand_under_the_live_face(make):
    explorer = make("a")
    below = BeautifulSoup(explorer.live.children[-1].value, "html.parser")
    shown = [table.caption.get_text() for table in below("table")]
    assert shown == [table.caption for table in explorer.tables]


def test_a_nasty_name_stays_text_everywhere(make):
    explorer = make(NASTY)
    soup = page(explorer)
    assert soup.find("b") is None
    assert len(soup("script")) == 2
    assert NASTY in soup.get_text()
    html = [n for p in data(soup)["panels"] for _, kind, n in p["slots"] if kind == "html"]
    words = data(soup)["words"]
    live = explorer.view(explorer.start)
    for markup in [live, *(words[n] for numbers in html for n in numbers)]:
        assert BeautifulSoup(markup, "html.parser").find(["b", "script"]) is None


def test_the_static_face_is_the_same_bytes_each_time_and_has_no_ids_to_clash(make):
    first, second = make("a").html(), make("a").html()
    assert first == second
    assert not BeautifulSoup(first + second, "html.parser").find_all(id=True)


def test_the_static_face_asks_for_nothing_from_outside(make):
    html = make("a").html()
    inside = re.sub(r'href=\\?"data:image/png;base64,', "", html)
    assert not re.search(r"https?:|\bsrc=|\bhref=|@import|url\(", inside)


def test_the_live_face_follows_every_control(make):
    explorer = make("a")
    for control in explorer.controls:
        widget = explorer.face.controls[control.name]
        options = [o[1] if isinstance(o, tuple) else o for o in widget.options]
        widget.value = options[-1]
        shown = BeautifulSoup(explorer.face.view.value, "html.parser")
        texts = [output.get_text() for output in shown("output")]
        values = explorer.face.values
        now = explorer.recompute(values) if explorer.recompute else None
        assert texts == [panel.text(values, now) for panel in explorer.panels]


def test_the_live_face_uses_only_widgets_that_ipywidgets_7_and_8_share(make):
    names = {type(child).__name__ for child in make("a").live.children}
    assert names <= {"Dropdown", "SelectionSlider", "HTML"}


def test_a_slider_keeps_its_value_when_the_choice_it_depends_on_changes():
    slider = Slider("s", "S", {"a": [1, 10, 100], "b": [10, 100], "c": [7]}, within="of")

    class Nothing:
        follows, wide = ["of", "s"], True

        def draw(self, values, now):
            return tag("p", "")

        def text(self, values, now):
            return f"{values['of']} {values['s']}"

    explorer = Explorer("", [Select("of", "of", ["a", "b", "c"]), slider], [Nothing()], [])
    of, s = explorer.face.controls.values()
    s.value = 100
    of.value = "b"
    assert s.value == 100
    of.value = "c"
    assert (s.value, explorer.face.values) == (7, {"of": "c", "s": 7})
