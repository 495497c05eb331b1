"""The RAG agent's offline rules: they ask for what a run takes, answer in words of the sources, are never stopped."""

from __future__ import annotations

import re
from functools import cache
from textwrap import fill

import pytest
from docs_parts import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from rag_agents import CANDIDATE, INTENT, POLICY
from runs import check_result

from guardgraph import LexicalRetriever, RagBudget, create_rag_agent, load_folder
from guardgraph.nodes.offline.rag import plan_offline_retrieval, write_offline_answer
from guardgraph.state.rag import RAG_REASONS
from guardgraph.testing import scripted_tool


def chunks(*texts, **fields):
    """Return texts as chunks of a context."""
    return [
        {"doc_id": f"d{place}", "title": "", "section": "", "updated_at": "2026-01-15", "text": text, **fields}
        for place, text in enumerate(texts)
    ]


def said(question, *texts, **fields):
    """Return what the offline answerer answers from these texts."""
    return write_offline_answer({"question": question, "context_chunks": chunks(*texts, **fields)})


FOUND = []
"""What the retriever of the next run finds."""


@cache
def agent():
    """Return the agent, which is the same whatever it finds."""
    return create_rag_agent(retriever=lambda request: [*FOUND], policy=POLICY)


def ask(question, *texts):
    """Run the agent over these texts, found by the retriever in this order."""
    FOUND[:] = [{**CANDIDATE, "doc_id": f"d{place}", "text": text} for place, text in enumerate(texts)]
    return check_result(RAG_REASONS, agent().invoke({"question": question}))


# The query


def test_the_query_is_the_question():
    """A question that fits is the query, with every word that it repeats; what it names is spelled as there."""
    question = "Does  P1 mean P1,\nor is P1 a\tSEV1?"
    assert plan_offline_retrieval({"question": question, "available_sources": []}) == {
        "kind": "retrieve",
        "query": "Does P1 mean P1, or is P1 a SEV1?",
    }


def test_a_question_that_repeats_a_word_says_so():
    """Words that a long question repeats stay repeated in the query."""
    question = f"What is the {'uptime of the uptime for ' * 40}Enterprise?"
    query = plan_offline_retrieval({"question": question, "available_sources": []})["query"]
    assert query.split() == ["uptime"] * len(query.split())
    assert 230 < len(query) <= 240


@pytest.mark.parametrize(
    ("budget", "top_k"),
    [
        ({}, 6),
        ({"max_context_chunks": 3}, 3),
        ({"max_top_k": 2}, 2),
        ({"max_context_chunks": 9}, 6),
        ({"max_context_chunks": 0}, 1),
    ],
)
@pytest.mark.parametrize("by", ["deployment", "context"])
def test_it_asks_for_what_the_context_takes(budget, top_k, by):
    """Top_k is what the run's context takes, whether the deployment or the run's context limits it."""
    retriever = scripted_tool([], loop=True)
    limits = RagBudget(**budget) if by == "deployment" else None
    graph = create_rag_agent(retriever=retriever, policy=POLICY, budget=limits)
    tighter = {"budget": budget} if by == "context" else None
    check_result(RAG_REASONS, graph.invoke({"question": "What is P1?"}, context=tighter))
    assert retriever.calls[0]["top_k"] == top_k


def test_a_tighter_query_limit_is_kept():
    """A run's own max_query_chars never stops the offline planner."""
    graph = create_rag_agent()
    result = graph.invoke(
        {"question": "What is the first response target?"}, context={"budget": {"max_query_chars": 20}}
    )
    assert result["trace"][0]["query"] == "first response"


def test_a_model_and_a_function_see_no_limits():
    """Only the offline rules are shown the run's limits; a planner of a user's own sees what it always saw."""
    planner = scripted_tool(INTENT)
    create_rag_agent(planner=planner).invoke({"question": "What is P1?"})
    assert planner.calls[0].keys() == {"question", "available_sources"}


# The answer


