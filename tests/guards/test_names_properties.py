"""Sentences with made-up names: one that keeps a name, in whatever form, passes; one that swaps it is refused."""

from __future__ import annotations

import pytest
from growth import assert_linear
from hypothesis import assume, example, given
from hypothesis import strategies as st

from guardgraph.guards.languages.tables import load_territory_names
from guardgraph.guards.names import find_unsupported_names
from guardgraph.guards.names.words import split_name_words

SENTENCES = (
    "It was said that {} had been seen with {} on the way to the town of {}.",
    "In the end the board of {} has sold this to {} and to nobody but {}.",
    "They are all of the same make as {}, who was with {} at {} for years.",
)
SYLLABLES = [onset + vowel for onset in ("b", "dr", "f", "gl", "k", "m", "p", "st", "v", "z") for vowel in "aeiou"]
NAMES = st.lists(st.sampled_from(SYLLABLES), min_size=3, max_size=4).map(lambda parts: "".join(parts).title() + "n")
THREE = st.lists(NAMES, min_size=3, max_size=3, unique_by=lambda name: name[:5])
ACCENTS = str.maketrans("aeiou", "áèîöū")

FORMS = {
    "as it is": lambda name: name,
    "upper case": str.upper,
    "accents": lambda name: name.translate(ACCENTS),
    "possessive": lambda name: f"{name}'s",
    "typographic possessive": lambda name: f"{name}’s",
    "plural": lambda name: f"{name}s",
    "inflected": lambda name: f"{name}ian",
    "joined by a hyphen": lambda name: f"{name[:4]}-{name[4:].title()}",
    "split": lambda name: f"{name[:4]} {name[4:].title()}",
    "bold": lambda name: f"**{name}**",
    "quoted": lambda name: f"“{name}”",
}


@pytest.mark.parametrize("form", FORMS)
@given(THREE, st.sampled_from(SENTENCES), st.sampled_from(SENTENCES))
def test_an_answer_that_keeps_the_names_passes(form, names, said, answer):
    """Whatever the sentence and the form, a name that the source has is supported; so is the other way round."""
    formed = [FORMS[form](name) for name in names]
    assert find_unsupported_names(answer.format(*formed), cited=[said.format(*names)]) == []
    assert find_unsupported_names(answer.format(*names), cited=[said.format(*formed)]) == []


@given(THREE, NAMES, st.integers(0, 2), st.sampled_from(SENTENCES), st.sampled_from(SENTENCES))
def test_an_answer_that_swaps_a_name_is_refused(names, other, at, said, answer):
    """A name that the source does not have is refused, it alone; the question or a known name may support it."""
    assume(all(other[:5] != name[:5] for name in names))
    swapped = answer.format(*[*names[:at], other, *names[at + 1 :]])
    cited = [said.format(*names)]
    assert find_unsupported_names(swapped, cited=cited) == [other]
    assert find_unsupported_names(swapped, cited=cited, beside=[f"Who is {other}?"]) == []
    assert find_unsupported_names(swapped, cited=cited, beside=[other]) == []


@given(st.lists(NAMES, min_size=2, max_size=5, unique=True), st.booleans())
def test_initials_stand_for_their_expansion(names, with_link):
    """An acronym supports the phrase that it stands for and is supported by it; another acronym is not."""
    phrase = f"{names[0]} {'of the ' if with_link else ''}{' '.join(names[1:])}"
    acronym = "".join(name[0] for name in names)
    said, other = "It was sold to the {} in the end, by the board.", f"{acronym[:-1]}Q"
    assert find_unsupported_names(said.format(phrase), cited=[said.format(acronym)]) == []
    assert find_unsupported_names(said.format(acronym), cited=[said.format(phrase)]) == []
    assert find_unsupported_names(said.format(other), cited=[said.format(phrase)]) == [other]


FRAMES = ["According to {}, {}", "As {} says, {}", "Per {}, {}"]
SHOWN = ["Document 2", "the document", "Source 1", "Passage 3", "the text", "Excerpt 2"]
LABELS = [
    "**Response Time:** {}",
    "Please note: {}",
    "**Note:** {}",
    "- **Opening Hours**: {}",
    "Short Answer: {}",
    "* **Key Points**: {}",
]


@given(THREE, NAMES, st.sampled_from(FRAMES), st.sampled_from(SHOWN), st.sampled_from(SENTENCES))
def test_a_frame_names_what_was_shown_and_no_other_source(names, other, frame, shown, said):
    """Words of a frame and of a label are no names, and a source that nobody cited is one."""
    assume(all(other[:5] != name[:5] for name in names))
    answer, cited = said.format(*names), [said.format(*names)]
    begun = answer[0].lower() + answer[1:]
    assert find_unsupported_names(frame.format(shown, begun), cited=cited) == []
    assert find_unsupported_names(frame.format(other, begun), cited=cited) == [other]
    assert all(find_unsupported_names(label.format(answer), cited=cited) == [] for label in LABELS)


PLACES = {
    "en": "It is in {} that this was made.",
    "es": "Esto fue hecho en {} por la gente de aquí.",
    "fr": "Cela a été fait en {} par les gens qui sont là.",
    "it": "Questo è stato fatto in {} dalla gente che era qui.",
    "pt": "Isto foi feito em {} pela gente que não estava aqui.",
    "ru": "Это было сделано в {} и больше нигде.",
    "uk": "Це було зроблено в {} і більше ніде.",
}


@pytest.mark.parametrize("language", PLACES)
def test_a_territory_is_known_by_its_names(language):
    """Every territory may be called by its name, by its codes or by its adjective, whichever of them was said."""
    sentence = PLACES[language]
    for place in load_territory_names(language):
        if not place.code.isalpha():
            continue
        names = [place.name, place.code, *place.others, *(adjective.title() for adjective in place.adjectives)]
        for name in names[1:]:
            assert find_unsupported_names(sentence.format(name), cited=[sentence.format(place.name)]) == [], place
            assert find_unsupported_names(sentence.format(place.name), cited=[sentence.format(name)]) == [], place


@given(st.text(), st.text(), st.text())
@example("a İstanbul ǅ ﬀ", "", "ſ")
def test_any_texts_get_a_verdict(answer, cited, read):
    """Any texts are judged; what is refused stands in the answer, and a text that is cited supports itself."""
    names = find_unsupported_names(answer, cited=[cited], read=[read])
    assert names == sorted(set(names))
    assert find_unsupported_names(answer, cited=[answer], read=[read]) == []
    assert find_unsupported_names(answer, cited=[cited], read=[answer.lower(), read]) == [] or names


@given(st.text("aAbBsSUE.'-_ \n1:(", max_size=30))
def test_words_are_the_same_beside_other_letters(text):
    """A text in ASCII, which is read by a pattern of its own, has the words that it has before an accented one."""
    assert split_name_words(text) == split_name_words(f"{text} é")[:-1]


def test_initials_that_end_in_a_word_take_time_that_grows_with_the_text():
    """Ten times of them takes some ten times as long, in letters of any script."""
    for piece in ("a.", "б."):
        assert_linear(lambda chars, piece=piece: split_name_words(f"{piece * (chars // 2)}ax"), 5_000, 50_000)
