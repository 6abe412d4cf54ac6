"""What in a visitor's message is a wish to be contacted, and what only looks like one."""

from __future__ import annotations

import pytest

from exactquote_site.serve.leads import leads
from exactquote_site.serve.phones import phone_number
from exactquote_site.serve.postman import letter
from tests.hangs import no_hang

# What is found, as "kind words"; then the message that it was found in.
FOUND = """
email jane@kiln.studio | Write to jane@kiln.studio
email jane@kiln.studio | Write to <jane@kiln.studio>.
email jane@kiln.studio | (jane@kiln.studio), please
email jane@kiln.studio | „jane@kiln.studio“
email jane@kiln.studio | mailto:jane@kiln.studio?subject=x
email jane.doe+pots@mail.kiln.co.uk | reach me:jane.doe+pots@mail.kiln.co.uk!
email o'neil@kiln.ie | It is o'neil@kiln.ie
email jürgen@töpferei.de | Schreiben Sie an jürgen@töpferei.de
email jane@kiln.studio | JSON {"me":"jane@kiln.studio"}
email jane (at) kiln (dot) studio | jane (at) kiln (dot) studio
email jane[at]kiln.studio | jane[at]kiln.studio
email jane at kiln dot studio | I'm jane at kiln dot studio
email jane@kiln.studio | not user@example.com but jane@kiln.studio
profile www.linkedin.com/in/jane-doe | I'm at https://www.linkedin.com/in/jane-doe/
profile de.linkedin.com/in/jane-doe | de.linkedin.com/in/jane-doe
profile xing.com/profile/Jane_Doe | xing.com/profile/Jane_Doe
profile github.com/janedoe | My work: https://github.com/janedoe
profile x.com/janedoe | see x.com/janedoe, thanks
profile bsky.app/profile/jane.dev | bsky.app/profile/jane.dev
profile t.me/janedoe | t.me/janedoe
profile wa.me/491701234567 | wa.me/491701234567
calendar calendly.com/jane/30min | Pick a time: https://calendly.com/jane/30min
calendar cal.com/jane | cal.com/jane works
calendar calendar.app.google/AbC123 | calendar.app.google/AbC123
calendar meet.google.com/abc-defg-hij | meet.google.com/abc-defg-hij
calendar zoom.us/j/123 | zoom.us/j/123?pwd=1
phone 030 1234567 | Rufen Sie an: 030 1234567
phone (030) 123 45 67 | (030) 123 45 67
phone 0170/1234567 | 0170/1234567
phone 0170-1234568 | Handy 0170-1234568.
phone +49 30 1234567 | +49 30 1234567
phone +49 (0)30 123456-78 | +49 (0)30 123456-78
phone 0049 170 1234567 | 0049 170 1234567
phone +491701234567 | +491701234567 bitte
phone 01701234567 | Meine ist 01701234567.
phone (555) 123-4567 | call (555) 123-4567
phone 555-123-4567 | 555-123-4567, anytime
phone 555.123.4567 | 555.123.4567
phone +1 555 123 4567 | +1 555 123 4567
phone 1-800-555-0199 | 1-800-555-0199
phone 020 7946 0958 | 020 7946 0958
phone +44 20 7946 0958 | +44 20 7946 0958
phone 07700 900123 | text 07700 900123
phone 01 23 45 67 80 | 01 23 45 67 80
phone 06.12.34.56.78 | 06.12.34.56.78
phone +33 1 23 45 67 80 | +33 1 23 45 67 80
phone +91 98765 43210 | +91 98765 43210
phone 98765 43210 | 98765 43210
phone 098765 43210 | 098765 43210
phone 5551234 | call me at 5551234
phone 9876543210 | my mobile number is 9876543210
phone 1702233 | Rufen Sie mich unter 1702233 an
phone 555 1234 | tel: 555 1234
hiring We are hiring | We are hiring, interested?
hiring we're recruiting | we're recruiting for a team
hiring looking for a senior Python developer | We are looking for a senior Python developer
hiring Can I hire you | Can I hire you?
hiring Would you like to join our | Would you like to join our team?
hiring do you want to work for us | Hello, do you want to work for us
hiring Are you available for a project | Are you available for a project in May?
hiring is the author open to new | And is the author open to new roles?
hiring schedule an interview | Let's schedule an interview
hiring job offer | I have a job offer
hiring wir suchen einen erfahrenen Entwickler | Hallo, wir suchen einen erfahrenen Entwickler
hiring wir suchen Softwareentwicklerinnen | wir suchen Softwareentwicklerinnen
hiring Stellenangebot | Ich habe ein Stellenangebot
hiring Möchten Sie bei uns arbeiten | Möchten Sie bei uns arbeiten?
hiring Wir würden Sie gern einstellen | Wir würden Sie gern einstellen.
hiring Kann ich Sie für ein Projekt buchen | Kann ich Sie für ein Projekt buchen?
"""

