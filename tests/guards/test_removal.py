"""What is taken out of an answer with a refused sentence, and when an answer is kept whole."""

from __future__ import annotations

import re

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from guardgraph.grounding.quotes import find_quoting_sentences
from guardgraph.guards.blocks import parse_blocks
from guardgraph.guards.removal import KeptWhole, remove_refused, take_out_refused
from guardgraph.guards.stop import Stop

NUMBER = "invalid_answer:unsupported_number"


def refuse_99(text):
    """Return a check that refuses any stretch with 99 in it."""

    def check(start, end):
        return Stop(NUMBER, unsupported=["99"]) if "99" in text[start:end] else None

    return check


def take_out(text, **more):
    """Take out what has 99 in it, and return the rest."""
    return take_out_refused(text, refuse_99(text), **more)


def left_of(text):
    """Return the text that is left, or why nothing is taken out."""
    try:
        return take_out(text).text
    except KeptWhole as why:
        return f"kept whole: {why}"


FIRST = "The mill was built by Lee. "
LIMIT, OPENING = "kept whole: a negation or a limit would go", "kept whole: its opening sentence would go"
ALONE = {
    "a sentence": (FIRST + "Bread costs 99 euros. Flour is white.", FIRST + "Flour is white."),
    "the last one": (FIRST + "Bread costs 99 euros.", FIRST.strip()),
    "what follows with a pronoun": (
        FIRST + "A pump pulls 99 litres. It is old. Flour is white.",
        FIRST + "Flour is white.",
    ),
    "what follows with another": (
        FIRST + "Bread costs 99 euros. Similarly, tea is dear. Tea is hot.",
        FIRST + "Tea is hot.",
    ),
    "a pronoun behind an adverb": (FIRST + "Bakers earn 99 euros. Previously, they starved.", FIRST.strip()),
    "a pronoun behind a clause": (FIRST + "Ada Poe is 99. Despite a fall in spring, she works.", FIRST.strip()),
    "a noun that it introduced": (FIRST + "A pump pulls 99 litres. The pump is old.", FIRST.strip()),
    "such a noun later": (
        FIRST + "A pump pulls 99 litres. Flour is white. The pump is old.",
        FIRST + "Flour is white.",
    ),
    "a name that it introduced": (
        FIRST + "Then came Ada Poe, aged 99. Flour is white. Poe left.",
        FIRST + "Flour is white.",
    ),
    "a noun that was known": (FIRST + "Bread costs 99 euros. The mill is open.", FIRST + "The mill is open."),
    "a noun in other words": (FIRST + "A car did 99 miles. The vehicle is red.", FIRST.strip()),
    "all of what it counted": (FIRST + "There are 99 mills. Nearly all mills are old.", FIRST.strip()),
    "a short form": (FIRST + "The Mill Guild (MG) has 99 members. Lee saw the MG grow.", FIRST.strip()),
    "what it restricts": (
        FIRST + "Bread is free. However, rye costs 99 euros. Flour is white.",
        FIRST + "Flour is white.",
    ),
    "what it restricts, chained": (FIRST + "Bread is free. It is good. But rye costs 99 euros.", FIRST.strip()),
    "an aside that restricts": (FIRST + "Bread is free. Rye, however, costs 99 euros.", FIRST.strip()),
    "unless": (FIRST + "Bread is free. Unless you pay 99 euros, go home.", FIRST.strip()),
    "note": (FIRST + "Bread is free.\n\nNote: rye costs 99 euros.\n\nTea is hot.", FIRST.strip() + "\n\nTea is hot."),
    "an answered question": (FIRST + "Why is bread dear? Rye costs 99 euros.", FIRST.strip()),
    "what a colon announces": (FIRST + "Two things hold: Bread is good. Rye costs 99 euros.", FIRST.strip()),
    "a list": (FIRST + "\n\nGoods:\n\n- Bread\n- Rye, 99 euros\n\nTea is hot.", FIRST + "\n\nTea is hot."),
    "a list in a line": (FIRST + "\nThe goods are as follows.\n\n1. Bread\n2. Rye, 99 euros", FIRST.strip()),
    "a nested list": (
        FIRST + "\n\n- Goods\n  - Bread\n\n  Rye, 99 euros\n- Tea\n\nTea is hot.",
        FIRST + "\n\nTea is hot.",
    ),
    "labels": (FIRST + "\n\n**Bread:** 2 euros\n**Rye:** 99 euros\n\nTea is hot.", FIRST + "\n\nTea is hot."),
    "a table": (FIRST + "\n\nPrices:\n| a | b |\n|---|---|\n| rye | 99 |\n\nTea is hot.", FIRST + "\n\nTea is hot."),
    "code": (FIRST + "\n\nRun this:\n\n```\nbake --rye\n\nsell 99\n```\n\nTea is hot.", FIRST + "\n\nTea is hot."),
    "a list whose lead-in goes": (FIRST + "\n\nThere are 99 goods:\n\n- Bread\n- Rye", FIRST.strip()),
    "steps": (
        FIRST + "Bake in three steps. First, mix. Then heat to 99. Finally, eat. Tea is hot.",
        FIRST + "Tea is hot.",
    ),
    "a heading": (
        FIRST + "\n\n## Rye\n\nRye costs 99 euros.\n\n## Tea\n\nTea is hot.",
        FIRST + "\n\n## Tea\n\nTea is hot.",
    ),
    "no part of a quote": (FIRST + "Lee said: “Rye is 99. Tea is hot.” Flour is white.", FIRST + "Flour is white."),
    "no initials": (FIRST + "Bread was baked by J.R.R. Poe, 99. Tea is hot.", FIRST + "Tea is hot."),
    "lines of a paragraph": (
        "The mill was built by Lee.\nRye costs 99 euros.\nTea is hot.",
        "The mill was built by Lee.\nTea is hot.",
    ),
    "the opening": ("Rye costs 99 euros. Tea is hot.", OPENING),
    "the opening behind a frame": ("Here is a summary:\n\nRye costs 99 euros. Tea is hot.", OPENING),
    "the opening below a heading": ("# Prices\n\nRye costs 99 euros.\n\nTea is hot.", OPENING),
    "what hangs on the opening": ("Bread is free. But rye costs 99 euros. Tea is hot.", OPENING),
    "a negation": (FIRST + "Rye is not sold for 99 euros.", LIMIT),
    "a negation with no": (FIRST + "No rye is sold for 99 euros.", LIMIT),
    "a contraction": (FIRST + "Rye isn’t sold for 99 euros.", LIMIT),
    "a limit": (FIRST + "Rye is sold only before the age of 99.", LIMIT),
    "a bound": (FIRST + "You may buy up to 99 loaves.", LIMIT),
    "a limit that hangs on it": (FIRST + "Rye costs 99 euros. It is sold only on Monday.", LIMIT),
    "a negation in its list": (FIRST + "\n\n- Rye, 99 euros\n- Bread is never sold", LIMIT),
    "more than a negation": (FIRST + "Rye costs not only 99 euros. Tea is hot.", FIRST + "Tea is hot."),
    "open markup": (
        FIRST + "**Rye costs 99 euros. Tea is hot.** Flour is white.",
        "kept whole: brackets or marks open in what would go and close in what would stay",
    ),
}


