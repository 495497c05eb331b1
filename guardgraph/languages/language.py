"""In which language a text is, and words of a language: stop words, function words, negations, what is lower case."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from guardgraph.languages.tables import load_language_table
from guardgraph.plain.letters import normalise_to_nfkc
from guardgraph.plain.memory import remember_by_text


@cache
def load_stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language, in lower case.

    Source: stopwords-iso, a collection of the lists of many projects.

    Args:
        language: a code of `LANGUAGES`; another one has none.
    """
    return frozenset(load_language_table("stop_words").get(language, "").split())


_ASKING: Final = {
    "de": "wer wen wem wessen was welche welcher welches welchen welchem wann wo wohin woher wobei wodurch wofür womit "
    "wonach woran worauf woraus worin worüber wovon wozu warum weshalb wieso wie wieviel viel viele vielen "
    "heißt heißen hieß hießen lautet lautete nennt nannte genannt",
    "es": "qué quién quiénes cuál cuáles cuándo dónde adónde cómo cuánto cuánta cuántos cuántas porqué "
    "llama llaman llamaba llamaban llamó",
    "fr": "qui que quoi quel quelle quels quelles quand où comment combien pourquoi lequel laquelle lesquels "
    "lesquelles appelle appelait nomme nommait",
    "it": "chi che cosa quale quali quando dove come quanto quanta quanti quante perché chiama chiamava",
    "pt": "quem que qual quais quando onde aonde como quanto quanta quantos quantas porque porquê chama chamava",
    "nl": "wie wat welke welk wanneer waar waarin waarom waarmee waarvoor hoe hoeveel heet heette heten",
    "pl": "kto kogo komu kim co czego czemu czym jaki jaka jakie jakich jakiego jakiej jakim jaką który która które "
    "których której kiedy gdzie skąd dokąd dlaczego czemu jak ile ilu czyj czyja nazywa nazywał nazywała",
    "cs": "kdo koho komu kým co čeho čemu čím jaký jaká jaké jakých jakého který která které kterých kdy kde odkud kam "
    "proč jak kolik čí jmenuje jmenoval jmenovala",
    "ro": "cine ce care când unde cum cât câtă câți câte cui",
    "sv": "vem vems vad vilken vilket vilka när var vart varifrån varför hur många mycket heter hette",
    "tr": "kim kimin kime kimi kimler ne neyi neyin nedir nelerdir hangi hangisi nerede nereye nereden neresi nasıl "
    "niçin niye neden kaç kaçıncı mi mı mu mü midir mıdır",
    "vi": "ai gì nào đâu bao nhiêu khi mấy sao thế",
    "ru": "кто кого кому кем ком что чего чему чем какой какая какое какие какого каких какому каким какую какими "
    "каком каков какова каково каковы когда где куда откуда почему зачем сколько скольких чей чья чьё чье чьи "
    "называется называются назывался называлась называлось называют называли",
    "uk": "хто кого кому ким що чого чому чим який яка яке які якого яких якому яким якої якій яку якими коли де куди "
    "звідки навіщо скільки скількох чий чия чиє чиї називається називаються називався називалася називають",
    "el": "ποιος ποια ποιο ποιοι ποιες ποιον ποιου ποιων τι πότε πού πώς γιατί πόσο πόσος πόση πόσοι πόσες πόσα "
    "λέγεται ονομάζεται",
    "ar": "من ما ماذا متى أين كيف لماذا كم أي أية هل لمن بماذا",
    "hi": "क्या कौन किस किसने किसको किसे किसका किसकी किसके किन किन्हें किनके कब कहाँ कहां क्यों कैसे कैसा कैसी "
    "कितना कितने कितनी कौनसा कौनसी सा सी कहते कहा",
    "th": "ใคร อะไร เมื่อไหร่ เมื่อไร เมื่อใด ที่ไหน ไหน อย่างไร ยังไง ทำไม เท่าไหร่ เท่าไร เท่าใด กี่ ใด ไหม หรือไม่ "
    "และ ของ เป็น ใน ที่ ได้ ให้ กับ จาก โดย จะ คือ มี ไม่ ก็ ว่า นี้ นั้น",
    "zh": "什么 什么样 什么时候 哪 哪些 哪个 哪里 哪儿 哪位 哪种 哪年 谁 多少 多大 多长 多久 多高 几 怎么 怎样 如何 "
    "为什么 为何 何时 何地 何种 是否 吗 呢 吧 的 了 是 在 有 和 与 及 于 之 被 把",
    "ja": "誰 だれ 何 なに なん いつ どこ どの どれ どんな どう どうして なぜ いくつ いくら どのくらい どのよう "
    "は が を に で と も の へ や か",
    "ko": "누구 누가 무엇 무엇을 무엇이 언제 어디 어디에 어디서 어느 어떤 어떻게 얼마나 얼마 몇 며칠 입니까 인가요",
}
"""Question words, words with which one asks for a name, and particles that are written without blanks."""

