"""Which names of an answer nothing supports: what a name is, what supports it, and where nothing is checked."""

from __future__ import annotations

import pytest
from docs_parts import ROOT
from guard_cases import stop_of
from rag_agents import ANSWER, QUESTION, SOURCES, agent
from research_cases import research

from guardgraph import ConfigurationError, RagPolicy, ResearchPolicy, create_rag_agent
from guardgraph.guards import rag
from guardgraph.guards.names import find_unsupported_names

TEXT = "The mill in Aldham was built by Ann Lee for the Northern Grain Board, and a ferry goes there."
CHUNK = {"doc_id": "a", "source": "river_guide", "title": "Mills of Essex", "section": "Quendon", "updated_at": ""}


def found(answer, text=TEXT, **texts):
    """Return the names of an answer that nothing supports."""
    return find_unsupported_names(answer, cited=[text], **texts)


# What a name is


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("It was built by Bob Ray.", ["Bob", "Ray"]),
        ("It was built by the CIA.", ["CIA"]),
        ("It is run on an iPhone.", ["iPhone"]),
        ("It is in Aldham, Kent.", ["Kent"]),
        ("Kent has it.", ["Kent"]),
        ("It is there. Kent has it.", ["Kent"]),
        ("It is there.\nKent has it, and it is so.", ["Kent"]),
        ("Places:\n- Kent has it\n* Essex too\n1. Sussex\n2) Dorset", ["Dorset", "Essex", "Kent", "Sussex"]),
        ("“Kent has it.”", ["Kent"]),
        ("| Kent | Sussex |", ["Kent", "Sussex"]),
        ("It was built by Ann and by Ann-Marie O'Connor.", ["Connor", "Marie", "O"]),
        ("The Kent mill and a Kent ferry.", ["Kent"]),
        ("the **Kent** mill", ["Kent"]),
        ("See “the Kent mill”.", ["Kent"]),
        ("мельница в Москве", ["Москве"]),
    ],
)
def test_a_name_is_refused(answer, names):
    """A capitalised word inside a sentence and an acronym are names, shown as written, each once and sorted."""
    text = "Мельница стоит в Рязани." if answer.startswith("м") else TEXT
    assert found(answer, text) == names


@pytest.mark.parametrize(
    "answer",
    [
        "Brown has it.",
        "It is there. Brown has it.",
        "It is there! Brown has it? Surely.",
        "It is there.\nBrown has it",
        "It is there.[1] Brown has it. [2] Mark has it.",
        "Places:\n- Brown has it\n* Mark too\n1. Rose\n2) Hunter\n(a) Baker",
        "**Brown:** it is there",
        "| Brown | Mark |",
        "“Brown has it.”",
        "Where? “Brown has it.”",
        "it is there. ¿Brown?",
        "It was built by Mr and Mrs Lee, Dr. Lee, Prof. Lee and President Lee.",
        "It was built in May, on a Monday, or in December.",
        "It takes 512 MB and 3 kWh, costs EUR 20 or 20 USD, and opens at 3 PM UTC.",
        "It stands at 20 degrees Celsius.",
        "The Ferry goes there, and the Mill.",
        "It was built under Lee II and Lee XIV.",
        "It has a P2 and a B2B version 3.",
        "nothing here is a name at all",
        "",
    ],
)
def test_what_is_no_name(answer):
    """First words, titles, months, weekdays, numerals and words that the text has in lower case are no names."""
    assert found(answer) == []


def test_a_word_of_any_text_that_was_read_is_no_name():
    """What another packed chunk has in lower case is a word, though the answer does not cite that chunk."""
    answer = "It is the Grinder of the mill."
    assert found(answer) == ["Grinder"]
    assert found(answer, read=["A grinder is somebody who grinds."]) == []
    assert found(answer, read=["The Grinder is somebody who grinds."]) == ["Grinder"]


