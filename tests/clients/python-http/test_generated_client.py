"""A client that a stock generator makes of the server's own description, on the README's tour:
SCARCE_HTTP=host:port SCARCE_CLIENT=folder-with-scarce_client python -m unittest
"""

import os
import sys
import unittest
import uuid

sys.path.insert(0, os.environ["SCARCE_CLIENT"])

from scarce_client import Client, models  # noqa: E402
from scarce_client.api.account import (  # noqa: E402
    account_capture,
    account_credit,
    account_debit,
    account_get,
    account_hold,
    account_open,
)
from scarce_client.api.batch import batch  # noqa: E402
from scarce_client.api.coupon import coupon_claim, coupon_create  # noqa: E402
from scarce_client.api.events import events  # noqa: E402
from scarce_client.api.market import market_create, market_depth  # noqa: E402
from scarce_client.api.order import order_place  # noqa: E402
from scarce_client.api.packet import packet_claim, packet_claims, packet_close, packet_create  # noqa: E402
from scarce_client.api.stock import (  # noqa: E402
    stock_confirm,
    stock_create,
    stock_get,
    stock_reserve,
    stock_take,
)
from scarce_client.types import UNSET  # noqa: E402

CLIENT = Client(base_url="http://" + os.environ["SCARCE_HTTP"])


def name(kind):
    """A name that no other test uses."""
    return f"gen-{kind}-{uuid.uuid4().hex[:12]}"