def test_the_sentence_with_the_number():
    """A question for a time is answered by the sentence that has one, though another has as many of its words."""
    texts = ("P1 tickets are responded to by the desk.", "For P1 we respond within 15 minutes, 24/7.")
    for question in ("How fast do you respond to P1?", "When do you respond to P1?"):
        proposed = said(question, *texts)
        assert (proposed["answer"], proposed["citations"]) == (texts[1], ["d1"])
    assert said("Who do P1 tickets go to?", *texts)["citations"] == ["d0"]


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("¿Cuánto tarda la respuesta?", "La respuesta es gratuita. La respuesta tarda 15 minutos.", "15 minutos"),
        ("Wie lange dauert die Antwort?", "Die Antwort kommt per Mail. Die Antwort dauert 15 Minuten.", "15 Minuten"),
        ("Combien coûte la réponse ?", "La réponse est claire. La réponse coûte 15 euros.", "15 euros"),
        ("Скільки триває відповідь?", "Відповідь безкоштовна. Відповідь триває 15 хвилин.", "15 хвилин"),
        ("Сколько длится ответ?", "Ответ бесплатный. Ответ длится 15 минут.", "15 минут"),
        ("How long is a reply?", "A reply is free. A reply takes 15 minutes.", "15 minutes"),
    ],
)
def test_answers_in_the_language_of_the_sources(question, text, expected):
    """The answer is a sentence of the sources, word for word, the one with the number asked for."""
    result = ask(question, text)
    assert result["outcome"] == "grounded_answer"
    assert expected in result["answer"]
    assert result["answer"] in text


def test_rare_words_weigh_more_than_frequent_ones():
    """The sentence with the one word that hardly any has is better than one with a word that most have."""
    text = f"{'The plan is billed monthly. The plan has seats. ' * 4}The desk is open."
    proposed = said("Which plan and desk have an audit?", text, "An audit of it is possible.")
    assert proposed["answer"] == "The desk is open. An audit of it is possible."


def test_words_above_a_sentence_count():
    """Of two equal sentences the one under the section that the question names is taken."""
    first, second = chunks("Support answers in 1 hour.", "Support answers in 15 minutes.")
    view = {"context_chunks": [{**first, "section": "Standard"}, {**second, "section": "Enterprise"}]}
    assert write_offline_answer({"question": "When does Enterprise support answer?", **view})["citations"] == ["d1"]


def test_a_question_in_the_sources_is_no_answer():
    """A sentence that asks is passed over; the one behind it answers, even if it repeats no word of the question."""
    text = "How do I reset the password? Open the settings page and press Forgot. What is SSO? One login for all."
    assert said("How do I reset the password?", text)["answer"] == "Open the settings page and press Forgot."
    proposed = said("How do I reset my password in the settings?", text)
    assert proposed["answer"] == "Open the settings page and press Forgot."
    stressed = "**Q: Can I return shoes?**\n\nA: Shoes are returned within 14 days."
    assert said("Can I return shoes?", stressed)["answer"] == "A: Shoes are returned within 14 days."


def test_lines_broken_to_a_width():
    """A sentence whose lines were broken to a width is one sentence."""
    text = "Our support desk for the\nEnterprise plan answers within\n15 minutes. Others wait."
    assert said("When does the support desk answer?", text)["answer"] == (
        "Our support desk for the Enterprise plan answers within 15 minutes."
    )


def test_a_row_of_a_table():
    """A table's head is no answer; each row is said with it, and rows that answer as well stand beside each other."""
    table = "| Priority | First response |\n| --- | --- |\n| P1 | 15 minutes |\n| P2 | 1 hour |"
    result = ask("What is the first response time for P1?", table)
    assert result["answer"] == "Priority: P1; First response: 15 minutes"
    assert said("What is the first response?", table)["answer"] == (
        "Priority: P1; First response: 15 minutes\nPriority: P2; First response: 1 hour"
    )


def test_list_markers_are_left_out():
    """The number of a list item is no part of the answer, and does not stop it."""
    result = ask("How do I close the valve?", "Steps:\n1. Open the hatch.\n2. Close the valve.\n3. Call us.")
    assert (result["outcome"], result["answer"]) == ("grounded_answer", "Close the valve.")