# What supports a name


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("It is in ALDHAM.", "It is in Aldham."),
        ("It is in Bogota.", "It is in Bogotá."),
        ("It is in Łódź.", "It is in Lodz."),
        ("It is Lee's mill.", "It is the mill of Lee."),
        ("It is the Lees’ mill.", "It is the mill of Lee."),
        ("It is a mill of the U.S.", "It is a US mill."),
        ("It is one of the SLAs.", "It is an SLA."),
        ("It is the Mac-Donald mill.", "It is the MacDonald mill."),
        ("It is the Face Book page.", "It is the Facebook page."),
        ("It is the Facebook page.", "It is the Face Book page."),
        ("It is on a JavaScript page.", "It is on a Java Script page."),
        ("It is a Russian mill.", "It is a mill in Russia."),
        ("Он родился у Ивана.", "Иван родился здесь."),
        ("Она живёт в Риме.", "Она видела Рим."),
        ("It is in the United States.", "It is in the USA."),
        ("It is in the USA.", "It is an American mill."),
        ("It is a British mill.", "It is in the UK."),
        ("It is in the United Kingdom.", "It is a mill, British and old."),
        ("It is a Dutch mill.", "It is in the Netherlands."),
        ("Está en Estados Unidos.", "Es un molino estadounidense."),
        ("Está en Estados Unidos.", "Es un molino de EE. UU. y nada más."),
        ("Está en EE. UU. y nada más.", "Es un molino de los Estados Unidos."),
        ("Мельница в Соединенных Штатах.", "Это американская мельница."),
        ("It is run by NASA.", "It is run by the National Aeronautics and Space Administration."),
        ("It is run by the DoD.", "It is run by the Department of Defense."),
        ("It is in the SLA.", "It is in the service level agreement."),
        ("It is run by the World Health Organization.", "It is run by the WHO."),
        ("It is run by the Department of Defense.", "It is run by the DoD."),
        ("It was built by J. K. Rowling.", "It was built by Joanne Kathleen Rowling."),
        ("It was built by Joanne Rowling.", "It was built by J. K. Rowling."),
        ("It was built by John F. Kennedy.", "It was built by John Fitzgerald Kennedy."),
    ],
)
def test_a_name_said_otherwise(answer, text):
    """A name is supported by other forms, joined or split letters, initials, and other names of a territory."""
    assert found(answer, text) == []


@pytest.mark.parametrize(
    ("answer", "text", "names"),
    [
        ("It is in the United States.", "It is in the United Kingdom.", ["States"]),
        ("It is a French mill.", "It is in Spain.", ["French"]),
        ("It is an American mill.", "It is an English mill.", ["American"]),
        ("It is run by the FBI.", "It is run by the National Aeronautics and Space Administration.", ["FBI"]),
        ("It is run by the World Trade Board.", "It is run by the WHO.", ["Board", "Trade", "World"]),
        ("It was built by Robert Rowling.", "It was built by J. K. Rowling.", ["Robert"]),
        ("It was built by Acme Mills.", "It was built by a company. It was a mill.", ["Acme"]),
        ("Она живёт в Риме.", "Она видела Рязань.", ["Риме"]),
    ],
)
def test_another_name(answer, text, names):
    """Another territory, other initials and another given name are not supported."""
    assert found(answer, text) == names


FRAMED = [
    "According to Document 1, the mill was built by Ann Lee.",
    "According to the Sources, a ferry goes there.",
    "**Travel Time:** a ferry goes there.",
    "## Building And Running Costs\n\nThe mill was built by Ann Lee.",
    "Please note: There is a ferry.",
    "In Summary: The mill was built by Ann Lee.",
    "1. **Main Owner**: Ann Lee",
    "The mill is in the NORTH, and it is NOT in the UK. It is shown on TV.",
    "The ferry goes South, to Southern Aldham.",
    "It Is The mill In Aldham.",
    "It is below 20 °C and above 60 °F there.",
]


@pytest.mark.parametrize("answer", FRAMED)
def test_a_frame_is_no_name(answer):
    """Words of a frame, a heading, a label and of grammar, the compass and everyday acronyms are no names."""
    assert found(answer) == []


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("According to Reuters, the mill was built by Ann Lee.", ["Reuters"]),
        ("**Albert Einstein:** the mill was built by Ann Lee.", ["Albert", "Einstein"]),
        ("According to the WHO, a ferry goes there.", ["WHO"]),
        ("Source: Zagat. A ferry goes there.", ["Zagat"]),
        ("A ferry goes there (Source: Wikipedia).", ["Wikipedia"]),
        ("Initech built the mill.", ["Initech"]),
        ("- Initech built the mill\n- Zeno built the ferry", ["Initech", "Zeno"]),
    ],
)
def test_what_a_frame_names_is_a_name(answer, names):
    """Who is said to have said it, and who opens a sentence, must stand in the sources."""
    assert found(answer) == names


