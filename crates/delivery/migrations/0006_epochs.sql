-- Of which epoch the events are that a consumer has read, from a sequence on: the history that its rows are of. 0 is one
-- that is not known. An epoch is of one history, so this tells what a consumer shares with a log that was put back.
CREATE TABLE delivery_epochs (
    consumer {id} NOT NULL,
    partition_id {integer} NOT NULL,
    first_sequence {integer} NOT NULL,
    epoch {integer} NOT NULL,
    PRIMARY KEY (consumer, partition_id, first_sequence)
) {keyed};

-- Where the credit of a settlement is in the log: the position of an event at or after it, of the same epoch. NULL where
-- there is no credit of the engine, or an earlier release made it.
ALTER TABLE delivery_settlements ADD COLUMN credit_partition_id {integer};
ALTER TABLE delivery_settlements ADD COLUMN credit_epoch {integer};
ALTER TABLE delivery_settlements ADD COLUMN credit_sequence {integer};
