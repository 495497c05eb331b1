"""What the generators know of languages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Tongue:
    """What the generators know of a language.

    Args:
        code: of the language, as in texts that are measured.
        months: as they stand after `inside`, January first.
        inside: "in" before a month.
        nouns: plurals that are counted.
        millions: the words for 10^6 and 10^9 after a decimal number.
        units: names of a unit after a number, with its English name.
        years: how a range of years is said.
        decades: how a decade is said, with `{}` for 1990 and `{short}` for 90.
        date: a day and a month.
    """

    code: str
    months: Sequence[str]
    inside: str
    nouns: Sequence[str]
    millions: tuple[str, str]
    units: Sequence[tuple[str, str]]
    years: Sequence[str]
    decades: Sequence[str]
    date: str


TONGUES = (
    Tongue(
        "de",
        [
            "Januar",
            "Februar",
            "März",
            "April",
            "Mai",
            "Juni",
            "Juli",
            "August",
            "September",
            "Oktober",
            "November",
            "Dezember",
        ],
        "im",
        ("Spieler", "Besucher", "Briefe", "Kirchen"),
        ("Millionen", "Milliarden"),
        (
            ("Kilometer", "km"),
            ("Stunden", "hours"),
            ("Minuten", "minutes"),
            ("Tage", "days"),
            ("Prozent", "%"),
            ("Euro", "EUR"),
        ),
        ("von {} bis {}", "zwischen {} und {}", "{}–{}"),
        ("in den {}er Jahren", "in den {}ern", "in den {short}er Jahren", "in den {}er-Jahren"),
        "am {}. {}",
    ),
    Tongue(
        "es",
        [
            "enero",
            "febrero",
            "marzo",
            "abril",
            "mayo",
            "junio",
            "julio",
            "agosto",
            "septiembre",
            "octubre",
            "noviembre",
            "diciembre",
        ],
        "en",
        ("jugadores", "visitantes", "cartas", "iglesias"),
        ("millones", "mil millones"),
        (
            ("kilómetros", "km"),
            ("horas", "hours"),
            ("minutos", "minutes"),
            ("días", "days"),
            ("por ciento", "%"),
            ("euros", "EUR"),
        ),
        ("de {} a {}", "entre {} y {}", "desde {} hasta {}", "{}–{}"),
        ("en los años {short}", "en la década de {}", "en la década de los {short}", "en los {}s"),
        "el {} de {}",
    ),
    Tongue(
        "fr",
        [
            "janvier",
            "février",
            "mars",
            "avril",
            "mai",
            "juin",
            "juillet",
            "août",
            "septembre",
            "octobre",
            "novembre",
            "décembre",
        ],
        "en",
        ("joueurs", "visiteurs", "lettres", "églises"),
        ("millions", "milliards"),
        (
            ("kilomètres", "km"),
            ("heures", "hours"),
            ("minutes", "minutes"),
            ("jours", "days"),
            ("pour cent", "%"),
            ("euros", "EUR"),
        ),
        ("de {} à {}", "entre {} et {}", "{}–{}"),
        ("dans les années {short}", "dans les années {}"),
        "le {} {}",
    ),
    Tongue(
        "ru",
        [
            "январе",
            "феврале",
            "марте",
            "апреле",
            "мае",
            "июне",
            "июле",
            "августе",
            "сентябре",
            "октябре",
            "ноябре",
            "декабре",
        ],
        "в",
        ("игроков", "посетителей", "писем", "церквей"),
        ("миллионов", "миллиардов"),
        (
            ("километров", "km"),
            ("часов", "hours"),
            ("минут", "minutes"),
            ("дней", "days"),
            ("процентов", "%"),
            ("рублей", "RUB"),
        ),
        ("с {} по {}", "от {} до {}", "{}–{}"),
        ("в {}-х годах", "в {short}-х годах", "в {}-е годы"),
        "{} {}",
    ),
    Tongue(
        "uk",
        [
            "січні",
            "лютому",
            "березні",
            "квітні",
            "травні",
            "червні",
            "липні",
            "серпні",
            "вересні",
            "жовтні",
            "листопаді",
            "грудні",
        ],
        "у",
        ("гравців", "відвідувачів", "листів", "церков"),
        ("мільйонів", "мільярдів"),
        (
            ("кілометрів", "km"),
            ("годин", "hours"),
            ("хвилин", "minutes"),
            ("днів", "days"),
            ("відсотків", "%"),
            ("гривень", "UAH"),
        ),
        ("з {} по {}", "від {} до {}", "{}–{}"),
        ("у {}-х роках", "у {short}-х роках"),
        "{} {}",
    ),
)
GENITIVES = {
    "ru": [
        "января",
        "февраля",
        "марта",
        "апреля",
        "мая",
        "июня",
        "июля",
        "августа",
        "сентября",
        "октября",
        "ноября",
        "декабря",
    ],
    "uk": [
        "січня",
        "лютого",
        "березня",
        "квітня",
        "травня",
        "червня",
        "липня",
        "серпня",
        "вересня",
        "жовтня",
        "листопада",
        "грудня",
    ],
}
