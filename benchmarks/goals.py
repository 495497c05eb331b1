"""What the figures of the benchmarks mean, and what they should be: the sections of docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Meaning:
    """What figures of one kind mean.

    Args:
        names: which figures, as a pattern with `*`.
        text: one sentence.
        at_most: the goal, a largest value.
        at_least: the goal, a smallest value.
        at_most_of: goals that differ, largest values, by what the figures' names begin with.
    """

    names: str
    text: str
    at_most: float | None = None
    at_least: float | None = None
    at_most_of: Mapping[str, float] = field(default_factory=dict)

    @property
    def ending(self) -> str:
        """How the names end, where the pattern is `*` and an ending."""
        return self.names.removeprefix("*")

    @property
    def goal(self) -> str:
        """The goal in words; blank for figures that have none."""
        if self.at_most_of:
            return ", ".join(f"≤ {most:g} (`{begin}`)" for begin, most in self.at_most_of.items())
        return self._in_words(self.at_most)

    def goal_of(self, name: str) -> str:
        """Return the goal of one figure in words; blank where it has none."""
        return self._in_words(self._most(name))

    def is_reached(self, name: str, value: float) -> bool:
        """Say whether the value of a figure reaches its goal."""
        most = self._most(name)
        return not (self.at_least is not None and value < self.at_least) and not (most is not None and value > most)

    def _most(self, name: str) -> float | None:
        return next((most for begin, most in self.at_most_of.items() if name.startswith(begin)), self.at_most)

    def _in_words(self, most: float | None) -> str:
        if most is not None:
            return f"≤ {most:g}"
        return f"≥ {self.at_least:g}" if self.at_least is not None else ""


@dataclass(frozen=True)
class Section:
    """A benchmark on the page.

    Args:
        script: its file, without `.py`.
        title: its heading.
        text: what was done.
        meanings: of its figures; of those that fit a name, the longest pattern holds.
        data: the option that names the file or folder that it measures on, None for a benchmark that needs none.
    """

    script: str
    title: str
    text: str
    meanings: tuple[Meaning, ...]
    data: str | None = None

    @property
    def is_grid(self) -> bool:
        """Whether its figures are of a few kinds, told apart by how their names end."""
        return all(meaning.names.startswith("*") for meaning in self.meanings)

    def meaning(self, name: str) -> Meaning:
        """Return what a figure means.

        Raises:
            LookupError: nothing here fits the name.
        """
        if fitting := [meaning for meaning in self.meanings if fnmatchcase(name, meaning.names)]:
            return max(fitting, key=lambda meaning: len(meaning.names))
        raise LookupError(f"benchmarks/goals.py says of {self.script} nothing about a figure named {name}")


BY_HAND = {"rag": 1.15, "research": 1.08, "self_critique": 1.12}
"""What an agent may cost at most, where the same agent written by hand costs 1."""

SECTIONS = (
    Section(
        "by_hand",
        "Beside the same agent written by hand",
        "A whole run, beside a run of the same agent as an engineer writes it by hand in LangGraph: the same checks "
        "in plain node functions, the same steps, conditional edges, one TypedDict for the state; no deadlines, no "
        "record of the run, no proof. A test holds that both decide the same. Proposers and tools return at once: "
        "plain functions, which guardgraph calls under its deadlines, or coroutine functions; `offline` has our own "
        "rules, recordings and retriever. Beside `ainvoke`, the nodes written by hand are coroutine functions: they "
        "hand plain functions to a thread, since those may block, and call our own rules where they stand. Every run "
        "has texts that no run before it had, but for recordings and the documents of the knowledge base. Each "
        "figure is the median of five processes. The agent has a recorder.",
        (
            Meaning("*_by_hand_ratio", "Processor time of a run over that by hand.", at_most_of=BY_HAND),
            Meaning("*_by_hand_wall_ratio", "Wall time of a run over that by hand.", at_most_of=BY_HAND),
            Meaning("*_agent_us", "Microseconds that a run takes."),
            Meaning("*_by_hand_us", "Microseconds that a run by hand takes."),
        ),
    ),
    Section(
        "recorder_cost",
        "Recording",
        "The same runs with a recorder, which keeps the latest recording, beside runs without one.",
        (
            Meaning("*_recorded_ratio", "Processor time of a run over that without a recorder.", at_most=1.1),
            Meaning("*_recorded_wall_ratio", "Wall time of a run over that without a recorder.", at_most=1.1),
            Meaning("*_recorded_us", "Microseconds that a recorded run takes."),
            Meaning("*_unrecorded_us", "Microseconds that a run without a recorder takes."),
        ),
    ),
    Section(
        "replay",
        "Replay",
        "Recorded runs that are decided again on one core, from recordings as they are read from JSON; nothing is "
        "called. `demo` is the run of a pattern's demo, again and again. `fresh` are runs with texts that no other "
        "has, which the guards must read anew. `demo_invokes` are the demo's runs through LangGraph, with its "
        "rules and recordings.",
        (
            Meaning("*_fresh_replays_per_s", "Replays per second of processor time, each of another recording."),
            Meaning("*_demo_invokes_per_s", "Runs of the demo per second of processor time, through LangGraph."),
            *(
                Meaning(f"{pattern}_demo_replays_per_s", "Replays of the demo per second.", at_least=least)
                for pattern, least in {"rag": 1500, "research": 800, "self_critique": 1000}.items()
            ),
        ),
    ),
    Section(
        "overhead",
        "Beside an empty floor",
        "A whole run whose proposers and tools return at once, beside a LangGraph graph of the same nodes, edges, "
        "schemas and channels whose nodes do nothing but route. So all that guardgraph does is in the difference: "
        "the guards, the record of the run, and the care for deadlines and for state that must stay plain JSON. It is "
        "a floor, which nothing that decides something can reach, and has no goal. "
        "`invoke` calls plain functions; so does `ainvoke`, which must keep them off the event loop; "
        "`ainvoke_coroutines` awaits coroutine functions. In `empty_guards` the guards look at nothing, which leaves "
        "what the grammar around them costs. Every run has texts that no run before it had, but for the documents of "
        "the knowledge base, since guardgraph keeps what it found out about the latest texts.",
        (
            Meaning("*_ratio", "Processor time of a run over that of the floor."),
            Meaning("*_wall_ratio", "Wall time of a run over that of the floor."),
            Meaning("*_us", "Microseconds that a run takes."),
            Meaning("*_floor_us", "Microseconds that a run of the floor takes."),
        ),
    ),
    Section(
        "guard_cost",
        "Cost of the guards",
        "Every guard of the same runs, called directly with what it was shown there, without LangGraph around it. What "
        "an earlier guard of the same run has read, a later one need not read again.",
        (
            Meaning("*_guards_us", "Microseconds of processor time that all guards of a run take together."),
            Meaning("*_us", "Microseconds of processor time that this guard takes."),
        ),
    ),
    Section(
        "growth",
        "Growth with long texts",
        "The time for ten times the text, over ten times the time: 1 is linear, less is better. Each is the worst "
        "of ordinary texts and hostile ones (long rows of digits, commas, blanks, quotes, dots, negations). Texts "
        "that no budget limits have 5,000 and 50,000 characters, the others a tenth of the budget's limit and the "
        "limit. Beyond the limit a text is refused before anything else looks at it. Python's garbage collector is "
        "off meanwhile.",
        (
            Meaning("*_growth", "Time for ten times the text, over ten times the time.", at_most=1.25),
            Meaning("*_refusal_share", "Refusing a text of 100 limits, over checking one at the limit.", at_most=0.05),
            Meaning("*_refusal_us", "Microseconds for refusing a text of 100 times the limit."),
        ),
    ),
    Section(
        "imports",
        "Imports",
        "Every import in a process of its own, in processor time, beside `import langgraph.graph`.",
        (
            Meaning("import_langgraph_ms", "Milliseconds that `import langgraph.graph` takes."),
            Meaning(
                "import_guards_ratio", "Importing all guards, over LangGraph, without which they work.", at_most=0.35
            ),
            Meaning(
                "import_create_rag_agent_ratio",
                "`from guardgraph import create_rag_agent`, which imports LangGraph too, over LangGraph.",
                at_most=1.15,
            ),
            Meaning("openai_modules_without_model", "Modules of OpenAI's packages loaded by a run offline.", at_most=0),
            Meaning("openai_modules_with_model", "The same once a model of OpenAI is asked for.", at_least=1),
        ),
    ),
    Section(
        "throughput",
        "Throughput",
        "64 runs at once on one event loop, beside 64 of the floor. `async` awaits coroutine functions; `threads` "
        "has plain functions, which guardgraph calls in threads, while the floor calls nothing.",
        (
            Meaning("*_throughput_ratio", "Runs per second over those of the floor."),
            Meaning("*_runs_per_s", "Runs per second."),
            Meaning("*_floor_runs_per_s", "Runs of the floor per second."),
        ),
    ),
    Section(
        "memory",
        "Memory",
        "The peak is what one run has in use at most, Python's allocations alone. The growth is how much the "
        "resident memory of a process grows while it makes 10,000 runs, one after another; a leak of one small "
        "object a run would show as some hundred kB.",
        (
            Meaning("*_agent_peak_kb", "kB in use at the peak of a run."),
            Meaning("*_floor_peak_kb", "kB in use at the peak of a run of the floor."),
            Meaning("*_agent_growth_kb", "kB that 10,000 runs leave behind.", at_most=1000),
            Meaning("*_floor_growth_kb", "kB that 10,000 runs of the floor leave behind."),
        ),
    ),
    Section(
        "checkpoints",
        "Checkpointed runs",
        "The same runs with a SQLite file, one for the agent and one for the floor; `invoke` with the sync saver, "
        "`ainvoke` with the async one. With the durability `exit` a run is written once, with `async` after every "
        "step. The floor keeps its route and its result; an agent also keeps what it was shown and what was "
        "decided, for resuming and audit. How the disk feels that day is in both times.",
        (
            Meaning("*_ratio", "Wall time of a run over that of the floor."),
            Meaning("*_us", "Microseconds that a run takes."),
            Meaning("*_floor_us", "Microseconds that a run of the floor takes."),
            Meaning("*_kb", "kB that a run adds to its file."),
            Meaning("*_floor_kb", "kB that a run of the floor adds to its file."),
        ),
    ),
    Section(
        "peers",
        "The same check in other libraries",
        "The citation check of the RAG agent, the same Python function on the same answer, as a guard of "
        "guardgraph, as a custom action of NeMo Guardrails and as a validator of guardrails-ai, all in one "
        "process, in turn. No model is asked, and the others' reports of use are switched off. They do other "
        "things for their time than guardgraph: NeMo runs a flow of a dialogue, guardrails-ai keeps a call "
        "history and can ask again.",
        (
            Meaning("check_us", "Microseconds for the function by itself."),
            Meaning("guardgraph_run_us", "Microseconds for the smallest guarded run: input, this guard, ending."),
            Meaning("guardgraph_guard_us", "Microseconds that one guard more adds to a run."),
            Meaning("nemo_action_us", "Microseconds for the action alone, without the flow that calls it."),
            Meaning("nemo_rail_us", "Microseconds for an output rail that calls the action."),
            Meaning("guardrails_ai_us", "Microseconds for `Guard.validate`."),
            Meaning("guardrails_ai_async_us", "Microseconds for `AsyncGuard.validate`."),
            Meaning("*_to_guardgraph_run_ratio", "The other library's call over a whole guarded run."),
            Meaning("*_to_guardgraph_guard_ratio", "The other library's call over one guard more in a run."),
        ),
    ),
    Section(
        "cranfield",
        "The retriever on the Cranfield collection",
        "How well the default retriever ranks abstracts for questions, beside plain BM25 over the same terms.",
        (
            Meaning("ndcg_at_10", "nDCG of the first ten, the mean over the questions.", at_least=0.366),
            Meaning("bm25_ndcg_at_10", "The same for plain BM25."),
            Meaning("index_seconds", "Seconds for indexing the collection."),
            Meaning("query_milliseconds", "Milliseconds for one question."),
        ),
        data="cranfield",
    ),
    Section(
        "relevance",
        "One threshold on bases of every size",
        "How many questions pass the default threshold: Cranfield's on abstracts, and with sentences among them, and "
        "questions that have nothing to do with them.",
        (
            Meaning("unrelated_passing_pct_*", "Per cent of unrelated questions, by passages.", at_most=2),
            Meaning("related_passing_pct_*", "Per cent of questions with a judged abstract, by passages."),
            Meaning("related_passing_pct", "The mean of these.", at_least=80),
        ),
        data="cranfield",
    ),
    Section(
        "languages",
        "The retriever in several languages",
        "XQuAD's questions on the paragraphs of all articles (related), and of all but their own (unrelated).",
        (
            Meaning("*_found_in_first_3", "Share of questions whose paragraph is among the first three.", at_least=0.9),
            Meaning("*_related_clarified_share", "Share of related questions that end in clarify.", at_most=0.1),
            Meaning("*_unrelated_passing_share", "Share of unrelated questions that pass.", at_most=0.03),
        ),
        data="xquad",
    ),
    Section(
        "facts_fever",
        "The number check on FEVER-Symmetric",
        "How many claims the number check flags of those that their evidence refutes (false) and supports (true), "
        "beside a rule that compares tokens of digits. A false claim whose numbers are right is none that it "
        "could flag.",
        (
            Meaning("token_claims_*", "Claims with a token of digits."),
            Meaning("claims_*", "Claims in which guardgraph finds a number."),
            Meaning("*baseline_flagged_*", "Per cent of these claims that the token rule flags."),
            Meaning("*flagged_*", "Per cent of these claims that the number check flags."),
        ),
        data="fever",
    ),
    Section(
        "facts_rewrites",
        "The fact check on rewritten sentences",
        "Phrases of real sentences are said otherwise, by class: a decade, a range of years, a time, an amount of "
        "money, and so on. What says the same must be supported by the sentence; what says another thing must be "
        "flagged. Where sentences have few phrases of a class, some are put at their end. For the identity, every "
        "sentence must support itself and each of its clauses.",
        (
            Meaning("*_same_wrong", "Share of the claims that say the same and are flagged.", at_most=0.02),
            Meaning("*_other_wrong", "Share of the claims that say another thing and pass.", at_most=0.02),
            Meaning("*_same_cases", "Claims that say the same."),
            Meaning("*_other_cases", "Claims that say another thing."),
        ),
        data="sentences",
    ),
    Section(
        "names",
        "The checks of names and numbers on HaluEval",
        "How many answers to questions the two checks refuse, right ones and made-up ones, with the text that the "
        "right answer comes from. A made-up answer that names only what the text and the question name is none that "
        "they could refuse.",
        (
            Meaning("pairs", "Questions, each with a right and a made-up answer."),
            Meaning("right_flagged_pct", "Per cent of the right answers that either check refuses.", at_most=1),
            Meaning("hallucinated_flagged_pct", "Per cent of the made-up answers that one refuses.", at_least=42),
            Meaning("*_numbers_pct", "Per cent that the check of numbers refuses."),
            Meaning("*_names_pct", "Per cent that the check of names refuses."),
        ),
        data="halueval",
    ),
    Section(
        "names_languages",
        "The check of names on true sentences",
        "Questions about an article of XQuAD, each taken as an answer that cites the article. German capitalises "
        "every noun, and Chinese and Hindi have no capitals: there the check says nothing.",
        (
            Meaning("*_true_sentences", "Sentences."),
            Meaning("*_true_flagged_pct", "Per cent of them that are refused.", at_most_of={"es": 2, "ru": 5}),
        ),
        data="xquad",
    ),
    Section(
        "rag_languages",
        "The offline RAG agent in five languages",
        "Questions of XQuAD to a base of half of its articles: those about the base (related), and those about the "
        "other half (unrelated), which nothing in the base answers.",
        (
            Meaning("*_related_clarified_pct", "Per cent of the related ones that end in a clarification.", at_most=10),
            Meaning("*_unrelated_grounded_pct", "Per cent of the unrelated ones that are answered.", at_most=3),
            Meaning("*_cited_right_pct", "Per cent of the answers that cite the paragraph of the data."),
            Meaning("*_answered_right_pct", "Per cent of the answers that have the words of the data's answer."),
            Meaning("*_stopped_pct", "Per cent of all questions whose run is stopped.", at_most=0),
        ),
        data="xquad",
    ),
    Section(
        "incidents",
        "Updates on real incidents",
        "What the Self-critique agent without a model makes of records of public status pages: of contexts that are "
        "built from them, and of the records as they stand (`raw`). `short_updates` are updates of these pages, each "
        "revised to say one phrase more.",
        (
            Meaning("incidents_read", "Records."),
            Meaning(
                "*_status_kept_pct", "Per cent that state the status, the context's own where it has one.", at_least=100
            ),
            Meaning("*_summary_told_pct", "Per cent that tell something of the first update.", at_least=98),
            Meaning("*_internal_pct", "Per cent that name a file or a field of the record.", at_most=0),
            Meaning("*_ended_approved_direct", "Runs that end with the draft."),
            Meaning("*_ended_revised_once", "Runs that end with a revision."),
            Meaning("*_ended_policy_escalation", "Runs that hand the draft to a person."),
            Meaning("*_ended_other", "Runs that end in another way.", at_most=0),
            Meaning("short_updates", "Short updates, each with a phrase that it lacks."),
            Meaning("short_updates_too_long_pct", "Per cent that end in `length_increase_limit`.", at_most=0),
            Meaning("short_updates_revised_pct", "Per cent that end with the revision."),
        ),
        data="incidents",
    ),
    Section(
        "claims",
        "Claims of updates",
        "How well the guards of the Self-critique agent tell claims from what is none: on sentences of our own, of "
        "which some were held out while the rules were written, and counted on updates of public status pages.",
        (
            Meaning("claims_caught", "Per cent of the claims that are found, of their kind.", at_least=98),
            Meaning("claims_none_passed", "Per cent of the other sentences in which none is found.", at_least=95),
            Meaning("claims_held_out_caught", "Per cent of the claims held out that are found.", at_least=98),
            Meaning("claims_held_out_none_passed", "Per cent of the others held out that pass.", at_least=95),
            Meaning("*_sentences", "Sentences."),
            Meaning("claims_in_incidents", "Sentences of the status pages with a closing word that make a claim."),
        ),
        data="incidents",
    ),
)
