"""A checked answer: a verdict for each sentence, shown as text, Markdown and HTML with what the sources say instead."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from importlib import resources
from typing import Final

from guardgraph.grounding.check import CheckedSentence, Finding, Source
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject
from guardgraph.plain.letters import escape_odd_letters
from guardgraph.plain.markdown import escape_markdown

PASSED: Final = "success"  # the stop reason of an answer that is let through, as of a run
_EMPTY: Final = "invalid_answer:empty"  # the stop reason of an answer that says nothing
_UNCHECKED: Final = {"supported": "unchecked"}


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer with a verdict for each sentence."""

    answer: str  #: the text, without marks of citation
    verdict: str
    """The worst of its sentences': ``contradicted``, ``unsupported``, ``doubtful``, ``unchecked``, ``supported``."""
    stop_reason: str
    """``success``, or the reason for which an agent would stop, such as ``invalid_answer:contradicts_source``."""
    sentences: tuple[CheckedSentence, ...]
    unsupported: tuple[str, ...]  #: what the reason is about: values, names, links, or citations
    unknown_citations: tuple[str, ...]  #: citations that name none of the sources
    marked: tuple[CheckedSentence, ...]
    """The sentences with which the answer is given all the same, since the policy marks instead of stopping."""
    sources: tuple[Source, ...]

    def __post_init__(self) -> None:
        """Say of no sentence of an answer that says nothing that sources support it."""
        if self.stop_reason == _EMPTY:
            shown = (each._replace(verdict=_UNCHECKED.get(each.verdict, each.verdict)) for each in self.sentences)
            object.__setattr__(self, "sentences", tuple(shown))
            object.__setattr__(self, "verdict", _UNCHECKED.get(self.verdict, self.verdict))

    @property
    def ok(self) -> bool:
        """Whether an agent with this policy would give the answer."""
        return self.stop_reason == PASSED

    def to_text(self, *, width: int = 80, color: bool = False) -> str:
        """Return it for a terminal.

        Args:
            width: columns.
            color: whether verdicts have the colours of a terminal.
        """
        lines = [describe_verdict(self), ""]
        for sentence in self.sentences:
            sign = f"{SIGNS[sentence.verdict]} {sentence.verdict}"
            lines.append(f"\x1b[{_COLORS[sentence.verdict]}m{sign}\x1b[0m" if color else sign)
            lines += textwrap.wrap(" ".join(sentence.text.split()), width, initial_indent="  ", subsequent_indent="  ")
            for note in _list_finding_notes(self, sentence):
                lines += textwrap.wrap(note, width, initial_indent="    - ", subsequent_indent="      ")
        return "\n".join(lines)

    def to_markdown(self) -> str:
        """Return it as Markdown: the marked sentences, and under them what the sources say."""
        parts, notes, at = list[str](), list[str](), 0
        for sentence in self.sentences:
            said = escape_markdown(self.answer[sentence.start : sentence.end])
            parts.append(escape_markdown(self.answer[at : sentence.start]))
            at = sentence.end
            found = [*_list_finding_notes(self, sentence)]
            if not found:
                parts.append(said)
                continue
            notes.append(f"{len(notes) + 1}. {sentence.verdict}: " + "; ".join(map(escape_markdown, found)))
            parts.append(f"**{said}** ({len(notes)}: {sentence.verdict})")
        parts.append(escape_markdown(self.answer[at:]))
        return "\n\n".join(
            filter(None, (f"**{escape_markdown(describe_verdict(self))}**", "".join(parts), "\n".join(notes)))
        )

    def to_html(self, *, title: str = "A checked answer") -> str:
        """Return it as one page of HTML, without scripts and without anything from elsewhere."""
        return show_answer_as_html(self, title=title)

    def _repr_html_(self) -> str:
        return show_answer_as_html(self, title=None)

    def model_dump(self) -> JsonObject:
        """Return it as plain JSON."""
        return {
            "answer": self.answer,
            "ok": self.ok,
            "verdict": self.verdict,
            "stop_reason": self.stop_reason,
            "unsupported": [*self.unsupported],
            "unknown_citations": [*self.unknown_citations],
            "sentences": [
                {
                    **item._asdict(),
                    "findings": [finding._asdict() for finding in item.findings],
                    "evidence": [seen._asdict() for seen in item.evidence],
                }
                for item in self.sentences
            ],
        }

    def rows(self) -> list[JsonObject]:
        """Return a row for each sentence, as pandas takes them."""
        return [
            {
                "sentence": item.text,
                "verdict": item.verdict,
                "rules": ", ".join(dict.fromkeys(finding.rule for finding in item.findings)),
                "findings": "; ".join(finding.text for finding in item.findings),
                "told": "; ".join(finding.told for finding in item.findings if finding.told),
                "source": item.evidence[0].source if item.evidence else "",
            }
            for item in self.sentences
        ]


