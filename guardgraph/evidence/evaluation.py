"""Evaluation: an agent is asked the questions of a dataset, and what it answers is held against what is expected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args
from uuid import uuid4

from guardgraph.evidence.store import StoredRun
from guardgraph.evidence.strict_json import read_json_lines
from guardgraph.evidence.what_if import check_ending_name, is_ending_called
from guardgraph.graphs.running.door import GuardedGraph
from guardgraph.graphs.shadows import Ending, judge_recording_again
from guardgraph.grounding.quotes import is_quote_in_text
from guardgraph.plain.errors import ConfigurationError, InputError
from guardgraph.plain.hashing import digest
from guardgraph.plain.json import JsonObject
from guardgraph.plain.letters import normalise_to_nfkc
from guardgraph.plain.tables import format_html_table
from guardgraph.state.recording import validate_recording
from guardgraph.state.run import RECORDED

EXPECTED: Final = ("id", "ending", "facts", "citations")  # columns of a dataset that are no input


@dataclass(frozen=True, slots=True)
class DatasetRow:
    """A row of a dataset: an input, and what is expected of its run."""

    id: str
    input: JsonObject
    ending: str | None
    facts: tuple[str, ...]
    citations: tuple[str, ...]


def read_dataset(agent: GuardedGraph[Any, Any, Any], dataset: Any) -> list[DatasetRow]:
    """Read the rows of a dataset for an agent."""
    found: list[Any]
    if isinstance(dataset, (str, Path)):
        found = [row for _, row in read_json_lines("dataset", dataset)]
    elif hasattr(dataset, "to_dict"):  # a DataFrame, whose empty cells are NaN
        found = dataset.to_dict("records")
        for row in found:
            for key in [key for key, cell in row.items() if cell is None or (isinstance(cell, float) and isnan(cell))]:
                del row[key]
    elif isinstance(dataset, Iterable) and not isinstance(dataset, Mapping):
        found = list(dataset)
    else:
        raise InputError(f"dataset: rows, a DataFrame or a file is required; given: {type(dataset).__name__}")
    if not found:
        raise InputError("dataset: one row at least is required; given: none")
    rows = [_parse_dataset_row(agent, at, row) for at, row in enumerate(found, 1)]
    for what, keys in (("id", [row.id for row in rows]), ("input", [hash_input(row.input) for row in rows])):
        first: dict[str, int] = {}
        for at, key in enumerate(keys, 1):
            if first.setdefault(key, at) != at:
                allowed = f"an {what} of its own is required"
                raise InputError(f"dataset, row {at}: {allowed}; given: that of row {first[key]}")
    return rows


def _parse_dataset_row(agent: GuardedGraph[Any, Any, Any], at: int, row: Any) -> DatasetRow:
    if not isinstance(row, Mapping) or not row:
        raise InputError(f"dataset, row {at}: a dictionary with an input is required; given: {row!r:.80}")
    allowed = (*agent.input_fields, *EXPECTED)
    if unknown := [key for key in row if key not in allowed]:
        raise InputError(f"dataset, row {at}: one of {', '.join(allowed)} is required; given: {unknown[0]!r:.80}")
    expected = {key: row.get(key) for key in EXPECTED if key not in agent.input_fields}  # an input field is input
    given = {key: value for key, value in row.items() if key in agent.input_fields}
    if not given:
        raise InputError(f"dataset, row {at}: an input is required, {' or '.join(agent.input_fields)}; given: none")
    try:
        hash_input(given)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"dataset, row {at}: an input of plain JSON is required: {error}") from error
    ending = expected.get("ending")
    if ending is not None:
        try:
            check_ending_name(f"row {at}: ending", str(ending), agent.frame.catalogue)
        except ConfigurationError as error:
            raise InputError(f"dataset, {error}") from error
    texts = dict[str, tuple[str, ...]]()
    for key in ("facts", "citations"):
        said = expected.get(key)
        listed = (said,) if isinstance(said, str) else () if said is None else said
        if not isinstance(listed, Sequence) or not all(isinstance(text, str) and text.strip() for text in listed):
            raise InputError(f"dataset, row {at}: {key}: a text or a list of texts is required; given: {said!r:.80}")
        texts[key] = tuple(listed)
    own = expected.get("id")
    return DatasetRow(str(at if own is None else own), given, ending, **texts)


def hash_input(given: Mapping[str, Any]) -> str:
    """Return what tells inputs apart; a field that is None is one that was left out."""
    return digest({key: value for key, value in given.items() if value is not None})


Rate: TypeAlias = Literal["answered", "ending", "facts", "citations", "passed"]
"""What is counted, as a share of the rows that say what they expect of it; `answered` and `passed` of all rows."""
RATES: Final[tuple[Rate, ...]] = get_args(Rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRow:
    """One row of a dataset, asked: flat, so that rows are a table of `pandas.DataFrame(evaluation.rows)`."""

    id: str
    ended: str
    """``ok:grounded_answer``, ``stopped:max_seconds``; ``waits`` for a person, ``unknown`` where no recording tells,
    ``failed`` where the call raised."""
    why: str  #: what is missing or wrong, in words; blank where the row passed
    answered: bool  #: whether the run ended well
    ending: bool | None  #: whether it ended as expected; None where nothing is expected, as in the next two
    facts: bool | None  #: whether the answer has every fact that is expected
    citations: bool | None  #: whether it cites every document that is expected
    run_id: str
    answer: str

    @property
    def passed(self) -> bool:
        """Whether the run ended, and nothing that is expected is missing."""
        known = [said for said in (self.ending, self.facts, self.citations) if said is not None]
        return all(known) if known else self.answered


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What came of a dataset: a row for each of its rows, in their order."""

    pattern: str
    rows: list[EvaluationRow]

    @cached_property
    def rates(self) -> dict[Rate, float]:
        """Shares from 0 to 1, of the rows that expect something; what no row expects is left out."""
        said = {name: [value for row in self.rows if (value := getattr(row, name)) is not None] for name in RATES}
        return {name: sum(values) / len(values) for name, values in said.items() if values}

    def table(self) -> str:
        """Return the rates, and a line for each row that did not pass."""
        rates = [f"{name:<10}{rate:>7.1%}" for name, rate in self.rates.items()]
        missed = [f"{row.id}  {row.ended}  {row.why}" for row in self.rows if not row.passed]
        return "\n".join([*rates, "", f"{len(self.rows)} rows, {len(missed)} did not pass", *missed])

    def plain(self) -> JsonObject:
        """Return rates and rows as plain JSON."""
        rows = [{**asdict(row), "passed": row.passed} for row in self.rows]
        return {"pattern": self.pattern, "rates": dict(self.rates), "rows": rows}

    def find_low_rates(self, least: Mapping[str, float]) -> dict[str, float]:
        """Return the rates below what is wanted, a share from 0 to 1; one that no row expects anything of is 0."""
        for name, share in least.items():
            if name not in RATES:
                raise ConfigurationError(f"least: one of {', '.join(RATES)} is required; given: {name!r:.80}")
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
                raise ConfigurationError(f"least.{name}: a share from 0 to 1 is required; given: {share!r:.80}")
        found: dict[str, float] = {str(name): rate for name, rate in self.rates.items()}
        return {name: found.get(name, 0.0) for name, share in least.items() if found.get(name, 0.0) < share}

    def _repr_html_(self) -> str:
        rates = ", ".join(f"{name} {rate:.1%}" for name, rate in self.rates.items())
        rows = ((row.id, row.ended, row.passed, row.why) for row in self.rows)
        return format_html_table(rates, ("id", "ended", "passed", "why"), rows)

    def __repr__(self) -> str:
        return f"<Evaluation of {self.pattern}: {sum(row.passed for row in self.rows)} of {len(self.rows)} rows passed>"


