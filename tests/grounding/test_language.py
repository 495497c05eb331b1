"""Which language a text is in, and its words."""

from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.grounding.words import detect_language, find_nearest_texts, list_content_words, read_terms

SENTENCES = {
    "en": "The refund is paid within ten days when the order was cancelled in time.",
    "de": "Die Rückzahlung erfolgt innerhalb von zehn Tagen, wenn rechtzeitig storniert wurde.",
    "es": "El reembolso se paga en un plazo de diez días si el pedido se canceló a tiempo.",
    "fr": "Le remboursement est versé dans les dix jours si la commande a été annulée à temps.",
    "it": "Il rimborso viene pagato entro dieci giorni se l'ordine è stato annullato in tempo.",
    "pt": "O reembolso é pago em dez dias se o pedido não foi entregue dentro do prazo.",
    "nl": "De terugbetaling gebeurt binnen tien dagen als de bestelling op tijd is geannuleerd.",
    "pl": "Zwrot pieniędzy następuje w ciągu dziesięciu dni, jeśli zamówienie zostało anulowane.",
    "cs": "Peníze vracíme do deseti dnů, pokud byla objednávka zrušena včas.",
    "ro": "Rambursarea se face în zece zile dacă această comandă a fost anulată la timp.",
    "sv": "Återbetalningen sker inom tio dagar om beställningen har avbrutits i tid.",
    "tr": "Sipariş zamanında iptal edildiyse para iadesi on gün içinde yapılır.",
    "vi": "Tiền được hoàn lại trong vòng mười ngày nếu đơn hàng bị hủy đúng hạn.",
    "ru": "Деньги возвращаются в течение десяти дней, если заказ был отменён вовремя.",
    "uk": "Гроші повертаються протягом десяти днів, якщо замовлення скасовано вчасно.",
    "el": "Τα χρήματα επιστρέφονται μέσα σε δέκα ημέρες.",
    "ar": "تعاد الأموال خلال عشرة أيام إذا ألغي الطلب في الوقت المناسب.",
    "hi": "यदि आदेश समय पर रद्द किया गया हो तो पैसा दस दिनों में लौटाया जाता है।",
    "th": "จะคืนเงินภายในสิบวันหากยกเลิกคำสั่งซื้อทันเวลา",
    "zh": "如果订单及时取消，款项将在十天内退还。",
    "ja": "注文が期限内に取り消された場合、代金は十日以内に返金されます。",
    "ko": "주문이 제때 취소되면 열흘 안에 환불됩니다.",
}


@each_row("language", *SENTENCES)
def test_a_sentence_tells_its_language(language):
    """Script, stop words and letters tell it, in capitals too, and names in Latin letters do not hide it."""
    sentence = SENTENCES[language]
    assert detect_language(sentence) == language
    assert detect_language(sentence.upper()) == language
    assert detect_language(f"GuardGraph {sentence} (Status Page, API)") == language


@each_row("text", "", "…", "P1 99.95 %", "Kubernetes", "ՀԱՅԵՐԵՆ", "\ud800")
def test_nothing_tells_no_language(text):
    """Without votes, or in a script of none of the languages, nothing is said."""
    assert detect_language(text) == ""


@each_row(
    ("text", "language", "words"),
    ("किताब और खिड़की", "hi", "किताब खिड़की"),
    ("auf\u00adgabe क्\u200dष", "de", "aufgabe क्ष"),
    ("२४ ٣٧ ３.５", "hi", "24 37 3.5"),
    ("北京地铁", "zh", "北京 京地 地铁"),
    ("北京的地铁NFL", "zh", "北京 地铁 nfl"),
    ("猫的鱼", "zh", "猫 鱼"),
)
def test_words_of_any_script(text, language, words):
    """Marks belong to their letter, joiners change nothing, digits are digits; scripts without blanks go in pairs."""
    assert [*list_content_words(text, language)] == words.split()


@each_row(
    ("text", "language", "terms"),
    ("Häuser Haus", "de", "haus haus"),
    ("die Häuser und das Haus", "", "haus haus"),
    ("Häuser", "en", "häuser"),
    ("The refunds, REFUNDED: refund!", "", "refund refund refund"),
    ("What's the on-call P1 target: 99.95%, 24/7?", "", "call p1 target 99.95 24 7"),
    ("ＦＵＬＬ snake_case don't", "", "full snake case"),
    ("What is it? \ud800 …", "", ""),
)
def test_terms_unite_word_forms_and_keep_numbers(text, language, terms):
    """Forms, case and width are one, in the language that is said or told; function words are gone, numbers whole."""
    assert [*read_terms(text, *filter(None, [language]))] == terms.split()


def test_the_nearest_texts_have_most_of_the_words():
    texts = ["wing", "the flow of wings", "flow, wing", "heat"]
    assert find_nearest_texts(["wing flow", "cold"], texts, language="en") == [[1, 2], []]


@given(st.text())
def test_any_text_has_terms(text):
    """Any string can be read, and neither a content word nor a term is ever blank; it has a known language or none."""
    assert detect_language(text) in {*SENTENCES, ""}
    assert all(list_content_words(text))
    assert len(read_terms(text)) == len(list_content_words(text))
    assert all(read_terms(text))


@each_row(
    "words",
    *("respond responded responds response responses responsive", "extend extension extensive"),
    *("decide decided decision decisive", "permit permission permissive", "resolve resolution"),
    *("reduce reduction", "notify notified notification", "create created creation"),
)
def test_an_english_noun_is_read_as_its_verb(words):
    """A verb and what is derived from it are one term, whatever consonant the noun has; short words are none."""
    assert len({*read_terms(words, "en")}) == 1
    assert all(len({*read_terms(apart, "en")}) == 2 for apart in ("sense send", "mission mit", "tension tend"))
