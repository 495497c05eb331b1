"""Words of any script, questions in the language of a base, and scores that mean the same on every size of base."""

import random
from itertools import islice, product

from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

from guardgraph.grounding.words import list_content_words, read_terms
from guardgraph.tools.knowledge_base import Document
from guardgraph.tools.lexical import LexicalRetriever

MIN_SCORE = 0.2
BASES = {
    "de": [
        ("Die Rückzahlungen erfolgen innerhalb von zehn Tagen auf das Konto.", "Wann erfolgt eine Rückzahlung?"),
        ("Unsere Häuser in Hamburg werden jeden Montag gereinigt.", "An welchem Tag wird das Haus gereinigt?"),
        ("Der Vertrag kann schriftlich zum Monatsende gekündigt werden.", "Wie kündigt man den Vertrag?"),
    ],
    "es": [
        ("Los reembolsos se pagan en un plazo de diez días.", "¿Cuándo se paga un reembolso?"),
        ("Las oficinas de Sevilla cierran los viernes por la tarde.", "¿Cuándo cierra la oficina de Sevilla?"),
        ("El contrato se cancela por escrito a final de mes.", "¿Cómo puedo cancelar el contrato?"),
    ],
    "fr": [
        ("Les remboursements sont versés dans les dix jours.", "Quand le remboursement est-il versé ?"),
        ("Les bureaux de Lyon ferment le vendredi après-midi.", "Quand ferme le bureau de Lyon ?"),
        ("Le bail se résilie par écrit à la fin du mois.", "Comment résilier un bail ?"),
    ],
    "ru": [
        ("Возвраты выплачиваются на счёт в течение десяти дней.", "Когда выплачивается возврат?"),
        ("Офисы в Казани закрываются по пятницам.", "Когда закрывается офис в Казани?"),
        ("Договоры расторгаются письменно в конце месяца.", "Как расторгается договор?"),
    ],
    "uk": [
        ("Повернення коштів триває до десяти днів.", "Скільки триває повернення коштів?"),
        ("Офіси у Львові зачиняються у п'ятницю.", "Коли зачиняється офіс у Львові?"),
        ("Договори розриваються письмово наприкінці місяця.", "Як розірвати договір письмово?"),
    ],
    "hi": [
        ("रिफंड दस दिनों के भीतर खाते में भेजा जाता है।", "रिफंड कब भेजा जाता है?"),
        ("दिल्ली का कार्यालय शुक्रवार को बंद रहता है।", "दिल्ली का कार्यालय कब बंद रहता है?"),
        ("अनुबंध लिखित रूप में समाप्त किया जाता है।", "अनुबंध कैसे समाप्त होता है?"),
    ],
    "zh": [
        ("退款将在十天内转入您的账户。", "退款什么时候转入账户？"),
        ("上海办公室每周五下午关门。", "上海办公室什么时候关门？"),
        ("合同须在月底以书面形式终止。", "如何终止合同？"),
    ],
    "ja": [
        ("返金は十日以内に口座へ振り込まれます。", "返金はいつ口座に振り込まれますか？"),
        ("東京事務所は金曜日の午後に閉まります。", "東京事務所はいつ閉まりますか？"),
        ("契約は月末に書面で解約されます。", "契約はどのように解約されますか？"),
    ],
    "ko": [
        ("환불은 열흘 안에 계좌로 입금됩니다.", "환불은 언제 계좌로 입금되나요?"),
        ("서울 사무실은 금요일 오후에 닫습니다.", "서울 사무실은 언제 닫나요?"),
        ("계약은 월말에 서면으로 해지합니다.", "계약을 어떻게 해지하나요?"),
    ],
    "th": [
        ("เงินคืนจะโอนเข้าบัญชีภายในสิบวัน", "เงินคืนจะโอนเข้าบัญชีเมื่อไหร่"),
        ("สำนักงานเชียงใหม่ปิดทุกวันศุกร์", "สำนักงานเชียงใหม่ปิดวันไหน"),
        ("สัญญาต้องยกเลิกเป็นลายลักษณ์อักษร", "ยกเลิกสัญญาอย่างไร"),
    ],
    "ar": [
        ("يتم تحويل المبالغ المستردة إلى الحساب خلال عشرة أيام.", "متى يتم تحويل المبلغ إلى الحساب؟"),
        ("يغلق مكتب القاهرة أبوابه يوم الجمعة.", "متى يغلق مكتب القاهرة؟"),
        ("يلغى العقد كتابيا في نهاية الشهر.", "كيف يلغى العقد كتابيا؟"),
    ],
    "el": [
        ("Οι επιστροφές χρημάτων γίνονται σε δέκα ημέρες.", "Πότε γίνεται η επιστροφή χρημάτων;"),
        ("Τα γραφεία της Πάτρας κλείνουν την Παρασκευή.", "Πότε κλείνει το γραφείο της Πάτρας;"),
        ("Οι συμβάσεις καταγγέλλονται γραπτώς.", "Πώς καταγγέλλεται μια σύμβαση;"),
    ],
    "tr": [
        ("İadeler on gün içinde hesaba yatırılır.", "İadeler hesaba ne zaman yatırılır?"),
        ("İzmir ofisleri cuma günü kapanır.", "İzmir ofisi ne zaman kapanır?"),
        ("Sözleşmeler yazılı olarak feshedilir.", "Sözleşme nasıl feshedilir?"),
    ],
    "vi": [
        (
            "Tiền hoàn lại được chuyển vào tài khoản trong mười ngày.",
            "Khi nào tiền hoàn lại được chuyển vào tài khoản?",
        ),
        ("Văn phòng Đà Nẵng đóng cửa vào thứ sáu.", "Văn phòng Đà Nẵng đóng cửa khi nào?"),
        ("Hợp đồng được chấm dứt bằng văn bản.", "Hợp đồng được chấm dứt như thế nào?"),
    ],
}
"""Sentences of a handbook, each with the question that it answers."""