_COURTESY: Final = {
    "de": "hallo hi moin servus grüezi bitte danke dankeschön gruß grüße grüßen sag sagen könnten könntest",
    "es": "hola gracias favor saludos podría podrías decirme dime",
    "fr": "bonjour bonsoir salut merci plaît svp cordialement pourriez pourrais dire dites",
    "it": "ciao buongiorno buonasera grazie favore saluti potrebbe potresti dirmi",
    "pt": "olá oi obrigado obrigada favor saudações poderia dizer",
    "nl": "hallo hoi bedankt dank alstublieft alsjeblieft groet groeten graag",
    "pl": "cześć witam dziękuję dzięki proszę pozdrawiam",
    "cs": "ahoj děkuji díky prosím zdravím",
    "ro": "bună salut mulțumesc rog",
    "sv": "hej tack snälla vänligen hälsningar",
    "tr": "merhaba selam teşekkür teşekkürler lütfen",
    "vi": "xin chào cảm ơn",
    "ru": "привет здравствуйте спасибо пожалуйста подскажите скажите",
    "uk": "привіт вітаю дякую спасибі прошу підкажіть скажіть",
    "el": "γεια καλημέρα ευχαριστώ παρακαλώ",
    "ar": "مرحبا شكرا فضلك رجاء",
    "hi": "नमस्ते धन्यवाद कृपया",
    "th": "สวัสดี กรุณา ครับ ค่ะ",
    "zh": "你好 您好 谢谢 请问",
    "ja": "ください お願い",
    "ko": "안녕 주세요",
}
"""Words to whoever is asked: they say nothing of what is asked, and no text that answers has them."""


@cache
def load_function_words(language: str) -> frozenset[str]:
    """Return the words of a language that say nothing of what a text is about, in lower case.

    Args:
        language: an ISO 639-1 code; one that is not known has none.
    """
    spoken = f"{_ASKING.get(language, '')} {_COURTESY.get(language, '')}"
    return frozenset(map(normalise_to_nfkc, (*load_stop_words(language), *spoken.split())))


_NEGATIONS: Final = {
    "en": "no not non none never neither nor nobody nothing nowhere cannot without except excepting excepted excluding "
    "excluded excludes exclude unless lacks lacking hardly barely instead",
    "de": "nicht kein keine keinen keinem keiner keines nie niemals niemand niemanden niemandem nichts nirgends ohne "
    "weder außer außerhalb ausgenommen ausgeschlossen keinesfalls keineswegs statt anstatt",
    "es": "no ni nunca jamás nadie nada ningún ninguno ninguna ningunos ningunas sin tampoco excepto salvo excluido "
    "excluida excluidos excluidas menos",
    "fr": "ne non ni pas jamais rien personne aucun aucune aucuns aucunes nul nulle sans sauf guère hormis excepté "
    "exclu exclue exclus exclues",
    "uk": "не ні ані нема немає ніколи ніхто нікого нічого ніщо ніде жоден жодна жодне жодні жодного жодної жодних без "
    "крім окрім",
    "ru": "не ни нет никогда никто никого ничего ничто нигде никакой никакая никакое никакие никаких без кроме нельзя",
}

DENYING_LANGUAGES: Final = frozenset(_NEGATIONS)
"""The languages whose negations are known, as ISO 639-1 codes."""


LISTED_LANGUAGES: Final = ("en",)
"""Languages of which the words are kept, as ISO 639-1 codes."""

_WORDS: Final = Path(__file__).parent / "data"
_HEAD: Final = 2
"""Letters by which the words of a file are put together, a line for each; "-" stands for these letters alone."""


def is_lowercase_word(word: str, language: str) -> bool:
    """Say whether a language has a word in lower case, as a list of 65,000 (English) has it.

    Args:
        word: in any case.
        language: one of `LISTED_LANGUAGES`; another one has no words.
    """
    lower = word.lower()
    rest = lower[_HEAD:] or "-"
    return len(lower) >= _HEAD and f" {rest} " in _load_words_by_head(language).get(lower[:_HEAD], "")


@cache
def _load_words_by_head(language: str) -> Mapping[str, str]:
    """Read the words as one text for each head: as objects of their own they would take ten times the memory."""
    if language not in LISTED_LANGUAGES:
        return {}
    lines = (_WORDS / f"words_{language}.txt").read_text("ascii").splitlines()
    return {line[:_HEAD]: f"{line[_HEAD:]} " for line in lines}


@cache
def load_negations() -> frozenset[str]:
    """Return the negations of all languages where they are known, case folded: a text may be in several."""
    return frozenset(" ".join(_NEGATIONS.values()).casefold().split())


_LONGEST_READ: Final = 500
"""Characters. A text that is longer tells its language in its beginning."""

_TELLING_SHARE: Final = 0.25
"""Of the letters. Names and codes in Latin letters stand in texts of every script, hardly ever the other way round."""

