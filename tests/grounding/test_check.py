"""The checker: what it says of each sentence of a text that is held against sources."""

from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.grounding.check import Checks, Source, check_text, decide
from guardgraph.grounding.marks import find_answer_sentences, mark_each_sentence, read_marks

SLA = Source("sla", "Uptime is 99.95 % monthly. P1 first response is 15 minutes, since 2018.", ("Support policy",))
PARIS = Source("paris", "The tower in Paris is 330 metres tall and was finished in 1889.")


def test_each_sentence_has_a_verdict():
    """A sentence is supported, says what no source has, or says another value than the source, which is told."""
    checked = check_text(
        "The tower in Paris was finished in 1889. It was P1 response in 20 minutes. Gustave built it.", [SLA, PARIS]
    )
    assert [sentence.verdict for sentence in checked.sentences] == ["supported", "contradicted", "unsupported"]
    assert [(found.rule, found.text, found.source, found.told) for found in checked.findings] == [
        ("value", "20 minutes", "sla", "15 minutes"),
        ("name", "Gustave", "", ""),
    ]
    assert [sentence.cover for sentence in checked.sentences] == [1.0, 0.75, 1.0]
    nearest = [[(each.source, each.share) for each in sentence.evidence] for sentence in checked.sentences]
    assert nearest == [[("paris", 1.0)], [("sla", 0.672)], []]
    told = checked.findings[0]
    assert SLA.text[told.source_start : told.source_end] == told.told
    assert checked.verdict == "contradicted"
    quoting = check_text("He said “It is up. It is down.” and left. He slept.", [SLA])
    assert [each.text for each in quoting.sentences] == ["He said “It is up. It is down.” and left.", "He slept."]


def test_question_turns_names_and_workings_support():
    """What the user said, known names and results of workings need no source."""
    assert check_text("You asked about 45 seats.", [SLA], question="Are 45 seats enough?").verdict != "unsupported"
    assert check_text("You asked about 45 seats.", [SLA], turns=["I have 45 seats"]).verdict != "unsupported"
    assert not check_text("Ask Acme.", [SLA], known_names=["Acme"]).findings
    said = "That is 30 minutes for two."
    found = check_text(said, [SLA], checks=Checks(cover=False)).findings
    assert [each.text for each in found if each.verdict != "unchecked"] == ["30 minutes"]
    assert not [f for f in check_text(said, [SLA], workings=["2 * 15 = 30"]).findings if f.rule == "value"]


def test_checks_may_be_switched_off():
    """Each rule can be switched off for itself, and labels of an application have to stand in a source."""
    text = "Gustave built 20 towers, and whales sing loudly at night."
    rules = {found.rule for found in check_text(text, [PARIS]).findings}
    assert rules == {"value", "name", "cover"}
    off = Checks(values=False, names=False, opposites=False, cover=False)
    assert not check_text(text, [PARIS], checks=off).findings
    labelled = off._replace(values=True, label_patterns=("SEV[0-5]", "eu-[a-z]+"))
    found = check_text("A SEV1 in eu-west.", [Source("a", "A SEV2 in eu-west")], checks=labelled).findings
    assert [each.text for each in found] == ["SEV1"]


@each_row(
    ("said", "told", "ways", "reason"),
    ("It takes 20 minutes.", "It takes 15 minutes.", ("stop", "mark"), "contradicts_source"),
    ("It takes 20 minutes.", "It is quick.", ("stop", "mark"), "unsupported_number"),
    ("It is Gustave.", "It is Bob.", ("stop", "mark"), "unsupported_name"),
    ("It is not safe.", "It is safe.", ("stop", "mark"), "doubtful"),
    ("It is not safe.", "It is safe.", ("stop", "ignore"), ""),
    ("It takes 20 minutes. It is not safe.", "It takes 15 minutes. It is safe.", ("mark", "stop"), "doubtful"),
    ("It takes 90 days. It is not safe.", "It takes 15 days. It is safe.", ("stop", "stop"), "contradicts_source"),
)
def test_what_is_decided_of_a_text_is_of_its_worst_sentence(said, told, ways, reason):
    """Of sentences that stop it, or else of those that are marked; it is marked where nothing stops it."""
    checked = check_text(said, [Source("s", told)])
    decision = decide(checked, on_unsupported=ways[0], on_doubt=ways[1])
    assert (decision.reason, decision.stops) == (reason, reason != "" and ways[reason == "doubtful"] == "stop")
    assert ("It is not safe." in decision.unsupported) == (reason == "doubtful")
    wrong = [each for each in checked.sentences if each.verdict != "supported"]
    assert [*decision.marked] == [each for each in wrong if ways[each.verdict == "doubtful"] == "mark"]


