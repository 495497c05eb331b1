"""The RAG agent's data: what goes in, what flows, what comes out, how it is configured, why it can stop."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from guardgraph.plain.json import JsonObject, JsonValue
from guardgraph.state.catalogue import Catalogue, StopReason, common_reasons
from guardgraph.state.context import Context
from guardgraph.state.grounding import AnswerPolicy, FoundIssue, UnverifiedSentence
from guardgraph.state.run import Asking, Ok, Stopped, Turn
from guardgraph.state.settings import LIVE, Allowlist, Budget, Check, MaxFloat, MaxInt, MinFloat, Vocabulary

ClarifyReason = Literal["nothing_relevant", "answerer_abstained"]
"""Why a run clarifies: nothing found was relevant enough, or the answerer said that the context has no answer."""


PASSAGE_CHARS = 2200
"""Characters of a passage: what a folder's sections are cut to, and what a longer chunk shows at least."""


class RagInput(TypedDict):
    """What a run is given."""

    question: str
    history: NotRequired[list[Turn]]
    """The conversation before the question, oldest turn first; none where it is absent or empty."""


class RagTask(TypedDict):
    """The request, parsed."""

    question: str  # the user's own words
    history: NotRequired[list[Turn]]
    """The newest turns that the budget allows, oldest first; absent where there are none."""
    turns_left_out: NotRequired[int]  # older ones that it does not
    standalone: NotRequired[str]
    """The question of a conversation, rewritten to be understood without it, which a guard has let through."""


class Intent(TypedDict):
    """A validated retrieval intent; `sources` is absent when the model named none."""

    kind: Literal["retrieve"]
    query: str
    top_k: int
    sources: NotRequired[list[str]]


class RetrievalRequest(TypedDict):
    """What a retriever is asked."""

    query: str
    sources: list[str]  # those to search, sorted, at least one: on both lists at this moment
    top_k: int
    caller: NotRequired[Asking]  # who asks, as the run's context says, groups sorted; absent where it says nobody


class ContextChunk(TypedDict):
    """A piece of a document with its relevance, 0..1."""

    doc_id: str
    source: str
    title: str
    section: str
    updated_at: str
    text: str
    score: float
    span: NotRequired[list[int]]
    """Where the text stands in its document, ``[start, end)`` in characters; where the retriever says nothing, what it
    returned is the document."""
    tenant: NotRequired[str | None]  # the organisation that the document belongs to
    readers: NotRequired[list[str]]
    """Who may read it, as in `guardgraph.state.context`; absent where nobody said, and everybody may."""
    duplicates: NotRequired[list[str]]  # ids of older candidates that say the same
    unmeasured: NotRequired[list[str]]
    """Languages that most of the knowledge base is in, and for which no `min_chunk_score` was measured."""
    unusable: NotRequired[JsonObject]
    """Of what a retriever returned and cannot be used: why, as a stop shows it; it is left out."""


Candidate = ContextChunk


class FoundCandidates(TypedDict):
    """What a retriever found, held against what it was asked."""

    asked: RetrievalRequest
    candidates: list[Candidate]
    left_out: NotRequired[list[JsonObject]]  # what could not be used beside them, and why; absent where all could


class Retrieval(TypedDict):
    """The context that a retrieval was packed into."""

    chunks: list[ContextChunk]
    total_chars: int
    rejected_low_score: int


SpansBy = Literal["cited", "words"]
"""How it is known which sentences rest on a chunk: the answer cites it for them, and their numbers and names were held
against what they cite; or only by the words that they share."""


class CitationDetail(TypedDict):
    """A cited chunk, as results show it."""

    doc_id: str
    title: str
    section: str
    updated_at: str
    source: str
    score: float
    duplicates: NotRequired[list[str]]  # ids of older candidates that say the same
    answer_spans: NotRequired[list[list[int]]]
    """The sentences of the answer that rest on it, each ``[start, end)`` in characters."""
    spans_by: NotRequired[SpansBy]
    document_span: NotRequired[list[int] | None]
    """Where the evidence for them stands in the document, ``[start, end)``; None where no sentence rests on it."""
    passage_span: NotRequired[list[int]]  # where the passage that was shown stands in the document


class Passage(TypedDict):
    """What a cited chunk says."""

    doc_id: str
    text: str


class RagAnswer(TypedDict):
    """A validated answer."""

    answer: str
    citations: list[str]
    citation_details: list[CitationDetail]
    passages: list[Passage]
    unverified: NotRequired[list[UnverifiedSentence]]  # its sentences that are marked, where any are


class Clarification(TypedDict):
    """Why a run asks for clarification instead of answering."""

    answer: str  # the deployment's text, none of a model's
    clarify_reason: ClarifyReason
    best_score: float


class RagState(TypedDict):
    """The channels. `proposed_` and `found_` hold JSON text nobody has judged; `accepted_` what a guard let through."""

    task: RagTask
    proposed_question: str
    found_sources: str
    accepted_sources: list[str]  # of a live knowledge base: the sources of which the caller may read something
    proposed_intent: str
    accepted_intent: Intent
    planned_by: JsonObject
    asked_retrieval: RetrievalRequest
    found_candidates: str
    accepted_candidates: FoundCandidates
    found_ranking: str
    accepted_context: Retrieval
    nearest_score: float
    proposed_answer: str
    accepted_answer: RagAnswer
    held_steps: list[list[JsonObject]]
    proposed_support: str
    accepted_clarification: Clarification


