"""Where sentences end, in any script, and which lines of a text are one line broken to a width."""

from textwrap import fill

from hypothesis import given, settings
from hypothesis import strategies as st
from tables import each_row

from guardgraph.grounding.sentences import count_stated_clauses, find_sentence_spans, split_sentences, unwrap_text_lines


@each_row(
    "parts",
    ["Uptime is 99.95 %.", "P1 is answered in 15 minutes, 24/7.", "Is it?", "Yes!"],
    ["He said “Stop.”", "(It did.)", "*Then* we went on…", "«Да.»", "Ура!"],
    ["The limit is 6.", "Then it stops."],
    ["The pump failed at 07:25.", "The crew came at 8:05.", "It ran again from 8:40 to 23:59.", "Nobody was hurt."],
    ["系统正常。", "请稍候！", "好的？", "“可以。”", "好"],
    ["यह पहला है।", "यह दूसरा है।"],
    ["Он пришёл, т. е. вернулся.", "Она ушла."],
    ["No.", "See No. 5, Art. 3 and Fig. 2.", "He studied art.", "Then he left."],
    ["Ask Dr. Miller, e.g. today.", "Or Mr...", "Then John F. Kennedy or John F. Xu."],
    ["Am 3. Mai 1990 begann der 2. Versuch.", "Er gelang."],
    ["4 s.", "Then it stops.", "Writes took up to 4 s.", "The wall (44 v. Chr.) is 20 m.", "It stands by J. Ray."],
)
def test_sentences_end_at_marks(parts):
    """A mark ends a sentence where another begins, with the quote marks it closes, in scripts without blanks too."""
    between = "" if "。" in "".join(parts) else " "
    assert split_sentences(between.join(parts)) == parts


@each_row("between", " ", "\n")
def test_an_item_keeps_its_number(between):
    items = ["Steps: 1. Open the door.", "2. Close it.", "3. Go 12. Street"]
    assert split_sentences(between.join(items))[:2] == items[:2]


@each_row(
    ("sentence", "stated"),
    ("It is done, so go.", 2),
    ("It is up, it is done, anything else?", 2),
    ("It is done, is it?", 1),
    ("Is it done, or will it be?", 0),
    ("Done?", 0),
)
def test_clauses_state_before_one_asks(sentence, stated):
    assert count_stated_clauses(sentence, [clause.lower().split() for clause in sentence.split(", ")]) == stated


def test_lines_broken_to_a_width_are_one():
    """Lines that were only broken to a width go on; items, headings, rows and labels begin a line of their own."""
    wrapped = (
        "The enterprise plan comes with a monthly uptime of\n99.95 % for every workspace that is on an\nEnterprise "
        "plan. It is\nmeasured.\n\n- P1 is answered\n  within 15 minutes\n- P2 later\nStatus: ok\n| a | b |\n# A\nB"
    )
    text = unwrap_text_lines(wrapped)
    assert len(text) == len(wrapped)
    assert [" ".join(line.split()) for line in split_sentences(text)] == [
        "The enterprise plan comes with a monthly uptime of 99.95 % for every workspace that is on an Enterprise plan.",
        *("It is measured.", "- P1 is answered within 15 minutes", "- P2 later", "Status: ok", "| a | b |", "# A", "B"),
    ]


def test_lines_of_code_stay():
    """Between fences every line is a line, whatever it begins with."""
    code = "Run:\n\n```python\nprint('a long line of code that is as wide as any')\nagain(1)\n```\nThen wait\nfor it."
    assert unwrap_text_lines(code) == code.replace("wait\nfor", "wait for")


WORDS = ["Uptime", "is", "99.95", "%", "of", "a", "month.", "The", "limit", "P1", "Enterprise", "15", "minutes.", "Ja!"]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=60), st.integers(40, 90))
def test_any_width(words, width):
    """A text that was wrapped to a width has the sentences that it had before."""
    text = " ".join(words)
    read = split_sentences(unwrap_text_lines(fill(text, width, break_on_hyphens=False)))
    wrapped = [" ".join(item.split()) for item in read]
    assert wrapped == split_sentences(text)


BLANKS = ["\n", "\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x85", "\xa0", "\u2028", "\u3000", "\u200b", "\ufeff", "\t", " "]
ODD = st.lists(st.sampled_from([*BLANKS, "A.", "b", "- c", "| d |", "```", "Dr. ", "3. ", "。", "\ud800"]), max_size=30)


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("aB1 .!?。।\n\"'()-") | st.characters(), max_size=60) | ODD.map("".join))
def test_sentences_of_any_text(text):
    """Sentences are the text itself without the blanks between them, in order; lines of odd blanks end no reading."""
    plain = unwrap_text_lines(text)
    assert len(plain) == len(text)
    for read in (text, plain):
        spans = find_sentence_spans(read)
        assert all(start < end for start, end in spans)
        assert spans == sorted(spans)
        assert "".join("".join(split_sentences(read)).split()) == "".join(text.split())