SIGNS: Final = {"contradicted": "✗", "unsupported": "✗", "doubtful": "?", "unchecked": "·", "supported": "✓"}
"""Before a sentence, by its verdict."""
_COLORS: Final = {"contradicted": "31", "unsupported": "31", "doubtful": "33", "unchecked": "2", "supported": "32"}
"""Of a terminal, by verdict (ECMA-48, select graphic rendition)."""
_RULES: Final = {
    "value": "the value {text!r} is in no source",
    "count": "the count {text!r} is another one",
    "bound": "the bound of {text!r} is turned round",
    "name": "the name {text!r} is in no source",
    "unsupported_link": "the link {text!r} is in no source",
    "active_markup": "{text!r} would load, run or lay out something",
    "opposite": "it says the opposite of a source",
    "cover": "the sources do not speak of this; the share of its words that they have is {told}",
}
_SHOWN_CHARS: Final = 200  # characters of a source that a finding shows


def explain_finding(finding: Finding) -> str:
    """Say in one line what a finding is about, and what the source says instead."""
    rule, told = (finding.told, "") if finding.rule == "link" else (finding.rule, finding.told)
    said = _RULES.get(rule, "{text!r}").format(text=finding.text, told=told)
    if finding.verdict == "contradicted" and finding.rule in ("value", "count"):
        said = f"{finding.text!r} is another value than the source's"
    if told and rule != "cover":
        said += f"; the source{f' {finding.source}' if finding.source else ''} says {told!r}"
    return said


def find_shown_source(answer: CheckedAnswer, sentence: CheckedSentence) -> tuple[str, str] | None:
    """Return the id and the words of the source that a sentence is shown beside; None where none is near."""
    found = [(f.source, f.source_start, f.source_end) for f in sentence.findings if f.source_start >= 0]
    near = [(seen.source, seen.start, seen.end) for seen in sentence.evidence]
    around = [each for each in near if any(each[0] == f[0] and each[1] <= f[1] < each[2] for f in found)]
    places = [*around, *found, *near]  # the whole sentence that says something else, if it is at hand
    texts = {source.id: source.text for source in answer.sources}
    for name, start, end in places:
        if said := " ".join(texts.get(name, "")[start:end].split()):
            return name, textwrap.shorten(said, _SHOWN_CHARS, placeholder=" …")
    return None


def describe_verdict(answer: CheckedAnswer) -> str:
    """Say in one line what becomes of an answer."""
    if not answer.ok:
        about = f": {', '.join(answer.unsupported)}" if answer.unsupported else ""
        return f"refused, {answer.stop_reason}{about}"
    return f"let through, {answer.verdict}"


def _list_finding_notes(answer: CheckedAnswer, sentence: CheckedSentence) -> Iterator[str]:
    if sentence.verdict in ("supported", "unchecked"):
        return
    yield from dict.fromkeys(map(explain_finding, sentence.findings))
    if shown := find_shown_source(answer, sentence):
        yield f"source {shown[0]}: “{shown[1]}”"


def show_answer_as_html(answer: CheckedAnswer, *, title: str | None) -> str:
    """Return a checked answer as a page, or as a part of one where it has no title."""
    parts, notes, at = list[str](), list[str](), 0
    prefix = f"n{digest([answer.answer, answer.stop_reason])[:8]}-"  # a notebook shows several on one page
    for sentence in answer.sentences:
        parts.append(_write_text(answer.answer[at : sentence.start]))
        at, said = sentence.end, _write_text(answer.answer[sentence.start : sentence.end])
        shown = find_shown_source(answer, sentence)
        if shown is None and not sentence.findings:
            parts.append(said)
            continue
        number = f"{prefix}{len(notes) + 1}"
        parts.append(f'<a class="s {sentence.verdict}" href="#{number}" title="{sentence.verdict}">{said}</a>')
        parts.append(f"<sup>{len(notes) + 1}</sup>")
        told = "".join(f"<br>{_write_text(each)}" for each in dict.fromkeys(map(explain_finding, sentence.findings)))
        quoted = (
            f"<blockquote>{_write_text(shown[1])} <cite>({_write_text(shown[0])})</cite></blockquote>" if shown else ""
        )
        notes.append(f'<li id="{number}"><strong>{sentence.verdict}</strong>{told}{quoted}</li>')
    parts.append(_write_text(answer.answer[at:]))
    style = (resources.files("guardgraph.checking") / "checked.css").read_text(encoding="utf-8").strip()
    body = (
        f'<div class="checked"><style>{style}</style><p><strong>{_write_text(describe_verdict(answer))}</strong></p>'
        f'<div class="both"><div>{"".join(parts)}</div><ol>{"".join(notes)}</ol></div></div>'
    )
    if title is None:
        return body
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body><h1>{escape(title)}</h1>{body}</body></html>\n'


def _write_text(text: str) -> str:
    return escape(escape_odd_letters(text)).replace("\n", "<br>")
