"""Which language a text is in, and its words."""

import json
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.grounding import words as read
from guardgraph.grounding.words import detect_language, find_nearest_texts, list_content_words, read_terms

SENTENCES = json.loads((Path(__file__).parent / "sentences.json").read_text("utf-8"))
"""One of each language."""


@each_row("language", *SENTENCES)
def test_a_sentence_tells_its_language(language):
    """Script, stop words and letters tell it, in capitals too, and names in Latin letters do not hide it."""
    sentence = SENTENCES[language]
    assert detect_language(sentence) == language
    assert detect_language(sentence.upper()) == language
    assert detect_language(f"GuardGraph {sentence} (Status Page, API)") == language


@each_row("text", "", "…", "P1 99.95 %", "Kubernetes", "ՀԱՅԵՐԵՆ", "\ud800")
def test_nothing_tells_no_language(text):
    """Without votes, or in a script of none of the languages, nothing is said."""
    assert detect_language(text) == ""


@each_row(
    ("text", "language", "words"),
    ("किताब और खिड़की", "hi", "किताब खिड़की"),
    ("auf\u00adgabe क्\u200dष", "de", "aufgabe क्ष"),
    ("२४ ٣٧ ３.５", "hi", "24 37 3.5"),
    ("北京地铁", "zh", "北京 京地 地铁"),
    ("北京的地铁NFL", "zh", "北京 地铁 nfl"),
    ("猫的鱼", "zh", "猫 鱼"),
    ("Đơn hàng bị hủy", "vi", "đơn hàng hủy"),
)
def test_words_of_any_script(text, language, words):
    """Marks belong to their letter, joiners change nothing, digits are digits; scripts without blanks go in pairs."""
    assert " ".join(list_content_words(text, language)) == words


@each_row(
    ("text", "language", "terms"),
    ("Häuser Haus", "de", "haus haus"),
    ("die Häuser und das Haus", "", "haus haus"),
    ("Häuser", "en", "häuser"),
    ("The refunds, REFUNDED: refund!", "", "refund refund refund"),
    ("What's the on-call P1 target: 99.95%, 24/7?", "", "call p1 target 99.95 24 7"),
    ("ＦＵＬＬ snake_case don't", "", "full snake case"),
    ("What is it? \ud800 …", "", ""),
)
def test_terms_unite_word_forms_and_keep_numbers(text, language, terms):
    """Forms, case and width are one, in the language that is said or told; function words are gone, numbers whole."""
    assert [*read_terms(text, *filter(None, [language]))] == terms.split()


def test_the_nearest_texts_have_most_of_the_words():
    texts = ["wing", "the flow of wings", "flow, wing", "heat"]
    assert find_nearest_texts(["wing flow", "cold"], texts, language="en") == [[1, 2], []]


def test_phrases_codes_and_negations():
    """A phrase stands in a text as whole words; what has digits is not cut; negations of any language are known."""
    texts = ("The on-call team", "The recall team", "Call the team")
    assert [read.has_phrase(text, "call team") for text in texts] == [True, False, False]
    assert read.list_word_beginnings(["inc204", "refunds"]) == ["inc204", "refu"]
    assert {"not", "nicht", "не"} <= read.load_negations()


@given(st.text())
@example("It's five o'clock")
@example("_five_")
def test_any_text_has_terms(text):
    """Any string can be read, and neither a content word nor a term is ever blank; it has a known language or none."""
    assert read.list_word_keys(text) == [word.key for word in read.split_words(text)]
    assert detect_language(text) in {*SENTENCES, ""}
    assert all(list_content_words(text))
    assert len(read_terms(text)) == len(list_content_words(text))
    assert all(read_terms(text))


@each_row(
    "words",
    *("respond responded responds response responses responsive", "extend extension extensive"),
    *("decide decided decision decisive", "permit permission permissive", "resolve resolution"),
    *("reduce reduction", "notify notified notification", "create created creation"),
)
def test_an_english_noun_is_read_as_its_verb(words):
    """A verb and what is derived from it are one term, whatever consonant the noun has; short words are none."""
    assert len({*read_terms(words, "en")}) == 1
    assert all(len({*read_terms(apart, "en")}) == 2 for apart in ("sense send", "mission mit", "tension tend"))