NOTHING = """
How do I hire a worker thread?
How do I hire your worker pool?
phone number validation regex
Which regular expression matches an email address?
What does contract testing cover?
Why is user@example.com refused by the parser?
Does it take me@localhost or a@b?
git clone git@github.com:org/repo.git fails
postgresql://user:pass@db.kiln.studio/notes can't be read
Is the @decorator@twice syntax allowed?
npm install @scope/package@1.2.3
The prompt has 10,870 tokens
It took 10 870 tokens and 1 234 567 rows
about 10.870.123 Zeilen
a limit of 1,000,000,000 bytes
costs 1.299,00 € or $1,299.00
£555 123 4567 is not a price
released 2024-01-15
since 2024-01-15 10:30:00
am 02.03.2024 um 12:30
am 02.03.2024 30 Seiten
from 02/03/2024 to 04/05/2024
between 1990-2000 and 2019 – 2023
20240115103000 is a timestamp
Unix time 1700000000
version 2026.11.30.1 against 3.14.159
Python 3.11 3.12 3.13
at 192.168.10.24:8080
from 10.0.0.1 to 10.255.255.254
IBAN DE89 3704 0044 0532 0130 00
card 4111 1111 1111 1111
ISBN 978-3-16-148410-0
ISBN 0-306-40615-2
id 550e8400-e29b-41d4-a716-446655440000
id 00012345678
commit 0123456 and 01234567ab
error 0x80070005
issue #12345678
ticket 12345678
0.1234567 and 0.5 0.25 0.125
52.5200 13.4050
the string 0123456789 in a test
0000000000
+10000000 requests
1+12345678901
a diff of +12345678 lines
from 60000-70000 tokens
RFC 2606 3986 6570
lines 1024 2048 4096
1920x1080 or 2560 1440
I'm looking for a way to cite a table
We are looking for the docs of the engineer console
I am looking for the developer docs
I need a developer token
Wir suchen nach einer Möglichkeit, Sätze zu zitieren
Es gibt zwei Grenzen; wie kann ich sie einstellen?
Möchten Sie mit dieser Funktion arbeiten?
do you want to work with raw bytes here?
Which job offers more memory?
https://github.com/org/repo/issues/12
github.com/features/actions
https://docs.github.com/en/rest
https://x.com/someone/status/1
netflix.com/title
https://cal.com/docs
Is there a calendar or a phone widget?
How is a telephone number written in E.164?
What is open to work in the API?
"""


def cases() -> list[tuple[str, str]]:
    return [tuple(line.split(" | ")) for line in FOUND.strip().splitlines()]  # type: ignore[misc]


@pytest.mark.parametrize(("found", "message"), cases())
def test_a_wish_to_be_contacted_is_found(found: str, message: str) -> None:
    kind, _, words = found.partition(" ")
    assert words in {lead.words for lead in leads(message) if lead.kind == kind}


@pytest.mark.parametrize("message", NOTHING.strip().splitlines())
def test_prevents_mail_about_an_ordinary_question(message: str) -> None:
    assert leads(message) == ()


@pytest.mark.parametrize("before", ["", "1", "12,", "1."])
@pytest.mark.parametrize("behind", ["", "123", ",000", ".5"])
def test_prevents_a_number_cut_from_a_longer_one(before: str, behind: str) -> None:
    assert bool(phone_number(f"{before}0301234567{behind}")) == (not before and not behind)


def test_each_kind_is_told_once() -> None:
    message = "a@kiln.studio b@kiln.studio, 030 1234567, we are hiring, cal.com/jane, t.me/jane"
    assert [lead.kind for lead in leads(message)] == [
        *("email", "profile", "calendar", "hiring", "phone")
    ]


def test_prevents_mail_about_a_suggestion_of_the_site() -> None:
    suggestions = ["Are you available for hire?", "Can I call 030 1234567?"]
    assert leads("Are you available for hire?") != ()
    assert leads("Are you available for hire?", suggestions) == ()
    assert leads("  are you  AVAILABLE for hire? ", suggestions) == ()
    assert leads("Are you available for hire? Call 030 1234567", suggestions) != ()


HOSTILE = {
    "a": "a",
    "dots": "a.",
    "at": "@",
    "mailish": "a@a.",
    "spelt": "a at a dot ",
    "digits": "0",
    "gaps": "0 ",
    "dialled": "+49 ",
    "brackets": "(0",
    "call": "call me ",
    "seek": "wir suchen ",
    "need": "need a ",
    "sie": "kann ich sie x ",
    "link": "linkedin.com/in/",
    "scheme": "x://",
    "mixed": "a@a.0 +(",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_prevents_a_message_that_keeps_the_patterns_busy(unit: str) -> None:
    with no_hang():
        # A message has 500 characters; what isn't linear wouldn't end with the longer ones.
        for length in (500, 1_000_000 if unit == HOSTILE["mixed"] else 100_000):
            message = unit * (length // len(unit))
            found = leads(f"{message} www.xing.com/profile/Jane")
            assert "profile" in {lead.kind for lead in found}


def test_the_letter_holds_the_words_and_no_line_of_them_stands_alone() -> None:
    message = "we are hiring\r\nBcc: eve@evil.example\n\nSubject: x\u2028a@kiln.studio"
    text = letter(message, leads(message), "The studio")
    quoted = text.partition("as it was written:\n")[2].partition("\n\n")[0]
    assert all(line.startswith("> ") for line in quoted.splitlines())
    assert "Bcc: eve@evil.example" in quoted
    assert "\nBcc" not in text
