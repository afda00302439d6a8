-- MySQL has no index of one state, by which those of the others could be left out of a count.
CREATE {whole index} delivery_webhooks_by_state ON delivery_webhooks (state, delivery_id);
