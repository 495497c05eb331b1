"""Sentences that say the opposite of their source are refused, in six languages; what says the same passes."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from growth import assert_linear
from guard_cases import stop_of
from hypothesis import given, settings
from hypothesis import strategies as st
from rag_agents import QUESTION, SOURCES
from research_cases import research

from guardgraph import RagPolicy, ResearchPolicy, create_rag_agent
from guardgraph.guards.turned import check_turned_sentences, find_turned_sentence
from guardgraph.guards.word_lists import load_word_lists

TURNED = [
    (
        "The northern ferry will be replaced by a bridge next spring.",
        "The northern ferry will not be replaced by a bridge next spring.",
    ),
    (
        "Tenants can't sublet the flat to tourists in the summer.",
        "Tenants can sublet the flat to tourists in the summer.",
    ),
    (
        "The orchestra never recorded the second symphony in Vienna.",
        "The orchestra recorded the second symphony in Vienna.",
    ),
    ("The inspector failed to find cracks in the eastern pillar.", "The inspector found cracks in the eastern pillar."),
    (
        "The museum was opened after the railway reached the valley.",
        "The museum was opened before the railway reached the valley.",
    ),
    (
        "Ticket sales of the theatre fell by a third last winter.",
        "Ticket sales of the theatre rose by a third last winter.",
    ),
    ("The insurer will cancel the policy of late payers.", "The insurer may cancel the policy of late payers."),
    (
        "Guests can return the unopened bottles without a receipt.",
        "Guests can return the unopened bottles with a receipt.",
    ),
    (
        "Take the white pill after breakfast without any cold water.",
        "Take the white pill before breakfast without any cold water.",
    ),
    (
        "The pump of the mill is not opened after the large valve.",
        "The pump of the mill is not opened before the large valve.",
    ),
    ("None of the bakeries in the old harbour were flooded.", "All bakeries in the old harbour were flooded."),
    (
        "The bridge was closed despite the storm warning for sailors.",
        "The bridge was closed because of the storm warning for sailors.",
    ),
    (
        "Der Verein hat die alte Turnhalle im Sommer nicht renoviert.",
        "Der Verein hat die alte Turnhalle im Sommer renoviert.",
    ),
    (
        "Die Fähre fährt nach dem Hochwasser wieder zur kleinen Insel.",
        "Die Fähre fährt vor dem Hochwasser wieder zur kleinen Insel.",
    ),
    (
        "Die Mieten in der Altstadt sind im Frühjahr gesunken und bleiben stabil.",
        "Die Mieten in der Altstadt sind im Frühjahr gestiegen und bleiben stabil.",
    ),
    (
        "La biblioteca no presta libros antiguos a los estudiantes extranjeros.",
        "La biblioteca presta libros antiguos a los estudiantes extranjeros.",
    ),
    (
        "El puente viejo se construyó después de la gran inundación del valle.",
        "El puente viejo se construyó antes de la gran inundación del valle.",
    ),
    (
        "La mairie ne rembourse pas les billets perdus par les voyageurs.",
        "La mairie rembourse les billets perdus par les voyageurs.",
    ),
    (
        "Le théâtre municipal a fermé après la grande tempête de janvier.",
        "Le théâtre municipal a fermé avant la grande tempête de janvier.",
    ),
    ("Музей не принимает посетителей в дождливые дни осени.", "Музей принимает посетителей в дождливые дни осени."),
    (
        "Старый мост построили после большого наводнения в долине.",
        "Старый мост построили до большого наводнения в долине.",
    ),
    (
        "Бібліотека не видає старовинні книги студентам університету.",
        "Бібліотека видає старовинні книги студентам університету.",
    ),
    ("Старий міст збудували після великої повені в долині.", "Старий міст збудували до великої повені в долині."),
]
"""What an answer says, and the source that it turns round."""

SAME = [
    (
        "The northern ferry won't be replaced by a bridge next spring.",
        "The northern ferry will not be replaced by a bridge next spring.",
    ),
    (
        "The inspector did not find cracks in the eastern pillar.",
        "The inspector failed to find any cracks in the eastern pillar.",
    ),
    (
        "The novel was praised by critics and loved by readers.",
        "The novel was not only praised by critics but also loved by readers.",
    ),
    ("Some bakeries in the old harbour were flooded.", "Not all bakeries in the old harbour were flooded."),
    (
        "Some bakeries in the old harbour were flooded in March.",
        "All bakeries in the old harbour were flooded in March.",
    ),
    ("The new tram opened to the public in May.", "The new tram did not open to the public until May."),
    (
        "Ticket sales of the theatre decreased by a third last winter.",
        "Ticket sales of the theatre fell by a third last winter.",
    ),
    (
        "It is impossible to reach the island by car in winter.",
        "It is not possible to reach the island by car in winter.",
    ),
    (
        "The choir missed the spring concert in Graz in 2010.",
        "The choir did not attend the spring concert in Graz in 2010.",
    ),
    (
        "The old mill stands beside the river in Aldham.",
        "The old mill, not the new one, stands beside the river in Aldham.",
    ),
    (
        "Die Fähre fährt nicht nur am Montag zur kleinen Insel.",
        "Die Fähre fährt am Montag und am Freitag zur kleinen Insel.",
    ),
    (
        "El museo no abre los lunes ni presta libros antiguos.",
        "El museo no abre los lunes y tampoco presta libros antiguos.",
    ),
    ("Музей никогда не принимает посетителей в дождливые дни.", "Музей не принимает посетителей в дождливые дни."),
]
"""What an answer says, and a source that says the same, or something else that is no contradiction."""

FILLERS = ("A market is held on the square.", "Nobody remembers who planted the oak.", "The harbour was not deep.")
"""Sentences that have nothing to do with these."""


@pytest.mark.parametrize(("answer", "source"), TURNED)
def test_a_sentence_that_is_turned_round_is_found(answer, source):
    """Among other sentences on both sides; the other way round, too; and both sentences are shown."""
    for said, read in ((answer, source), (source, answer)):
        assert find_turned_sentence(said, [FILLERS[0], read]) == (said, read)
        if said.isascii() and "The " in f"{said}{read}":
            around = f"{FILLERS[2]} {read} {FILLERS[1]}"
            assert find_turned_sentence(f"There is a town. {said}", [FILLERS[0], around]) == (said, read)


@pytest.mark.parametrize(("answer", "source"), SAME)
def test_what_says_the_same_passes(answer, source):
    """Two negations, a negation in other words, *not only*, *not until*, *not all*, and what denies another word."""
    assert find_turned_sentence(answer, [source]) is None
    assert find_turned_sentence(source, [answer]) is None


@pytest.mark.parametrize(("answer", "source"), TURNED)
def test_what_another_sentence_says_passes(answer, source):
    """Where one source says it as the answer does, or what was asked takes it for granted, nothing is refused."""
    assert find_turned_sentence(answer, [source, answer]) is None
    assert find_turned_sentence(answer, [source], question=f"{FILLERS[0]} {answer}") is None


@pytest.mark.parametrize(
    ("answer", "sources"),
    [
        (
            "Gold members can enter the northern lounge before the departure.",
            ["Silver members cannot enter the northern lounge before the departure.", "A Gold card opens all doors."],
        ),
        (
            "The eastern warehouse was not flooded by the storm of October.",
            ["The western warehouse was flooded by the storm of October.", "No water came into the eastern one."],
        ),
        (
            "Tickets for Monday may be returned until the evening without a fee.",
            ["Tickets for Sunday may not be returned until the evening without a fee.", "Monday has no fees."],
        ),
    ],
)
def test_what_is_said_of_another_thing_is_no_contradiction(answer, sources):
    """Where the answer names a thing of which another sentence tells, the same said of its neighbour denies nothing."""
    assert find_turned_sentence(answer, sources) is None
    ours, other = next(pair for pair in zip(answer.split(), sources[0].split(), strict=False) if pair[0] != pair[1])
    assert find_turned_sentence(answer.replace(ours, other), sources)


def test_a_question_of_yes_or_no_says_nothing():
    """Whoever asks whether it is so does not say so; who asks why does."""
    answer, source = "The museum was opened after the railway came.", "The museum was opened before the railway came."
    assert find_turned_sentence(answer, [source], question="Was the museum opened after the railway came?")
    assert not find_turned_sentence(answer, [source], question="Why was the museum opened after the railway came?")


@pytest.mark.parametrize(
    "source",
    [
        "Does the northern ferry run to the small island in winter?",
        "## The northern ferry runs to the small island in winter",
        "The northern ferry runs to the small island in winter:",
        "The mayor claimed the northern ferry runs to the small island in winter.",
        "“The northern ferry runs to the small island in winter”, he wrote.",
    ],
)
def test_what_is_no_statement_contradicts_nothing(source):
    """Questions, headings and what somebody else says are no source sentences."""
    answer = "The northern ferry does not run to the small island in winter."
    assert find_turned_sentence(answer, [source]) is None
    assert find_turned_sentence(answer, ["The northern ferry runs to the small island in winter."])


NOUNS = st.lists(
    st.sampled_from(["clerk", "tailor", "baker", "sailor", "barber", "plumber", "printer", "gardener"]),
    min_size=3,
    max_size=5,
    unique=True,
)
VERBS = st.sampled_from(["paint the gates", "carry lanterns", "mend wooden boats", "taste the soup", "polish brass"])
PLACES = st.sampled_from(["in the cellar", "near Aldham", "on market days", "by candle light"])
DENIED = ("do not", "don't", "never", "will not", "cannot", "failed to", "refused to", "no longer")


@given(NOUNS, VERBS, PLACES, st.sampled_from(DENIED), st.sampled_from(DENIED))
def test_a_negation_is_told_whatever_the_words(nouns, verb, place, denied, otherwise):
    """One negation more is a contradiction in both directions; the same negation in other words is none."""
    subject = " and ".join(f"{noun}s" for noun in nouns)
    plain, negative = f"The {subject} {verb} {place}.", f"The {subject} {denied} {verb} {place}."
    assert find_turned_sentence(negative, [plain]) == (negative, plain)
    assert find_turned_sentence(plain, [negative]) == (plain, negative)
    assert find_turned_sentence(f"The {subject} {otherwise} {verb} {place}.", [negative]) is None
    assert find_turned_sentence(negative, [negative]) is find_turned_sentence(plain, [plain]) is None


INSTRUCTIONS = st.sampled_from(["use", "take", "clean", "heat", "store", "refill", "open"])
THINGS = st.sampled_from(["Doralex", "the lantern", "the ferry card", "wooden boats", "the blue valve"])
CONDITIONS = st.sampled_from(["if you have a stomach ulcer", "when the lamp blinks green", "while the engine is hot"])


@given(INSTRUCTIONS, THINGS, CONDITIONS, st.sampled_from(["", "Yes, you can ", "You may "]))
def test_a_short_instruction_is_told(verb, thing, condition, opening):
    """An instruction of few words is turned round without its negation, and said again with another one is not."""
    source = f"Do not {verb} {thing} {condition}."
    allowed = f"{opening}{verb} {thing} {condition}."
    turned = allowed[:1].upper() + allowed[1:]
    assert find_turned_sentence(turned, [source]) == (turned, source)
    assert find_turned_sentence(f"Never {verb} {thing} {condition}.", [source]) is None
    assert find_turned_sentence(f"No, you must not {verb} {thing} {condition}.", [source]) is None


DEADLINES = st.sampled_from(
    [("You can {} within {}.", "You cannot {} after {}."), ("{} until {}.", "Never {} after {}.")]
)
ACTS = st.sampled_from(["cancel the order", "return the lantern", "change your wooden boats", "sublet the cabin"])
TIMES = st.sampled_from(["14 days", "three weeks", "the first winter", "half a year"])


@given(DEADLINES, ACTS, TIMES)
def test_what_ends_at_a_time_is_not_allowed_after_it(said, act, time_):
    """What can be done within a time and not after it says one thing; not within it says the opposite."""
    within, after = (each.format(act, time_) for each in said)
    assert find_turned_sentence(within, [after]) is find_turned_sentence(after, [within]) is None
    denied = f"You cannot {act} within {time_}."
    assert find_turned_sentence(f"You can {act} within {time_}.", [denied])


FRAMES = {
    "en": "The marlin of the quarry and the {} lantern by the orchard kept the ferry near the {} for the winter.",
    "de": "Der Marlin und die Laterne haben {} den Garten und die Mühle bei der {} mit dem Wagen gesehen.",
    "es": "El farol y la capilla del puerto {} los barcos del molino con la feria de la {} para el invierno.",
    "fr": "Le phare et la chapelle du port {} les bateaux du moulin avec la foire de la {} pour cet hiver.",
}


def list_opposites(language):
    """Return every pair of opposites whose words stand in no other pair."""
    lists = load_word_lists("opposites")[language]
    lines = [[side.split() for side in line.split(" | ")] for line in (*lists["exact"], *lists["stems"])]
    met = Counter(word for line in lines for side in line for word in set(side))
    return [(one, other) for ones, others in lines for one in ones for other in others if met[one] == met[other] == 1]


@pytest.mark.parametrize("language", FRAMES)
@given(st.data(), st.sampled_from(["Zorna", "Milde", "Quelle", "Tarn", "Salona"]))
@settings(max_examples=80)
def test_an_opposite_is_told_whatever_the_words(language, data, place):
    """A word in place of its opposite contradicts a sentence in either direction; the sentence itself does not."""
    one, other = data.draw(st.sampled_from(list_opposites(language)))
    said, turned = (FRAMES[language].format(word, place) for word in (one, other))
    found = [find_turned_sentence(said, [turned]), find_turned_sentence(turned, [said])]
    assert found == [(said, turned), (turned, said)]
    assert find_turned_sentence(said, [said]) is find_turned_sentence(said, [turned, said]) is None


@given(st.text(max_size=300), st.text(max_size=300))
def test_whatever_is_compared_is_judged(answer, source):
    """Any texts are judged, and a text never contradicts itself."""
    find_turned_sentence(answer, [source], question=answer[:50])
    assert find_turned_sentence(answer, [answer]) is None


@pytest.mark.parametrize(
    "hostile",
    [
        "not " * 25_000,
        "The mill is not old. " * 5_000,
        "“" * 100_000,
        "n't," * 25_000,
        " ".join(f"w{at % 37} x{at % 11} not y{at % 5} z{at % 3}." for at in range(5_000)),
        "mill river bridge harbour not before after may will " * 2_000,
    ],
)
def test_hostile_texts_take_linear_time(hostile):
    """A hundred thousand characters, whatever they are, are judged in seconds."""
    began = time.process_time()
    find_turned_sentence(hostile, [hostile], question=hostile[:20_000])
    assert time.process_time() - began < 10


@pytest.mark.parametrize("sign", ["(", "[1]", '"', "'", ",", "7,"])
def test_signs_are_read_once(sign):
    """Four times the signs in one sentence take about four times as long."""
    source = "The mill by the old river is not a bridge."
    assert_linear(lambda chars: find_turned_sentence(sign * (chars // len(sign)), [source]), 25_000, 100_000)


# Whole runs

SOURCE = "The enterprise plan includes phone support at night for all regions."
OPPOSITE = "The enterprise plan does not include phone support at night for all regions."
LISTS = {"allowed_sources_policy": SOURCES, "allowed_sources_execution": SOURCES}
CHUNK = {"doc_id": "a", "source": SOURCES[0], "text": SOURCE, "score": 0.9}


def turning(policy=None, budget=None, recorder=None):
    """Return a RAG agent whose answerer turns its source round."""
    return create_rag_agent(
        planner=lambda view: {"kind": "retrieve", "query": "enterprise phone support"},
        retriever=lambda request: [CHUNK],
        answerer=lambda view: {"answer": OPPOSITE, "citations": ["a"]},
        policy=policy or RagPolicy(**LISTS),
        budget=budget,
        recorder=recorder,
    )


def test_a_contradiction_stops_a_rag_run():
    """By default, with both sentences; a policy may switch it off, and a run may switch it on again."""
    result = turning().invoke(QUESTION)
    assert (result["stop_reason"], result["phase"]) == ("invalid_answer:contradicts_source", "generate")
    assert result["details"] == {"sentence": OPPOSITE, "source_sentence": SOURCE}
    off = turning(policy=RagPolicy(check_turned=False, **LISTS))
    assert off.invoke(QUESTION)["outcome"] == "grounded_answer"
    again = off.invoke(QUESTION, context={"policy": {"check_turned": True}})
    assert again["stop_reason"] == "invalid_answer:contradicts_source"


def test_a_contradiction_stops_a_research_run():
    """The answer is held against the quotes of the notes that it cites, not against the claims of a model."""
    said = {"answer": "The US payment gateway is not in P1 degraded mode.", "citations": ["n1"]}
    result = research(writer=lambda view: said)
    assert result["stop_reason"] == "invalid_answer:contradicts_source"
    assert result["details"]["source_sentence"] == "US payment gateway is in P1 degraded mode."
    assert research(policy=ResearchPolicy(check_turned=False), writer=lambda view: said)["status"] == "ok"


def test_the_check_is_judged_last():
    """After names and numbers: an answer that is wrong in several ways stops for the first."""
    chunk = {"question": "", "sources": [SOURCE]}
    assert stop_of(check_turned_sentences, OPPOSITE, **chunk).reason == "invalid_answer:contradicts_source"
    agent = create_rag_agent(
        planner=lambda view: {"kind": "retrieve", "query": "enterprise phone support"},
        retriever=lambda request: [CHUNK],
        answerer=lambda view: {"answer": f"{OPPOSITE} It is told by Initech.", "citations": ["a"]},
        policy=RagPolicy(**LISTS),
    )
    assert agent.invoke(QUESTION)["stop_reason"] == "invalid_answer:unsupported_name"


# Recordings


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("Ferries over 20 metres long are not allowed here.", "Ferries up to 20 metres long are allowed here."),
        (
            "Ferry line 4 no longer supports paper tickets at all.",
            "Support of paper tickets on ferry line 4 was dropped.",
        ),
        ("The load of the ferry must be no more than 9 tons.", "The load of the ferry must be between 2 and 9 tons."),
        ("The owner may open the safe in the office.", "Nobody but the owner may open the safe in the office."),
        (
            "Refunds are paid after the claim is checked by the office.",
            "Refunds are not paid before the claim is checked by the office.",
        ),
        ("Only members of the club can vote on the budget.", "Non-members of the club cannot vote on the budget."),
        ("Der Vertrag ist nach drei Monaten nicht kündbar.", "Der Vertrag ist innerhalb von drei Monaten kündbar."),
    ],
)
def test_what_is_said_otherwise_contradicts_nothing(answer, source):
    """A bound that is denied is its complement or a bound, and what was dropped is no longer there."""
    assert find_turned_sentence(answer, [source]) is None


def test_a_place_is_no_bound():
    """Above and below are opposites where no number follows."""
    source = "The two clubs stand below the relegation places in March."
    assert find_turned_sentence(source.replace("below", "above"), [source])


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("No, a plain scan doesn't block reads of the table.", "A plain scan does not block reads of the table."),
        ("Only charge the battery between 0 and 45 degrees.", "Do not charge the battery below 0 or above 45 degrees."),
        (
            "You may sublet a single cabin with consent, but never the whole boat.",
            "Subletting a cabin requires consent; whole boats may not be sublet.",
        ),
        ("No. The fee of the large ferry is waived in spring.", "The fee of the large ferry, waived in spring, is €9."),
    ],
)
def test_what_denies_nothing_beyond_its_source(answer, source):
    """A "No" that answers the question denies nothing, nor does a range its outside, nor "but never" what is denied."""
    assert find_turned_sentence(answer, [source]) is None
