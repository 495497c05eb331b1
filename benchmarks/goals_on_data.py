"""What the benchmarks on data sets measure, and what their figures should be."""

from __future__ import annotations

from meanings import Meaning, Section

__all__ = ["ON_DATA"]

ON_DATA = (
    Section(
        "cranfield",
        "The retriever on the Cranfield collection",
        "How well the default retriever ranks abstracts for questions, beside plain BM25 over the same terms.",
        (
            Meaning("ndcg_at_10", "nDCG of the first ten, the mean over the questions.", at_least=0.366),
            Meaning("bm25_ndcg_at_10", "The same for plain BM25."),
            Meaning(
                "hybrid_ndcg_at_10",
                "The same for a knowledge base with vectors of latent semantic analysis of the abstracts.",
                at_least=0.385,
            ),
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
        "knowledge_base",
        "A knowledge base in a file",
        "Chunks that are put together from the sentences of the collection, and its questions, asked of a "
        "`KnowledgeBase`, of SQLite's FTS5 and of two libraries that keep all in memory, of all in turn; by the number "
        "of chunks. The goals hold for 100,000.",
        (
            Meaning("kb_*_query_ms", "Milliseconds for a question, the median; four chunks are asked for."),
            Meaning("kb_*_query_over_*", "Of a smaller base: the time of the knowledge base by that of the other."),
            Meaning("kb_100000_query_over_fts5_words", "By that of FTS5 over the words that we read.", at_most=0.7),
            Meaning("kb_100000_query_over_fts5", "By that of FTS5 with its own tokenizer.", at_most=0.1),
            Meaning("kb_100000_query_over_rank_bm25", "By that of rank_bm25 over our words.", at_most=0.05),
            Meaning("kb_100000_query_over_bm25s", "By that of bm25s, which cannot be updated.", at_most=1.5),
            Meaning(
                "kb_*_query_filtered_over_all",
                "The time of a caller who may read 1 % of the chunks, by that of one who may read all.",
            ),
            Meaning("kb_100000_query_filtered_over_all", "The same.", at_most=0.1),
            Meaning("kb_*_build_over_fts5_words", "Processor time of building, by that of FTS5 over our words."),
            Meaning("kb_100000_build_over_fts5_words", "The same.", at_most=3),
            Meaning("kb_*_build_s", "Seconds of processor time of building."),
            Meaning("kb_*_add_ms", "Milliseconds of processor time of `add` of one document, the median."),
            Meaning("kb_100000_add_ms", "The same.", at_most=10),
            Meaning("kb_add_largest_over_smallest", "The same, of the largest base by the smallest.", at_most=2),
            Meaning("kb_*_remove_ms", "Of `remove` of a collection of one document."),
            Meaning(
                "kb_*_query_after_own_change_over_repeated",
                "Processor time of a question after a change of the tenant's own, by that of a repeated one.",
            ),
            Meaning("kb_100000_query_after_own_change_over_repeated", "The same.", at_most=2),
            Meaning("kb_*_query_after_foreign_change_over_repeated", "The same after a change of another tenant's."),
            Meaning("kb_100000_query_after_foreign_change_over_repeated", "The same.", at_most=1.05),
            Meaning(
                "kb_tenants_first_query_ms",
                "Milliseconds of processor time of a tenant's first question, beside 10,000 tenants of one document.",
                at_most=10,
            ),
            Meaning("kb_*_memory_over_retriever", "By what a process grows that searches, by `LexicalRetriever`'s."),
            Meaning("kb_100000_memory_over_retriever", "The same.", at_most=0.1),
            Meaning("kb_*_memory_mb", "By how many MB a process grows that searches the file."),
            Meaning("kb_reingest_over_first", "Time of adding an unchanged folder again, by the first.", at_most=0.05),
        ),
        data="cranfield",
    ),
    Section(
        "languages",
        "The retriever in several languages",
        "XQuAD's questions on the paragraphs of all articles (related), and of all but their own (unrelated).",
        (
            Meaning("*_found_in_first_3", "Share of questions whose paragraph is among the first three.", at_least=0.9),
            Meaning("*_related_clarified_share", "Share of related questions that end in clarify.", at_most=0.2),
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
            Meaning("flagged_false_pct", "Per cent of the false claims that the number check flags.", at_least=78),
            Meaning("flagged_true_pct", "Per cent of the true claims that it flags.", at_most=10),
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
        "turned",
        "The check of sentences that were turned round",
        "Sentences of texts in four languages, with a negation more or less, or an opposite in place of a word, said a "
        "little otherwise, beside their text; and true answers and sentences. The rules were tuned on the other half "
        "of the texts. Nine tenths of the shares that resamplings of the texts give lie between `_from` and `_to`.",
        (
            Meaning("*_accepted_pct", "Per cent of the sentences turned round that are accepted.", at_most=20),
            Meaning("turned_true_*_pct", "Per cent of the true ones that are refused.", at_most=0),
            Meaning("*_from", "The least of nine tenths of the resampled shares."),
            Meaning("*_to", "The largest of them."),
            Meaning("*_cases", "Sentences, or answers' sentences."),
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
        "faithbench",
        "The checks of names and numbers on what models write",
        "Summaries of ten models that people read (FaithBench): how many the two checks stop though nothing in them is "
        "marked, and how many marked sentences they refuse; with wrong numbers planted, in frames, with a false source "
        "and with a made-up subject. 95 of 100 samples of the sources lie between low and high.",
        (
            Meaning("faithful_stopped_pct", "Per cent of the faithful texts that are stopped.", at_most=15),
            Meaning("good_refused_pct", "Per cent of the sentences without a mark.", at_most=4),
            Meaning("unfaithful_refused_pct", "Per cent of the sentences with something unwanted.", at_least=13),
            Meaning("planted_*_passed_pct", "Per cent of the wrong numbers of a kind that pass.", at_most=5),
            Meaning("frames_stopped_pct", "Per cent of good sentences in a frame.", at_most=1),
            Meaning("false_sources_refused_pct", "Per cent of good sentences that name a false source.", at_least=95),
            Meaning("made_up_subject_accepted_pct", "Per cent of sentences about a made-up name.", at_most=55),
            Meaning("faithful_*_pct", "Per cent of the faithful texts that one of the checks stops."),
            Meaning("drop_*_pct", "Per cent of the texts that end so where refused sentences are taken out."),
            Meaning("unfaithful_spans_seen_*_pct", "Per cent of the unwanted annotations that a reader still sees."),
            Meaning("*_cases", "Texts, sentences or annotations."),
            Meaning("*_low", "See above."),
            Meaning("*_high", "See above."),
            Meaning("texts", "Texts."),
            Meaning("sources", "What they are summaries of."),
        ),
        data="faithbench",
    ),
    Section(
        "verifier",
        "A verifier behind the rules",
        "The same summaries as answers of a RAG agent: how many sentences and texts stop with the rules alone, with an "
        "oracle as verifier that knows the marks (the most that any verifier can reach), and with what GPT-4o and the "
        "cross-encoder HHEM said of each text.",
        (
            Meaning(
                "unfaithful_refused_with_oracle_pct", "Per cent of the sentences with something unwanted.", at_least=25
            ),
            Meaning("good_refused_with_oracle_pct", "Per cent of the sentences without a mark.", at_most=4),
            Meaning("*_pct", "Per cent that stop."),
            Meaning("*_cases", "Texts or sentences."),
            Meaning("*_low", "See above."),
            Meaning("*_high", "See above."),
            Meaning("texts", "Texts."),
            Meaning("sources", "What they are summaries of."),
        ),
        data="faithbench",
    ),
    Section(
        "names_languages",
        "The check of names on true sentences",
        "Questions about an article of XQuAD, each taken as an answer that cites the article. German capitalises "
        "every noun, and Chinese and Hindi have no capitals: there the check says nothing.",
        (
            Meaning("*_true_sentences", "Sentences."),
            Meaning("*_true_flagged_pct", "Per cent of them that are refused.", at_most_of={"es": 2.5, "ru": 5}),
        ),
        data="xquad",
    ),
    Section(
        "rag_languages",
        "The offline RAG agent in five languages",
        "Questions of XQuAD to a base of half of its articles: those about the base (related), and those about the "
        "other half (unrelated), which nothing in the base answers.",
        (
            Meaning("*_related_clarified_pct", "Per cent of the related ones that end in a clarification.", at_most=20),
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
