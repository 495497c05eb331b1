"""What takes minutes: reports from a web of 300 pages on loopback, by the offline proposers. `make soak` runs it."""

from simulated_web import PLANTS, ask_about, list_answers, list_contradictions, list_sites, serve_sites
from web_server import LOOPBACK

from guardgraph import ResearchBudget, ResearchPolicy, create_research_agent, replay, searx_search, web_reader
from guardgraph.testing import InMemoryRecorder


def cite_all(view):
    kept, chars = [], 0
    for note in view["notes"]:
        if chars + len(note["claim"]) + 1 <= view["max_answer_chars"]:
            kept.append(note)
            chars += len(note["claim"]) + 1
    return {"answer": " ".join(note["claim"] for note in kept), "citations": [note["id"] for note in kept]}


def look_once_more(view):
    return {"open": [], "queries": [f"What else? {view['question']}"] if len(view["queries"]) == 1 else []}


def test_reports_find_what_was_planted():
    """Nine of ten planted answers and all contradictions are found, no host inside is asked, each report replays."""
    assert len(list_sites()) == 300
    keeper, found, missed, untold = InMemoryRecorder(), 0, [], []
    hosts = tuple(sorted({site.url.split("/")[2] for site in list_sites()}))
    with serve_sites() as server:
        reader = web_reader(resolve=server.resolve, allowed_addresses=LOOPBACK, robots=False)
        agent = create_research_agent(
            search=searx_search(f"http://127.0.0.1:{server.ports[80]}"),
            reader=reader,
            writer=cite_all,
            gaps=look_once_more,
            recorder=keeper,
            policy=ResearchPolicy(allowed_domains_policy=hosts, allowed_domains_execution=hosts, corroboration="mark"),
            budget=ResearchBudget.report(),
        )
        for plant in PLANTS:
            result = agent.invoke({"goal": "Tell us.", "request": {"request": {"question": ask_about(plant)}}})
            assert result["status"] == "ok", (plant, result["stop_reason"], result.get("details"))
            assert len(result["queries"]) <= 6
            assert result["aggregate"]["pages_read"] <= 40
            said = " ".join(note["claim"] for note in result["passages"] if plant in note["claim"])
            missed += [value for _, value in list_answers(plant) if value not in said]
            found += sum(value in said for _, value in list_answers(plant))
            claims = {item["id"]: item["claim"] for item in result["agreement"]}
            told = {(each["claim"], claims[it["id"]]) for each in result["agreement"] for it in each["conflicts_with"]}
            untold += {*list_contradictions(plant)} - told
            assert replay(agent, keeper.runs[-1]) == result
        asked = {entry.partition("//")[2].partition("/")[0] for entry in server.log}
    print(f"found {found} of {3 * len(PLANTS)}; conflicts untold {len(untold)} of {2 * len(PLANTS)}")
    assert found >= 0.9 * 3 * len(PLANTS), missed
    assert not untold
    assert not {*asked, *server.resolved} & {"169.254.169.254", "localhost", "10.0.0.7"}