def evaluate(
    agent: GuardedGraph[Any, Any, Any],
    dataset: Any,
    *,
    recordings: Iterable[Any] | None = None,
    context: Any = None,
    max_concurrency: int = 4,
) -> Evaluation:
    """Ask an agent every row of a dataset, and hold what it answers against what the row expects.

    Args:
        agent: a guarded graph.
        dataset: rows as dictionaries, a `pandas.DataFrame`, or the name of a file with a JSON object a line. The
            columns are the agent's input fields, and what is expected of the row: `ending` (``ok``, ``ok:clarify``,
            ``stopped:source_denied``), `facts` (texts that the answer has, one or several), `citations` (documents
            that it cites, by id or by the id's beginning up to ``#``), and `id`, else the row's number. All four may
            be left out.
        recordings: stored runs or recordings. Nothing is called then: each row is decided again by the agent from the
            recording of its input, as `what_if` does; a row without one, or whose recording cannot tell, is
            ``unknown``.
        context: of the runs, as `invoke` takes it.
        max_concurrency: how many runs are at work at once.

    Raises:
        InputError: the dataset is empty or no table, cannot be read, or a row is blank, stands twice, or has a column
            that is neither an input field nor an expectation; the message names the row.
        ConfigurationError: `agent` is no guarded graph, or `max_concurrency` is no whole number from 1 up.
    """
    if not isinstance(agent, GuardedGraph):
        raise ConfigurationError(f"agent: a guarded graph is required; given: {type(agent).__name__}")
    if type(max_concurrency) is not int or max_concurrency < 1:
        allowed = "a whole number from 1 up"
        raise ConfigurationError(f"max_concurrency: {allowed} is required; given: {max_concurrency!r:.80}")
    asked = read_dataset(agent, dataset)
    if recordings is None:
        config: Any = {"max_concurrency": max_concurrency}
        own = [{**config, "configurable": {"thread_id": f"evaluate-{uuid4()}"}} for _ in asked]
        configs: Any = own if agent.checkpointer else config
        results: list[Any] = agent.batch([row.input for row in asked], configs, return_exceptions=True, context=context)
    else:
        made: dict[str, Any] = {}
        for run in recordings:
            recording = run.recording if isinstance(run, StoredRun) else run
            if recording is not None:  # it was not erased
                read = validate_recording(recording)
                made[hash_input(read["input"])] = judge_recording_again(agent.frame, read).result
        results = [made.get(hash_input(given)) for given in [item.input for item in asked]]
    return Evaluation(agent.frame.catalogue.pattern, [_judge_row(*pair) for pair in zip(asked, results, strict=True)])


