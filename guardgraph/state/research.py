"""The Research agent's data: what goes in, what flows, what comes out, how it is configured, why it can stop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Final, Literal, NotRequired, Self, TypeAlias

from pydantic import Field
from typing_extensions import TypedDict

from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.plain.scopes import EVERYWHERE
from guardgraph.state import settings
from guardgraph.state.catalogue import Catalogue, StopReason, common_reasons, list_review_reasons
from guardgraph.state.context import Context
from guardgraph.state.grounding import AnswerPolicy, FoundIssue, UnverifiedSentence
from guardgraph.state.review import ReviewPolicy
from guardgraph.state.run import Ok, Stopped
from guardgraph.state.tightening import Compared, Problem, Tightens
from guardgraph.state.trust import TIERS, UNRATED, TrustEntries


class SourcePage(TypedDict):
    """A page that was read. What is not known is an empty string; what its reader does not say is absent."""

    title: str
    published_at: str  # when it was published, as its reader says; where there is a `declared_date`, it may be guessed
    body: str  # its text, as a reader of the page sees it
    final_url: NotRequired[str]  # where the URL that was asked led to; absent where it is the same
    fetched_at: NotRequired[str]  # when it was fetched, ISO 8601
    sha256: NotRequired[str]  # of the bytes that came
    text_sha256: NotRequired[str]  # of the body
    declared_date: NotRequired[str]  # when the page itself says that it was published; blank where it does not
    extraction: NotRequired[Literal["unsure"]]
    """`unsure` where a reader of the page may see another text than its body; absent where nothing says so."""
    pages: NotRequired[list[list[int]]]
    """Of a file with pages: the number of each that has text, and where that begins in the body."""
    linked_hosts: NotRequired[list[str]]  # the hosts that it links to, sorted; absent where its reader does not say


class Note(TypedDict):
    """A claim, and the words of a page that bear it out. What is not known is an empty string."""

    id: str
    claim: str
    quote: str
    url: str  # where the page is: the URL that the one that was asked led to
    title: str
    published_at: str
    asked_url: NotRequired[str]  # the identity of the URL that was asked; absent where it is that of `url`
    host: NotRequired[str]  # of `url`; absent, as what follows, where the page was not read
    start: NotRequired[int]
    """Where the quote begins, in characters of the page's body; absent where it does not stand there."""
    end: NotRequired[int]  # where it ends
    guessed_date: NotRequired[str]  # when the page was published, by a guess: it declares nothing


READ_FAILURES: Mapping[str, str] = MappingProxyType(
    {
        "address_denied": "The URL is on no list of the moment, or its host has an address that is not public.",
        "redirect_denied": "The page leads to a URL that the lists do not allow, or from https to http.",
        "too_many_redirects": "The page leads on and on, or back to itself.",
        "robots_denied": "The site's robots.txt forbids it, cannot be read for now, or asks for a longer wait.",
        "http_status": "The server did not answer with the page, but with another status.",
        "timeout": "The page took too long.",
        "too_large": "The page is larger than it may be.",
        "decompression": "The page is packed in a way that cannot be unpacked.",
        "content_type": "The page is of no type that can be read.",
        "charset": "The page's letters cannot be told.",
        "killed": "The process that read the page was ended from outside, twice.",
        "tls": "The server could not prove that it is the host.",
        "connection": "The server could not be reached, or broke off.",
    }
)
"""Why a page that may be read cannot be read: what a reader may give as the reason of a `ReadFailure`."""


Corroboration: TypeAlias = Annotated[Literal["none", "mark", "require"], Tightens.ordered("none", "mark", "require")]
"""Whether the notes of several sources are held against each other; of two the later one holds."""


class ResearchInput(TypedDict):
    """What a run is given: `request` is ``{"request": {question, …}, "policy_hints": {…}}``."""

    goal: str
    request: JsonObject


class ResearchTask(TypedDict):
    """The request, parsed."""

    goal: str
    question: str
    report_date: NotRequired[str]
    region: NotRequired[str]
    policy_hints: JsonObject
    as_of: NotRequired[str]  # the day by which the recency of pages is told; where trust is declared


