"""Quotes cut from made-up sentences: at words they stand in the sentence, inside a word or a number they do not."""

from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.grounding.quotes import find_quote_place, find_quotes, is_quote_in_text, normalise_quote_text

LETTERS = "abcdeghäéñżабвгєідलमन"
WORDS = st.one_of(
    st.text(LETTERS, min_size=2, max_size=6),
    st.sampled_from(["don't", "12.5", "1939-45", "24/7", "99,95", "12:30", "naïve", "नहीं", "३४५"]),
)
SENTENCES = st.lists(WORDS, min_size=4, max_size=9, unique=True)
JOINTS = st.sampled_from([" ", ", ", " - ", ' "', "' ", "; "])
UNSPACED = st.text("防守只丢了联赛中排名第六ประเทศไทยこれは", min_size=4, max_size=20)
TYPOGRAPHIC = str.maketrans({"'": "’", '"': "”", "-": "–", " ": "\u00a0"})


def joined(parts, joint):
    return joint.join(parts)


@given(SENTENCES, JOINTS, st.data())
def test_a_quote_that_cuts_a_word_does_not(parts, joint, data):
    """A quote that begins or ends inside a word or a number is none, however long the rest of it is."""
    at = data.draw(st.integers(0, len(parts) - 1))
    cut = data.draw(st.integers(1, len(parts[at]) - 1))
    before, behind = joined([*parts[:at], parts[at][:cut]], joint), joined([parts[at][cut:], *parts[at + 1 :]], joint)
    sentence = joined(parts, joint)
    assert not is_quote_in_text(before, sentence) or parts[at][:cut] in parts
    assert not is_quote_in_text(behind, sentence) or parts[at][cut:] in parts


@each_row(
    ("place", "quotes"),
    ("Answers come in a day.", ["Answers come in a day.", "- Answers come in a day.", "• Answers come in a day."]),
    ("- 5 people answer.", ["- 5 people answer."]),
    ("Gold | 2 hours", ["| Gold | 2 hours |"]),
    ("Silver plan", ["| | Silver plan"]),
    (None, ["Answers come in a day. 5 people answer.", "| Gold | 2 hours | Silver plan |", "2 hours Silver plan"]),
)
def test_marks_of_items_and_cells_are_no_part_of_a_quote(place, quotes):
    """With or without them it is found, but for a dash before a number; it joins no two items, cells or rows unseen."""
    text = "- Answers come in a day.\n- 5 people answer.\n\n| Gold | 2 hours\n\n| | Silver plan"
    for quote in quotes:
        found = find_quote_place(quote, text)
        assert (None if found is None else text[slice(*found)]) == place
        assert is_quote_in_text(quote, text) is (place is not None)


@each_row(
    ("quote", "text", "place"),
    ("find it", "We ﬁnd it.", (3, 9)),
    ("IV kings", "Ⅳ kings", (0, 7)),
    ("153 m", "15³ m", None),
    ("wait...", "wait…", None),
    ("No five", "№ five", None),
    ("is up", "This up is up", (8, 13)),
    ("call now", "on-call now", (3, 11)),
    ("up", "so (up)", (4, 6)),
)
def test_a_quote_is_found_where_its_words_stand(quote, text, place):
    """Letters of another form are the same, but for a raised number and signs of several letters; no word is cut."""
    assert find_quote_place(quote, text) == place


@given(UNSPACED, st.data())
def test_scripts_without_blanks_are_cut_anywhere(text, data):
    first = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(first + 1, len(text)))
    assert is_quote_in_text(text[first:end], text)


@given(SENTENCES, JOINTS, st.data())
def test_a_quote_has_a_place_where_it_stands(parts, joint, data):
    """What stands at the place is the quote, however both are spelled; what stands nowhere has none."""
    first = data.draw(st.integers(0, len(parts) - 1))
    end = data.draw(st.integers(first + 1, len(parts)))
    sentence, quote = joined(parts, joint), joined(parts[first:end], joint)
    text = f" \n{sentence.replace(' ', data.draw(st.sampled_from([' ', '  ', chr(10)])))}\n".translate(TYPOGRAPHIC)
    assert is_quote_in_text(quote.translate(TYPOGRAPHIC), sentence)
    start, behind = find_quote_place(quote, text)
    assert normalise_quote_text(text[start:behind]) == normalise_quote_text(quote)
    assert text[start:behind] == text[start:behind].strip()


