"""Secrets without an issuer's mark: keys as files, headers, addresses and assignments that hold one."""

from __future__ import annotations

from typing import Final

from latch_contracts.verdict import Severity
from latchd.text.checks import assigned, basic, drawn, jwt, password
from latchd.text.rule import BASE64, BASE64URL, HEX, WORD, Group, TextRule, made

_DASHES: Final = "-" * 5
# {"alg":"HS256","typ":"JWT"} and a payload that begins with {"
_JWT: Final = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9" + ".eyJ" + made(WORD, 40) + "." + made(BASE64URL, 43)

_NAME: Final = (
    r"(?i:secret|token|passwd|password|passphrase|api[_\-]?key|apikey|access[_\-]?key|private[_\-]?key"
    r"|auth[_\-]?key|encryption[_\-]?key|signing[_\-]?key|credential)"
)

SECRETS: Final = (
    TextRule(
        id="text.private-key",
        title="a private key",
        group=Group.SECRET,
        severity=Severity.CRITICAL,
        confidence=0.98,
        hints=("PRIVATE KEY-----", "PuTTY-User-Key-File"),
        # the header and the begin of a key: the header alone is in every manual
        pattern=r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY-----(?:\s|\\[nr]|\"|'|\+){1,12}"
        r"(?:(?:Proc-Type|DEK-Info|Comment)[^\n]{0,100}(?:\s|\\[nr]){1,6}){0,3}[A-Za-z0-9+/]{24}"
        r"|PuTTY-User-Key-File-[23]: [a-z0-9\-]{3,40}",
        matches=(
            f"{_DASHES}BEGIN RSA PRIVATE KEY{_DASHES}\n{made(BASE64, 64)}\n",
            f'"key": "{_DASHES}BEGIN PRIVATE KEY{_DASHES}\\n{made(BASE64, 64)}\\n',
            f"{_DASHES}BEGIN OPENSSH PRIVATE KEY{_DASHES}\n{made(BASE64, 70)}",
            f"{_DASHES}BEGIN EC PRIVATE KEY{_DASHES}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES,00\n\n"
            + made(BASE64, 64),
        ),
        misses=(
            f"look for {_DASHES}BEGIN PRIVATE KEY{_DASHES} in it",
            f"{_DASHES}BEGIN PRIVATE KEY{_DASHES}\n...\n",
            f"{_DASHES}BEGIN PUBLIC KEY{_DASHES}\n{made(BASE64, 64)}",
            f"{_DASHES}BEGIN CERTIFICATE{_DASHES}\n{made(BASE64, 64)}",
        ),
    ),
    TextRule(
        id="text.pgp-private-key",
        title="a private PGP key",
        group=Group.SECRET,
        severity=Severity.CRITICAL,
        confidence=0.98,
        hints=("PGP PRIVATE KEY BLOCK",),
        pattern=r"-----BEGIN PGP PRIVATE KEY BLOCK-----(?:\s|\\[nr]){1,6}"
        r"(?:(?:Version|Comment)[^\n]{0,100}\n){0,3}\s{0,4}[A-Za-z0-9+/]{24}",
        matches=(f"{_DASHES}BEGIN PGP PRIVATE KEY BLOCK{_DASHES}\n\n{made(BASE64, 64)}\n",),
        misses=(f"{_DASHES}BEGIN PGP PUBLIC KEY BLOCK{_DASHES}\n\n{made(BASE64, 64)}\n",),
    ),
    TextRule(
        id="text.jwt",
        title="a JSON web token",
        group=Group.SECRET,
        severity=Severity.MEDIUM,
        confidence=0.7,
        hints=("eyJ",),
        pattern=r"\beyJ[A-Za-z0-9_\-]{10,1000}\.eyJ[A-Za-z0-9_\-]{10,1000}\.[A-Za-z0-9_\-]{20,1000}",
        check=jwt,
        matches=(f"token {_JWT}",),
        misses=(
            "eyJhbGciOi.eyJzdWIi.x",
            "eyJ" + made(WORD, 30) + ".eyJ" + made(WORD, 30) + "." + made(WORD, 30),
        ),
    ),
    TextRule(
        id="text.bearer-header",
        title="a bearer token in a header",
        group=Group.SECRET,
        severity=Severity.HIGH,
        confidence=0.8,
        hints=("bearer",),
        pattern=r"(?i)authorization[\"']?\s{0,3}[:=,]\s{0,3}[\"']?(?:bearer"
        r"|token)\s{1,3}([A-Za-z0-9._~+/\-]{20,1000}=*)",
        check=drawn,
        matches=("curl -H 'Authorization: Bearer " + made(BASE64URL, 40) + "'",),
        misses=(
            "Authorization: Bearer <your-token>",
            "Authorization: Bearer $TOKEN",
            "Authorization: Bearer YOUR_ACCESS_TOKEN_GOES_HERE",
        ),
    ),
    TextRule(
        id="text.basic-header",
        title="a user and a password in a header",
        group=Group.SECRET,
        severity=Severity.HIGH,
        confidence=0.85,
        hints=("basic",),
        pattern=r"(?i)authorization[\"']?\s{0,3}[:=,]\s{0,3}[\"']?basic\s{1,3}([A-Za-z0-9+/]{12,400}=*)",
        check=basic,
        matches=("Authorization: Basic " + "ZGVwbG95OnE4ViN4" + "MkxwOXdS",),
        misses=("Authorization: Basic realm=abcdefgh", "Authorization: Basic dXNlcjpwYXNzd29yZA=="),
    ),
    TextRule(
        id="text.connection-string",
        title="a password in a database's address",
        group=Group.SECRET,
        severity=Severity.CRITICAL,
        confidence=0.9,
        hints=("://", "password=", "pwd="),
        pattern=r"(?i)\b(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql"
        r"|sqlserver|clickhouse|cockroachdb|oracle)"
        r"(?:\+[a-z0-9]{1,16})?://[^\s/:@\"'<>]{0,64}:([^\s/@\"'<>]{3,128})@[^\s\"'@]"
        r"|(?:server|data source|host|addr)=[^;\n\"']{1,120};[^\n\"']{0,160}?\b(?:password"
        r"|pwd)=([^;\n\"'\s]{4,128})",
        check=password,
        matches=(
            "DATABASE_URL=postgres://app:" + made(WORD, 14) + "@db.internal:5432/app",
            "mongodb+srv://u1:" + made(WORD, 16) + "@c0.abcde.mongodb.net",
            "redis://:" + made(WORD, 20) + "@cache:6379/0",
            "Server=db;Database=app;User Id=sa;Password=" + made(WORD, 14) + ";",
        ),
        misses=(
            "postgres://postgres:postgres@localhost:5432/app",
            "postgresql://user:password@host/db",
            "mysql://root:${MYSQL_PASSWORD}@db/app",
            "mongodb://<user>:<password>@host",
            "Server=db;Password={password};",
            "postgres://localhost/app",
        ),
    ),
    TextRule(
        id="text.url-password",
        title="a password in an address",
        group=Group.SECRET,
        severity=Severity.HIGH,
        confidence=0.85,
        hints=("://",),
        pattern=r"\b[a-z][a-z0-9+.\-]{1,20}://[^\s/:@\"'<>?#]{1,64}:([^\s/@\"'<>?#]{3,128})@[A-Za-z0-9\[]",
        check=password,
        matches=(
            "git clone https://deploy:" + made(WORD, 20) + "@git.example.net/a.git",
            "ftp://me:" + made(WORD, 10) + "@files.example.net/",
        ),
        misses=(
            "https://user:pass@example.com",
            "https://x-access-token:${{ github.token }}@github.com/a/b",
            "http://localhost:8080/@scope/name",
            "see http://a.example:80 and mail me@b.example",
        ),
    ),
    TextRule(
        id="text.assigned-secret",
        title="a value drawn at random, given to the name of a secret",
        group=Group.SECRET,
        severity=Severity.HIGH,
        confidence=0.72,
        hints=("secret", "token", "passw", "passphrase", "key", "credential"),
        pattern=rf"{_NAME}(?i:[a-z0-9_\-]{{0,16}})[\"']?\s{{0,3}}(?::=|=>"
        rf"|[:=])\s{{0,3}}[\"']?([A-Za-z0-9+/_\-]{{20,200}}={{0,2}})"
        r"(?:[^A-Za-z0-9+/_\-=.(\[]|$)",
        check=assigned,
        matches=(
            "CLIENT_SECRET=" + made(WORD, 32),
            'api_key: "' + made(HEX, 40) + '"',
            "const sessionSecret = '" + made(BASE64, 44) + "';",
            '"refresh_token": "' + made(BASE64URL, 64) + '"',
        ),
        misses=(
            "token = getAccessTokenFromRequest2(request)",
            "api_key: your_api_key_here_1234567890",
            "secret: ${{ secrets.DEPLOY_KEY_2024_PRODUCTION }}",
            'token: "' + "-".join(made(HEX, n) for n in (8, 4, 4, 4, 12)) + '"',
            "integrity: sha512-" + made(BASE64, 86) + "==",
            "commit: " + made(HEX, 40),
            "password: correct-horse-battery-staple-again",
            "tokenizer = AutoTokenizer.from_pretrained(MODEL_NAME_2)",
            "secretKeyRef: my-application-secret-name-01",
        ),
    ),
)