class PlanStep(TypedDict):
    """One step of a plan."""

    id: str
    action: str
    args: JsonObject


class Issue(TypedDict):
    """What is wrong with one note."""

    note: str
    issue: str
    unsupported: NotRequired[list[str]]


class NotesVerification(TypedDict):
    """What the verification of the notes found."""

    ok: bool
    checked_notes: int
    issues: list[Issue]


class DroppedNote(TypedDict):
    """A note that its page does not bear out, and that the run did without."""

    id: str
    claim: str
    quote: str
    url: str
    reason: str  # the stop reason that it would have been
    unsupported: NotRequired[list[str]]  # facts of the claim that the quote does not have


class ResearchSources(TypedDict):
    """What became of the URLs that the search found."""

    urls: list[str]  # identities, each once
    spellings: dict[str, str]  # by identity: the URL as it was first found, which is what is fetched
    dropped_urls: list[str]
    allowed_urls: list[str]
    denied_sources: list[JsonObject]
    failed_sources: list[JsonObject]


SearchesEnd: TypeAlias = Literal[
    "enough", "max_queries", "max_urls", "max_read_pages", "max_notes", "time", "gaps_failed"
]
"""Why a run searches no more."""


class FailedQuery(TypedDict):
    """A query that brought no note."""

    query: str  # blank where it may not be said
    reason: str  # the stop reason that it would have been, had it been the run's only one


class Searches(TypedDict):
    """How far a run has come that may search several times; a run that searches once has none of it."""

    queries: list[str]  # what was searched for, in order; the last one is the search of now
    waiting: list[str]  # queries that were accepted, and not searched for yet
    rounds: int  # proposals that queries came of, the plan among them
    open: list[str]  # what the last proposal said that nothing found says
    failed_queries: list[FailedQuery]
    hits: int  # what all searches found
    urls: list[str]  # URLs that were kept, as `max_urls` counts them
    notes: int  # notes that were verified before the search of now
    began: float  # when the search of now began, in seconds of the run
    stopped_because: NotRequired[SearchesEnd]


class CitedSentence(TypedDict):
    """A sentence of an answer, and the notes that it cites itself."""

    start: int  # where it begins in the answer, in characters
    end: int
    notes: list[str]  # their ids


class AnswerSection(TypedDict):
    """A section of an answer; its title is no part of the text."""

    title: str
    start: int  # where its text begins in the answer, in characters
    end: int


class ResearchAnswer(TypedDict):
    """An answer and the ids of the notes that it cites."""

    answer: str
    citations: list[str]
    sentences: NotRequired[list[CitedSentence]]  # where every sentence must cite: its sentences, in order
    sections: NotRequired[list[AnswerSection]]  # of an answer in sections: these, in order
    unverified: NotRequired[list[UnverifiedSentence]]  # its sentences that are marked, where any are
    workings: NotRequired[list[str]]  # how it comes to what it works out, where it does


class NoteConflict(TypedDict):
    """A note that says something else of the same thing."""

    id: str
    says: str  # its value, as written
    instead_of: str  # the value of the note that it conflicts with


class NoteAgreement(TypedDict):
    """How a note stands beside those of other sources."""

    id: str
    claim: str
    standing: Literal["agreed", "single_source", "conflict"]
    independent: int  # independent sources that say it, its own among them
    agrees_with: list[str]  # ids of the notes of other pages that say the same
    conflicts_with: list[NoteConflict]


class BriefReview(TypedDict):
    """What a person decided of a brief on a topic of high risk."""

    approved_by: str  # who it was; ``unverified`` where the graph has no reviewers
    sha256: str  # of the answer that they let through, with its citations, as canonical JSON
    edit: NotRequired[JsonObject]  # the answer in their words, ``{answer, citations}``, where they changed it