GREETINGS = {
    "de": ("Hallo, ", " Vielen Dank und viele Grüße"),
    "es": ("Hola, ¿podría decirme? ", " Muchas gracias"),
    "fr": ("Bonjour, ", " Merci, cordialement"),
    "ru": ("Здравствуйте! Подскажите, ", " Спасибо"),
    "uk": ("Вітаю! Скажіть, ", " Дякую"),
    "zh": ("你好，请问", "谢谢"),
    "ar": ("مرحبا، ", " شكرا"),
    "el": ("Γεια, ", " Ευχαριστώ"),
    "tr": ("Merhaba, lütfen: ", " Teşekkürler"),
    "vi": ("Xin chào, ", " Cảm ơn"),
}
"""What people say before and after a question."""


def document(name, text):
    """A document of which only its text matters."""
    return Document(id=name, source="s", title="", section="", updated_at="", text=text)


def retriever(*languages):
    """A base of the sentences of these languages."""
    named = [(f"{language}{at}", text) for language in languages for at, (text, _) in enumerate(BASES[language])]
    return LexicalRetriever([document(name, text) for name, text in named])


def ask(retrieve, query, top_k=3):
    """The candidates for a query."""
    return retrieve({"query": query, "sources": ["s"], "top_k": top_k})


@each_row("language", BASES)
def test_a_question_finds_its_sentence_in_its_language(language):
    """In other forms of its words, with vowel signs, without blanks: the sentence is the best, and relevant."""
    retrieve = retriever(language)
    for at, (_, question) in enumerate(BASES[language]):
        best = ask(retrieve, question)[0]
        assert (best["doc_id"], best["score"] >= MIN_SCORE) == (f"{language}{at}", True), (question, best)


@each_row("language", GREETINGS)
def test_a_greeting_is_no_part_of_a_question(language):
    """Whoever greets and thanks gets what he would have got without, to the last digit."""
    retrieve, (before, after) = retriever(language), GREETINGS[language]
    for _, question in BASES[language]:
        assert ask(retrieve, before + question + after) == ask(retrieve, question)


@each_row("language", BASES)
def test_a_question_about_something_else_is_not_relevant(language):
    """What the sentences of a language share with any question does not make one relevant."""
    others = {
        "de": "Welche Farbe hat der Himmel über Kanada?",
        "es": "¿De qué color es el cielo en Canadá?",
        "fr": "De quelle couleur est le ciel au Canada ?",
        "ru": "Какого цвета небо над Канадой?",
        "uk": "Якого кольору небо над Канадою?",
        "hi": "कनाडा में आसमान किस रंग का है?",
        "zh": "加拿大的天空是什么颜色？",
        "ja": "カナダの空は何色ですか？",
        "ko": "캐나다의 하늘은 무슨 색인가요?",
        "th": "ท้องฟ้าในแคนาดามีสีอะไร",
        "ar": "ما لون السماء فوق كندا؟",
        "el": "Τι χρώμα έχει ο ουρανός στον Καναδά;",
        "tr": "Kanada'da gökyüzü ne renktir?",
        "vi": "Bầu trời ở Canada màu gì?",
    }
    found = ask(retriever(language), others[language], 1)
    assert not found or found[0]["score"] < MIN_SCORE


@each_row("language", ["th", "vi"])
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


def test_marks_belong_to_their_letter():
    """Vowel signs do not cut a word, joiners inside a word change nothing, and digits of any script are digits."""
    assert [*list_content_words("किताब और खिड़की", "hi")] == ["किताब", "खिड़की"]
    assert [*list_content_words("auf\u00adgabe क्\u200dष", "de")] == ["aufgabe", "क्ष"]
    assert [*list_content_words("२४ ٣٧ ３.５", "hi")] == ["24", "37", "3.5"]


def test_a_script_without_blanks_is_read_in_pairs():
    """Pairs overlap, function words and other scripts part them, and one letter alone is a word."""
    assert [*list_content_words("北京地铁", "zh")] == ["北京", "京地", "地铁"]
    assert [*list_content_words("北京的地铁NFL", "zh")] == ["北京", "地铁", "nfl"]
    assert [*list_content_words("猫的鱼", "zh")] == ["猫", "鱼"]
    assert [*list_content_words("서울역", "ko")] == ["서울", "울역"]


def test_the_language_of_a_text_can_be_said():
    """A word is stemmed in the language that is said, or in the one that the text tells."""
    assert [*read_terms("Häuser Haus", "de")] == ["haus", "haus"]
    assert [*read_terms("die Häuser und das Haus")] == ["haus", "haus"]
    assert [*read_terms("Häuser", "en")] == ["häuser"]


# --- what a score means ----------------------------------------------------------------------------------------


def made_up_words(count, seed):
    """Words that no language has, always the same."""
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
