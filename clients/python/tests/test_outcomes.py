"""What comes of commands on a calm server:
SCARCE_URL=… SCARCE_TLS_URL=… SCARCE_TLS_CA=file SCARCE_KEY=… python -m unittest"""

import os
import ssl
import time
import unittest
import uuid
from unittest import mock

import scarce_client
from scarce_client import (
    Absent,
    AccountTransferArguments,
    Applied,
    BatchRefusedFacts,
    InsufficientStockFacts,
    Limit,
    Line,
    Refused,
    Scarce,
    ScarceError,
    StockGetArguments,
    StockTakeArguments,
    Undecided,
)
from scarce_client._transport import Transport, TransportError

URL = os.environ["SCARCE_URL"]


def name(kind):
    return f"py-{kind}-{uuid.uuid4()}"


class Losing(Transport):
    """Loses requests or their answers, as a bad line does."""

    arrives, answers = True, True

    def send(self, request, timeout):
        answer = super().send(request, timeout) if self.arrives else None
        if self.answers:
            return answer
        raise TransportError("lost", ConnectionError("the answer was lost"))


class Outcomes(unittest.TestCase):
    def setUp(self):
        self.scarce = self.client(URL)

    def client(self, url, **options):
        client = Scarce(url, **options)
        self.addCleanup(client.close)
        return client

    def item(self, quantity, scarce=None):
        sku = name("sku")
        self.assertIsInstance((scarce or self.scarce).stock.create(sku=sku, quantity=quantity), Applied)
        return sku

    def test_a_change_has_values_and_a_receipt_and_its_duplicate_the_same_again(self):
        sku, id = self.item(3), name("order")
        first = self.scarce.stock.take(sku=sku, quantity=2, owner="alice", id=id)
        self.assertEqual((first.value.first_serial, first.value.remaining, first.replayed), (1, 1, False))
        self.assertEqual((first.receipt.operation, first.receipt.durability), (id, "synced"))
        again = self.scarce.stock.take(sku=sku, quantity=2, owner="alice", id=id)
        self.assertEqual((again.value, again.receipt, again.replayed), (first.value, first.receipt, True))
        other = self.scarce.stock.take(sku=sku, quantity=1, owner="alice", id=id)
        self.assertEqual((other.code, other.facts.operation), ("ID_REUSED", id))

    def test_a_refusal_is_a_value_with_its_facts_of_reads_too(self):
        refused = self.scarce.stock.take(sku=self.item(1), quantity=2, owner="a")
        self.assertIsInstance(refused, Refused)
        self.assertEqual(refused.facts, InsufficientStockFacts(available=1, requested=2))
        self.assertEqual((refused.code, refused.retryable), ("INSUFFICIENT_STOCK", True))
        self.assertEqual(self.scarce.account.get(account=name("nobody")).code, "ACCOUNT_NOT_FOUND")

    def test_records_go_in_and_come_out(self):
        coupon = name("coupon")
        limits = [Limit(name="all", max=100), Limit(name="daily", max=1, per=["user"], window="DAY", offset_minutes=480)]
        self.assertEqual(self.scarce.coupon.create(coupon=coupon, limits=limits).value.limits, 2)
        claimed = self.scarce.coupon.claim(coupon=coupon, subject={"user": "alice"})
        self.assertEqual(claimed.value.serial, 1)
        reached = self.scarce.coupon.claim(coupon=coupon, subject={"user": "alice"})
        self.assertEqual((reached.facts.limit, reached.facts.used), ("daily", 1))
        self.assertEqual([its.name for its in self.scarce.coupon.get(coupon=coupon).value.limits], ["all", "daily"])

    def test_a_new_id_carries_its_time_though_the_clock_of_this_machine_is_wrong(self):
        sku, real = self.item(2), time.time
        for wrong in (3_600, -7 * 86_400):
            scarce = self.client(URL)
            with mock.patch("time.time", lambda: real() + wrong):
                # A clock that is behind is known from any answer.
                if wrong < 0:
                    scarce.stock.get(sku=sku)
                taken = scarce.stock.take(sku=sku, quantity=1, owner="a")
            self.assertIsInstance(taken, Applied)
            ms = int(taken.receipt.operation.replace("-", "")[:12], 16)
            self.assertAlmostEqual(ms / 1_000, real(), delta=10)

    def test_a_dry_run_foretells_and_changes_nothing(self):
        sku = self.item(1)
        told = self.scarce.stock.take(sku=sku, quantity=1, owner="a", dry_run=True)
        self.assertEqual((told.value.first_serial, told.receipt), (1, None))
        self.assertEqual(self.scarce.stock.get(sku=sku).value.available, 1)

    def test_a_deadline_that_has_passed_is_a_refusal(self):
        late = self.scarce.stock.take(sku=self.item(1), quantity=1, owner="a", deadline=1)
        self.assertEqual(late.code, "DEADLINE_PASSED")

    def test_lines_of_a_batch_have_outcomes_of_their_own(self):
        sku = self.item(1_200)

        def take(quantity):
            return StockTakeArguments(sku=sku, quantity=quantity, owner="a")

        id = name("order")
        first, second, third = self.scarce.batch([Line(take(1), {"id": id}), take(5_000), StockGetArguments(sku=sku)])
        self.assertEqual((first.receipt.operation, second.code, third.value.available), (id, "INSUFFICIENT_STOCK", 1_199))
        # More than a request may have.
        many = self.scarce.batch([take(1)] * 1_300)
        self.assertEqual(sum(isinstance(its, Applied) for its in many), 1_199)
        self.assertTrue(all(its.code == "SOLD_OUT" for its in many[1_199:]))

    def test_an_atomic_batch_is_applied_whole_or_not_at_all(self):
        tag = "{%s}" % name("tag")
        sku, payer, shop = f"s{tag}", f"p{tag}", f"q{tag}"
        self.scarce.stock.create(sku=sku, quantity=1)
        for account in (payer, shop):
            self.scarce.account.open(account=account, asset="EUR")
        self.scarce.account.credit(account=payer, amount=1_000)
        lines = [
            AccountTransferArguments(from_=payer, to=shop, amount=100),
            StockTakeArguments(sku=sku, quantity=1, owner="a"),
        ]
        done = self.scarce.atomic(lines)
        self.assertEqual((done.value[0].from_available, done.value[1].first_serial), (900, 1))
        refused = self.scarce.atomic(lines)
        self.assertIsInstance(refused.facts, BatchRefusedFacts)
        self.assertEqual((refused.facts.index, refused.facts.code), (1, "SOLD_OUT"))
        self.assertEqual(self.scarce.account.get(account=payer).value.balance, 900)

    def test_a_mistake_of_the_program_is_an_error_that_says_what_to_do(self):
        with self.assertRaises(ScarceError) as mistake:
            self.scarce.stock.take(sku="no spaces", quantity=1, owner="a")
        self.assertEqual((mistake.exception.code, mistake.exception.facts["argument"]), ("INVALID", "sku"))

    def test_a_server_that_is_away_is_an_error_since_nothing_was_sent(self):
        with self.assertRaises(ScarceError) as away:
            self.client("http://127.0.0.1:9", timeout=0.3).stock.take(sku="s", quantity=1, owner="a")
        self.assertEqual(away.exception.code, "UNREACHABLE")

    def test_an_unanswered_change_is_undecided_until_the_server_is_asked(self):
        sku = self.item(2)
        scarce = self.client(URL, timeout=0.3)
        line = scarce._exchange.transport = Losing(URL, None)
        self.addCleanup(line.close)

        def take():
            return scarce.stock.take(sku=sku, quantity=1, owner="a")

        line.answers = False
        applied = take()
        self.assertIsInstance(applied, Undecided)
        self.assertEqual(applied.reason.code, "LOST")
        line.arrives = False
        never = take()
        line.arrives = line.answers = True
        asked = applied.ask()
        self.assertEqual((asked.value.first_serial, asked.replayed), (1, True))
        self.assertEqual(never.ask().reason.code, "OPERATION_NOT_FOUND")
        self.assertEqual(never.resolve(), Absent(never.operation))
        self.assertEqual(never.retry().code, "RESOLVED_ABSENT")
        self.assertEqual(self.scarce.stock.get(sku=sku).value.sold, 1)

    def test_tls_and_a_key_are_used_and_a_wrong_one_is_an_error(self):
        url, key = os.environ["SCARCE_TLS_URL"], os.environ["SCARCE_KEY"]
        tls = ssl.create_default_context(cafile=os.environ["SCARCE_TLS_CA"])
        self.item(1, self.client(url, key=key, tls=tls))
        with self.assertRaises(ScarceError) as stranger:
            self.client(url, tls=tls).stock.get(sku="s")
        self.assertEqual((stranger.exception.code, stranger.exception.status), ("UNAUTHENTICATED", 401))
        started = time.monotonic()
        with self.assertRaises(ScarceError) as untrusted:
            self.client(url, key=key).stock.get(sku="s")
        self.assertEqual(untrusted.exception.code, "UNREACHABLE")
        self.assertLess(time.monotonic() - started, 10, "a certificate that is not trusted is not tried again")

    def test_a_channel_that_does_not_exist_is_an_error(self):
        with self.assertRaises(ScarceError) as refused, self.scarce.live(["nothing.s"]) as updates:
            next(iter(updates))
        self.assertEqual(refused.exception.code, "INVALID")
        self.assertRegex(scarce_client.__version__, r"^\d+\.\d+\.\d+$")


if __name__ == "__main__":
    unittest.main()