class ResearchState(TypedDict):
    """The channels. `proposed_` and `found_` hold JSON text nobody has judged; `accepted_` what a guard let through."""

    task: ResearchTask
    proposed_plan: str
    accepted_plan: list[PlanStep]
    accepted_query: str
    found_hits: str
    accepted_hits: list[JsonValue]
    accepted_sources: ResearchSources
    found_pages: str
    accepted_pages: dict[str, SourcePage]
    found_notes: str
    proposed_notes: str
    accepted_notes: list[Note]
    unverified_notes: list[DroppedNote]
    verified_notes: list[Note]
    """Those of `accepted_notes` that were held against their pages, which a stopped run returns."""
    proposed_answer: str
    accepted_answer: ResearchAnswer
    held_steps: list[list[JsonObject]]
    proposed_support: str
    accepted_agreement: list[NoteAgreement]
    raw_brief_review: str
    accepted_brief_review: BriefReview
    proposed_gaps: str
    accepted_searches: Searches
    proposed_outline: str
    accepted_outline: list[str]


class SourcesLeftOut(TypedDict):
    """What a run says of the sources that it did without."""

    dropped_urls: NotRequired[list[str]]
    failed_sources: NotRequired[list[JsonObject]]
    failed_queries: NotRequired[list[FailedQuery]]


class ResearchAnswered(Ok, SourcesLeftOut):
    """What every ok run returns."""

    answer: str
    citations: list[str]
    citation_details: list[JsonObject]
    passages: list[JsonObject]
    aggregate: JsonObject
    dropped_notes: NotRequired[list[DroppedNote]]
    sections: NotRequired[list[AnswerSection]]
    """Of an answer in sections, see `ResearchBudget.max_sections`: these, in order."""
    agreement: NotRequired[list[NoteAgreement]]
    """How each note stands beside those of other sources, where the policy has it compared."""
    approved_by: NotRequired[str]  #: who let it through, where a person had to
    queries: NotRequired[list[str]]
    """Of a run that may search several times, as what follows: what was searched for, in order."""
    rounds: NotRequired[int]  #: proposals that queries came of, the plan among them
    open: NotRequired[list[str]]  #: what nothing that was found says, as the last proposal has it
    stopped_because: NotRequired[SearchesEnd]  #: why it searched no more


class ResearchOk(ResearchAnswered):
    """What an ok run returns that gives an answer which its notes bear out."""

    outcome: Literal["grounded_research_answer"]
    unverified: NotRequired[list[UnverifiedSentence]]
    """Sentences of the answer that are doubtful, in order; see `AnswerPolicy.on_doubt`."""


class ResearchPartial(ResearchAnswered):
    """What a run returns of whose answer some sentences are not borne out, or that a limit ended."""

    outcome: Literal["grounded_partial"]
    unverified: NotRequired[list[UnverifiedSentence]]
    """These sentences, and those that are doubtful, in order; see `AnswerPolicy.on_unsupported`."""
    ended_by: NotRequired[str]  #: the limit that ended the run, such as ``max_seconds``; see `ResearchPolicy.on_limit`


class ResearchStopped(Stopped, SourcesLeftOut):
    """What a stopped run returns: why, and the evidence."""

    denied_sources: NotRequired[list[JsonObject]]
    verification: NotRequired[NotesVerification]
    raw_plan: NotRequired[JsonValue]
    invalid_citations: NotRequired[list[str]]
    unsupported: NotRequired[list[str]]
    findings: NotRequired[list[FoundIssue]]
    """Of a refused answer: what was found in its sentences, and what the notes say instead."""


ResearchResult: TypeAlias = ResearchOk | ResearchPartial | ResearchStopped
"""What a run returns; `status` and `outcome` say which."""


DOMAIN_LISTS: Final = ("allowed_domains_policy", "allowed_domains_execution")  # the lists of a policy that allow hosts


