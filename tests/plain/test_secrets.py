"""What is shown of other people's errors has no credentials in it."""

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.runnables import RunnableLambda
from rag_agents import POLICY, QUESTION, agent
from research_cases import hits, research, vendor
from runs import run
from tables import each_row
from ticket_pattern import TICKET, triage

from guardgraph.plain.secrets import MARK, cut_and_mask_text, mask_secrets
from guardgraph.testing import scripted_tool

SECRET = "hunter2-5f1e0b7c9d3a4e68"
HIDING = {
    "a password in a URL": f"no route to postgres://app:{SECRET}@db.internal:5432/orders",
    "a user in a URL": f"cannot clone https://{SECRET}@git.example.com/x.git",
    "a query": f"404 for https://api.example.com/v1?page=2&api_key={SECRET}&q=x",
    "a token in a query": f"GET /feed?access_token={SECRET} failed",
    "a password": f"login failed: user=app password={SECRET}",
    "a quoted password": f"connect(host='db', passwd='{SECRET} and more')",
    "an environment variable": f"AWS_SECRET_ACCESS_KEY: {SECRET}",
    "JSON": f'{{"client_secret": "{SECRET}", "id": 7}}',
    "a bearer": f"401 with headers Authorization: Bearer {SECRET}",
    "basic": f"sent Basic {SECRET}== to the proxy",
    "a header": f"rejected X-Api-Key: {SECRET}",
    "a key of a model": f"Incorrect API key provided: sk-{SECRET}.",
    "a key with another beginning": f"no model at glpat-{SECRET}, it says",
    "a scheme of its own": f"sent authorization: ApiKey {SECRET} to the gateway",
    "a cookie": f"Set-Cookie: sid={SECRET}; Path=/",
    "a short name in a query": f"GET /json?q=x&key={SECRET}&page=2",
    "a key after its name": f"the api key {SECRET} is unknown",
    "a private key": f"cannot read -----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY----- here",
}
KEPT = [
    *("Basic authentication is off", "max_tokens: 16385 is the limit", "https://example.com/a@b?x=1#y@z"),
    *("write to ada@example.com", "the record inc_payments_42 is not there"),
    *("tokenizer: bert-base-uncased is unknown", "no page at https://example.com/list?monkey=a&q=b"),
]


@pytest.mark.paired
@pytest.mark.parametrize("name", HIDING)
@pytest.mark.parametrize("mode", ["invoke", "ainvoke"])
def test_a_failed_tool_tells_no_secret(name, mode):
    """Nor does a retriever that returns its error as a text, a reader whose page is listed as failed, or a rule."""
    error = ConnectionError(HIDING[name])
    planner = scripted_tool({"kind": "retrieve", "query": "P1"}, loop=True)
    results = [
        run(agent(planner=planner, retriever=scripted_tool(error, loop=True), policy=POLICY), QUESTION, mode),
        run(agent(planner=planner, retriever=scripted_tool(HIDING[name], loop=True), policy=POLICY), QUESTION, mode),
        research(search=hits(*vendor("a")), reader=scripted_tool(error), mode=mode),
        run(triage(RunnableLambda(scripted_tool(error))), TICKET, mode),
        run(triage(tool=scripted_tool(AssertionError(HIDING[name]))), TICKET, mode),
        run(triage(bodies={"label_guard": scripted_tool(error)}), TICKET, mode),
    ]
    for result in results:
        assert result["status"] == "stopped"
        assert SECRET not in str(result)
    assert MARK in str(results[0]["details"])


@each_row("text", *KEPT)
def test_what_is_no_secret_stays(text):
    """And letters that count as others, a long s and the sign of the kelvin, hide none."""
    assert mask_secrets(text) == text
    shown = mask_secrets(f"pa\u017f\u017fword={SECRET} api_\u212aey={SECRET}")
    assert shown == f"pa\u017f\u017fword={MARK} api_\u212aey={MARK}"


@given(st.text(), st.sampled_from(sorted(HIDING.values())), st.text())
def test_a_secret_is_found_wherever_it_stands_and_once_is_enough(before, hiding, after):
    """Whatever stands around it in a message; what was cleaned is clean."""
    cleaned = mask_secrets(f"{before} {hiding} {after}")
    assert SECRET not in cleaned
    assert mask_secrets(cleaned) == cleaned


@given(st.text())
def test_a_message_is_short(text):
    """Any text is cut, and one without anything like a secret is only cut."""
    assert len(cut_and_mask_text(text)) <= 200
    if text.isalpha():
        assert cut_and_mask_text(text) == text[:200]


HOSTILE = ["password=", "https://", "a-", "token ", "sk-", "Basic ", "-----BEGIN PRIVATE KEY-----", "token aaaaaaaaa "]
HOSTILE += ["@", "https://@", "eyJ", 'password="', "password='\"", "Bearer \t", "password ", "eyJaaaaaaaa.aaaa."]
HOSTILE += ["authorization: a", "authorization:a ", "cookie:", "?key=", "sk-a", "Basic aA"]


@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_with_the_length_only(piece):
    """Ten times the text takes some ten times as long, not a hundred times."""
    assert_linear(lambda chars: mask_secrets(piece * (chars // len(piece))), 20_000, 200_000, spare=0.02)


PIECES = st.one_of(
    st.sampled_from([*HIDING.values(), "Password", "API key", "token", "TOKEN=", "Bearer ", "Basic ", "cookie: ", " "]),
    st.text("aAkKsS=: -_/?&@.0129\n", max_size=12),
)


@given(st.lists(PIECES, max_size=6).map("".join))
def test_what_is_shown_of_a_message_is_shown_of_it_behind_any_letter(text):
    """A message in ASCII, which is looked at faster, loses what it loses behind a letter of another script."""
    assert mask_secrets(f"é\n{text}") == f"é\n{mask_secrets(text)}"