class RagAnswered(Ok):
    """What every ok run returns."""

    answer: str
    citations: list[str]
    citation_details: list[CitationDetail]
    passages: list[Passage]


class RagOk(RagAnswered):
    """What an ok run returns that gives an answer which its context bears out, or clarifies."""

    outcome: Literal["grounded_answer", "clarify"]
    unverified: NotRequired[list[UnverifiedSentence]]
    """Sentences of the answer that are doubtful, in order; see `AnswerPolicy.on_doubt`."""
    clarify_reason: NotRequired[ClarifyReason]  #: of a run that clarifies: why
    best_score: NotRequired[float]
    """Of a run that clarifies: the highest score among the candidates, 0 where there was none."""


class RagPartial(RagAnswered):
    """What a run returns of whose answer some sentences are not borne out; see `AnswerPolicy.on_unsupported`."""

    outcome: Literal["grounded_partial"]
    unverified: list[UnverifiedSentence]  #: these sentences, and those that are doubtful, in order


class RagStopped(Stopped):
    """What a stopped run returns: why, and the evidence."""

    raw_intent: NotRequired[JsonValue]
    intent: NotRequired[Intent]
    invalid_citations: NotRequired[list[str]]
    context_doc_ids: NotRequired[list[str]]
    unsupported: NotRequired[list[str]]
    findings: NotRequired[list[FoundIssue]]
    """Of a refused answer: what was found in its sentences, and what the sources say instead."""
    sentence: NotRequired[str]  #: of an answer whose sentences must cite: which one was refused


RagResult: TypeAlias = RagOk | RagPartial | RagStopped  # what a run returns; `status` and `outcome` say which


class RagPolicy(AnswerPolicy):
    """What the model may ask for, what the runtime will do now, and which checks run."""

    filled: ClassVar = ("allowed_sources_policy", "allowed_sources_execution")

    allowed_sources_policy: Allowlist = ()
    """Sources that the model may ask for."""
    allowed_sources_execution: Annotated[Allowlist, LIVE] = ()
    """Sources that the runtime will read now."""
    denied_sources: Annotated[Vocabulary, LIVE] = ()
    """Sources that are never read, even if the lists name them."""
    require_access: Check = False
    """Every document that the retriever returns must say who may read it."""
    require_sentence_citations: Check = False
    """Every sentence of an answer must cite, and it and its quotes are held against what it cites itself."""


class RagBudget(Budget):
    """How much one run may take."""

    max_seconds: MaxFloat = 20.0
    """Seconds that a run may be active, summed over resumes."""
    max_query_chars: MaxInt = 240
    """Characters of a query."""
    max_top_k: MaxInt = 6
    """Candidates that a model may ask for; 4 when it does not say."""
    max_context_chunks: MaxInt = 6
    """Chunks that are shown to the answerer."""
    max_context_chars: MaxInt = 8000
    """Characters of all these chunks; a folder is cut into chunks of 2200 at most, or of less if this is less."""
    min_chunk_score: MinFloat = 0.2
    """Relevance from 0 to 1 under which a chunk is rejected."""
    max_history_turns: MaxInt = 12
    """Turns of the history that are read, the newest; with 0 no history is."""
    max_history_chars: MaxInt = 8000
    """Characters of all these turns; a turn is read whole or not at all."""


RagContext = Context[RagPolicy, RagBudget]  # what one run may tighten

PHASES = ("plan", "condense", "retrieve", "generate")
"""The first is where a malformed request stops; only a question with a history comes to ``condense``, before the plan.
"""