@pytest.mark.parametrize(
    ("answer", "text", "names"),
    [
        ("It was built by Johnson.", "It was built by Johnston.", ["Johnson"]),
        ("It is in Austria.", "It is in Australia.", ["Austria"]),
        ("It was built by Martina.", "It was built by Martin.", ["Martina"]),
        ("It is a Victorian mill.", "It was built under Victoria.", []),
        ("It is a Marxist mill.", "It was built by Marx.", []),
        ("It was built by the Liberal Democrats.", "It was built by the Lib Dems.", []),
        ("It was built by the Lib Dems.", "It was built by the Liberal Democrats.", []),
        ("It was built by Robert Johnson.", "It was built by Robin Johnston.", ["Johnson", "Robert"]),
    ],
)
def test_a_name_with_another_ending(answer, text, names):
    """A form of a name ends as its language lets it; names that begin alike are two names."""
    assert found(answer, text) == names


def test_what_supports_a_name_in_an_answer():
    """Text, title, section and source of a cited chunk do, the question and known names; another chunk does not."""
    cited, other = {**CHUNK, "text": TEXT, "score": 1.0}, {**CHUNK, "text": "It is run by Zeno.", "score": 1.0}
    answer = "It is in Aldham, Essex, by Quendon, in the River Guide, says Orson of Initech."
    given = {"question": "What did Orson say?", "chunks": [cited], "packed": [cited, other]}
    assert rag.check_cited_names(answer, **given, known_names=["Initech"]) is None
    assert stop_of(rag.check_cited_names, answer, **given).evidence == {"unsupported": ["Initech"]}
    assert stop_of(rag.check_cited_names, "It is run by Zeno.", **given).reason == "invalid_answer:unsupported_name"


@pytest.mark.parametrize(
    ("territory", "adjective"),
    [
        ("Portugal", "Portuguese"),
        ("Scotland", "Scottish"),
        ("Wales", "Welsh"),
        ("Turkey", "Turkish"),
        ("Peru", "Peruvian"),
    ],
)
def test_a_territory_and_its_adjective(territory, adjective):
    """Each of them stands for the other, and for no neighbour."""
    from_there, own = f"The pilot is from {territory} and lives there.", f"The pilot is {adjective} and lives there."
    assert found(from_there, own) == found(own, from_there) == []
    assert found(from_there, "The pilot is Spanish and lives there.") == [territory]


def test_a_realm_of_a_named_ruler():
    """Who names the Byzantine Emperor names the Byzantine Empire, and no other one."""
    text = "The mill was given to the Byzantine Emperor, who met a Frankish King there."
    assert found("It came to the Byzantine Empire.", text) == []
    assert found("It came to the Frankish Kingdom.", text) == []
    assert found("It came to the Frankish Empire.", text) == ["Empire"]


def test_a_sentence_begins_behind_a_single_digit():
    """Behind a digit and a full stop a sentence begins: the digit is no initial of a name."""
    assert found("It costs £8. Nurses pay 5. Pupils pay 3.", "It costs £8, for nurses 5 and for pupils 3.") == []
    assert found("It was built by J. Zeno.", "It was built by J. Lee.") == ["Zeno"]


# What is not checked


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Das ist die Mühle von Herrn Schmidt in der Stadt.", "Die Mühle steht in der Stadt und ist sehr alt."),
        ("这家公司由 Bob Ray 创立。", "这家公司由安·李创立。"),
        ("इसे Bob Ray ने बनाया था।", "इसे ऐन ली ने बनाया था।"),
        ("El molino fue construido por Bob Ray en la ciudad.", TEXT),
        ("The mill was built by Bob Ray for the board.", "El molino fue construido por Ana en la ciudad."),
    ],
)
def test_what_is_not_checked(answer, text):
    """German answers, those in scripts without capitals, and those in another language than their sources pass."""
    assert found(answer, text) == []


def test_names_alone_tell_no_language():
    """An answer of names is checked, in whatever language its names are."""
    assert found("Juan García y Pedro", "El molino fue construido por Ana en la ciudad.") == ["García", "Pedro"]
    assert found("ACME, Jean Dupont", TEXT) == ["Dupont", "Jean"]