@pytest.mark.parametrize("question", ["Who painted the ceiling?", "?", "Кто нарисовал потолок?", "谁画的天花板"])
def test_it_abstains(question):
    """Where no sentence of the context covers the question, the answerer says so."""
    assert said(question, "Uptime is 99.95 %.", "P1 is answered in 15 minutes.") == {
        "answer": "",
        "citations": [],
        "insufficient": True,
    }
    assert said("What is P1?") == {"answer": "", "citations": [], "insufficient": True}


WORDS = [
    *("uptime", "the", "for", "version 3.2", "99.95 %", "1,200 seats", "12h30", "$15", "P1", "INC-204", "(4)", "[3]"),
    *("March 6, 2026", "1990s", "10-15", "two thirds", "the 2nd", "24/7", "half an hour", "Section 3", "v2", "950hp"),
    *("Dr. Anna Kowalska", "the EU", "SLA", "World War II", "iPhone 12", "U.S. teams", "Quarter 2", "step 2.", "No. 7"),
    *("am 3. Mai", "1.600", "3,4 Millionen", "五百个", "в марте", "Ὀδυσσεύς", "e.g. Paris", "and", "at noon", "12:30"),
]
FORMS = [
    "{}.",
    "- {}",
    "2. {}.",
    "{}",
    "## {}",
    "| {} | 15 |",
    "> {}!",
    "(1) {}",
    "{}:",
    "{}?",
    "**{}** 5 %.",
    "{}。",
    "10. {}",
]
LINES = st.tuples(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9), st.sampled_from(FORMS)).map(
    lambda made: made[1].format(" ".join(made[0]))
)
TEXTS = st.tuples(
    st.lists(LINES, min_size=1, max_size=8), st.integers(20, 90), st.sampled_from(["\n", "\n\n", " "])
).map(lambda made: made[2].join(fill(line, made[1]) for line in made[0]))


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4), st.lists(st.sampled_from(WORDS), min_size=1, max_size=5))
def test_it_is_never_stopped(texts, asked):
    """Whatever the chunks say and whatever is asked, the offline agent answers or clarifies."""
    result = ask(f"What is {' '.join(asked)}?", *texts)
    assert result["status"] == "ok", (result["stop_reason"], result.get("unsupported"))
    assert result["outcome"] == "clarify" or set(result["citations"]) <= {f"d{place}" for place in range(len(texts))}


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), st.sampled_from(FORMS), st.lists(LINES, max_size=4))
def test_what_is_asked_for_is_found(words, form, others):
    """The one line that has the word asked for is answered with, whatever facts and names stand in it and around.

    A line that ends with a colon only leads to others, and one that ends with "the" is cut off.
    """
    line = form.replace("?", ".").rstrip(":").format(" ".join(["Needles", *words, "haystack"]))
    result = ask("Where are the needles?", "\n\n".join([*others, line, *others]))
    assert "Needles" in result["answer"]