RAG_REASONS = Catalogue(
    "rag",
    PHASES,
    [
        *common_reasons(
            phases=PHASES,
            asking=("plan", "condense", "generate"),
            objects=("condense", "generate"),
            texts=("condense", "generate"),
            tools={"retrieve": "retrieve", "rerank": "retrieve"},
        ),
        StopReason("invalid_question:too_long", "invalid_question", ("condense",), "The standalone question is longer than 2000 characters, and than the user's own.", "Look at details; use a model that writes one short question.", again=True),
        StopReason("invalid_question:active_markup", "invalid_question", ("condense",), "The standalone question has an image, HTML or a script.", "Look at unsupported, and at the question in details."),
        StopReason("invalid_question:unsupported_link", "invalid_question", ("condense",), "The standalone question has a URL, a host or a mail address that the user did not write.", "Look at unsupported; links that any text may have belong on known_links.", again=True, untold=True),
        StopReason("invalid_question:unsupported_number", "invalid_question", ("condense",), "The standalone question has a number that the conversation does not have.", "Look at unsupported, and at the question in details.", again=True),
        StopReason("invalid_question:unsupported_name", "invalid_question", ("condense",), "The standalone question has a name, a severity or an id that the conversation does not have.", "Look at unsupported; names that any text may have belong on known_names.", again=True),
        StopReason("invalid_intent:not_object", "invalid_intent", ("plan",), "The intent is no JSON object.", "Look at raw_intent; use a model that returns JSON objects.", again=True),
        StopReason("invalid_intent:kind", "invalid_intent", ("plan",), "The intent's kind is not \"retrieve\", or the text is no JSON.", "Look at raw_intent; the planner may only retrieve.", again=True),
        StopReason("invalid_intent:query", "invalid_intent", ("plan",), "The query is missing, blank or no string.", "Look at raw_intent.", again=True),
        StopReason("invalid_intent:top_k", "invalid_intent", ("plan",), "top_k is no whole number in 1..max_top_k.", "Look at raw_intent, or raise max_top_k.", again=True),
        StopReason("invalid_intent:sources", "invalid_intent", ("plan",), "sources is no list, or an empty one.", "Look at raw_intent.", again=True),
        StopReason("invalid_intent:source_item", "invalid_intent", ("plan",), "A source is blank or no string.", "Look at raw_intent.", again=True),
        StopReason("invalid_intent:source_not_allowed:<name>", "invalid_intent", ("plan",), "The model asked for a source that is not on the policy list.", "Add it to allowed_sources_policy, if the model may ask for it.", again=True),
        StopReason("invalid_intent:query_too_long", "invalid_intent", ("retrieve",), "The query is longer than max_query_chars.", "Raise max_query_chars, or ask for shorter queries.", again=True),
        StopReason("source_denied:<name>", "source_denied", ("retrieve", "generate"), "A source is not on the execution list now.", "Add it to allowed_sources_execution to switch it on."),
        StopReason("source_denied_listed:<name>", "source_denied", ("retrieve", "generate"), "A source is on the list of what is denied, which wins over both others.", "Take it off denied_sources, if it may be read."),
        StopReason("tool_invalid_output:retrieve", "tool", ("retrieve",), "The retriever raised, or returned something that is no list of candidates, or a document that the caller may not read.", "Look at details (at: the line that raised); mend the retriever."),
        StopReason("access_revoked", "access_revoked", ("retrieve", "generate"), "Whoever asks now may not read what was found before.", "Start a run of the caller's own; a run is to be resumed by whoever began it.", withholds=True),
        StopReason("tool_invalid_output:rerank", "tool", ("retrieve",), "The reranker raised, or returned something else than candidates that it was given.", "Look at details (at: the line that raised); a reranker may only order candidates anew and leave some out."),
        StopReason("invalid_answer:citations_out_of_context", "invalid_answer", ("generate",), "The answer cites, in its list or by a mark in its text, what was not in its context.", "Look at invalid_citations and context_doc_ids.", again=True),
        StopReason("invalid_answer:missing_citations", "invalid_answer", ("generate",), "The answer cites nothing.", "Use a model that cites.", again=True),
        StopReason("invalid_answer:empty", "invalid_answer", ("generate",), "The answer says nothing: it is a placeholder, or repeats the question, an id or the prompt.", "Look at details; use a model that follows the prompt.", again=True),
        StopReason("invalid_answer:active_markup", "invalid_answer", ("generate",), "The answer would load, run or lay out something where it is shown: an image, HTML, a script.", "Look at unsupported; if readers may be shown such markup, name it in markup."),
        StopReason("invalid_answer:unsupported_link", "invalid_answer", ("generate",), "The answer has a URL, a host or a mail address that neither a cited chunk nor the question has.", "Look at unsupported; links that any text may have belong on known_links.", again=True, untold=True),
        StopReason("invalid_answer:uncited_sentence", "invalid_answer", ("generate",), "A sentence of the answer cites nothing and inherits no citation.", "Look at sentence; use a model that marks every sentence.", again=True),
        StopReason("invalid_answer:quote_not_in_source", "invalid_answer", ("generate",), "What a sentence quotes does not stand in a chunk that it cites, word for word.", "Look at unsupported and sentence.", again=True),
        StopReason("invalid_answer:contradicts_source", "invalid_answer", ("generate",), "A sentence of the answer says another value than a cited chunk says of the same thing, or turns a bound round.", "Look at findings: told is what the chunk says.", again=True),
        StopReason("invalid_answer:unsupported_number", "invalid_answer", ("generate",), "The answer states a value that no cited chunk, question or working has.", "Look at unsupported and findings; what is worked out needs its working.", again=True),
        StopReason("invalid_answer:unsupported_name", "invalid_answer", ("generate",), "The answer has a name that neither a cited chunk nor the question has.", "Look at unsupported; names that any answer may say belong on known_names.", again=True),
        StopReason("invalid_answer:doubtful", "invalid_answer", ("generate",), "A sentence of the answer says the opposite of a cited chunk, or what no cited chunk speaks of.", "Look at findings; on_doubt says whether such a sentence is marked or stops the run.", again=True),
        StopReason("invalid_answer:unsupported_claim", "invalid_answer", ("generate",), "The verifier found a sentence of the answer that its evidence does not bear out.", "Look at unsupported."),
    ],
)  # fmt: skip
"""Why a RAG run can stop."""
