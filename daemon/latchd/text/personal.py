"""Numbers and columns about people, where a checksum, a label or a heading says that they are such."""

from __future__ import annotations

from typing import Final

from latch_contracts.verdict import Severity
from latchd.text.checks import card, iban, personal_columns, ssn
from latchd.text.rule import Group, TextRule

PERSONAL: Final = (
    TextRule(
        id="text.payment-card",
        title="the number of a payment card",
        group=Group.PERSONAL,
        severity=Severity.HIGH,
        confidence=0.8,
        pattern=r"(?:^|[^0-9A-Za-z.,_\-/+=])((?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|6011"
        r"|65\d{2})(?:[ \-]\d{4}){3}|(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|6011"
        r"|65\d{2})\d{12}"
        r"|3[47]\d{2}[ \-]\d{6}[ \-]\d{5}|3[47]\d{13})(?:[^0-9A-Za-z_\-/+=.]|\.(?:\s|$)|$)",
        check=card,
        matches=("paid with 4539 1488 0343 6467", "card: 4539148803436467"),
        misses=(
            "4242 4242 4242 4242",
            "id 4539148803436467",
            "4539 1488 0343 6468",
            "0.4539148803436467",
            "1111 2222 3333 4444",
        ),
    ),
    TextRule(
        id="text.iban",
        title="the number of a bank account (IBAN)",
        group=Group.PERSONAL,
        severity=Severity.MEDIUM,
        confidence=0.75,
        hints=("iban",),
        pattern=r"\b([A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?)\b",
        check=iban,
        matches=("IBAN DE75 5121 0800 1245 1261 99",),
        misses=("IBAN DE89 3704 0044 0532 0130 00", "IBAN DE00 1234 5678 9012 3456 78", "iban: unknown"),
    ),
    TextRule(
        id="text.us-ssn",
        title="a US social security number",
        group=Group.PERSONAL,
        severity=Severity.HIGH,
        confidence=0.85,
        hints=("ssn", "social security", "social_security", "socialsecurity"),
        pattern=r"(?i:ssn|social[ _]?security)[^\n]{0,60}?(?:^|[^0-9\-])(\d{3}-\d{2}-\d{4})(?:[^0-9\-]|$)",
        check=ssn,
        matches=('"ssn": "536-22-8145"', "Social Security Number: 212-09-7694"),
        misses=("ssn: 123-45-6789", "ssn: 000-12-3456", "part 536-22-8145"),
    ),
    TextRule(
        id="text.medical-record",
        title="the number of a medical record",
        group=Group.PERSONAL,
        severity=Severity.HIGH,
        confidence=0.7,
        hints=("mrn", "medical record", "patient id", "patient_id"),
        pattern=r"(?i)\b(?:mrn|medical record (?:number|no\.?)"
        r"|patient[_ ]id)\b[\"'#]{0,2}\s{0,2}[:=]\s{0,2}[\"']?([A-Z]{0,3}\d{6,10})\b",
        matches=("MRN: 00482913", "patient_id=AB4829130"),
        misses=("mrn: unknown", "patient_id: int"),
    ),
    TextRule(
        id="text.birth-date",
        title="a date of birth",
        group=Group.PERSONAL,
        severity=Severity.LOW,
        confidence=0.6,
        hints=("dob", "birth"),
        pattern=r"(?i)\b(?:dob|date[_ ]of[_ ]birth|birth[_ ]?date)\b[\"']?\s{0,2}[:=]\s{0,2}[\"']?"
        r"((?:19|20)\d{2}-[01]\d-[0-3]\d|[0-3]?\d[/.][01]?\d[/.](?:19|20)\d{2})\b",
        matches=("DOB: 1984-03-12", '"date_of_birth": "12/03/1984"'),
        misses=("date_of_birth: date", "birth rate 12/03/1984"),
    ),
    TextRule(
        id="text.personal-table",
        title="a table with several columns about people",
        group=Group.PERSONAL,
        severity=Severity.MEDIUM,
        confidence=0.75,
        hints=(
            "ssn",
            "social_security",
            "passport",
            "dob",
            "birth",
            "salary",
            "iban",
            "national_id",
            "tax_id",
        ),
        pattern=r"(?im)^\"?[a-z_ ]{2,30}\"?(?:[,;\t|]\"?[a-z_ ]{2,30}\"?){2,30}\r?$",
        check=personal_columns,
        matches=("first_name,last_name,ssn,email\nA,B,1,2\n", "email;date_of_birth;salary"),
        misses=("name,value,unit", "ssn,count,total", "a sentence, with commas, and birth"),
    ),
)
