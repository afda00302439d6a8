-- Indexes by which the rows of an event or of an operation are found, and the operations after a sequence.

CREATE INDEX receipts_by_event ON receipts (partition_id, sequence);
CREATE INDEX operations_by_sequence ON operations (partition_id, last_sequence);
UPDATE meta SET value = '3' WHERE name = 'schema_version';
