"""What takes minutes: hundreds of random patterns that act, review and loop, while their processes die."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from random_effects import Acting, check_on_record, draw_plan, survive_deaths

RUNS = 600


def test_random_runs_do_nothing_twice_and_nothing_unseen(tmp_path):
    """Whatever reached a tool is on record, and no write was made twice, however often a process died."""

    def run_one(seed):
        run = Acting(tmp_path / str(seed), draw_plan(random.Random(seed)))
        run.folder.mkdir()
        result, died = survive_deaths(run)
        check_on_record(run, result)
        return result["stop_reason"], died

    with ThreadPoolExecutor(2) as pool:
        came = list(pool.map(run_one, range(RUNS)))
    endings, deaths = Counter(reason for reason, _ in came), sum(died for _, died in came)
    print(endings, deaths)
    assert deaths >= RUNS / 4
    assert {"success", "effect_unknown:move", "tool_invalid_output:move", "review_rejected"} <= set(endings), endings
