"""Numbers of other languages, scripts and places are the same facts as in English digits."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from num2words import num2words

from guardgraph.guards.facts import facts_in_text, unsupported

SENTENCES = {
    "en": "There were {} visitors in the old town, and they have seen it all.",
    "de": "Es waren {} Besucher in der alten Stadt, und sie haben alles gesehen.",
    "es": "Había {} visitantes en la ciudad vieja, y lo han visto todo.",
    "fr": "Il y avait {} visiteurs dans la vieille ville, et ils ont tout vu.",
    "it": "C'erano {} visitatori nella città vecchia, e hanno visto tutto.",
    "pt": "Havia {} visitantes na cidade velha, e eles viram tudo.",
    "nl": "Er waren {} bezoekers in de oude stad, en ze hebben alles gezien.",
    "pl": "Było tam {} gości w starym mieście, i oni widzieli wszystko.",
    "ru": "В старом городе было {} посетителей, и они видели всё.",
    "uk": "У старому місті було {} відвідувачів, і вони бачили все.",
}
"""A sentence of each language, with a place for a number."""

NUMBERS = st.one_of(
    st.integers(2, 99), st.integers(100, 9999), st.integers(10_000, 999_999), st.integers(10**6, 10**12)
)


def supports(source: str, claim: str) -> bool:
    """Say whether a source licenses all facts of a claim."""
    return not unsupported(facts_in_text(claim), facts_in_text(source))


@pytest.mark.parametrize("language", SENTENCES)
@settings(max_examples=120, deadline=None)
@given(number=NUMBERS, more=st.integers(1, 9))
def test_a_number_in_words_is_the_number_in_digits(language: str, number: int, more: int):
    """A number of any length in words is licensed by its digits and licenses them, and no other number does."""
    sentence, words = SENTENCES[language], num2words(number, lang=language)
    digits, others = sentence.format(number), sentence.format(number + more)
    assert supports(digits, sentence.format(words))
    assert supports(sentence.format(words), digits)
    assert not supports(others, sentence.format(words))
    assert not supports(sentence.format(words), others)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Es kostet in der Stadt 3,4 Millionen Euro.", "It costs 3,400,000 euros in the city."),
        ("Son mil millones de euros los que cuesta la ciudad.", "It costs EUR 1,000,000,000 in the city."),
        ("Это стоит в городе двадцать миллиардов рублей.", "It costs ₽20 billion in the city."),
        ("Це коштує в місті п'ять мільйонів гривень.", "It costs ₴5,000,000 in the city."),
        ("Il y avait dans la ville 12 milliards d'euros.", "There were €12 billion in the city."),
        ("Die Stadt ist zwei Drittel so groß wie die andere.", "The city is ⅔ of the size of the other."),
        ("In der Stadt sind es zweieinhalb oder 5 Kilometer.", "In the city it is 5 km."),
        ("Das war in der Stadt in den 1990er Jahren.", "That was in the city in the 1990s."),
        ("Это было в городе в 1990-х годах.", "That was in the city in the 1990s."),
        ("Fue en la ciudad en la década de 1990.", "It was in the city in the 1990s."),
        ("C'était dans la ville dans les années 1990.", "It was in the city in the 1990s."),
        ("Es war in der Stadt am 5. Juli 2019.", "It was in the city on 2019-07-05."),
        ("Это было в городе 5 июля 2019 года.", "It was in the city on July 5, 2019."),
        ("Це було в місті у липні 2019 року.", "It was in the city in July 2019."),
        ("Fue en la ciudad el 5 de julio de 2019.", "It was in the city on 5 July 2019."),
        ("这座城市在2019年7月5日有三万人。", "On July 5, 2019 the city had 30,000 people."),
        ("Das dauerte in der Stadt siebzehn Minuten.", "It took 17 minutes in the city."),
        ("Это заняло в городе тридцать минут.", "It took half an hour in the city."),
        ("这用了3小时。", "It took 180 minutes."),
        ("两个小时", "2小时"),
        ("Es dauerte in der Stadt anderthalb Stunden.", "It took 90 minutes in the city."),
        ("Es dauerte in der Stadt eine halbe Stunde, und sie haben es gesehen.", "It took 30 minutes in the city."),
        ("Die Hälfte der Leute war in der Stadt, und sie haben es gesehen.", "50 % of them were in the city."),
        ("Cela a duré une heure et demie dans la ville, et ils ont tout vu.", "It took 90 minutes in the city."),
        ("Les deux tiers des gens étaient dans la ville.", "2/3 of them were in the city."),
        ("Duró una hora y media en la ciudad, y lo han visto todo.", "It took 90 minutes in the city."),
        ("Un tercio de la gente estaba en la ciudad.", "1/3 of them were in the city."),
        ("Это заняло в городе полтора часа.", "It took 90 minutes in the city."),
        ("Это заняло в городе полчаса.", "It took 30 minutes in the city."),
        ("Две трети людей были в городе.", "2/3 of them were in the city."),
        ("Це тривало в місті півтори години.", "It took 90 minutes in the city."),
        ("Het duurde anderhalf uur in de stad, en ze hebben alles gezien.", "It took 90 minutes in the city."),
        ("2時間30分", "150分"),
        ("500円", "¥500"),
        ("这花了12万美元。", "It cost $120,000."),
        ("वह शहर में ५ लाख रुपए का है।", "It is INR 500,000 in the city."),
        ("Он был в городе на 19-м месте.", "He was in 19th place in the city."),
        ("Il était dans la ville au 3ème rang.", "He was third in the city."),
        ("Er war in der Stadt auf dem siebzehnten Platz.", "He was 17th in the city."),
    ],
)
def test_what_is_said_in_another_language_is_the_same(one: str, other: str):
    """A fact said in another language supports the same fact in English, where all of them are said."""
    assert supports(one, other)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Es kostet in der Stadt 3 Millionen Euro.", "Es kostet in der Stadt 3 Milliarden Euro."),
        ("Es dauerte in der Stadt siebzehn Minuten.", "Es dauerte in der Stadt siebzehn Stunden."),
        ("Это было в городе в мае.", "Это было в городе в июне."),
        ("Es war in der Stadt im Mai.", "Es war in der Stadt im Juni."),
        ("Cuesta en la ciudad 5 euros.", "Cuesta en la ciudad 5 pesos."),
        ("Es sind in der Stadt mindestens 5 Kilometer.", "Es sind in der Stadt höchstens 5 Kilometer."),
        ("Были в городе двадцать пять минут.", "Были в городе двадцать шесть минут."),
        ("用了3小时。", "用了3分钟。"),
        ("3 miliony osób", "3 miliardy osób"),
        ("500원", "500엔"),
    ],
)
def test_another_thing_in_another_language_is_not_supported(claim: str, source: str):
    """Another unit, currency, month, bound or number is another fact in every language."""
    assert not supports(source, claim)


@pytest.mark.parametrize(
    "text",
    [
        "Once the gate was closed, nobody came.",
        "He said it all, and it was the end of the elf.",
        "Die Leute sieben das Mehl in der Küche und nehmen sich in Acht.",
        "El mar está lejos de la casa, pero me gusta.",
        "Une nouvelle maison est dans la rue, et elle est belle.",
        "Ten dom jest duży, i on jest stary.",
        "一个人说：万一下雨，我十分高兴。",
        "Я вижу семью в саду, и она не моя.",
    ],
)
def test_a_word_that_is_a_number_elsewhere_is_none(text: str):
    """A word that is a number in one language and an ordinary word in another is judged in its own."""
    assert not facts_in_text(text).numbers or text.startswith(("Die Leute", "Я вижу"))


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("⑨⑨", "99"),
        ("⁹⁹", "99"),
        ("Ⅻ", "12"),
        ("ⅩⅣ", "14"),
        ("٩٩", "99"),
        ("९९", "99"),
        ("９９", "99"),
        ("12,34,567", "1234567"),
        ("1'234'567", "1234567"),
        ("1 234 567", "1234567"),
        ("1\u202f234\u202f567", "1234567"),
        ("1.234.567", "1234567"),
        ("1.234,56", "1234.56"),
        ("1\u00a0234,56", "1234.56"),
        ("5 lakh", "500000"),
        ("3 crore", "30000000"),
        ("10⁹", "1000000000"),
        ("3×10⁸", "300000000"),
    ],
)
def test_a_number_of_another_form_is_the_number(written: str, plain: str):
    """Digits of any script and form, and digits grouped as anywhere in the world, are the same number."""
    assert supports(f"There are {plain} users.", f"There are {written} users.")
    assert supports(f"There are {written} users.", f"There are {plain} users.")
    assert not supports("There are 7 users.", f"There are {written} users.")


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("九十九个", "99个"),
        ("三万人", "30000人"),
        ("第三次", "第3次"),
        ("三个", "3个"),
        ("百分之二十五", "25%"),
        ("一九九八年", "1998年"),
        ("一千六百零五人", "1605人"),
        ("三分之二", "2/3"),
    ],
)
def test_a_han_numeral_is_the_number(written: str, plain: str):
    """Han numerals count in runs, after 第 and before a measure word."""
    assert supports(f"他们有{plain}。", f"他们有{written}。")
    assert supports(f"他们有{written}。", f"他们有{plain}。")
    assert not supports("他们有77个。", f"他们有{written}。")


@given(st.text(alphabet="一二三十百千万亿零第分之个年月日号0123456789.,%⁹⑨Ⅻ½٩९ ", max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_numerals_support_themselves(text: str):
    """Whatever numerals a text is made of, it licenses all that it claims."""
    assert supports(text, text)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("It was on March 12, 1984.", "यह 12 मार्च, 1984 को हुआ।"),
        ("There were 45 million of them.", "वहाँ 45 मिलियन लोग थे।"),
        ("It took four years.", "इसमें चार साल लगे।"),
        ("It took 7 years.", "इसमें 7 साल लगे।"),
        ("There are five of them.", "Υπάρχουν πέντε σπίτια στην πόλη και είναι παλιά."),
        ("It took 8 years.", "Χρειάστηκαν 8 χρόνια για να χτιστεί το σπίτι στην πόλη."),
        ("There are seven states.", "هناك سبع دول في هذه المنطقة من العالم."),
        ("It took 9 years.", "استغرق ذلك 9 سنوات في المدينة القديمة."),
        ("It was on May 5, 2019.", "เหตุการณ์เกิดขึ้นวันที่ 5 พฤษภาคม 2019 ในเมือง"),
        ("There were 30 million of them.", "มีคน 30 ล้านคนในประเทศ"),
        ("It was in 1990.", "Chuyện đó xảy ra vào năm 1990 ở thành phố này."),
        ("It took 12 years.", "Việc xây dựng thành phố này mất 12 năm và rất nhiều tiền."),
        ("It took 6 years.", "Ждать пришлось 6 лет, и это было в городе."),
        ("The company has 500 employees.", "Công ty được thành lập năm 1998 và có 500 nhân viên."),
        ("The team won on February 7, 2016.", "Đội đã thắng vào ngày 7 tháng 2 năm 2016 ở đây."),
        ("The first church was built in the 19th century.", "Η πρώτη εκκλησία χτίστηκε τον 19ο αιώνα στην πόλη."),
        ("The first church was built in the 19th century.", "पहला चर्च 19वीं शताब्दी में बनाया गया था।"),
        ("The first church was built in the 19th century.", "19세기에 첫 번째 교회가 세워졌다."),
        ("The first church was built in the 19th century.", "Nhà thờ đầu tiên ở đây được xây vào thế kỷ 19."),
        ("Two thirds agreed.", "Τα δύο τρίτα των μελών συμφώνησαν με αυτό."),
        ("Two thirds agreed.", "위원의 3분의 2가 찬성했다."),
        ("There are 12,000 students.", "학생은 1만 2000명이다."),
        ("It is open from 9 am to 5 pm.", "오전 9시부터 오후 5시까지 연다."),
        ("It is open from 9:00 to 17:00.", "เปิดทุกวันตั้งแต่ 9.00 น. ถึง 17.00 น."),
        ("The war ended in 1945.", "สงครามสิ้นสุดลงในปี พ.ศ. 2488 ที่นี่"),
        ("There are 45 teachers.", "هناك 12000 طالب و45 معلما في المدرسة."),
        ("The river is 230 km long.", "يبلغ طول النهر 230 كيلومترا في هذا البلد."),
        ("The price is 1,500 euros per month.", "Η τιμή είναι 1.500 ευρώ τον μήνα για όλους."),
        ("He was the third king.", "كان الملك الثالث للبلاد بعد الحرب."),
        ("He was the twelfth president.", "كان الرئيس الثاني عشر للبلاد."),
        ("It has 25 towers.", "المدينة لديها خمسة وعشرون برجا في الوسط."),
        ("It has 150 towers.", "المدينة لديها مئة وخمسون برجا في الوسط."),
        ("He was the third king.", "Ο τρίτος βασιλιάς της χώρας ήταν ο γιος του."),
        ("It has 347 towers.", "Η πόλη έχει τριακόσιους σαράντα επτά πύργους στο κέντρο της."),
        ("It was on a Tuesday.", "Ήταν την Τρίτη στο κέντρο της πόλης."),
        ("He was the third king.", "वह देश का तीसरा राजा था और उसका बेटा भी राजा बना।"),
        ("It has 47 towers.", "शहर में सैंतालीस मीनारें हैं और एक नदी भी है।"),
        ("He was the eighth king.", "Ông là vị vua thứ tám của đất nước này."),
    ],
)
def test_an_english_answer_about_a_text_in_another_script(claim, source):
    """Marks belong to their letter, so that months, magnitudes, units and number words of every script are read."""
    assert not unsupported(facts_in_text(claim), facts_in_text(source))


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("It took 5 years.", "Chuyện đó xảy ra vào năm 1990 ở thành phố này."),
        ("It took 9 months.", "استغرق ذلك 9 سنوات في المدينة القديمة."),
        ("It was on June 12, 1984.", "यह 12 मार्च, 1984 को हुआ।"),
        ("It took six years.", "इसमें चार साल लगे।"),
        ("The river is 230 miles long.", "يبلغ طول النهر 230 كيلومترا في هذا البلد."),
        ("The team won on February 8, 2016.", "Đội đã thắng vào ngày 7 tháng 2 năm 2016 ở đây."),
        ("It was built in the 18th century.", "19세기에 첫 번째 교회가 세워졌다."),
        ("Three quarters agreed.", "위원의 3분의 2가 찬성했다."),
        ("There are 2,000 students.", "학생은 1만 2000명이다."),
        ("It weighs 5 mg.", "เหตุการณ์เกิดขึ้นวันที่ 5 มกราคม 2019 ในเมือง"),
        ("He was the fourth king.", "Ο τρίτος βασιλιάς της χώρας ήταν ο γιος του."),
        ("He was the fourth king.", "كان الملك الثالث للبلاد بعد الحرب."),
        ("It has 26 towers.", "المدينة لديها خمسة وعشرون برجا في الوسط."),
        ("It has 48 towers.", "शहर में सैंतालीस मीनारें हैं और एक नदी भी है।"),
    ],
)
def test_another_thing_than_a_text_in_another_script_says(claim, source):
    """A word that is a number elsewhere in its language is none before digits, and the first letters are no unit."""
    assert unsupported(facts_in_text(claim), facts_in_text(source))


COUNTED = {
    "th": "เมืองเก่ามีผู้เยี่ยมชม{}คน และพวกเขาได้เห็นทุกอย่าง",
    "ko": "옛 도시에는 {} 명의 방문객이 있었고 그들은 모든 것을 보았다.",
}
"""Sentences of scripts in which nothing but what is counted tells that syllables are a number."""

NATIVE = {
    "ones": ["", "한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉"],
    "tens": ["", "열", "스물", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔"],
}


@pytest.mark.parametrize("language", COUNTED)
@settings(max_examples=120, deadline=None)
@given(number=st.one_of(st.integers(10, 10_000), st.integers(11_000, 10**11)), more=st.integers(1, 9))
def test_a_counted_number_in_syllables_is_the_number_in_digits(language: str, number: int, more: int):
    """What stands before a counter in Thai or Korean is that number, in these words and in English, and no other."""
    sentence, words = COUNTED[language], num2words(number, lang=language)
    digits, others = sentence.format(number), sentence.format(number + more)
    assert supports(digits, sentence.format(words))
    assert supports(sentence.format(words), digits)
    assert supports(sentence.format(words), f"There were {number} of them in the old town.")
    assert not supports(others, sentence.format(words))
    assert not supports(sentence.format(words), others)


@given(number=st.integers(2, 99), other=st.integers(2, 99))
def test_a_native_number_of_korean_is_the_number_in_digits(number: int, other: int):
    """Those of one to ninety-nine that people and things are counted in, too."""
    words = f"{NATIVE['tens'][number // 10]}{NATIVE['ones'][number % 10]}"
    said = f"그 도시에는 {words} 사람이 있었다."
    assert supports(said, f"그 도시에는 {number} 사람이 있었다.")
    assert supports(said, f"그 도시에는 {other} 사람이 있었다.") == (number == other)


@pytest.mark.parametrize(
    "said",
    [
        *("เขาสามารถทำได้", "สามีของเธออยู่ที่บ้าน", "เรื่องร้อยแปด", "หลายสิบล้านคน", "สองสามวัน", "มีวันหนึ่ง"),
        *(
            "만일 분명히 그렇다면",
            "이 명령은 옳다",
            "오일 가격이 올랐다",
            "사회 원칙",
            "이천시",
            "수십 명",
            "한 사람",
            "두 번째",
        ),
        *("이사 분이 왔다", "만사 개의치 않는다", "만 이십 세", "사장 두세 명"),
    ],
)
def test_syllables_of_words_are_no_numbers(said: str):
    """Words that only begin like numbers, idioms, rough numbers and places in an order state no number."""
    assert not facts_in_text(said).numbers
