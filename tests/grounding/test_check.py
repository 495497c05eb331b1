"""The checker: what it says of each sentence of a text that is held against sources."""

import subprocess
import sys

from tables import each_row

from guardgraph.grounding.check import Checks, Source, check_text

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


def test_question_turns_names_and_workings_support():
    """What the user said, known names and results of workings need no source."""
    assert check_text("You asked about 45 seats.", [SLA], question="Are 45 seats enough?").verdict != "unsupported"
    assert check_text("You asked about 45 seats.", [SLA], turns=["I have 45 seats"]).verdict != "unsupported"
    assert not check_text("Ask Acme.", [SLA], known_names=["Acme"]).findings
    said = "That is 30 minutes for two."
    assert [
        found.text
        for found in check_text(said, [SLA], checks=Checks(cover=False)).findings
        if found.verdict != "unchecked"
    ] == ["30 minutes"]
    assert not [f for f in check_text(said, [SLA], workings=["2 * 15 = 30"]).findings if f.rule == "value"]


def test_checks_may_be_switched_off():
    """Each rule can be switched off for itself, and labels of an application have to stand in a source."""
    text = "Gustave built 20 towers, and whales sing loudly at night."
    rules = {found.rule for found in check_text(text, [PARIS]).findings}
    assert rules == {"value", "name", "cover"}
    off = Checks(values=False, names=False, opposites=False, cover=False)
    assert not check_text(text, [PARIS], checks=off).findings
    labelled = off._replace(label_patterns=("SEV[0-5]", "eu-[a-z]+"))
    assert [
        found.text
        for found in check_text("A SEV1 in eu-west.", [Source("a", "A SEV2 in eu-west")], checks=labelled).findings
    ] == ["SEV1"]


def test_no_framework_is_loaded():
    """Importing and calling the checker loads no LangGraph, LangChain or pydantic."""
    script = (
        "import sys\n"
        "from guardgraph.grounding.check import Source, check_text\n"
        "check_text('It took 5 km in 2020 [a](http://b.example).', [Source('a', 'It took 5 km.')])\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} "
        "& {'langgraph', 'langchain_core', 'langchain', 'pydantic'}))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


PRICES = "| plan | price | yearly price |\n|---|---|---|\n| Basic | 10 EUR | 100 EUR |\n| Pro | 20 EUR | 200 EUR |"


@each_row(
    ("said", "source", "rule", "verdict"),
    [
        ("The forecast for Wellesey is sunny.", "The forecast for Wellesley is sunny.", "name", "doubtful"),
        ("The forecast for Kendal is sunny.", "The forecast for Wellesley is sunny.", "name", "unsupported"),
        ("27 out of 100 people agree.", "Of all people 28 % agree.", "value", "unsupported"),
        ("Heat it to 350 °F.", "Heat it to 350.", "value", "unchecked"),
        ("Ask at https://evil-pages.com/a for more.", "Ask at the desk for more.", "link", "unsupported"),
        ("Click ![x](https://evil-pages.com/a.png) now.", "Click now.", "link", "unsupported"),
        ("The price of Basic is 20 EUR.", PRICES, "value", "contradicted"),
        ("The yearly price of Pro is 100 EUR.", PRICES, "value", "contradicted"),
        ("The medicine is safe for children.", "The medicine is not safe for children.", "opposite", "doubtful"),
        ("Smoking is permitted.", "Smoking is prohibited.", "opposite", "doubtful"),
    ],
)
def test_a_finding_says_what_is_wrong(said, source, rule, verdict):
    """Misspelt names, shares, left out units, links, markup, other rows, short denials: each where it stands."""
    found = check_text(said, [Source("s", source)]).findings
    assert (rule, verdict) in {(each.rule, each.verdict) for each in found}, found
    assert all(said[each.start : each.end] for each in found)


@each_row("said", ["Pro costs 20 EUR, and 200 EUR a year.", "Of Basic the yearly price is 100 EUR."])
def test_a_value_of_its_own_row_is_right(said):
    """A table contradicts nothing that stands in the row which a sentence names."""
    assert not check_text(said, [Source("s", PRICES)]).findings


@each_row("sources", [[], [Source("s", "")]])
def test_without_sources_nothing_is_supported(sources):
    """Values and names have no source then, and a sentence without any is not checked."""
    said = "Mr Miller paid 45 EUR for Anna Smith. You should stop now. Hello, how may I help you?"
    assert [each.verdict for each in check_text(said, sources).sentences] == ["unsupported", "unchecked", "unchecked"]
