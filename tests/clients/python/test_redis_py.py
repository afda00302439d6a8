"""redis-py against a running server: SCARCE_RESP=host:port python -m unittest"""

import os
import unittest
import uuid

import redis

HOST, PORT = os.environ.get("SCARCE_RESP", "127.0.0.1:7379").rsplit(":", 1)


def connect(**options):
    return redis.Redis(host=HOST, port=int(PORT), decode_responses=True, **options)


def name(kind):
    """A name that no other test uses."""
    return f"py-{kind}-{uuid.uuid4().hex[:12]}"


class Connection(unittest.TestCase):
    def setUp(self):
        self.client = connect(protocol=2)
        self.addCleanup(self.client.close)

    def call(self, *words):
        return self.client.execute_command(*words)

    def test_connects_and_pings(self):
        self.assertTrue(self.client.ping())
        self.assertEqual(self.client.echo("hello"), "hello")
        self.assertGreater(self.client.client_id(), 0)
        self.assertIn("scarce_version", self.client.info())

    def test_commands_answer_arrays(self):
        sku = name("sku")
        self.assertEqual(self.call("STOCK.CREATE", sku, 3), [1, 3])
        self.assertEqual(self.call("STOCK.TAKE", sku, 2, "u1"), [1, 1, 1])

    def test_a_refusal_is_an_ordinary_answer(self):
        sku = name("sku")
        self.call("STOCK.CREATE", sku, 1)
        self.call("STOCK.TAKE", sku, 1, "u1")
        self.assertEqual(self.call("STOCK.TAKE", sku, 1, "u2"), [0, "SOLD_OUT", 0, 1])

    def test_an_error_raises_and_the_connection_stays_usable(self):
        before = self.client.client_id()
        with self.assertRaisesRegex(redis.ResponseError, "quantity must be .* Usage: STOCK.TAKE sku quantity"):
            self.call("STOCK.TAKE", "sku", "1.5", "u1")
        with self.assertRaisesRegex(redis.ResponseError, "unknown command"):
            self.call("NO.SUCH")
        self.assertEqual(self.client.client_id(), before)

    def test_the_same_id_gets_the_same_answer(self):
        account, operation = name("account"), name("operation")
        self.call("ACCOUNT.OPEN", account, "USD")
        first = self.call("ACCOUNT.CREDIT", account, 100, "ID", operation)
        self.call("ACCOUNT.CREDIT", account, 7)
        self.assertEqual(first, [1, 100, 100])
        self.assertEqual(self.call("ACCOUNT.CREDIT", account, 100, "ID", operation), first)
        self.assertEqual(self.call("ACCOUNT.CREDIT", account, 101, "ID", operation)[:2], [0, "ID_REUSED"])

    def test_a_pipeline_of_1000_is_answered_in_order(self):
        sku = name("sku")
        self.call("STOCK.CREATE", sku, 1000)
        with self.client.pipeline(transaction=False) as pipeline:
            for _ in range(1000):
                pipeline.execute_command("STOCK.TAKE", sku, 1, "u1")
            answers = pipeline.execute()
        self.assertEqual(answers, [[1, serial, 1000 - serial] for serial in range(1, 1001)])


class Transactions(unittest.TestCase):
    """The pipelines of redis-py are MULTI … EXEC unless told otherwise."""

    def setUp(self):
        self.client = connect(protocol=2)
        self.addCleanup(self.client.close)
        self.sku = name("sku")
        self.client.execute_command("STOCK.CREATE", self.sku, 10)

    def execute(self, *lines):
        with self.client.pipeline(transaction=True) as pipeline:
            for line in lines:
                pipeline.execute_command(*line)
            return pipeline.execute()

    def available(self):
        return self.client.execute_command("STOCK.GET", self.sku)[5]

    def test_applied_whole(self):
        answers = self.execute(("STOCK.TAKE", self.sku, 1, "u1"), ("STOCK.TAKE", self.sku, 2, "u2"))
        self.assertEqual(answers, [[1, 1, 9], [1, 2, 7]])

    def test_refused_whole_with_one_answer_per_line(self):
        answers = self.execute(
            ("STOCK.TAKE", self.sku, 1, "u1"),
            ("STOCK.TAKE", self.sku, 50, "u1"),
            ("STOCK.TAKE", self.sku, 1, "u1"),
        )
        others = [0, "BATCH_REFUSED", 1, "INSUFFICIENT_STOCK"]
        self.assertEqual(answers, [others, [0, "INSUFFICIENT_STOCK", 9, 50], others])
        self.assertEqual(self.available(), 10)

    def test_under_an_id_applied_once(self):
        lines = [("BATCH.ID", name("batch")), ("STOCK.TAKE", self.sku, 1, "u1")]
        self.assertEqual(self.execute(*lines), self.execute(*lines))
        self.assertEqual(self.available(), 9)

    def test_a_malformed_line_discards_all(self):
        with self.assertRaises(redis.ResponseError):
            self.execute(("STOCK.TAKE", self.sku, 1, "u1"), ("STOCK.TAKE", self.sku, "x", "u1"))
        self.assertEqual(self.available(), 10)


class Resp3(unittest.TestCase):
    def setUp(self):
        self.client = connect(protocol=3)
        self.addCleanup(self.client.close)

    def test_reads_are_maps(self):
        sku = name("sku")
        self.client.execute_command("STOCK.CREATE", sku, 3, "PEROWNER", 2)
        item = self.client.execute_command("STOCK.GET", sku)
        self.assertIsInstance(item, dict)
        self.assertEqual((item["sku"], item["available"], item["per_owner_max"], item["ends_at"]), (sku, 3, 2, None))

    def test_events_are_read_after_a_cursor(self):
        sku = name("sku")
        self.client.execute_command("STOCK.CREATE", sku, 3, "ID", f"make-{sku}")
        cursor, found = 0, None
        while events := self.client.execute_command("EVENTS", 0, 0, cursor, "COUNT", 500):
            sequences = [event[2] for event in events]
            self.assertEqual(sequences, list(range(cursor + 1, cursor + 1 + len(events))))
            found = next((event for event in events if event[4] == f"make-{sku}"), found)
            cursor = sequences[-1]
        self.assertEqual(found[5], "stock.created")
        fields = dict(zip(found[6][::2], found[6][1::2]))
        self.assertEqual((fields["sku"], fields["quantity"]), (sku, 3))


if __name__ == "__main__":
    unittest.main()
