-- When the clock of a partition was put forward or back. Stamps rise from one move to the next, and only those are compared.
CREATE TABLE clock_moves (
    partition_id {integer} NOT NULL,
    sequence {integer} NOT NULL,
    epoch {integer} NOT NULL,
    from_ms {integer} NOT NULL,
    to_ms {integer} NOT NULL,
    PRIMARY KEY (partition_id, sequence)
) {keyed};

UPDATE meta SET value = '8' WHERE name = 'schema_version';