class Tour(unittest.TestCase):
    def ask(self, operation, *path, **arguments):
        """Sends a request and gives the typed answer."""
        return operation.sync(*path, client=CLIENT, **arguments)

    def account(self, amount=0):
        account = name("account")
        opened = self.ask(account_open, body=models.AccountOpenRequest(account=account, asset="EUR"))
        self.assertIsInstance(opened, models.AccountOpenResult)
        self.assertEqual(opened.available, 0)
        self.assertGreater(opened.receipt.sequence_last, 0)
        if amount:
            self.ask(account_credit, account, body=models.AccountCreditRequest(amount=amount))
        return account

    def item(self, quantity, **more):
        sku = name("sku")
        body = models.StockCreateRequest(sku=sku, quantity=quantity, **more)
        self.assertEqual(self.ask(stock_create, body=body).available, quantity)
        return sku

    def take(self, sku, owner):
        return self.ask(stock_take, sku, body=models.StockTakeRequest(quantity=1, owner=owner))

    def test_one_id_is_one_effect_and_one_answer(self):
        account, key = self.account(), name("pay")
        body = models.AccountCreditRequest(amount=1_000)
        first = account_credit.sync_detailed(account, client=CLIENT, body=body, idempotency_key=key)
        again = account_credit.sync_detailed(account, client=CLIENT, body=body, idempotency_key=key)
        self.assertEqual((first.parsed.available, first.parsed.balance), (1_000, 1_000))
        self.assertEqual(first.parsed.receipt.operation, key)
        self.assertEqual(again.parsed, first.parsed)
        self.assertNotIn("idempotency-replayed", first.headers)
        self.assertEqual(again.headers["idempotency-replayed"], "true")

        other = models.AccountCreditRequest(amount=2_000)
        reused = self.ask(account_credit, account, body=other, idempotency_key=key)
        self.assertIsInstance(reused, models.AccountCreditResponse422)
        self.assertEqual(reused.code, models.AccountCreditResponse422Code.ID_REUSED)
        self.assertEqual((reused.status, reused.retryable, reused.operation), (422, False, key))
        self.assertEqual(reused.facts["operation"], key)
        self.assertEqual(self.ask(account_get, account).balance, 1_000)

    def test_money_is_held_and_captured(self):
        alice, shop = self.account(1_000), self.account()
        body = models.AccountHoldRequest(hold="h1", amount=300, ttl_ms=60_000)
        held = self.ask(account_hold, alice, body=body)
        self.assertEqual((held.available, held.deadline), (700, held.receipt.at + 60_000))
        body = models.AccountCaptureRequest(amount=250, to=shop)
        captured = self.ask(account_capture, alice, "h1", body=body)
        self.assertEqual((captured.captured, captured.hold_remaining, captured.available), (250, 0, 750))
        refused = self.ask(account_debit, alice, body=models.AccountDebitRequest(amount=751))
        self.assertIsInstance(refused, models.AccountDebitResponse409)
        self.assertEqual(refused.code, models.AccountDebitResponse409Code.INSUFFICIENT_FUNDS)
        self.assertEqual(refused.facts.to_dict(), {"account": alice, "available": 750, "requested": 751})
        self.assertEqual(self.ask(account_get, shop).balance, 250)

    def test_stock_is_sold_until_it_is_sold_out(self):
        sku = self.item(3, per_owner_max=1)
        self.assertEqual((self.take(sku, "alice").first_serial, self.take(sku, "bob").first_serial), (1, 2))
        again = self.take(sku, "alice")
        self.assertEqual(again.code, models.StockTakeResponse409Code.OWNER_LIMIT_REACHED)
        body = models.StockReserveRequest(reservation="r1", quantity=1, owner="carol", ttl_ms=60_000)
        self.assertEqual(self.ask(stock_reserve, sku, body=body).remaining, 0)
        sold_out = self.take(sku, "dora")
        self.assertEqual(sold_out.code, models.StockTakeResponse409Code.SOLD_OUT)
        self.assertEqual(sold_out.facts.to_dict(), {"available": 0, "requested": 1})
        confirmed = self.ask(stock_confirm, sku, "r1", body=models.StockConfirmRequest())
        self.assertEqual((confirmed.first_serial, confirmed.quantity), (3, 1))
        shown = self.ask(stock_get, sku)
        self.assertEqual((shown.available, shown.reserved, shown.sold, shown.ends_at), (0, 0, 3, None))

    def test_packets_are_claimed_and_listed(self):
        campaign = name("campaign")
        plan = models.Plan(total=1_000, count=5, method=models.PlanMethod.DOUBLE_MEAN)
        body = models.PacketCreateRequest(campaign=campaign, asset="EUR", plan=plan)
        created = self.ask(packet_create, body=body)
        self.assertEqual((created.count, created.total, len(created.commitment)), (5, 1_000, 64))
        amounts = []
        for user in "abcde":
            claim = self.ask(packet_claim, campaign, body=models.PacketClaimRequest(user=user))
            amounts.append(claim.amount)
        self.assertEqual(sum(amounts), 1_000)
        again = self.ask(packet_claim, campaign, body=models.PacketClaimRequest(user="c"))
        self.assertEqual(again.code, models.PacketClaimResponse409Code.ALREADY_CLAIMED)
        self.assertEqual(again.facts.to_dict(), {"packet": 3, "amount": amounts[2]})
        page = self.ask(packet_claims, campaign, limit=2)
        self.assertEqual([(row.user, row.packet, row.amount) for row in page.claims], [("a", 1, amounts[0]), ("b", 2, amounts[1])])
        self.assertTrue(page.has_more)
        rest = self.ask(packet_claims, campaign, cursor=page.cursor)
        self.assertEqual([row.user for row in rest.claims], ["c", "d", "e"])
        self.assertEqual((rest.has_more, rest.cursor), (False, None))
        closed = self.ask(packet_close, campaign, body=models.PacketCloseRequest())
        self.assertEqual((closed.claimed_count, closed.left_count, len(closed.seed)), (5, 0, 64))

    def test_a_coupon_keeps_its_limits(self):
        coupon = name("coupon")
        limits = [
            models.Limit(name="all", max_=100),
            models.Limit(name="daily", max_=1, per=["user"], window=models.Window.DAY, offset_minutes=480),
        ]
        created = self.ask(coupon_create, body=models.CouponCreateRequest(coupon=coupon, limits=limits))
        self.assertEqual(created.limits, 2)
        subject = models.Subject(user="alice")
        claimed = self.ask(coupon_claim, coupon, body=models.CouponClaimRequest(subject=subject))
        self.assertEqual((claimed.serial, claimed.deadline), (1, None))
        reached = self.ask(coupon_claim, coupon, body=models.CouponClaimRequest(subject=subject))
        self.assertEqual(reached.code, models.CouponClaimResponse409Code.LIMIT_REACHED)
        self.assertEqual((reached.facts["limit"], reached.facts["used"], reached.facts["max"]), ("daily", 1, 1))

    def test_a_market_fills_orders(self):
        market = name("market")
        opened = self.ask(market_create, body=models.MarketCreateRequest(market=market))
        self.assertEqual(opened.status, "open")

        def place(order, owner, side, price, quantity):
            body = models.OrderPlaceRequest(
                order=order,
                owner=owner,
                side=models.OrderPlaceRequestSide(side),
                type_=models.OrderPlaceRequestType.LIMIT,
                price=price,
                quantity=quantity,
            )
            return self.ask(order_place, market, body=body)

        resting = place("s1", "bob", "SELL", 100, 5)
        self.assertEqual((resting.status, resting.remaining, resting.fills), ("open", 5, []))
        filled = place("b1", "alice", "BUY", 101, 3)
        self.assertEqual((filled.status, filled.filled, filled.remaining), ("filled", 3, 0))
        [fill] = filled.fills
        self.assertEqual((fill.maker_order, fill.price, fill.quantity, fill.maker_remaining), ("s1", 100, 3, 2))
        depth = self.ask(market_depth, market)
        self.assertEqual(depth.bids, [])
        self.assertEqual([(level.price, level.quantity, level.orders) for level in depth.asks], [(100, 2, 1)])

    def lines(self, sku, payer, shop):
        pay = models.AccountTransferArguments(from_=payer, to=shop, amount=100)
        take = models.StockTakeArguments(sku=sku, quantity=1, owner="alice")
        return [
            models.AccountTransferOperation(command="ACCOUNT.TRANSFER", arguments=pay),
            models.StockTakeOperation(command="STOCK.TAKE", arguments=take),
        ]

    def test_a_batch_is_applied_whole_or_not_at_all(self):
        sku, payer, shop, key = self.item(1), self.account(1_000), self.account(), name("order")
        body = models.BatchRequest(atomic=True, operations=self.lines(sku, payer, shop))
        done = self.ask(batch, body=body, idempotency_key=key)
        self.assertIsInstance(done, models.BatchAnswer)
        self.assertEqual([line.status for line in done.results], [200, 200])
        self.assertEqual(done.results[0].result["from_available"], 900)
        self.assertEqual(done.results[1].result["first_serial"], 1)
        self.assertEqual(done.receipt.operation, key)

        refused = self.ask(batch, body=body)
        self.assertIsInstance(refused, models.BatchResponse409)
        self.assertEqual(refused.code, models.BatchResponse409Code.BATCH_REFUSED)
        self.assertEqual((refused.facts["index"], refused.facts["code"]), (1, "SOLD_OUT"))
        self.assertEqual(self.ask(account_get, payer).balance, 900)

        body.atomic = False
        each = self.ask(batch, body=body)
        self.assertEqual([line.status for line in each.results], [200, 409])
        self.assertEqual(each.results[1].problem.code, models.ProblemCode.SOLD_OUT)
        self.assertIs(each.receipt, UNSET)
        self.assertEqual(self.ask(account_get, payer).balance, 800)

    def test_a_dry_run_foretells_and_changes_nothing(self):
        sku = self.item(1)
        body = models.StockTakeRequest(quantity=1, owner="u")
        told = self.ask(stock_take, sku, body=body, dry_run=True)
        self.assertEqual((told.first_serial, told.remaining, told.dry_run), (1, 0, True))
        self.assertIs(told.receipt, UNSET)
        self.assertEqual(self.ask(stock_get, sku).available, 1)
        real = self.ask(stock_take, sku, body=body)
        self.assertEqual((real.first_serial, real.remaining, real.dry_run), (1, 0, UNSET))

    def test_events_are_read_page_by_page(self):
        sku = self.item(5)
        self.take(sku, "u")
        found, cursor = [], UNSET
        while True:
            page = self.ask(events, cursor=cursor)
            found += [event for event in page.events if event.fields.to_dict().get("sku") == sku]
            cursor = page.cursor
            if not page.has_more:
                break
        self.assertEqual([event.name for event in found], ["stock.created", "stock.taken"])
        self.assertEqual(found[1].fields["owner"], "u")


if __name__ == "__main__":
    unittest.main()
