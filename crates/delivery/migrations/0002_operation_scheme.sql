ALTER TABLE delivery_settlements ADD COLUMN operation_scheme {integer};
