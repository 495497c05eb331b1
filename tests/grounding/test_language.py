"""Which language a text is in."""

from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.grounding.words import detect_language

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


@each_row("language", SENTENCES)
def test_a_sentence_tells_its_language(language):
    """Script, stop words and letters tell it, in capitals too, and names in Latin letters do not hide it."""
    sentence = SENTENCES[language]
    assert detect_language(sentence) == language
    assert detect_language(sentence.upper()) == language
    assert detect_language(f"GuardGraph {sentence} (Status Page, API)") == language


@each_row("text", ["", "…", "P1 99.95 %", "Kubernetes", "ՀԱՅԵՐԵՆ", "\ud800"])
def test_nothing_tells_no_language(text):
    """Without votes, or in a script of none of the languages, nothing is said."""
    assert detect_language(text) == ""


@given(st.text())
def test_any_text_can_be_asked(text):
    """Any text has one of the languages or none, the same every time."""
    assert detect_language(text) in {*SENTENCES, ""}
    assert detect_language(text) == detect_language(f"{text}")
