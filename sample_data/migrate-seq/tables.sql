-- The tables of a JARVIS from before the order column, with one conversation in them. All rows of a turn have the same
-- time, so each read may give them in another order. For a database of its own:
--   createdb rehearsal && psql rehearsal -f sample_data/migrate-seq/tables.sql
CREATE TABLE jarvis_sessions (
    id text PRIMARY KEY,
    agent_id text,
    parent_id text,
    title text,
    created_at timestamptz,
    updated_at timestamptz
);
CREATE TABLE jarvis_entries (
    id text PRIMARY KEY,
    session_id text NOT NULL REFERENCES jarvis_sessions (id) ON DELETE CASCADE,
    role text NOT NULL,
    content jsonb,
    tool_calls jsonb,
    tool_call_id text,
    "timestamp" bigint NOT NULL,
    compacted_at timestamptz,
    compacted_by text
);
CREATE INDEX jarvis_entries_session_id_idx ON jarvis_entries (session_id);

INSERT INTO jarvis_sessions (id, agent_id, title, created_at)
VALUES ('jeju-trip', 'main', 'A week on Jeju', '2026-09-21 14:13:00+00');

-- A turn is written in one transaction, a statement for each row.
BEGIN;
INSERT INTO jarvis_entries (id, session_id, role, content, "timestamp")
VALUES ('7c1e', 'jeju-trip', 'user', '"Which ferry takes a car to Jeju?"', 1790000000000);
COMMIT;
BEGIN;
INSERT INTO jarvis_entries (id, session_id, role, content, tool_calls, "timestamp")
VALUES ('f03a', 'jeju-trip', 'assistant', '"I look at two ports."',
        '[{"id": "call_1", "name": "ferries", "arguments": {"from": "Mokpo"}},
          {"id": "call_2", "name": "ferries", "arguments": {"from": "Wando"}}]', 1790000004210);
INSERT INTO jarvis_entries (id, session_id, role, content, tool_call_id, "timestamp")
VALUES ('b8d2', 'jeju-trip', 'tool', '"Mokpo: 00:30 and 08:45"', 'call_1', 1790000004210);
INSERT INTO jarvis_entries (id, session_id, role, content, tool_call_id, "timestamp")
VALUES ('91c7', 'jeju-trip', 'tool', '"Wando: 02:30 and 15:00"', 'call_2', 1790000004210);
INSERT INTO jarvis_entries (id, session_id, role, content, tool_calls, "timestamp")
VALUES ('2a4f', 'jeju-trip', 'assistant', '"And the price from Wando."',
        '[{"id": "call_3", "name": "price", "arguments": {"from": "Wando"}}]', 1790000004210);
INSERT INTO jarvis_entries (id, session_id, role, content, tool_call_id, "timestamp")
VALUES ('e6b1', 'jeju-trip', 'tool', '"120,000 won with a small car"', 'call_3', 1790000004210);
INSERT INTO jarvis_entries (id, session_id, role, content, "timestamp")
VALUES ('05dd', 'jeju-trip', 'assistant', '"Both do; Wando is the shorter crossing."', 1790000004210);
COMMIT;
BEGIN;
INSERT INTO jarvis_entries (id, session_id, role, content, "timestamp")
VALUES ('d9a0', 'jeju-trip', 'user', '"Then book Wando."', 1790000060000);
COMMIT;
BEGIN;
INSERT INTO jarvis_entries (id, session_id, role, content, tool_calls, "timestamp")
VALUES ('c35e', 'jeju-trip', 'assistant', '"I book it."',
        '[{"id": "call_4", "name": "book", "arguments": {"from": "Wando"}}]', 1790000063500);
INSERT INTO jarvis_entries (id, session_id, role, content, tool_call_id, "timestamp")
VALUES ('48f9', 'jeju-trip', 'tool', '"booked for 15:00"', 'call_4', 1790000063500);
INSERT INTO jarvis_entries (id, session_id, role, content, "timestamp")
VALUES ('1b60', 'jeju-trip', 'assistant', '"Done: Wando, 15:00."', 1790000063500);
COMMIT;

-- A row that is updated moves to another place, and to the end of what is read without an order.
UPDATE jarvis_entries SET compacted_at = NULL WHERE id = 'f03a';