class ResearchPolicy(AnswerPolicy, ReviewPolicy):
    """Which hosts the model may name, which the runtime will read now, and which checks run."""

    allowed_domains_policy: settings.Scopes = (
        "official-status.example.com",
        "vendor.example.com",
        "regulator.example.org",
    )
    """Hosts that may be asked for: a host alone, ``domain:NAME`` with all under it, or ``suffix:NAME``."""
    allowed_domains_execution: Annotated[settings.Scopes, settings.LIVE] = (
        "official-status.example.com",
        "vendor.example.com",
    )
    """Hosts that the runtime will read now, in the same spellings."""
    denied_domains: Annotated[settings.DeniedScopes, settings.LIVE] = ()
    """Hosts that are never read, in the same spellings, even if the lists name them."""
    open: Annotated[bool, Tightens.both] = False
    """Whether every host is allowed that is not denied; both lists are left out then, and `trust` is declared."""
    check_quotes: settings.Check = True
    """A note's quote must stand in its page, word for word."""
    require_sentence_citations: settings.Check = False
    """Every sentence of the answer must cite, and it and its quotes are held against the notes that it cites itself."""
    unsure_text: settings.UnsureText = "allow"
    """Whether a page may be read whose reader is unsure that its text is what somebody sees: "allow" or "refuse"."""
    trust: TrustEntries = ()
    """How far hosts are trusted, ``{scope, tier, owner?, source?, date?}``; `load_trust` reads them from a file."""
    min_trust: Annotated[settings.MinFloat, Field(le=1)] = 0.0
    """The least trust, 0 to 1, of a page that is read and used."""
    corroboration: Corroboration = "none"
    """Whether notes are held against each other: "none"; "mark" says which agree, stand alone and conflict; "require"
    stops where some conflict, or too few independent sources say one of them."""
    min_independent: Annotated[int, Field(ge=1, le=100), Tightens.largest] = 2
    """Independent sources that have to say a note, where corroboration is required."""
    high_risk_terms: settings.Vocabulary = ()
    """Words and phrases: a run that has one in its question, goal or answer waits for a person before it ends."""
    high_risk_scopes: settings.DeniedScopes = ()
    """Hosts, in the spellings of the lists: a run whose answer cites one of them waits for a person."""
    high_risk_tiers: Annotated[settings.Names, Tightens.denied_among(*TIERS, UNRATED)] = ()
    """Tiers: a run whose answer cites a source of one of them waits for a person."""

    def list_allowed(self, name: Literal["allowed_domains_policy", "allowed_domains_execution"]) -> tuple[str, ...]:
        """Return the entries of a list that allows hosts; `EVERYWHERE` alone where the policy is open."""
        allowed: tuple[str, ...] = (EVERYWHERE,) if self.open else getattr(self, name)
        return allowed

    def tightened_by(self, overlay: Self | None) -> Self:
        """Return this policy, tightened by an overlay; a list of the overlay closes a policy that is open.

        A list that stands alone in the overlay becomes the other list too: what both allow is the same.
        """
        if not self.open or overlay is None or not overlay.model_fields_set.intersection(DOMAIN_LISTS):
            return super().tightened_by(overlay)
        said = {name: getattr(overlay, name) for name in DOMAIN_LISTS if name in overlay.model_fields_set}
        [other, *_] = said.values()
        closed = self.model_copy(update={"open": False, **{name: said.get(name, other) for name in DOMAIN_LISTS}})
        return super(ResearchPolicy, closed).tightened_by(overlay)

    def compared(self, other: Self) -> dict[str, Compared]:
        """Say of every field what another's value is beside ours; where one is open, its lists say nothing."""
        said = super().compared(other)
        return {**said, **dict.fromkeys(DOMAIN_LISTS, "equal")} if self.open or other.open else said

    def wrong_names(self, problems: Mapping[str, Problem] | None = None) -> Iterator[tuple[str, str]]:
        """Yield fields with what is wrong in them; an open policy has tiers, and no lists of its own."""
        yield from super().wrong_names(problems)
        if problems is None and self.open is True:
            for name in DOMAIN_LISTS:
                if getattr(self, name) != type(self).model_fields[name].default:
                    yield name, "no list is allowed beside open: true, which allows every host that is not denied"
            if not self.trust:
                yield "open", "true wants trust, which says the tiers of hosts; given: no trust"

    def asks_person(self) -> bool:
        """Say whether there is a topic of high risk."""
        return bool(self.high_risk_terms or self.high_risk_scopes or self.high_risk_tiers)

    def wrong_overlay(self, overlay: Self | None) -> Iterator[tuple[str, str]]:
        """Yield fields of an overlay with what is wrong in them; an agent that asks nobody cannot begin to."""
        yield from super().wrong_overlay(overlay)
        if isinstance(overlay, ResearchPolicy) and overlay.asks_person() and not self.asks_person():
            for name in ("high_risk_terms", "high_risk_scopes", "high_risk_tiers"):
                if getattr(overlay, name):
                    yield name, "the deployment names topics of high risk too: without any, its agent asks nobody"

    on_limit: settings.OnLimit = "stop"
    """What becomes of a run whose time, calls or tokens end. "stop" ends it, "partial" has one last answer written from
    the notes that were verified, within the budget's reserve."""
    denied_query_terms: settings.Vocabulary = ()
    """Words that no query but the plan's may say, such as names of projects; values of the caller are none either."""


