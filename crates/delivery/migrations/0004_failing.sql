-- Endpoints whose last delivery failed, and those that were suspended because none succeeded for long.
CREATE TABLE delivery_failing (
    endpoint_id {id} NOT NULL,
    failures {integer} NOT NULL,
    since_ms {integer} NOT NULL,
    last_error {text} NOT NULL,
    suspended_at_ms {integer},
    PRIMARY KEY (endpoint_id),
    CONSTRAINT delivery_failing_failures CHECK (failures >= 0)
) {keyed};