_LANGUAGES: Final = {
    "LATIN": ("en", "de", "es", "fr", "it", "pt", "nl", "pl", "cs", "ro", "sv", "tr", "vi"),
    "CYRILLIC": ("ru", "uk"),
    "GREEK": ("el",),
    "ARABIC": ("ar",),
    "DEVANAGARI": ("hi",),
    "THAI": ("th",),
    "CJK": ("zh",),
    "KANA": ("ja",),
    "HANGUL": ("ko",),
}
"""Languages by the first word of the Unicode names of their letters (kana: either of Japan's)."""

DETECTED_LANGUAGES: Final = tuple(sorted(language for of_script in _LANGUAGES.values() for language in of_script))
"""All that a text may tell."""

_KANA: Final = frozenset({"HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"})

_LETTERS: Final = {
    "de": "äöüß",
    "es": "áéíóúüñ",
    "fr": "éèêëàâçîïôûùœ",
    "it": "àèéìòù",
    "pt": "ãõáâàçéêíóôú",
    "nl": "ëïé",
    "pl": "ąćęłńóśźż",
    "cs": "áčďéěíňóřšťúůýž",
    "ro": "ăâîșşțţ",
    "sv": "åäö",
    "tr": "çğıöşü",
    "vi": "ăâđêôơưàáảãạằắẳẵặầấẩẫậèéẻẽẹềếểễệìíỉĩịòóỏõọồốổỗộờớởỡợùúủũụừứửữựỳýỷỹỵ",
    "ru": "ёъыэ",
    "uk": "ґєії",
}
"""The letters that a language is spelled with and that not all of its script have."""

_WORD: Final = re.compile(r"[^\W\d_]+")


def detect_language(text: str) -> str:
    """Tell which language a text is in.

    Where one language alone is written in a script, the script tells. Where several are, each word votes for
    the languages that list it as a stop word, and each letter for those that are spelled with it; a vote is
    shared among them.

    Args:
        text: any text; its first 500 characters are read.

    Returns:
        An ISO 639-1 code, or ``""`` where nothing tells: no letters, a script that none of these languages is
        written in, no votes, or as many for two of them.
    """
    return _detect_language_of_text(text[:_LONGEST_READ])


@remember_by_text(texts=1024, chars=_LONGEST_READ)
def _detect_language_of_text(text: str) -> str:
    votes = _count_language_votes(text)
    if len(votes) <= 1:
        return "".join(votes)
    most = max(votes.values())
    best = [language for language in votes if votes[language] == most]
    return best[0] if len(best) == 1 and most else ""


def is_surely_another_language(text: str, languages: Collection[str]) -> bool:
    """Say whether a text is in none of some languages: in another script, or by more than a word or two.

    Four words of English can look like Romanian ("are", "in"), so a check that needs a language asks this before it
    leaves a text out.

    Args:
        text: any text; its first 500 characters are read.
        languages: ISO 639-1 codes.
    """
    votes = _count_language_votes(text[:_LONGEST_READ])
    most = max((votes[language] for language in languages if language in votes), default=None)
    return most is None or max(votes.values()) - most >= _SURE_LEAD


def _count_language_votes(text: str) -> dict[str, int]:
    """Return the votes for each language of a text's script, none where it is that of no language known."""
    text = normalise_to_nfkc(text).lower()
    languages = _LANGUAGES.get(_detect_script(text), ())
    votes = dict.fromkeys(languages, 0)
    known = _load_language_signs(languages)
    for named in map(known.get, _list_language_signs(text)):
        if named is not None:
            vote = _WHOLE_VOTE // len(named)
            for language in named:
                votes[language] += vote
    return votes


_WHOLE_VOTE: Final = 360_360
"""Divisible by every number up to 15, so that shares of votes are whole numbers and their sums exact."""

_SURE_LEAD: Final = 3 * _WHOLE_VOTE // 2
"""Votes of one language beyond those of another, more than a single word gives by chance."""


def _detect_script(text: str) -> str:
    if text.isascii():
        return "LATIN"
    scripts = Counter(map(_detect_letter_script, text))
    scripts.pop("", None)
    if scripts["KANA"] * 10 > scripts["CJK"]:  # Japanese is written in both, Chinese hardly ever in kana
        scripts["KANA"] += scripts.pop("CJK", 0)
    latin, letters = scripts.pop("LATIN", 0), scripts.total()
    best = max(scripts, key=lambda script: scripts[script], default="")
    return best if letters and letters >= _TELLING_SHARE * (latin + letters) else "LATIN"


@cache
def _detect_letter_script(character: str) -> str:
    if not character.isalpha():
        return ""
    script = unicodedata.name(character, "").partition(" ")[0]
    return "KANA" if script in _KANA else script


def _list_language_signs(text: str) -> list[str]:
    words = _WORD.findall(text)
    return words if text.isascii() else [*words, *(f"{letter}-" for letter in text if not letter.isascii())]


@cache
def _load_language_signs(languages: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    known: defaultdict[str, list[str]] = defaultdict(list)
    for language in languages:
        for word in load_stop_words(language):
            known[word].append(language)
        for letter in _LETTERS.get(language, ""):
            known[f"{letter}-"].append(language)
    return {sign: tuple(named) for sign, named in known.items()}
