-- What an operation was asked to do: its command, and its arguments as far as the log has them.

-- Rows of earlier releases have neither; `complete_after` is the last sequence that one of them wrote. While an operation of several
-- steps is not finished, its cursor has both.
{only sqlite}ALTER TABLE operations ADD COLUMN command {word};
{only sqlite}ALTER TABLE operations ADD COLUMN arguments {document};
{only sqlite}ALTER TABLE cursors ADD COLUMN step_command {word};
{only sqlite}ALTER TABLE cursors ADD COLUMN step_arguments {document};
{only sqlite}ALTER TABLE cursors ADD COLUMN complete_after {integer};
{only postgres}ALTER TABLE operations ADD COLUMN command {word}, ADD COLUMN arguments {document};
{only postgres}ALTER TABLE cursors ADD COLUMN step_command {word}, ADD COLUMN step_arguments {document},
    ADD COLUMN complete_after {integer};
{only mysql}ALTER TABLE operations ADD COLUMN /*M! IF NOT EXISTS */ command {word},
    ADD COLUMN /*M! IF NOT EXISTS */ arguments {document};
{only mysql}ALTER TABLE cursors ADD COLUMN /*M! IF NOT EXISTS */ step_command {word},
    ADD COLUMN /*M! IF NOT EXISTS */ step_arguments {document},
    ADD COLUMN /*M! IF NOT EXISTS */ complete_after {integer};
UPDATE cursors SET complete_after = sequence WHERE complete_after IS NULL;

UPDATE meta SET value = '6' WHERE name = 'schema_version';