@pytest.mark.parametrize("name", ALONE)
def test_what_hangs_on_a_sentence_goes_with_it(name):
    """And nothing else does; where the rest would say something else, the answer is kept whole."""
    text, left = ALONE[name]
    assert left_of(text) == left.strip()


OTHER_LANGUAGES = {
    "de": ("Die Mühle wurde von Herrn Lang gebaut. Das Brot kostet 99 Euro. {}", "Es ist gut.", "Roggen ist aber gut."),
    "es": (
        "El molino fue construido por Lang. El pan cuesta 99 euros. {}",
        "Este pan es bueno.",
        "Juan vende harina blanca.",
    ),
    "fr": ("Le moulin a été construit par Lang. Le pain coûte 99 euros. {}", "Il est bon.", "Jean vend du thé."),
    "ru": ("Мельницу построил господин Ланг. Хлеб стоит 99 евро. {}", "Он очень вкусный.", "Чай горячий."),
    "uk": ("Млин збудував пан Ланг для міста. Хліб коштує 99 євро. {}", "Він дуже смачний.", "Чай гарячий."),
}


@pytest.mark.parametrize("language", OTHER_LANGUAGES)
def test_other_languages_have_lists_of_their_own(language):
    """A pronoun leans on what went in each of them, and another sentence stays."""
    frame, leaning, other = OTHER_LANGUAGES[language]
    first = frame.split("99")[0].rpartition(". ")[0] + "."
    assert left_of(frame.format(leaning)) == first
    if "aber" not in other:
        assert left_of(frame.format(other)) == f"{first} {other}"