class ResearchBudget(settings.ReservingBudget):
    """How much one run may take."""

    max_seconds: settings.MaxFloat = 25.0
    """Seconds that a run may be active, summed over resumes."""
    max_steps: settings.MaxInt = 8
    """Steps of a plan."""
    max_queries: Annotated[settings.MaxInt, Field(ge=1)] = 1
    """Queries that are searched for; with more than one, a proposer says after each what is still missing."""
    max_urls: settings.MaxInt = 6
    """URLs that are kept after duplicates are dropped; those that a list denies do not count."""
    max_read_pages: settings.MaxInt = 3
    """Pages that are read."""
    max_page_seconds: settings.MaxFloat = 10.0
    """Seconds that one page may take, redirects and robots.txt included."""
    max_wire_bytes: settings.MaxInt = 10_000_000
    """Bytes of one page as they come over the wire."""
    max_page_bytes: settings.MaxInt = 20_000_000
    """Bytes of one page once they are unpacked."""
    max_page_chars: settings.MaxInt = 20_000
    """Characters of a page that a model is shown when it takes notes."""
    max_notes: settings.MaxInt = 6
    """Notes that are taken."""
    max_answer_chars: settings.MaxInt = 850
    """Characters of the answer."""
    max_sections: settings.MaxInt = 0
    """Sections of the answer, whose titles are proposed before it is written; with 0 it has none."""

    def compared(self, other: Self) -> dict[str, Compared]:
        """Say of every field what another's value is beside ours; without sections, sentences need not cite."""
        said = super().compared(other)
        has_sections = bool(self.max_sections), bool(other.max_sections)
        return {**said, "max_sections": "other"} if len({*has_sections}) == 2 else said

    def wrong_overlay(self, overlay: Self | None) -> Iterator[tuple[str, str]]:
        """Yield fields of an overlay with what is wrong in them; no run may leave out that sentences of sections cite."""
        yield from super().wrong_overlay(overlay)
        if not isinstance(overlay, ResearchBudget) or "max_sections" not in overlay.model_fields_set:
            return
        if self.max_sections and not overlay.max_sections:
            yield "max_sections", "the deployment has sections, whose sentences must cite; given: 0; name 1 or more"

    @classmethod
    def brief(cls) -> Self:
        """Return the limits of a brief: one search, three pages, an answer of a paragraph. They are the defaults."""
        return cls()

    @classmethod
    def report(cls) -> Self:
        """Return the limits of a report: several searches, and an answer of some pages."""
        return cls(
            max_seconds=300.0, max_queries=6, max_urls=60, max_read_pages=40, max_notes=60, max_answer_chars=8_000
        )


ResearchContext = Context[ResearchPolicy, ResearchBudget]  # what one run may tighten

PHASES = ("plan", "search", "dedupe", "read_extract", "verify", "gaps", "outline", "synthesize")

