-- The whole state of one latchd, in one database: one transaction covers all of it.
-- State tables hold keyed digests, rule ids, masks, times and counters: no command, argument, path,
-- content or output. Only records.body may hold a masked head, and only as records.redaction says.

-- What agents have done in one session, and where its windows were closed.
CREATE TABLE sessions (
    session      BLOB    NOT NULL PRIMARY KEY CHECK (length(session) = 32),
    connector    TEXT    NOT NULL,
    turn         BLOB    NOT NULL DEFAULT x'',  -- digest of the main agent's latest turn id
    closed_seq   INTEGER NOT NULL DEFAULT 0,    -- steps up to this sequence are behind a session end
    first_ms     INTEGER NOT NULL,
    last_ms      INTEGER NOT NULL,
    last_seq     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row per call, under the sequence of the record of its verdict. It is opened once and moves
-- once; a final row stays as a tombstone.
CREATE TABLE calls (
    opened_seq   INTEGER NOT NULL PRIMARY KEY,
    session      BLOB    NOT NULL CHECK (length(session) = 32),
    call         BLOB    NOT NULL CHECK (length(call) = 32),
    agent        BLOB    NOT NULL,                             -- x'' = the main agent
    state        TEXT    NOT NULL CHECK (state IN ('pending', 'succeeded', 'failed', 'cancelled',
                         'denied', 'unknown', 'expired', 'cut', 'poisoned')),
    fingerprint  BLOB    NOT NULL CHECK (length(fingerprint) = 32),  -- of the proposal
    input        BLOB    NOT NULL CHECK (length(input) = 32),        -- tool and arguments
    policy       BLOB    NOT NULL CHECK (length(policy) = 32),       -- rules, contract, agent version
    action       TEXT    NOT NULL CHECK (action IN ('allow', 'ask', 'deny')),
    rule         TEXT    NOT NULL DEFAULT '',
    operations   INTEGER NOT NULL DEFAULT 0,   -- mask of what the facts say it does
    detection    INTEGER NOT NULL DEFAULT 0,   -- mask of the chain steps it is, once it has succeeded
    enforcement  INTEGER NOT NULL DEFAULT 0 CHECK (enforcement & ~detection = 0),  -- those that may refuse
    boot         BLOB    NOT NULL CHECK (length(boot) = 16),
    boot_ns      INTEGER NOT NULL,
    wall_ms      INTEGER NOT NULL,
    closed_seq   INTEGER NOT NULL DEFAULT 0,
    result       BLOB    NOT NULL DEFAULT x''   -- fingerprint of the event that closed it
) STRICT;

-- Every index is one more page that a commit must write, so there are these two and no more.
CREATE UNIQUE INDEX calls_by_key ON calls (session, call);
CREATE INDEX calls_pending ON calls (session, opened_seq) WHERE state = 'pending';

-- What is proven. A step's sequence is that of the record of the result that proved it.
CREATE TABLE steps (
    seq          INTEGER NOT NULL PRIMARY KEY,
    session      BLOB    NOT NULL CHECK (length(session) = 32),
    call         BLOB    NOT NULL CHECK (length(call) = 32),
    policy       BLOB    NOT NULL CHECK (length(policy) = 32),
    operations   INTEGER NOT NULL,
    boot         BLOB    NOT NULL CHECK (length(boot) = 16),
    boot_ns      INTEGER NOT NULL,
    wall_ms      INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX steps_by_call ON steps (session, call);

-- What counts for chains: proven calls that are a step of one, and the agent's own typed denials.
CREATE TABLE chain_events (
    seq          INTEGER NOT NULL PRIMARY KEY,
    session      BLOB    NOT NULL CHECK (length(session) = 32),
    call         BLOB    NOT NULL,
    policy       BLOB    NOT NULL CHECK (length(policy) = 32),
    detection    INTEGER NOT NULL CHECK (detection <> 0),
    enforcement  INTEGER NOT NULL CHECK (enforcement & ~detection = 0),
    boot         BLOB    NOT NULL CHECK (length(boot) = 16),
    boot_ns      INTEGER NOT NULL,
    wall_ms      INTEGER NOT NULL
) STRICT;

CREATE INDEX chain_events_of_session ON chain_events (session, seq);

-- Which files a session has seen, as proven results showed them.
CREATE TABLE files (
    session      BLOB    NOT NULL CHECK (length(session) = 32),
    path         BLOB    NOT NULL CHECK (length(path) = 32),
    seq          INTEGER NOT NULL,
    stamp        BLOB    NOT NULL,
    PRIMARY KEY (session, path)
) STRICT, WITHOUT ROWID;

CREATE INDEX files_by_age ON files (seq);

-- What the event socket streams, in order. A sequence is never given twice: the newest record is
-- never pruned, and the next one gets its sequence plus one.
CREATE TABLE records (
    seq          INTEGER NOT NULL PRIMARY KEY,
    at_ms        INTEGER NOT NULL,
    kind         TEXT    NOT NULL,
    name         BLOB    NOT NULL DEFAULT x'',  -- digest of the call id, for `show`
    body         BLOB    NOT NULL
) STRICT;

CREATE INDEX records_by_name ON records (name) WHERE name <> x'';