LIMITS = (
    "Send it back within 99 days.",
    "Wait 99 hours between doses.",
    "Children under 99 pay half.",
    "You must be 99.",
    "It is valid until 99.",
    "Register by day 99.",
    "This applies to the 99 buyers.",
    "It takes at least 99 hours.",
)


@pytest.mark.parametrize("limit", LIMITS)
@given(st.lists(st.sampled_from(["Tea is hot.", "Bread is sold here.", "Flour comes from rye."]), unique=True))
def test_a_limit_is_never_taken_out(limit, others):
    """Without its deadline, its age or its condition an answer would promise more than its sources do."""
    assert left_of(" ".join([FIRST.strip(), *others, limit])) == LIMIT
    assert left_of(" ".join([FIRST.strip(), limit, *others])) == LIMIT


@pytest.mark.parametrize("leaning", ["Doing so is fine.", "There, tea is hot.", "Tea is sold elsewhere."])
def test_what_points_at_what_went_goes_with_it(leaning):
    """A sentence that points at a place or an act of the one before goes with it."""
    assert left_of(f"{FIRST}Bread costs 99 cents. {leaning} Flour comes from rye.") == f"{FIRST}Flour comes from rye."


def test_a_new_paragraph_keeps_its_own_subject():
    """What another paragraph calls "the" wheel stands, though no sentence before has named one."""
    text = f"{FIRST}\n\nBread costs 99 cents.\n\nThe wheel is made of oak."
    assert left_of(text).split() == f"{FIRST} The wheel is made of oak.".split()


@pytest.mark.parametrize(
    "text",
    [
        "Młyn zbudował pan Lang. Żyto kosztuje 99 złotych. Herbata jest gorąca.",
        "水車は古い。パンは99円です。お茶は熱い。",
    ],
)
def test_a_language_without_lists_is_kept_whole(text):
    """Nobody knows what leans on what there."""
    assert left_of(text).startswith("kept whole: there are no word lists")


def test_what_was_taken_out_is_told_with_its_place():
    """Word for word, with the reason, the sentence that was refused, and where it stood."""
    text = FIRST + "A pump pulls 99 litres. It is old. Flour is white."
    rest = take_out(text)
    [removed] = rest.removed
    assert removed["text"] == "A pump pulls 99 litres. It is old."
    assert (removed["reason"], removed["at"]) == (NUMBER, len(FIRST))
    assert removed["evidence"] == {"unsupported": ["99"], "sentence": "A pump pulls 99 litres."}
    assert [text[start:end] for start, end, _ in rest.kept] == [
        rest.text[at : at + end - start] for start, end, at in rest.kept
    ]
    assert rest.find_place(text.index("Flour")) == rest.text.index("Flour")
    assert rest.find_place(text.index("litres")) is None


def test_a_sentence_that_passes_behind_another_is_not_refused():
    """What is read with the sentence before it is judged with it, too."""
    text = FIRST + "Tea is hot. The second is 99."

    def check(start, end):
        return Stop(NUMBER, unsupported=["99"]) if text[start:end] == "The second is 99." else None

    with pytest.raises(KeptWhole, match="no sentence of it is refused by itself"):
        take_out_refused(text, check)


def remove(text, **changed):
    """Remove what has 99 in it, of an answer that cites a and b."""
    given = {
        "check": refuse_99(text),
        "contradict": lambda: None,
        "judge": lambda rest, citations: None,
        "support": lambda rest: {"a"},
        "citations": ["a", "b"],
        "beside": "",
    }
    return remove_refused(text, Stop(NUMBER, unsupported=["99"]), **{**given, **changed})


def stop():
    """Refuse, whatever is asked."""
    raise Stop(NUMBER, unsupported=["5"])