RESEARCH_REASONS = Catalogue(
    "research",
    PHASES,
    [
        *common_reasons(
            phases=PHASES,
            asking=("plan", "read_extract", "verify", "gaps", "outline", "synthesize"),
            texts=("synthesize",),
            judging=("verify",),
            spending=("plan", "search", "read_extract", "verify", "gaps", "outline", "synthesize"),
            tools={"search_sources": "search", "read_source": "read_extract", "extract_notes": "read_extract"},
            readers=("read_source",),
        ),
        *list_review_reasons(["synthesize"]),
        StopReason("invalid_plan:steps", "invalid_plan", ("plan",), "The plan has no list of steps, or an empty one.", "Look at raw_plan; use a model that follows the prompt.", again=True),
        StopReason("invalid_plan:too_many_steps", "invalid_plan", ("plan",), "The plan has more than max_steps steps.", "Look at raw_plan, or raise max_steps.", again=True),
        StopReason("invalid_step:not_object", "invalid_plan", ("plan",), "A step is no object.", "Look at raw_plan.", again=True),
        StopReason("invalid_step:id", "invalid_plan", ("plan",), "A step's id is blank or no string.", "Look at raw_plan.", again=True),
        StopReason("invalid_step:action", "invalid_plan", ("plan",), "A step's action is blank or no string.", "Look at raw_plan.", again=True),
        StopReason("invalid_step:args", "invalid_plan", ("plan",), "A step's args is no object.", "Look at raw_plan.", again=True),
        StopReason("invalid_plan:step_sequence", "invalid_plan", ("plan",), "The actions are not the five of a research run in their order.", "Look at details: expected and received.", again=True),
        StopReason("invalid_search:query", "invalid_search", ("search",), "The first step has no query.", "Look at raw_plan.", again=True),
        StopReason("tool_invalid_output:search_sources", "tool", ("search",), "The search raised, or returned no list of hits.", "Look at details (at: the line that raised); mend the search."),
        StopReason("no_sources_after_dedupe", "no_sources", ("dedupe",), "The search found nothing, or no absolute URL with a host.", "Ask about something that the sources cover; look at dropped_urls."),
        StopReason("tool_invalid_output:read_source", "tool", ("read_extract",), "The reader returned something that is no page. (A page that cannot be read is listed in failed_sources.)", "Look at details; mend the reader."),
        StopReason("tool_invalid_output:extract_notes", "tool", ("read_extract",), "The extractor raised, or returned no list.", "Look at details (at: the line that raised); mend the extractor."),
        StopReason("no_reliable_sources", "no_sources", ("read_extract", "outline", "synthesize"), "No note was taken: every source was denied, could not be read, or said nothing.", "Look at denied_sources and failed_sources."),
        StopReason("invalid_notes:empty", "invalid_notes", ("read_extract",), "There is no list of notes.", "Use a model that follows the schema in the prompt.", again=True),
        StopReason("invalid_notes:too_many", "invalid_notes", ("read_extract",), "There are more than max_notes notes.", "Raise max_notes, or take fewer notes.", again=True),
        StopReason("invalid_notes:item", "invalid_notes", ("read_extract",), "A note is no object.", "Mend the extractor, or use another model.", again=True),
        StopReason("invalid_notes:id", "invalid_notes", ("read_extract",), "A note's id is blank, no string, or that of another note.", "Mend the extractor.", again=True),
        StopReason("invalid_notes:url", "invalid_notes", ("read_extract",), "A note's url is blank or no string.", "Mend the extractor.", again=True),
        StopReason("invalid_notes:claim", "invalid_notes", ("read_extract",), "A note's claim is blank, no string, or says nothing.", "Mend the extractor.", again=True),
        StopReason("invalid_notes:quote", "invalid_notes", ("read_extract",), "A note's quote is shorter than 20 characters or no string.", "Mend the extractor.", again=True),
        StopReason("invalid_notes:active_markup", "invalid_notes", ("read_extract",), "A note's claim or title would load, run or lay out something where it is shown: an image, HTML, a script.", "Look at unsupported; if readers may be shown such markup, name it in markup."),
        StopReason("invalid_notes:unsupported_link", "invalid_notes", ("read_extract",), "A note's claim or title has a URL, a host or a mail address that neither its page nor the question has.", "Look at unsupported; links that any text may have belong on known_links.", again=True, untold=True),
        StopReason("verification_failed:quote_too_short", "verification_failed", ("verify",), "A quote is shorter than 20 characters once white space is normalised.", "Look at verification; mend the extractor.", again=True),
        StopReason("verification_failed:claim_missing", "verification_failed", ("verify",), "A claim says nothing.", "Look at verification; mend the extractor.", defensive=True, again=True),
        StopReason("verification_failed:url_not_read", "verification_failed", ("verify",), "A note names a page that this run did not read.", "Look at verification; mend the extractor.", again=True),
        StopReason("verification_failed:quote_not_in_source", "verification_failed", ("verify",), "A quote does not stand in its page, word for word.", "Look at verification; mend the extractor.", again=True),
        StopReason("verification_failed:number_not_in_quote", "verification_failed", ("verify",), "A claim states a fact that its quote does not have.", "Look at verification; mend the extractor.", again=True),
        StopReason("verification_failed:unsupported_claim", "verification_failed", ("verify",), "The verifier found a note whose quote does not bear out its claim.", "Look at verification; mend the extractor."),
        StopReason("conflicting_sources", "agreement", ("verify",), "Two notes of different pages state different values of one thing.", "Look at details: both notes, with their quotes; ask a person, or deny one of the sources."),
        StopReason("insufficient_corroboration:<n>", "agreement", ("verify",), "A note is said by fewer independent sources than n.", "Look at details: which notes; read more pages, set on_unsupported to mark, or lower min_independent."),
        StopReason("invalid_gaps:not_object", "invalid_gaps", ("gaps",), "What was proposed to close gaps is no object.", "Look at details; use a model that follows the prompt.", again=True),
        StopReason("invalid_gaps:open", "invalid_gaps", ("gaps",), "What is named open is no list of short texts.", "Look at details.", again=True),
        StopReason("invalid_gaps:queries", "invalid_gaps", ("gaps",), "The queries are no list, or a very long one.", "Look at details.", again=True),
        StopReason("invalid_gaps:query", "invalid_gaps", ("gaps",), "A query is blank or no string.", "Look at details.", again=True),
        StopReason("invalid_gaps:query_too_long", "invalid_gaps", ("gaps",), "A query has more than 400 characters.", "Look at details.", again=True),
        StopReason("invalid_gaps:too_many", "invalid_gaps", ("gaps",), "There are more new queries than max_queries leaves.", "Look at details; raise max_queries, or ask for less.", again=True),
        StopReason("invalid_gaps:active_markup", "invalid_gaps", ("gaps",), "What is named open would load, run or lay out something where it is shown: an image, HTML, a script.", "Look at unsupported."),
        StopReason("invalid_gaps:unsupported_link", "invalid_gaps", ("gaps",), "What is named open has a URL, a host or a mail address that neither the notes nor the question has.", "Look at unsupported.", again=True, untold=True),
        StopReason("query_denied", "invalid_gaps", ("gaps",), "A query says a value of the caller, or one of denied_query_terms, that the run was not asked about.", "See what a page made the proposer write; the query was not searched for."),
        StopReason("invalid_outline:not_object", "invalid_outline", ("outline",), "The outline is no object.", "Look at details; use a model that follows the prompt.", again=True),
        StopReason("invalid_outline:sections", "invalid_outline", ("outline",), "The outline has no list of titles, or an empty one.", "Look at details; use a model that follows the prompt.", again=True),
        StopReason("invalid_outline:too_many", "invalid_outline", ("outline",), "The outline has more than max_sections sections.", "Raise max_sections, or ask for less.", again=True),
        StopReason("invalid_outline:title", "invalid_outline", ("outline",), "A title is blank or no string.", "Look at details.", again=True),
        StopReason("invalid_outline:title_too_long", "invalid_outline", ("outline",), "A title has more than 80 characters.", "Look at details.", again=True),
        StopReason("invalid_outline:title_twice", "invalid_outline", ("outline",), "Two sections have one title.", "Look at details.", again=True),
        StopReason("invalid_outline:active_markup", "invalid_outline", ("outline",), "A title would load, run or lay out something where it is shown: an image, HTML, a script.", "Look at unsupported; if readers may be shown such markup, name it in markup."),
        StopReason("invalid_outline:unsupported_link", "invalid_outline", ("outline",), "A title has a URL, a host or a mail address that neither the notes nor the question has.", "Look at unsupported; links that any text may have belong on known_links.", again=True, untold=True),
        StopReason("invalid_outline:unsupported_number", "invalid_outline", ("outline",), "A title states a fact that neither the notes nor the question has.", "Look at unsupported.", again=True),
        StopReason("invalid_outline:unsupported_name", "invalid_outline", ("outline",), "A title has a name that neither the notes nor the question has.", "Look at unsupported; names that any answer may say belong on known_names.", again=True),
        StopReason("invalid_answer:sections", "invalid_answer", ("synthesize",), "The answer does not have the sections of its outline, in their order, each with a text, or more than max_sections.", "Look at details: expected and received.", again=True),
        StopReason("invalid_answer:empty", "invalid_answer", ("synthesize",), "The answer is blank, no string, or says nothing: it is a placeholder, or repeats the question, an id or the prompt.", "Use another model.", again=True),
        StopReason("invalid_answer:too_long", "invalid_answer", ("synthesize",), "The answer is longer than max_answer_chars.", "Raise max_answer_chars, or ask for less.", again=True),
        StopReason("invalid_answer:citations", "invalid_answer", ("synthesize",), "The citations are no list of strings, or an empty one.", "Use a model that cites.", again=True),
        StopReason("invalid_answer:citation_unknown", "invalid_answer", ("synthesize",), "The answer cites a note that does not exist.", "Look at invalid_citations.", again=True),
        StopReason("invalid_answer:active_markup", "invalid_answer", ("synthesize",), "The answer would load, run or lay out something where it is shown: an image, HTML, a script.", "Look at unsupported; if readers may be shown such markup, name it in markup."),
        StopReason("invalid_answer:unsupported_link", "invalid_answer", ("synthesize",), "The answer has a URL, a host or a mail address that neither the notes it cites nor the question has.", "Look at unsupported; links that any text may have belong on known_links.", again=True, untold=True),
        StopReason("invalid_answer:uncited_sentence", "invalid_answer", ("synthesize",), "A sentence of the answer cites nothing and inherits no citation; require_sentence_citations asks for it.", "Look at sentence in details; use a model that marks every sentence.", again=True),
        StopReason("invalid_answer:quote_not_in_source", "invalid_answer", ("synthesize",), "What a sentence quotes does not stand in a note that it cites, word for word.", "Look at unsupported, and at sentence in details.", again=True),
        StopReason("invalid_answer:citations_out_of_context", "invalid_answer", ("synthesize",), "A mark of citation in the answer's text names no note.", "Look at invalid_citations.", again=True),
        StopReason("invalid_answer:contradicts_source", "invalid_answer", ("synthesize",), "A sentence of the answer says another value than a note that it cites says of the same thing, or turns a bound round.", "Look at findings: told is what the note says.", again=True),
        StopReason("invalid_answer:unsupported_number", "invalid_answer", ("synthesize",), "The answer states a value that no note it cites, question or working has.", "Look at unsupported and findings; what is worked out needs its working.", again=True),
        StopReason("invalid_answer:unsupported_name", "invalid_answer", ("synthesize",), "The answer has a name that neither the notes it cites nor the question has.", "Look at unsupported; names that any answer may say belong on known_names.", again=True),
        StopReason("invalid_answer:doubtful", "invalid_answer", ("synthesize",), "A sentence of the answer says the opposite of a note that it cites, or what none of them speaks of.", "Look at findings; on_doubt says whether such a sentence is marked or stops the run.", again=True),
        StopReason("invalid_answer:unsupported_claim", "invalid_answer", ("synthesize",), "The verifier found a sentence of the answer that the notes it cites do not bear out.", "Look at unsupported."),
    ],
)  # fmt: skip
"""Why a Research run can stop."""