UNENDED: Final = ("unknown", "waits", "failed")  # what is said of runs that have no ending


def _judge_row(row: DatasetRow, result: Any) -> EvaluationRow:
    known = result if isinstance(result, dict) else {}
    citations = known["citations"] if isinstance(known.get("citations"), list) else []
    if not known:
        ended = "failed" if isinstance(result, BaseException) else "unknown"
    else:
        ended = "waits" if known.get("status") == "waiting" else str(Ending.of(known))
    over, text = ended not in UNENDED, ""
    if over:  # of a pattern that calls its answer otherwise, all texts that came of the run
        shown = {key: value for key, value in known.items() if key not in RECORDED and isinstance(value, str)}
        text = shown.get("answer", "\n".join(shown.values()))
    folded = normalise_to_nfkc(text).casefold()
    lacking = [fact for fact in row.facts if not is_quote_in_text(normalise_to_nfkc(fact).casefold(), folded)]
    cited = {part for item in citations for part in (str(item), str(item).partition("#")[0])}
    uncited = [name for name in row.citations if name not in cited]
    as_expected = over and is_ending_called(Ending.of(known), row.ending) if row.ending else None
    why = [f"{result!s:.200}"] if isinstance(result, BaseException) else []
    why += [f"expected {row.ending}"] if as_expected is False else []
    why += [f"lacks {fact!r}" for fact in lacking] + [f"does not cite {name}" for name in uncited]
    return EvaluationRow(
        id=row.id,
        ended=ended,
        why="; ".join(why),
        answered=over and known.get("status") == "ok",
        ending=as_expected,
        facts=not lacking if row.facts else None,
        citations=not uncited if row.citations else None,
        run_id=str(known.get("run_id", "")),
        answer=text,
    )
