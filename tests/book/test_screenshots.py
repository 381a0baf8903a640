"""Every page as a picture, for someone to look at: _build/screenshots."""

import pytest

LOOKS = {"light": ("light", 1280), "dark": ("dark", 1280), "telephone": ("light", 390)}


@pytest.mark.parametrize("look", LOOKS)
def test_it_can_be_looked_at(visit, page_name, look, root):
    theme, width = LOOKS[look]
    visit.page.set_viewport_size({"width": width, "height": 900})
    visit.open(visit.page.url)  # as a reader first sees it, no slider moved
    visit.page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
    folder = root / "_build" / "screenshots"
    picture = folder / f"{page_name.removeprefix('book/').replace('/', '-')}-{look}.png"
    visit.page.screenshot(path=picture, full_page=True)
    assert picture.stat().st_size > 10_000
