"""Words of any script, questions in the language of a base, and scores that mean the same on every size of base."""

import json
import random
from itertools import islice, product
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.grounding.words import read_terms
from guardgraph.tools.knowledge_base import Document
from guardgraph.tools.lexical import LexicalRetriever

MIN_SCORE = 0.2
LANGUAGES = json.loads((Path(__file__).parents[1] / "data" / "questions_by_language.json").read_text("utf-8"))
"""By language: sentences of a handbook with the question that each answers, a question that none does, and what people
say before and after a question."""
BASES = {language: told["answered"] for language, told in LANGUAGES.items()}
GREETINGS = {language: told["greeting"] for language, told in LANGUAGES.items() if "greeting" in told}


def document(name, text):
    return Document(id=name, source="s", title="", section="", updated_at="", text=text)


def retriever(*languages):
    named = [(f"{language}{at}", text) for language in languages for at, (text, _) in enumerate(BASES[language])]
    return LexicalRetriever([document(name, text) for name, text in named])


def ask(retrieve, query, top_k=3):
    return retrieve({"query": query, "sources": ["s"], "top_k": top_k})


@each_row("language", *BASES)
def test_a_question_finds_its_sentence_in_its_language(language):
    """In other forms of its words, with vowel signs, without blanks: the sentence is the best, and relevant."""
    retrieve = retriever(language)
    for at, (_, question) in enumerate(BASES[language]):
        best = ask(retrieve, question)[0]
        assert (best["doc_id"], best["score"] >= MIN_SCORE) == (f"{language}{at}", True), (question, best)


@each_row("language", *GREETINGS)
def test_a_greeting_is_no_part_of_a_question(language):
    """Whoever greets and thanks gets what he would have got without, to the last digit."""
    retrieve, (before, after) = retriever(language), GREETINGS[language]
    for _, question in BASES[language]:
        assert ask(retrieve, before + question + after) == ask(retrieve, question)


@each_row("language", *BASES)
def test_a_question_about_something_else_is_not_relevant(language):
    """What the sentences of a language share with any question does not make one relevant."""
    found = ask(retriever(language), LANGUAGES[language]["unrelated"], 1)
    assert not found or found[0]["score"] < MIN_SCORE


@each_row("language", "th", "vi")
def test_what_every_text_has_is_no_evidence(language):
    """Sounds and syllables that other words share do not make a long passage of something else relevant."""
    told = {
        "th": (
            "มหาวิทยาลัยฮาร์วาร์ดเป็นสถาบันอุดมศึกษาที่เก่าแก่ที่สุดในสหรัฐอเมริกา เครื่องจักรไอน้ำของเจมส์ วัตต์ มีประสิทธิภาพสูงกว่ารุ่นก่อน "
            "ออกซิเจนเป็นธาตุเคมี พืชผลิตออกซิเจนจากกระบวนการสังเคราะห์แสง สมาชิกสภาได้รับการเลือกตั้งทุกสี่ปี และมีอำนาจออกกฎหมาย",
            "ประธานาธิบดีคนแรกของฝรั่งเศสคือใคร",
        ),
        "vi": (
            "Đại học Harvard là cơ sở giáo dục lâu đời nhất tại Hoa Kỳ. Động cơ hơi nước của James Watt có hiệu suất. "
            "Thực vật tạo ra oxy thông qua quang hợp. Các nghị sĩ được bầu bốn năm một lần và có quyền ban hành luật.",
            "Tổng thống đầu tiên của nước Pháp là ai?",
        ),
    }
    text, question = told[language]
    retrieve = LexicalRetriever([document("one", text), document("other", BASES[language][0][0])])
    found = ask(retrieve, question, 1)
    assert not found or found[0]["score"] < MIN_SCORE / 2, found
    assert all(len(term.split()) == 2 or len(term) > 2 for term in read_terms(question, language))


def made_up_words(count, seed):
    draw = random.Random(seed)
    return ["".join(draw.choice("bdfgklmnprstvz") + draw.choice("aeiou") for _ in range(3)) for _ in range(count)]


def test_a_larger_base_asks_for_more():
    """The best of many passages covers more by chance: the same share of a question scores less on a large base."""
    words = made_up_words(4_000, seed=7)
    draw = random.Random(1)
    texts = ["nabucodonosor " + " ".join(draw.choices(words, k=30)) for _ in range(3)]
    texts += [" ".join(draw.choices(words, k=30)) for _ in range(5_000)]
    query = f"nabucodonosor {words[0]} {words[1]} {words[2]}"
    scores = []
    for size in (5, 200, 5_000):
        base = LexicalRetriever([document(str(at), text) for at, text in enumerate(texts[:size])])
        scores.append(ask(base, query, 1)[0]["score"])
    assert scores[0] > scores[-1]


def test_short_passages_ask_for_less():
    """The best of short passages covers less by chance: the same share of a question scores more there."""
    scores = []
    for length in (5, 50):
        words = ("".join(letters) for letters in product("bdfgklmnprtvz", repeat=4))
        texts = [" ".join(islice(words, length)) for _ in range(50)]
        first, *others = (text.split() for text in texts)
        query = " ".join([*first[:2], *(other[0] for other in others[:3])])
        base = LexicalRetriever([document(str(at), text) for at, text in enumerate(texts * 2)])
        scores.append(ask(base, query, 1)[0]["score"])
    assert scores[0] > scores[1]


def test_few_random_questions_pass_whatever_the_size():
    """Random questions over the vocabulary of a base have nothing to do with it: at most 2 of 100 pass."""
    words = made_up_words(4_000, seed=3)
    frequencies = [1 / (rank + 10) for rank in range(len(words))]
    draw = random.Random(5)
    texts = [" ".join(draw.choices(words, frequencies, k=40)) for _ in range(3_000)]
    questions = [" ".join(draw.sample(words, 6)) for _ in range(200)]
    for size in (240, 3_000):
        base = LexicalRetriever([document(str(at), text) for at, text in enumerate(texts[:size])])
        passed = [question for question in questions if any(c["score"] >= MIN_SCORE for c in ask(base, question, 1))]
        assert len(passed) <= 0.02 * len(questions)


def test_a_word_covers_more_in_the_form_that_was_asked_for():
    """As spelled it is nearest, then in another form of its stem, then with its beginning alone."""
    texts = {"spelled": "refunded money", "stem": "refunds money", "beginning": "refuse money", "none": "open house"}
    found = ask(LexicalRetriever([document(name, text) for name, text in texts.items()]), "refunded")
    assert [candidate["doc_id"] for candidate in found] == ["spelled", "stem", "beginning"]
    assert len({candidate["score"] for candidate in found}) == 3


@given(st.lists(st.sampled_from([question for cases in BASES.values() for _, question in cases]), max_size=4))
def test_scores_of_any_language_are_shares(questions):
    """Any question, of several languages too, scores in 0..1, best first."""
    scores = [found["score"] for found in ask(MIXED, " ".join(questions), 20)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


MIXED = retriever(*BASES)