@pytest.mark.parametrize("piece", ["P1 ", "P1. ", "P1\n", "1. P1\n", "。", "x", "P1? ", "P1: "])
def test_hostile_chunks(piece):
    """A context full of anything is answered from in time."""
    result = ask("What is P1?", piece * (8000 // len(piece)))
    assert result["status"] == "ok"


FRAGMENTS = [
    "To install acme, use one of:",
    "The acme package has the following dependencies...",
    "Please install acme, update the",
    "Install acme, then",
    ".. acme:: install",
    "[acme]: https://acme.io/install",
    "[Install acme](https://acme.io/install)",
    "![Install acme](https://acme.io/a.png)",
    "```python\nimport acme  # install\n```",
    ">>> import acme.install",
    "$ acme install",
]


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_what_is_no_sentence_is_no_answer(fragment):
    """A lead-in, a cut line, a directive, a link or code alone: the agent clarifies, or takes a sentence beside."""
    assert said("How do I install acme?", fragment).get("insufficient")
    sentence = "The wheel of acme is installed by hand."
    assert said("How do I install acme?", f"{fragment}\n\n{sentence}")["answer"] == sentence


@pytest.mark.parametrize(
    "led",
    ["```shell\n$ pip install acme\n```", "- Open the hatch.\n- Close the valve.", ">>> import acme\n>>> acme.go()"],
)
def test_a_lead_in_brings_the_whole_of_what_it_leads_to(led):
    """A list or code follows the words that introduce it, all of it."""
    assert said("How do I install acme?", f"Install acme as follows:\n\n{led}\n\nIt is quick.")["answer"] == (
        f"Install acme as follows:\n{led}"
    )
    assert said("How do I install acme?", f"Install acme as follows:\n\n{led.ljust(700, chr(46))}").get("insufficient")


OPTIONS = """--keep=<days>

Keep entries of the journal for as many days. Some tools read them. The default value is 90.

--purge

Remove entries of the journal at once.
"""


def test_a_paragraph_under_a_term_is_answered_with_the_term():
    """An option, a setting or a word that a manual explains stands before what is said of it."""
    assert said("How is the journal removed at once?", OPTIONS)["answer"] == (
        "--purge: Remove entries of the journal at once."
    )
    assert said("Which option removes the journal?", OPTIONS)["answer"].startswith("--purge: Remove")


def test_what_is_indented_under_a_term_is_said_with_it():
    """In a manual a number over lines that are indented more is what they explain."""
    manual = "EXIT STATUS\n   2\n       System should be rebooted\n\n   4\n       Errors were left uncorrected.\n"
    assert said("What does exit status 4 mean?", manual)["answer"] == "4: Errors were left uncorrected."


def test_a_default_is_found_where_the_next_sentences_say_it():
    """What is asked for may stand two sentences behind the words of the question; it is said with what is between."""
    answer = said("What is the default of keep for entries of the journal?", OPTIONS)["answer"]
    assert "--keep=<days>" in answer
    assert answer.endswith("The default value is 90.")


def test_the_heading_is_said_where_it_is_the_term_asked_for():
    """*Which hook* is answered with the heading of one word, which its text does not repeat."""
    text = "It is invoked before a message is committed, and can reject the message."
    answer = said("Which hook can reject a message?", text, section="Hooks > check-msg")["answer"]
    assert answer == f"check-msg: {text}"
    assert said("Can a hook reject a message?", text, section="Hooks > check-msg")["answer"] == text


def test_a_term_with_a_colon_is_said_with_what_it_means():
    """In a list of definitions a few words with a colon are the term, and a line of code is none."""
    text = "The numbers are in classes:\n\n0-99:\n\nAllocated by the project, the same everywhere."
    answer = said("Which numbers are allocated by the project?", text)["answer"]
    assert answer == "0-99: Allocated by the project, the same everywhere."
    code = "app.add(30.0, test.s('world'), expires=10)\n\nCalls the test every 30 seconds."
    assert said("What calls the test?", code)["answer"] == "Calls the test every 30 seconds."


def test_a_long_list_is_said_by_the_beginning_of_each_item():
    """Items of several sentences are one item each; of a list too long to be read the first sentences are left."""
    items = [f"- {name}. A value of this kind is {'stored and read ' * 9}again." for name in ("NULL", "REAL", "TEXT")]
    lead = "Each value has one of the following storage classes:"
    answer = said("What are the storage classes?", "\n\n".join([lead, *items]))["answer"]
    assert answer == f"{lead}\n- NULL.\n- REAL.\n- TEXT."
    short = "Each value has one of these storage classes:\n\n- NULL. It is nothing.\n- REAL. It is a number."
    assert "- NULL. It is nothing.\n- REAL." in said("What are the storage classes?", short)["answer"]


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        (
            "What does update-rc.d do?",
            "Refer to the documentation of update-rc.d.\n\nupdate-rc.d makes links.",
            "makes",
        ),
        (
            "Which directory is local software installed to?",
            "Local software is not ours. Software that is installed by an administrator belongs to /usr/local.",
            "/usr/local",
        ),
        (
            "What is the default page size?",
            "The default page size was 1024 bytes. Since 2016 another size, 4096 bytes, has been the default.",
            "4096",
        ),
        (
            "Which status do scripts return that dpkg may expect to succeed?",
            "Programs that one would expect are on the path. Each of the scripts has to return a status of 0.",
            "status of 0",
        ),
    ],
    ids=["no pointer", "a path", "the next sentence of a value", "several words weigh more than a rare one"],
)
def test_the_sentence_that_says_it(question, text, expected):
    """A sentence that only says where to read is none; a place is a path; a value goes on; most words win."""
    assert expected in said(question, text)["answer"]


