-- A key names a conversation, which may go on in a new session after one has ended: several sessions
-- of a user may have the same key.
DROP INDEX sessions_key;
CREATE INDEX sessions_key ON sessions (owner, key, number) WHERE key IS NOT NULL;
