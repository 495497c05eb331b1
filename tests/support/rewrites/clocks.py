"""Clock times said otherwise, and their zones."""

from __future__ import annotations

import re
from random import Random

from rewrites.cardinals import alternatives
from rewrites.kinds import Forms, Kind, pattern


def _clock(hour: int, minute: int) -> list[str]:
    twelve, half = (hour - 1) % 12 + 1, "am" if hour < 12 else "pm"
    dotted = f"{half[0]}.m."
    said = [f"{hour:02}:{minute:02}", f"{twelve}:{minute:02} {half}", f"{twelve}:{minute:02} {dotted}"]
    said += [f"{hour}h{minute:02}", f"{twelve}.{minute:02} {half}", f"{hour:02}:{minute:02}:00", f"{hour}:{minute:02}"]
    return said if minute else [*said, f"{twelve} {half}", f"{twelve} {dotted}"]


def _clock_forms(match: re.Match[str], random: Random) -> Forms | None:
    hour, minute = int(match[1]), int(match[2])
    if hour > 23 or minute > 59 or hour % 12 == 0:
        return None
    twelve = f"{(hour - 1) % 12 + 1}:{minute:02}"
    wrong = [(hour, (minute + 1) % 60), ((hour + 1) % 24, minute), (hour, (minute + 30) % 60)]
    turned = [f"{twelve} {half}" for half in (("am", "a.m.") if hour > 11 else ("pm", "p.m."))]
    return Forms(
        _clock(hour, minute), other=[*turned, *(random.choice(_clock(*each)[:6]) for each in wrong for _ in range(2))]
    )


CLOCK = Kind(
    "clock_times",
    pattern(r"(?<![\w.,:/-])(1[3-9]|2[0-3]):([0-5]\d)(?![\w:.–-])(?! ?[ap]\.?m|[ -][A-Z]{3})"),
    _clock_forms,
    lambda random: f"at {random.randint(13, 23)}:{random.randint(0, 59):02}",
)


def _seconds_forms(match: re.Match[str], random: Random) -> Forms:
    hour, minute, second = (int(each) for each in match.groups())
    less = [f"{hour}:{minute:02}", f"{hour:02}:{minute:02}"]
    other = [
        f"{hour}:{minute:02}:{(second + 1) % 60:02}",
        f"{hour}:{(minute + 1) % 60:02}",
        f"{(hour + 1) % 24}:{minute:02}",
    ]
    return Forms([match[0]], less, other)


SECONDS = Kind(
    "clock_times_less_exactly",
    pattern(r"(?<![\w.,:/-])([01]?\d|2[0-3]):([0-5]\d):([0-5]\d)(?![\w:.])"),
    _seconds_forms,
    lambda random: f"at {random.randint(1, 23)}:{random.randint(0, 59):02}:{random.randint(1, 59):02}",
)
MORE_EXACT = Kind(
    "clock_times_more_exactly",
    pattern(r"(?<![\w.,:/-])(1[3-9]|2[0-3]):([0-5]\d)(?![\w:.–-])"),
    lambda match, random: Forms(
        other=[f"{match[0]}:{random.randint(1, 59):02}", f"{match[0]}:{random.randint(1, 59):02}"]
    ),
    lambda random: f"at {random.randint(13, 23)}:{random.randint(0, 59):02}",
)

ZONES = {"UTC": 0, "GMT": 0, "EST": -5, "PST": -8, "CET": 1, "EET": 2, "MST": -7, "UTC+3": 3, "UTC-4": -4}


def _zone_forms(match: re.Match[str], random: Random) -> Forms | None:
    hour, minute, zone = int(match[1]), match[2], match[3]
    same, other = [f"{hour}:{minute} {zone}", f"{hour:02}:{minute} ({zone})"], []
    for name, offset in ZONES.items():
        there = hour + offset - ZONES[zone]
        if not 1 <= there <= 23:
            continue
        same.append(f"{there:02}:{minute} {name}")
        if offset != ZONES[zone]:
            twelve, half = (there - 1) % 12 + 1, "am" if there < 12 else "pm"
            same.append(f"{twelve}:{minute} {half} {name}")
            other += [f"{hour}:{minute} {name}", f"{there % 23 + 1:02}:{minute} {name}"]
    return Forms(random.sample(same, min(7, len(same))), [], random.sample(other, 6))


ZONE = Kind(
    "time_zones",
    pattern(rf"(?<![\w.,:/-])(1\d|2[0-3]):([0-5]\d) ({alternatives(map(re.escape, ZONES))})(?![\w:+-])"),
    _zone_forms,
    lambda random: f"at {random.randint(10, 16)}:{random.randint(0, 59):02} {random.choice(list(ZONES))}",
)
NO_ZONE = Kind(
    "time_zones_left_out",
    pattern(r"(?<![\w.,:/-])(1[0-6]):([0-5]\d)(?![\w:.–-]| ?[ap]\.?m| [A-Z]{3})"),
    lambda match, random: Forms(
        [], [f"{match[0]} {zone}" for zone in ZONES], [f"{int(match[1]) + 3}:{match[2]} {zone}" for zone in ZONES]
    ),
    lambda random: f"at {random.randint(10, 16)}:{random.randint(0, 59):02}",
)


def _noon_forms(match: re.Match[str], random: Random) -> Forms:
    noon, midnight = ["noon", "12 noon", "12:00", "12:00 noon"], ["midnight", "12 midnight", "00:00", "0:00"]
    same, other = (noon, midnight) if match[0].lower() == "noon" else (midnight, noon)
    return Forms(same, other=[*other, "3 pm", "11:00"])


NOON = Kind(
    "noon_and_midnight",
    pattern(r"(?<=\bat )(?:noon|midnight)\b"),
    _noon_forms,
    lambda random: f"at {random.choice(['noon', 'midnight'])}",
)
DOTTED = Kind(
    "points_that_are_no_times",
    pattern(r"(?<![\w.,:/-])(1[0-2])\.([1-5]\d) (points|metres|litres|miles)\b"),
    lambda match, random: Forms([match[0]], other=[f"{match[1]}:{match[2]}", f"{match[1]}:{match[2]} pm"]),
    lambda random: (
        f"by {random.randint(10, 12)}.{random.randint(13, 59)} {random.choice(['points', 'metres', 'miles'])}"
    ),
)


KINDS = (CLOCK, SECONDS, MORE_EXACT, ZONE, NO_ZONE, NOON, DOTTED)
