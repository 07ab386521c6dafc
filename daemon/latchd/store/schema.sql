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
    last_seq     INTEGER NOT NULL,
    first_seq    INTEGER NOT NULL,
    ended        BLOB    NOT NULL DEFAULT x'',  -- fingerprint of the latest boundary, to know it again
    ended_seq    INTEGER NOT NULL DEFAULT 0,
    begun        INTEGER NOT NULL DEFAULT 0,    -- mask of the chain steps proven since the window was closed
    tainting     INTEGER NOT NULL DEFAULT 0,    -- 1 = a call that puts a secret into a file was let through
    -- How many of its calls were let through, and how many have come to each end, pruned ones too: a
    -- listing must not count rows. The triggers below keep them.
    opened       INTEGER NOT NULL DEFAULT 0,
    succeeded    INTEGER NOT NULL DEFAULT 0,
    failed       INTEGER NOT NULL DEFAULT 0,
    cancelled    INTEGER NOT NULL DEFAULT 0,
    denied       INTEGER NOT NULL DEFAULT 0,
    unknown      INTEGER NOT NULL DEFAULT 0,
    expired      INTEGER NOT NULL DEFAULT 0,
    cut          INTEGER NOT NULL DEFAULT 0,
    poisoned     INTEGER NOT NULL DEFAULT 0,
    steps        INTEGER NOT NULL DEFAULT 0     -- proven since the window was closed
) STRICT, WITHOUT ROWID;

-- Turns that are over: what still comes under their name is late.
CREATE TABLE turns (
    session      BLOB    NOT NULL CHECK (length(session) = 32),
    turn         BLOB    NOT NULL CHECK (length(turn) = 32),
    seq          INTEGER NOT NULL,
    PRIMARY KEY (session, turn)
) STRICT, WITHOUT ROWID;

CREATE INDEX turns_by_age ON turns (seq);

-- What a full catalogue has dropped, in one number each: up to here it may have known more.
CREATE TABLE barriers (
    kind         TEXT    NOT NULL PRIMARY KEY CHECK (kind IN ('session', 'turn')),
    seq          INTEGER NOT NULL CHECK (seq > 0)
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
    result       BLOB    NOT NULL DEFAULT x'',  -- fingerprint of the event that closed it, then of late ones
    flows        BLOB    NOT NULL DEFAULT x''   -- digests of the paths that it makes hold secrets, or not
) STRICT;

-- Every index is one more page that a commit must write, so there are these two and no more.
CREATE UNIQUE INDEX calls_by_key ON calls (session, call);
CREATE INDEX calls_pending ON calls (session, opened_seq) WHERE state = 'pending';

CREATE TRIGGER calls_opened AFTER INSERT ON calls BEGIN
    UPDATE sessions SET opened = opened + (NEW.state <> 'denied'), denied = denied + (NEW.state = 'denied')
    WHERE session = NEW.session;
END;

CREATE TRIGGER calls_closed AFTER UPDATE OF state ON calls WHEN NEW.state <> OLD.state BEGIN
    UPDATE sessions SET
        succeeded = succeeded + (NEW.state = 'succeeded'), failed = failed + (NEW.state = 'failed'),
        cancelled = cancelled + (NEW.state = 'cancelled'), denied = denied + (NEW.state = 'denied'),
        unknown = unknown + (NEW.state = 'unknown'), expired = expired + (NEW.state = 'expired'),
        cut = cut + (NEW.state = 'cut'), poisoned = poisoned + (NEW.state = 'poisoned')
    WHERE session = NEW.session;
END;

-- What latchd.lifecycle says, held even against a fault of ours.
CREATE TRIGGER calls_final BEFORE UPDATE OF state ON calls
WHEN OLD.state <> 'pending' AND NEW.state <> OLD.state BEGIN
    SELECT RAISE(ABORT, 'a final state is never left');
END;

-- Every refusal that a call id goes with, so that the same proposal meets the same answer although its
-- call's row is pruned, or another's, and whatever the rules say by then.
CREATE TABLE denials (
    session      BLOB    NOT NULL CHECK (length(session) = 32),
    call         BLOB    NOT NULL CHECK (length(call) = 32),
    fingerprint  BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    seq          INTEGER NOT NULL,             -- of the verdict's record
    rule         TEXT    NOT NULL,
    deliveries   INTEGER NOT NULL DEFAULT 1 CHECK (deliveries > 0),
    boot         BLOB    NOT NULL CHECK (length(boot) = 16),
    boot_ns      INTEGER NOT NULL,
    wall_ms      INTEGER NOT NULL,
    last_ms      INTEGER NOT NULL,             -- when it was delivered last, by the wall clock
    PRIMARY KEY (session, call, fingerprint)
) STRICT, WITHOUT ROWID;

CREATE INDEX denials_by_age ON denials (seq);

-- Refusals that the person may lift, and did. The codes that do it are made of the key and never kept.
CREATE TABLE refusals (
    seq            INTEGER NOT NULL PRIMARY KEY,                      -- of the verdict's record
    session        BLOB    NOT NULL CHECK (length(session) = 32),
    deed           BLOB    NOT NULL CHECK (length(deed) = 32),        -- what the call does, and where
    rule           TEXT    NOT NULL,
    policy         BLOB    NOT NULL CHECK (length(policy) = 32),
    boot           BLOB    NOT NULL CHECK (length(boot) = 16),
    boot_ns        INTEGER NOT NULL,
    wall_ms        INTEGER NOT NULL,
    grant_seq      INTEGER NOT NULL DEFAULT 0,                        -- of the record of the person's leave
    grant_boot     BLOB    NOT NULL DEFAULT x'',
    grant_boot_ns  INTEGER NOT NULL DEFAULT 0,
    grant_wall_ms  INTEGER NOT NULL DEFAULT 0,
    used_seq       INTEGER NOT NULL DEFAULT 0                         -- of the verdict of the call it let pass
) STRICT;

CREATE INDEX refusals_granted ON refusals (session, deed) WHERE grant_seq > 0;

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

-- Files that hold what a proven call took from a secret. The step bits say from which kind.
CREATE TABLE taints (
    session      BLOB    NOT NULL CHECK (length(session) = 32),
    path         BLOB    NOT NULL CHECK (length(path) = 32),
    seq          INTEGER NOT NULL,             -- of the result that proved it
    policy       BLOB    NOT NULL CHECK (length(policy) = 32),
    origin       INTEGER NOT NULL CHECK (origin <> 0),
    above        BLOB    NOT NULL CHECK (length(above) % 32 = 0),  -- digests of the directories it lies in
    boot         BLOB    NOT NULL CHECK (length(boot) = 16),
    boot_ns      INTEGER NOT NULL,
    wall_ms      INTEGER NOT NULL,
    PRIMARY KEY (session, path)
) STRICT, WITHOUT ROWID;

CREATE INDEX taints_by_age ON taints (seq);

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