@pytest.mark.parametrize("piece", ["A. ", "A.", "EE. UU. ", "Ab", "á̧", "A.) ", "Abc def ", "a's ", "A|", "**A", "AB "])
def test_a_hostile_answer_gets_a_verdict(piece):
    """Twenty thousand characters of anything are judged, as an answer and as a source."""
    long = piece * (20_000 // len(piece))
    assert isinstance(find_unsupported_names(f"It is Xerxes {long}", cited=[TEXT], read=[TEXT]), list)
    assert find_unsupported_names("It is Qzu Vwx", cited=[long, TEXT], read=[long]) == ["Qzu", "Vwx"]


# In runs

LISTS = {"allowed_sources_policy": SOURCES, "allowed_sources_execution": SOURCES}
INVENTED = {**ANSWER, "answer": "The uptime is promised by Initech and the SLA."}


def test_a_made_up_name_stops_a_rag_run():
    """An answer whose name no cited document has stops, after its numbers were judged, with the name as evidence."""
    result = agent(answer=INVENTED).invoke(QUESTION)
    assert (result["stop_reason"], result["phase"]) == ("invalid_answer:unsupported_name", "generate")
    assert result["unsupported"] == ["Initech"]
    both = agent(answer={**INVENTED, "answer": "Initech says 77 days, says Initech."}).invoke(QUESTION)
    assert both["stop_reason"] == "invalid_answer:unsupported_number"


def test_a_known_name_passes_a_rag_run():
    """A policy can name what any answer may say, or switch the check off; a run may only take both back."""
    known = agent(answer=INVENTED, policy=RagPolicy(known_names=["Initech"], **LISTS))
    off = agent(answer=INVENTED, policy=RagPolicy(check_names=False, **LISTS))
    assert known.invoke(QUESTION)["outcome"] == off.invoke(QUESTION)["outcome"] == "grounded_answer"
    for graph, policy in (
        (known, {"known_names": []}),
        (off, {"check_names": True}),
        (agent(answer=INVENTED), {"known_names": ["Initech"], "check_names": False}),
    ):
        result = graph.invoke(QUESTION, context={"policy": policy})
        assert result["stop_reason"] == "invalid_answer:unsupported_name"


@pytest.mark.parametrize("given", ["Initech", [1], None])
def test_known_names_are_a_list(given):
    """Anything but a list of strings is refused where it is given."""
    with pytest.raises((ConfigurationError, ValueError), match="a list of strings is required"):
        RagPolicy(known_names=given)


def test_a_made_up_name_stops_a_research_run():
    """Names of an answer stand in claim, quote, title or URL of the notes that it cites, or in the question."""
    invented = {"answer": "The cause was found by Initech.", "citations": ["n1"]}
    result = research(writer=lambda view: invented)
    assert (result["stop_reason"], result["unsupported"]) == ("invalid_answer:unsupported_name", ["Initech"])
    for policy in (ResearchPolicy(check_names=False), ResearchPolicy(known_names=["Initech"])):
        assert research(policy=policy, writer=lambda view: invented)["status"] == "ok"
    asked = {"answer": "It was asked about the US, and Official Status Example says so.", "citations": ["n1"]}
    assert research(writer=lambda view: asked)["status"] == "ok"


def test_offline_answers_over_the_docs_pass():
    """The offline answerer says nothing about these pages that the check of names refuses."""
    graph = create_rag_agent(knowledge_base=ROOT / "docs")
    lines = [line for page in (ROOT / "docs").glob("*.md") for line in page.read_text(encoding="utf-8").splitlines()]
    headings = {line.strip("# ") for line in lines if line.startswith("#")}
    asked = [f"How does {heading} work?" for heading in sorted(headings)][:60]
    results = [graph.invoke({"question": question}) for question in asked]
    assert [result.get("unsupported") for result in results] == [None] * len(asked)


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("Choose your identity provider (IdP). The IdP signs it.", []),
        ("We support OpenID Connect (OIDC) today.", []),
        ("It runs GHA today.", []),
        ("In short, the TL;DR: choose it.", []),
        ("Choose your identity provider (Okta) today.", ["Okta"]),
        ("Choose your identity provider (IDX) today.", ["IDX"]),
        ("Choose it. The IdP signs it.", []),
        ("It runs GHX today.", ["GHX"]),
    ],
)
def test_a_short_form_is_supported_by_what_it_stands_for(answer, names):
    """Where the answer defines it behind its own words, or a source's capitals make it up; no other is."""
    assert found(answer, "Choose your identity provider for OpenID Connect, and run it by GitHub Actions.") == names


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("Requests are approved in Zendesk.", ["Zendesk"]),
        ("Data are stored in Frankfurt.", ["Frankfurt"]),
        ("It is open until 6 p.m. Visitors are welcome.", []),
        ("It is open until 6 p.m. Zendesk is too.", ["Zendesk"]),
    ],
)
def test_names_of_a_few_words(answer, names):
    """A few words of English that another language has too are English beside an English source."""
    assert found(answer, "Requests are stored by the manager, and it is open for those who want to visit it.") == names