def test_of_equal_sentences_the_first_chunk_s_is_taken():
    """What the search found first is preferred."""
    texts = ("The cache of pages lives 300 seconds.", "The cache of views lives 600 seconds.")
    assert "300" in said("How long does the cache live?", *texts)["answer"]


def test_an_answer_that_turns_its_source_round_is_not_proposed():
    """Two sentences of a source that say the opposite of each other cannot both be cited."""
    texts = ("The new plan includes the monthly report.", "The new plan does not include the monthly report.")
    assert ask("Does the new plan include the monthly report?", "\n".join(texts))["status"] == "ok"


def test_a_base_of_its_own():
    """Retriever and answerer together find the sentence in a base of several documents."""
    base = [
        {"id": str(place), "source": "wiki", "title": "", "section": "", "updated_at": "2026-01-01", "text": text}
        for place, text in enumerate(("Refunds take 14 days.", "P1 is answered in 15 minutes.", "Uptime is 99.95 %."))
    ]
    result = create_rag_agent(retriever=LexicalRetriever(base)).invoke({"question": "How long do refunds take?"})
    assert (result["answer"], result["citations"]) == ("Refunds take 14 days.", ["0"])


# What answers the question


@pytest.mark.parametrize(
    ("question", "answering", "other"),
    [
        ("How fast is it restarted?", "It is restarted in 5 minutes.", "It is restarted in 3 steps."),
        ("How long is the archive kept?", "The archive is kept for two years.", "The archive is kept in 4 places."),
        ("When does the shop open?", "The shop does open at 9:00.", "The shop does open 2 doors."),
        ("Who leads the review?", "The review of plans leads Ada Lovelace.", "The one that leads the review decides."),
        ("How many seats has the plan?", "The plan has 25 seats.", "The plan has seats."),
    ],
)  # fmt: skip
def test_a_sentence_with_what_the_question_wants_goes_first(question, answering, other):
    """Of two sentences that cover as much, the one with a duration, a time, a name or a number answers."""
    for texts in ((answering, other), (other, answering)):
        assert said(question, *texts)["answer"] == answering


def test_the_preference_is_bounded():
    """A sentence that covers little of the question does not answer for its duration alone."""
    right = "The gateway for payments restarts itself at once."
    told = said("How fast does the gateway for payments restart?", "The gateway took 3 days.", right)
    assert told == {"answer": right, "citations": ["d1"]}


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("How fast do you respond to P1?", "15 minutes"),
        ("How quickly is a P1 incident answered?", "15 minutes"),
        ("How fast do you respond to P2?", "1 hour"),
        ("How many days do I have to request a refund?", "14 days"),
        ("How much uptime does the enterprise plan have?", "99.95%"),
    ],
)
def test_the_demo_answers_questions_in_other_words(question, told):
    """Over the demo's documents the answer cites the passage with the time or the share that was asked for."""
    result = create_rag_agent().invoke({"question": question})
    assert result["outcome"] == "grounded_answer"
    assert told in result["answer"]


def test_over_the_docs_the_answerer_is_never_stopped_by_its_own_guard():
    """Questions made of words of the documents themselves end in an answer or a clarification."""
    graph = create_rag_agent(knowledge_base=str(ROOT / "docs"))
    frames = ("How long does {} {} take?", "What is {} {}?", "Who decides on {} {}?", "When is {} {}?")
    asked = 0
    for place, document in enumerate(load_folder(ROOT / "docs")[::5]):
        words = re.findall(r"[A-Za-z_][\w.-]{4,}", document["text"])[-2:]
        if len(words) == 2:
            result = graph.invoke({"question": frames[place % 4].format(*words)})
            assert result["status"] == "ok", (words, result["stop_reason"])
            asked += 1
    assert asked > 20
