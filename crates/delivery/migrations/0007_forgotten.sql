-- Up to which event a consumer may have done before what these tables do not know of: they were lost, or are of an older
-- backup. NULL if they know all.
ALTER TABLE delivery_cursors ADD COLUMN forgotten_through {integer};
