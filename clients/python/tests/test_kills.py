"""A ledger outside of the server, while it is killed and its connections are lost and delayed:
SCARCE_UNSTEADY_URL=… python -m unittest"""

import collections
import os
import threading
import unittest
import uuid
from concurrent.futures import ThreadPoolExecutor

from scarce_client import AccountDebitArguments, Applied, Failed, Refused, Scarce, ScarceError, Undecided

WORKERS, ROUNDS = 8, 80
PATIENCE_S = 100
TROUBLE = {"UNREACHABLE", "LOST", "UNAVAILABLE", "OVERLOADED", "UNKNOWN"}


def settled(outcome):
    """The outcome of a change, by as many questions as it takes."""
    while isinstance(outcome, Undecided):
        outcome = outcome.resolve()
    return outcome


def through(call, **arguments):
    """Calls again while nothing gets through, which changes nothing."""
    while True:
        try:
            return settled(call(**arguments))
        except ScarceError as error:
            if error.code not in TROUBLE:
                raise


class Kills(unittest.TestCase):
    def setUp(self):
        url = os.environ["SCARCE_UNSTEADY_URL"]
        self.scarce = Scarce(url, timeout=2.0, attempt_timeout=0.4, pause_max=0.3)
        self.addCleanup(self.scarce.close)

    def test_each_debit_and_each_unit_is_taken_once_and_none_is_lost(self):
        scarce, account, sku = self.scarce, f"py-{uuid.uuid4()}", f"py-{uuid.uuid4()}"
        through(scarce.account.open, account=account, asset="EUR")
        credited, ledger, lock = 1_300, collections.Counter(restocked=5), threading.Lock()
        through(scarce.account.credit, account=account, amount=credited)
        through(scarce.stock.create, sku=sku, quantity=ledger["restocked"])

        def note(outcome, column, amount):
            with lock:
                if isinstance(outcome, Applied):
                    ledger[column] += amount
                    ledger["replayed"] += outcome.replayed
                ledger["refused"] += isinstance(outcome, Refused)

        def work(worker):
            for round in range(ROUNDS):
                amount = 1 + round % 3
                note(through(scarce.account.debit, account=account, amount=amount), "debited", amount)
                note(through(scarce.stock.take, sku=sku, quantity=1, owner="a"), "taken", 1)
                # The item is sold out again and again: a copy that arrives late must not find the next units.
                if round % WORKERS == worker:
                    note(through(scarce.stock.restock, sku=sku, quantity=3), "restocked", 3)
                if round % 10 == 0:
                    for line in scarce.batch([AccountDebitArguments(account=account, amount=1)] * 2):
                        if not isinstance(line, Failed):
                            note(settled(line), "debited", 1)

        with ThreadPoolExecutor(WORKERS) as workers:
            list(workers.map(work, range(WORKERS)))
        kept = through(scarce.account.get, account=account).value
        shown = through(scarce.stock.get, sku=sku).value
        print("ledger", dict(ledger))
        self.assertEqual(kept.balance, credited - ledger["debited"])
        self.assertEqual((shown.sold, shown.total), (ledger["taken"], ledger["restocked"]))
        self.assertGreater(ledger["replayed"], 0, "answers were lost")
        self.assertGreater(ledger["refused"], 0)

    def test_what_is_followed_ends_as_what_is_read(self):
        scarce, market, account = self.scarce, f"py-{uuid.uuid4()}", f"py-{uuid.uuid4()}"
        through(scarce.market.create, market=market)
        through(scarce.account.open, account=account, asset="EUR")
        channels = [f"market.{market}.depth200", f"market.{market}.trades", f"account.{account}"]
        channels.append(f"market.{market}.orders.u1")
        seen, trades, own, changed = {}, [], [], threading.Condition()

        def watch(updates):
            for update in updates:
                with changed:
                    seen[update.channel] = update.data
                    if update.channel == channels[1]:
                        trades.extend(its.trade for its in update.data.trades)
                    if update.channel == channels[3] and update.data is not None:
                        own.extend((its.change, its.order, its.remaining) for its in update.data.changes)
                    changed.notify()

        with ThreadPoolExecutor(1) as watcher, scarce.live(channels) as updates:
            watching = watcher.submit(watch, updates)
            # What is traded before a channel is followed is not in its snapshot.
            with changed:
                self.assertTrue(changed.wait_for(lambda: len(seen) == len(channels), PATIENCE_S), seen)
            for order in range(150):
                side = ("BUY", "SELL")[order % 2]
                place = {"order": f"o{order}", "owner": f"u{order}", "side": side, "type": "LIMIT"}
                place |= {"price": 100 + order * 7 % 11 + order % 2 * 2, "quantity": 1 + order % 4}
                through(scarce.order.place, market=market, **place)
                if order % 10 == 0:
                    through(scarce.account.credit, account=account, amount=5)
            depth = through(scarce.market.depth, market=market, levels=200).value
            [last] = through(scarce.market.trades, market=market, count=1).value.trades

            def is_there():
                book, money = seen.get(channels[0]), seen.get(channels[2])
                is_book = book is not None and (book.bids, book.asks) == (depth.bids, depth.asks)
                return is_book and money is not None and money.balance == 75 and trades[-1:] == [last.trade]

            with changed:
                self.assertTrue(changed.wait_for(is_there, PATIENCE_S), (seen, depth))
            updates.close()
            watching.result(PATIENCE_S)
        self.assertEqual(trades, list(range(1, last.trade + 1)))
        # Its owner has one order, of two units, which others meet or not.
        self.assertEqual(own[0], ("placed", "o1", 2))
        self.assertEqual(len(own), len(set(own)), own)


if __name__ == "__main__":
    unittest.main()