@each_row(
    ("answer", "text", "marks"),
    ("Up. [a] Down. [b, a]", "Up. Down.", [(3, ("a",)), (9, ("b", "a"))]),
    ("Up [a].", "Up.", [(2, ("a",))]),
    ("Up. [a] \nDown.", "Up.\nDown.", [(3, ("a",))]),
    ("Up[a]down.", "Up down.", [(2, ("a",))]),
    ("[a] Up.\n[b] Down. [a] [b]\n", "Up.\nDown.", [(0, ("a",)), (4, ("b",)), (9, ("a", "b"))]),
    ("See [it](b), [9] and [word].", "See [it](b), [9] and [word].", []),
)
def test_marks_are_taken_out_with_their_blanks(answer, text, marks):
    """What is no mark stays; an index of a source is a text of its own."""
    read = read_marks(answer, ["a", "b"], ["It has [9] and [word]."])
    assert read == (text, marks, [])
    assert read_marks("Up. [9] 【1†a】", ["a"], ["It has 9."])[2] == ["9", "【1†a】"]


SAID = st.sampled_from(["It is up.", "Ada said “yes. No.”", "Is it?", "See No. 5, e.g. [1]."])


@given(st.lists(st.lists(SAID, min_size=1, max_size=3).map(" ".join), max_size=3).map("\n\n".join))
def test_marks_that_are_written_are_read_again(text):
    """The text is the same, and there is a mark behind each sentence, though none inside a quote."""
    said, marks, unknown = read_marks(mark_each_sentence(text, "a"), ["a"], [])
    assert (said, {*unknown} <= {"1"}) == (text, True)
    assert marks == [(end, ("a",)) for _, end, *_ in find_answer_sentences(text)]


PRICES = "| plan | price | yearly price |\n|---|---|---|\n| Basic | 10 EUR | 100 EUR |\n| Pro | 20 EUR | 200 EUR |"


@each_row(
    ("said", "source", "rule", "verdict"),
    ("27 out of 100 people agree.", "Of all people 28 % agree.", "value", "unsupported"),
    ("Heat it to 350 °F.", "Heat it to 350.", "value", "unchecked"),
    ("Ask at https://evil-pages.com/a for more.", "Ask at the desk for more.", "link", "unsupported"),
    ("Click ![x](https://evil-pages.com/a.png) now.", "Click now.", "link", "unsupported"),
    ("Ask at evil-pages&#46;com for more. Go.", "Ask at the desk. Go.", "link", "unsupported"),
    ("Go. Ask at https://evil-pages.com/a for more.", "Ask at the desk. Go.", "link", "unsupported"),
    ("The price of Basic is 20 EUR.", PRICES, "value", "contradicted"),
    ("The yearly price of Pro is 100 EUR.", PRICES, "value", "contradicted"),
)
def test_a_finding_says_what_is_wrong(said, source, rule, verdict):
    """Shares, units left out, links, markup, other rows of a table: each in its place."""
    for right in ("Pro costs 20 EUR, and 200 EUR a year.", "Of Basic the yearly price is 100 EUR."):
        assert not check_text(right, [Source("s", PRICES)]).findings
    checked = check_text(said, [Source("s", source)])
    assert (rule, verdict) in {(each.rule, each.verdict) for each in checked.findings}, checked.findings
    for sentence in checked.sentences:
        places = [max(said.find(each.text), 0) for each in sentence.findings]
        assert [each.start for each in sentence.findings] == places
        assert all(sentence.start <= place < sentence.end for place in places)


@each_row(
    ("said", "cover"),
    ("Apples, bears and crows dance.", 0.75),
    ("Bears, crows and dogs dance.", 0.75),
    ("Apples, bears, crows and dogs dance.", 0.6),
    ("The Rome tower stays open daily.", 0.8),
)
def test_cover_is_of_three_sentences_and_what_they_are_about(said, cover):
    zoo = Source("zoo", "Apples grow. Bears sleep. Crows sing. Dogs run.")
    sources = [PARIS, zoo, Source("rome", "It is up. It is open daily.", ("Tower of Rome",))]
    assert check_text(said, sources).sentences[0].cover == cover


@each_row("sources", [], [Source("s", "")])
def test_without_sources_nothing_is_supported(sources):
    """Values and names have no source then, and a sentence without any is not checked."""
    said = "Mr Miller paid 45 EUR for Anna Smith. You should stop now. Hello, how may I help you?"
    checked = check_text(said, sources)
    assert [each.verdict for each in checked.sentences] == ["unsupported", "unchecked", "unchecked"]
    assert {each.text for each in checked.findings if each.rule == "name"} == {"Miller", "Anna", "Smith"}
