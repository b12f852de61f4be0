CREATE TABLE jarvis_sessions (id text PRIMARY KEY, agent text NOT NULL);
CREATE SEQUENCE jarvis_entries_seq_seq;
CREATE TABLE jarvis_entries (
    id uuid PRIMARY KEY,
    session_id text NOT NULL REFERENCES jarvis_sessions (id) ON DELETE CASCADE,
    "timestamp" timestamptz NOT NULL,
    role text NOT NULL,
    content jsonb NOT NULL,
    seq bigint DEFAULT nextval('jarvis_entries_seq_seq')
);
INSERT INTO jarvis_sessions VALUES ('s1', 'main');
INSERT INTO jarvis_entries VALUES
    ('ffffffff-0000-4000-8000-000000000001', 's1', '2026-03-10 09:00:00+00', 'user', '{"text": "a"}', 336),
    ('ffffffff-0000-4000-8000-000000000002', 's1', '2026-03-10 09:00:01+00', 'assistant', '{"text": "b"}', 337),
    ('ffffffff-0000-4000-8000-000000000003', 's1', '2026-03-10 09:00:01+00', 'user', '{"text": "c"}', NULL);
SELECT setval('jarvis_entries_seq_seq', 11);
