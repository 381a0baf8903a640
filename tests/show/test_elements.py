"""Trees of elements, and what differs between drawings of one figure."""

from cilbook.show.widgets.elements import Element, Words, condense, tag

NASTY = '</script><b>"it\'s" & <!--'


def apply(whole: Element, changes: list, words: list[str], n: int) -> str:
    """What the script makes of the page at position n, on the tree."""

    def visit(element: Element) -> Element:
        attributes, children = dict(element.attributes), element.children
        number = attributes.pop("data-slot", None)
        children = tuple(c if isinstance(c, str) else visit(c) for c in children)
        for k, attribute, numbers in changes:
            if str(k) != number:
                continue
            word = words[numbers[n]]
            if attribute in ("text", "html"):
                children = (Raw(word) if attribute == "html" else word,)
            else:
                attributes[attribute] = word
        return Element(element.name, attributes, children)

    return visit(whole).html()


class Raw(Element):
    """HTML as it is."""

    def __init__(self, html: str) -> None:
        super().__init__("", {})
        object.__setattr__(self, "raw", html)

    def html(self) -> str:
        return self.raw


def condensed(drawings: list[Element]) -> tuple[Element, list, list[str]]:
    whole, changes = condense(drawings, words := Words())
    return whole, changes, list(words)


def test_text_and_attributes_are_escaped():
    element = tag("p", NASTY, title=NASTY)
    assert element.html() == (
        '<p title="&lt;/script&gt;&lt;b&gt;&quot;it&#x27;s&quot; &amp; &lt;!--">'
        '&lt;/script&gt;&lt;b&gt;"it\'s" &amp; &lt;!--</p>'
    )


def test_an_attribute_that_is_none_is_left_out_and_a_zero_is_not():
    assert tag("line", x1=0, y1=0.0, x2=None).html() == '<line x1="0" y1="0"></line>'


def test_what_is_the_same_in_all_drawings_is_kept_once():
    drawings = [tag("g", tag("line", x1=5), tag("rect", y=k)) for k in (1, 2, 2)]
    whole, changes, words = condensed(drawings)
    assert whole.html() == '<g><line x1="5"></line><rect y="1" data-slot="0"></rect></g>'
    assert (changes, words) == ([(0, "y", [0, 1, 1])], ["1", "2"])


def test_every_drawing_comes_back_from_the_first_and_the_changes():
    drawings = [
        tag("div", tag("b", "a", title="x"), tag("i", tag("u", "1")), class_="still"),
        tag("div", tag("b", NASTY, title="y"), tag("i", tag("u", "1")), class_="still"),
        tag(
            "div", tag("b", "a", title=NASTY), tag("i", tag("u", "1"), "&"), class_="still"
        ),
        tag("div", tag("b", "", title="x"), tag("i"), class_="still"),
    ]
    whole, changes, words = condensed(drawings)
    for n, drawing in enumerate(drawings):
        assert apply(whole, changes, words, n) == drawing.html()


def test_a_drawing_with_other_parts_replaces_the_smallest_part_that_differs():
    drawings = [
        tag("svg", tag("g", *(tag("circle", r=k) for k in range(count))), tag("text", "t"))
        for count in (1, 3)
    ]
    whole, changes, words = condensed(drawings)
    assert [(k, attribute) for k, attribute, _ in changes] == [(0, "html")]
    assert apply(whole, changes, words, 1) == drawings[1].html()


def test_the_page_can_start_at_any_drawing():
    drawings = [tag("p", str(k)) for k in range(3)]
    whole, _ = condense(drawings, Words(), first=2)
    assert whole.html() == '<p data-slot="0">2</p>'


def test_drawings_share_their_words():
    words = Words()
    for _ in range(2):
        condense([tag("p", "a"), tag("p", "b")], words)
    assert list(words) == ["a", "b"]