def test_citations_are_those_of_what_is_left():
    """One stays where a sentence rests on it, and where the rest does not pass without it."""

    def judge(rest, citations):
        if "b" not in citations:
            stop()

    text = FIRST + "Rye costs 99 euros."
    assert remove(text)[1] == ["a"]
    assert remove(text, judge=judge)[1] == ["a", "b"]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"contradict": stop}, "a sentence contradicts its source"),
        ({"judge": lambda rest, citations: stop()}, "the rest is refused, too"),
        ({"support": lambda rest: set()}, "no citation would be left"),
        ({"check": lambda start, end: None}, "no sentence of it is refused by itself"),
    ],
)
def test_the_run_stops_where_the_rest_cannot_stand(changed, why):
    """With the refusal of the whole, and the reason in its details."""
    with pytest.raises(Stop) as raised:
        remove(FIRST + "Rye costs 99 euros.", **changed)
    assert raised.value.reason == NUMBER
    assert raised.value.evidence == {"unsupported": ["99"], "details": {"kept_whole": why}}


def test_links_markup_and_contradictions_are_never_taken_out():
    """Only a refusal for numbers or names is mended by leaving something out."""
    for reason in ("active_markup", "unsupported_link", "contradicts_source", "not_together", "quote_not_in_source"):
        refused = Stop(f"invalid_answer:{reason}")
        with pytest.raises(Stop) as raised:
            remove_refused(
                FIRST, refused, check=None, contradict=None, judge=None, support=None, citations=[], beside=""
            )
        assert raised.value is refused


PIECES = (
    "Bread is good.", "Rye costs 99 euros.", "It is old.", "However, tea is hot.", "The pump is old.", "A pump has 99.",
    "## Rye", "- bread", "- rye 99", "| a | 99 |", "```", "Goods:", "Why?", "First, mix.",
    "Then heat to 99.", "(a", "b)", "**Bread:** 2", "“Rye is 99.", "Tea.”", "\n", "\n\n",
    "Lee, J.R.", "1. mix", "99", "Nobody came.",
)  # fmt: skip
ANSWERS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=14).flatmap(
    lambda pieces: st.lists(st.sampled_from([" ", "\n", "\n\n"]), min_size=len(pieces), max_size=len(pieces)).map(
        lambda gaps: "".join(piece + gap for piece, gap in zip(pieces, gaps, strict=True)).strip()
    )
)


@given(ANSWERS)
def test_the_rest_is_the_answer_without_what_was_taken_out(tail):
    """Nothing refused is left; the rest stands word for word in its order; taking out twice changes nothing."""
    text = f"{FIRST}{tail}"
    try:
        rest = take_out(text)
    except KeptWhole:
        return
    assert "99" not in rest.text
    at = 0
    for start, end, place in rest.kept:
        assert text[start:end] == rest.text[place : place + end - start]
        assert place >= at
        at = place + end - start
    assert _squeeze(text) == _squeeze(_put_back(rest))
    with pytest.raises(KeptWhole, match="no sentence"):
        take_out(rest.text)


def _put_back(rest):
    text, done = "", 0
    for item in rest.removed:
        text, done = text + rest.text[done : item["at"]] + item["text"], item["at"]
    return text + rest.text[done:]


def _squeeze(text):
    return re.sub(r"\s+", "", text)


@given(st.text(max_size=200))
def test_any_text_is_read_into_blocks_without_a_loss(text):
    """Blocks follow each other, and what stands between them is white."""
    at = 0
    for block in parse_blocks(text):
        assert not text[at : block.start].strip()
        assert block.start < block.end
        at = block.end
    assert not text[at:].strip()


HOSTILE = {
    "sentences": "Rye costs 99 euros. It is old. ",
    "restricted": "Bread is good. But tea is hot. ",
    "lists": "- rye 99\n",
    "labels": "Rye: 99\n",
    "fences": "```\n99\n",
    "tables": "| a | 99 |\n\n",
    "colons": "Goods: Tea. ",
    "steps": "Then mix. ",
    "bounds": "within rye or tea or oats 99 ",
    "definite": "the the the ",
    "headings": "# a\n",
    "brackets": "(((",
    "blank": " \n\t",
    "letters": "a",
    "quotes": "“a b. ",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_grows_with_the_length_and_no_faster(name):
    """Eight times the text takes some eight times as long, whatever it is."""
    repeated = HOSTILE[name]
    assert_linear(
        lambda chars: left_of((FIRST + repeated * (chars // len(repeated)) + " Rye 99. ")[:chars]), 12_500, 100_000
    )


def test_sentences_of_an_answer_are_those_that_cite():
    """Both are found in one place, so that none ends inside a quote."""
    assert len(find_quoting_sentences("He said: “Rye is dear. Tea is hot.” It is.")) == 2