@given(st.text(), st.text())
def test_a_place_is_where_a_quote_stands(quote, text):
    """Any text has a place in another one, or none, just as it stands there or not."""
    place = find_quote_place(quote, text)
    assert (place is not None) == (is_quote_in_text(quote, text) and normalise_quote_text(quote) != "")
    if place is not None:
        assert normalise_quote_text(text[slice(*place)]) == normalise_quote_text(quote)


@given(st.text("aAbB.,:/-+' \n0129%(", max_size=30), st.integers(0, 30), st.integers(1, 8))
def test_a_quote_stands_where_it_stands_beside_other_letters(text, start, length):
    """Letters of another script in a text change nothing of where a quote stands before them."""
    quote = text[start : start + length]
    assert is_quote_in_text(quote, text) == is_quote_in_text(quote, f"{text} é")
    assert find_quote_place(quote, text) == find_quote_place(quote, f"{text} é")


@each_row(("opening", "closing"), "“”", "„“", "””", "«»", "»«", "‹›", "›‹", "「」", "『』", "‘’", '""', "''")
def test_every_pair_of_quotation_marks_quotes(opening, closing):
    """What stands between any two that belong together is found, alone in a text."""
    assert list(find_quotes(f"It said {opening}is well{closing} then.")) == [(8, 17, "is well")]
    assert not list(find_quotes(f"It said {opening}well{closing} then, and all is well."))


LEFT_OUT = st.sampled_from(["'90s", "'98", "'em", "'twas", "‘60s", "’til"])
OWNERS = st.sampled_from(["workers'", "teams’", "James'", "Cruz’"])


@given(LEFT_OUT, SENTENCES, OWNERS, st.sampled_from(["‘’", "''"]), SENTENCES)
def test_an_apostrophe_quotes_nothing(short, between, owners, marks, quoted):
    """Neither one that stands for letters nor one of a possessive does, and a true quote behind them is found."""
    between = [word for word in between if "'" not in word]
    said = f"It was {short} {' '.join(between)} and the {owners} place"
    if short[0] != "‘" or owners[-1] == "’":  # an opening mark that nothing closes may find another one
        assert not list(find_quotes(said))
        behind = f"{said}. They say {marks[0]}{' '.join(quoted)}{marks[1]} there."
        assert [quote.text for quote in find_quotes(behind)] == [" ".join(quoted)]


@given(st.sampled_from(["we can't wait here", "the O'Neil house", "don't shoot us"]), st.sampled_from(["'", "’"]))
def test_an_apostrophe_inside_a_word_ends_no_quote(said, apostrophe):
    for opening, closing in ("''", "‘’"):
        text = f"He said {opening}{said}{closing} and left.".replace("'", apostrophe if opening == "‘" else "'")
        assert [normalise_quote_text(quote.text) for quote in find_quotes(text)] == [said]


@given(SENTENCES, st.sampled_from(['""', "“”", "‘’", "''", "`'"]), st.sampled_from(['""', "“”", "‘’", "''"]))
def test_a_quote_inside_a_quote_has_marks_of_its_own(parts, source, answer):
    """Single ones stand for the double ones of a source, or the other way round; other words stay other words."""
    if any(character.isdigit() for character in parts[2][-1:]):
        parts[2] += "x"
    first, inner, last = parts[0], " ".join(parts[1:3]), " ".join(parts[3:])
    text = f"It has {first} {source[0]}{inner}{source[1]} {last} there."
    quote = f"{first} {answer[0]}{inner}{answer[1]} {last}"
    assert is_quote_in_text(quote, text)
    assert normalise_quote_text(text[slice(*find_quote_place(quote, text))]) == normalise_quote_text(quote)
    assert not is_quote_in_text(quote.replace(parts[1], "otherwise"), text)


def test_marks_that_nothing_closes_take_linear_time():
    """And marks of feet and inches are no quote marks."""
    assert not is_quote_in_text("a 5' board", 'It has a 5" board.')

    def read(chars):
        for mark in ("'90 ", "`\"' ", "‚", "„", "«", "‚a„"):
            text = mark * (chars // len(mark))
            assert len(list(find_quotes(text))) <= len(text)
            assert normalise_quote_text(text)

    assert_linear(read, 4_000, 64_000)
