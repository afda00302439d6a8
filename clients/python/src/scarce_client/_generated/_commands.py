# Made by `cargo xtask reference` from the tables of commands and codes; change those, not this file.
"""Commands, and how each is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack, cast

from .._outcome import Answer, CallOptions, Outcome, Route, Send
from ._types import *  # noqa: F403

# How each command is sent.
ROUTES: Mapping[str, Route] = {
    "ACCOUNT.OPEN": Route("POST", "/v1/accounts", (), "account", True, True),
    "ACCOUNT.GET": Route("GET", "/v1/accounts/{account}", (), "", False, False),
    "ACCOUNT.CREDIT": Route("POST", "/v1/accounts/{account}/credit", (), "account", True, True),
    "ACCOUNT.DEBIT": Route("POST", "/v1/accounts/{account}/debit", (), "account", True, True),
    "ACCOUNT.TRANSFER": Route("POST", "/v1/transfers", (), "from", True, True),
    "ACCOUNT.HOLD": Route("POST", "/v1/accounts/{account}/holds", (), "account", True, True),
    "ACCOUNT.CAPTURE": Route("POST", "/v1/accounts/{account}/holds/{hold}/capture", (), "account", True, True),
    "ACCOUNT.VOID": Route("POST", "/v1/accounts/{account}/holds/{hold}/void", (), "account", True, True),
    "ACCOUNT.EXTEND": Route("POST", "/v1/accounts/{account}/holds/{hold}/extend", (), "account", True, True),
    "ACCOUNT.HOLDS": Route("GET", "/v1/accounts/{account}/holds", ("cursor", "limit"), "", False, False),
    "ACCOUNT.FREEZE": Route("POST", "/v1/accounts/{account}/freeze", (), "account", True, True),
    "ACCOUNT.UNFREEZE": Route("POST", "/v1/accounts/{account}/unfreeze", (), "account", True, True),
    "ACCOUNT.CLOSE": Route("POST", "/v1/accounts/{account}/close", (), "account", True, True),
    "ACCOUNT.OVERDRAFT": Route("POST", "/v1/accounts/{account}/overdraft", (), "account", True, True),
    "ACCOUNT.WORLD": Route("GET", "/v1/worlds/{asset}", ("on",), "", False, False),
    "ACCOUNT.LIST": Route("GET", "/v1/accounts", ("prefix", "cursor", "limit"), "", False, False),
    "STOCK.CREATE": Route("POST", "/v1/stock", (), "sku", True, False),
    "STOCK.GET": Route("GET", "/v1/stock/{sku}", (), "", False, False),
    "STOCK.RESTOCK": Route("POST", "/v1/stock/{sku}/restock", (), "sku", True, False),
    "STOCK.ADJUST": Route("POST", "/v1/stock/{sku}/adjust", (), "sku", True, False),
    "STOCK.TAKE": Route("POST", "/v1/stock/{sku}/take", (), "sku", True, False),
    "STOCK.RESERVE": Route("POST", "/v1/stock/{sku}/reservations", (), "sku", True, False),
    "STOCK.CONFIRM": Route("POST", "/v1/stock/{sku}/reservations/{reservation}/confirm", (), "sku", True, False),
    "STOCK.RELEASE": Route("POST", "/v1/stock/{sku}/reservations/{reservation}/release", (), "sku", True, False),
    "STOCK.EXTEND": Route("POST", "/v1/stock/{sku}/reservations/{reservation}/extend", (), "sku", True, False),
    "STOCK.RETURN": Route("POST", "/v1/stock/{sku}/return", (), "sku", True, False),
    "STOCK.CLOSE": Route("POST", "/v1/stock/{sku}/close", (), "sku", True, False),
    "STOCK.AUDIT": Route("POST", "/v1/stock/{sku}/audit", (), "sku", True, False),
    "STOCK.RESERVATION": Route("GET", "/v1/stock/{sku}/reservations/{reservation}", (), "", False, False),
    "STOCK.LIST": Route("GET", "/v1/stock", ("prefix", "cursor", "limit"), "", False, False),
    "PACKET.CREATE": Route("POST", "/v1/packets", (), "campaign", True, False),
    "PACKET.CLAIM": Route("POST", "/v1/packets/{campaign}/claims", (), "campaign", True, False),
    "PACKET.GET": Route("GET", "/v1/packets/{campaign}", (), "", False, False),
    "PACKET.CLOSE": Route("POST", "/v1/packets/{campaign}/close", (), "campaign", True, False),
    "PACKET.CLAIMED": Route("GET", "/v1/packets/{campaign}/claims/{user}", (), "", False, False),
    "PACKET.CLAIMS": Route("GET", "/v1/packets/{campaign}/claims", ("cursor", "limit"), "", False, False),
    "PACKET.LIST": Route("GET", "/v1/packets", ("prefix", "cursor", "limit"), "", False, False),
    "COUPON.CREATE": Route("POST", "/v1/coupons", (), "coupon", True, False),
    "COUPON.UPDATE": Route("PATCH", "/v1/coupons/{coupon}", (), "coupon", True, False),
    "COUPON.CLAIM": Route("POST", "/v1/coupons/{coupon}/claims", (), "coupon", True, False),
    "COUPON.CHECK": Route("POST", "/v1/coupons/{coupon}/check", (), "", False, False),
    "COUPON.REDEEM": Route("POST", "/v1/coupons/{coupon}/claims/{serial}/redeem", (), "coupon", True, False),
    "COUPON.REVOKE": Route("POST", "/v1/coupons/{coupon}/claims/{serial}/revoke", (), "coupon", True, False),
    "COUPON.CLAIMED": Route("GET", "/v1/coupons/{coupon}/claims/{serial}", (), "", False, False),
    "COUPON.GET": Route("GET", "/v1/coupons/{coupon}", (), "", False, False),
    "COUPON.PAUSE": Route("POST", "/v1/coupons/{coupon}/pause", (), "coupon", True, False),
    "COUPON.RESUME": Route("POST", "/v1/coupons/{coupon}/resume", (), "coupon", True, False),
    "COUPON.LIST": Route("GET", "/v1/coupons", ("prefix", "cursor", "limit"), "", False, False),
    "MARKET.CREATE": Route("POST", "/v1/markets", (), "market", True, False),
    "MARKET.GET": Route("GET", "/v1/markets/{market}", (), "", False, False),
    "MARKET.HALT": Route("POST", "/v1/markets/{market}/halt", (), "market", True, False),
    "MARKET.RESUME": Route("POST", "/v1/markets/{market}/resume", (), "market", True, False),
    "MARKET.DEPTH": Route("GET", "/v1/markets/{market}/depth", ("levels",), "", False, False),
    "MARKET.TRADES": Route("GET", "/v1/markets/{market}/trades", ("count",), "", False, False),
    "MARKET.TICKER": Route("GET", "/v1/markets/{market}/ticker", (), "", False, False),
    "MARKET.LIST": Route("GET", "/v1/markets", ("prefix", "cursor", "limit"), "", False, False),
    "ORDER.LIST": Route("GET", "/v1/markets/{market}/orders", ("owner", "cursor", "limit"), "", False, False),
    "ORDER.PLACE": Route("POST", "/v1/markets/{market}/orders", (), "market", True, True),
    "ORDER.CANCEL": Route("DELETE", "/v1/markets/{market}/orders/{order}", ("owner",), "market", True, True),
    "ORDER.REDUCE": Route("POST", "/v1/markets/{market}/orders/{order}/reduce", (), "market", True, True),
    "ORDER.REPLACE": Route("POST", "/v1/markets/{market}/orders/{order}/replace", (), "market", True, True),
    "ORDER.CANCELALL": Route("DELETE", "/v1/markets/{market}/orders", ("owner",), "market", True, True),
    "ORDER.GET": Route("GET", "/v1/markets/{market}/orders/{order}", (), "", False, False),
    "OPERATION.GET": Route("GET", "/v1/operations/{operation}", ("on",), "", False, False),
    "OPERATION.RESOLVE": Route("POST", "/v1/operations/{operation}/resolve", ("on",), "", False, False),
    "DIGEST": Route("GET", "/v1/digest", ("resource",), "", False, False),
}


class AccountCommands:
    """The ACCOUNT commands."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def open(
        self,
        *,
        account: str,
        asset: str,
        overdraft: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Outcome[AccountOpenResult]:
        """Opens an account that keeps one asset."""
        arguments = AccountOpenArguments(account=account, asset=asset, overdraft=overdraft)
        return cast("Outcome[AccountOpenResult]", self._send(arguments, options))

    def get(
        self,
        *,
        account: str,
        **options: Unpack[CallOptions],
    ) -> Answer[AccountGetResult]:
        """Shows an account's balance, held amount and status."""
        arguments = AccountGetArguments(account=account)
        return cast("Answer[AccountGetResult]", self._send(arguments, options))

    def credit(
        self,
        *,
        account: str,
        amount: int,
        **options: Unpack[CallOptions],
    ) -> Outcome[AccountCreditResult]:
        """Adds money to an account from outside."""
        arguments = AccountCreditArguments(account=account, amount=amount)
        return cast("Outcome[AccountCreditResult]", self._send(arguments, options))

    def debit(
        self,
        *,
        account: str,
        amount: int,
        **options: Unpack[CallOptions],
    ) -> Outcome[AccountDebitResult]:
        """Takes money out of an account if enough is available."""
        arguments = AccountDebitArguments(account=account, amount=amount)
        return cast("Outcome[AccountDebitResult]", self._send(arguments, options))

    def transfer(
        self,
        *,
        from_: str,
        to: str,
        amount: int,
        **options: Unpack[CallOptions],
    ) -> Outcome[AccountTransferResult]:
        """Moves money from one account to another of the same asset."""
        arguments = AccountTransferArguments(from_=from_, to=to, amount=amount)
        return cast("Outcome[AccountTransferResult]", self._send(arguments, options))

    def hold(
        self,
        *,
        account: str,
        hold: str,
        amount: int,
        ttl_ms: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Outcome[AccountHoldResult]:
        """Sets money aside until it is captured, voided or past its deadline."""
        arguments = AccountHoldArguments(account=account, hold=hold, amount=amount, ttl_ms=ttl_ms)
        return cast("Outcome[AccountHoldResult]", self._send(arguments, options))

    def capture(
        self,
        *,
        account: str,
        hold: str,
        amount: int | None = None,
        keep_rest: bool | None = None,
        to: str | None = None,
        **options: Unpack[CallOptions],
    ) -> Outcome[AccountCaptureResult]:
        """Pays money out of a hold, to another account or outside, and releases or keeps the rest."""
        arguments = AccountCaptureArguments(account=account, hold=hold, amount=amount, keep_rest=keep_rest, to=to)
        return cast("Outcome[AccountCaptureResult]", self._send(arguments, options))

    def void(
        self,
        *,
        account: str,
        hold: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[AccountVoidResult]:
        """Ends a hold and makes its money available again."""
        arguments = AccountVoidArguments(account=account, hold=hold)
        return cast("Outcome[AccountVoidResult]", self._send(arguments, options))

    def extend(
        self,
        *,
        account: str,
        hold: str,
        ttl_ms: int,
        **options: Unpack[CallOptions],
    ) -> Outcome[AccountExtendResult]:
        """Sets a new deadline for a hold, counted from now."""
        arguments = AccountExtendArguments(account=account, hold=hold, ttl_ms=ttl_ms)
        return cast("Outcome[AccountExtendResult]", self._send(arguments, options))

    def holds(
        self,
        *,
        account: str,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Answer[AccountHoldsResult]:
        """Lists an account's holds by name, a page at a time: name, amount left, status, deadline."""
        arguments = AccountHoldsArguments(account=account, cursor=cursor, limit=limit)
        return cast("Answer[AccountHoldsResult]", self._send(arguments, options))

    def freeze(
        self,
        *,
        account: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[AccountFreezeResult]:
        """Stops debits and new holds."""
        arguments = AccountFreezeArguments(account=account)
        return cast("Outcome[AccountFreezeResult]", self._send(arguments, options))

    def unfreeze(
        self,
        *,
        account: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[AccountUnfreezeResult]:
        """Allows debits and new holds again."""
        arguments = AccountUnfreezeArguments(account=account)
        return cast("Outcome[AccountUnfreezeResult]", self._send(arguments, options))

    def close(
        self,
        *,
        account: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[AccountCloseResult]:
        """Closes an empty account for good."""
        arguments = AccountCloseArguments(account=account)
        return cast("Outcome[AccountCloseResult]", self._send(arguments, options))

    def overdraft(
        self,
        *,
        account: str,
        overdraft: int,
        **options: Unpack[CallOptions],
    ) -> Outcome[AccountOverdraftResult]:
        """Sets how far below zero the account may go."""
        arguments = AccountOverdraftArguments(account=account, overdraft=overdraft)
        return cast("Outcome[AccountOverdraftResult]", self._send(arguments, options))

    def world(
        self,
        *,
        asset: str,
        on: str,
        **options: Unpack[CallOptions],
    ) -> Answer[AccountWorldResult]:
        """Shows the account through which money of an asset enters the partition of a resource."""
        arguments = AccountWorldArguments(asset=asset, on=on)
        return cast("Answer[AccountWorldResult]", self._send(arguments, options))

    def list(
        self,
        *,
        prefix: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Answer[AccountListResult]:
        """Lists accounts by name, a page at a time: account, asset, balance, held, available, status."""
        arguments = AccountListArguments(prefix=prefix, cursor=cursor, limit=limit)
        return cast("Answer[AccountListResult]", self._send(arguments, options))


class StockCommands:
    """The STOCK commands."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def create(
        self,
        *,
        sku: str,
        quantity: int,
        ends_at: int | None = None,
        per_owner_max: int | None = None,
        starts_at: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Outcome[StockCreateResult]:
        """Puts a stock item on sale."""
        arguments = StockCreateArguments(sku=sku, quantity=quantity, ends_at=ends_at, per_owner_max=per_owner_max, starts_at=starts_at)
        return cast("Outcome[StockCreateResult]", self._send(arguments, options))

    def get(
        self,
        *,
        sku: str,
        **options: Unpack[CallOptions],
    ) -> Answer[StockGetResult]:
        """Shows a stock item's counters, bounds and status."""
        arguments = StockGetArguments(sku=sku)
        return cast("Answer[StockGetResult]", self._send(arguments, options))

    def restock(
        self,
        *,
        sku: str,
        quantity: int,
        **options: Unpack[CallOptions],
    ) -> Outcome[StockRestockResult]:
        """Adds units."""
        arguments = StockRestockArguments(sku=sku, quantity=quantity)
        return cast("Outcome[StockRestockResult]", self._send(arguments, options))

    def adjust(
        self,
        *,
        sku: str,
        delta: int,
        reason: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[StockAdjustResult]:
        """Corrects the number of units, up or down, with a reason."""
        arguments = StockAdjustArguments(sku=sku, delta=delta, reason=reason)
        return cast("Outcome[StockAdjustResult]", self._send(arguments, options))

    def take(
        self,
        *,
        sku: str,
        quantity: int,
        owner: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[StockTakeResult]:
        """Sells units at once and returns their serials."""
        arguments = StockTakeArguments(sku=sku, quantity=quantity, owner=owner)
        return cast("Outcome[StockTakeResult]", self._send(arguments, options))

    def reserve(
        self,
        *,
        sku: str,
        reservation: str,
        quantity: int,
        owner: str,
        ttl_ms: int,
        **options: Unpack[CallOptions],
    ) -> Outcome[StockReserveResult]:
        """Sets units aside for an owner until a deadline."""
        arguments = StockReserveArguments(sku=sku, reservation=reservation, quantity=quantity, owner=owner, ttl_ms=ttl_ms)
        return cast("Outcome[StockReserveResult]", self._send(arguments, options))

    def confirm(
        self,
        *,
        sku: str,
        reservation: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[StockConfirmResult]:
        """Sells what a reservation holds and returns the serials."""
        arguments = StockConfirmArguments(sku=sku, reservation=reservation)
        return cast("Outcome[StockConfirmResult]", self._send(arguments, options))

    def release(
        self,
        *,
        sku: str,
        reservation: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[StockReleaseResult]:
        """Puts what a reservation holds back on sale."""
        arguments = StockReleaseArguments(sku=sku, reservation=reservation)
        return cast("Outcome[StockReleaseResult]", self._send(arguments, options))

    def extend(
        self,
        *,
        sku: str,
        reservation: str,
        ttl_ms: int,
        **options: Unpack[CallOptions],
    ) -> Outcome[StockExtendResult]:
        """Sets a new deadline for a reservation, counted from now."""
        arguments = StockExtendArguments(sku=sku, reservation=reservation, ttl_ms=ttl_ms)
        return cast("Outcome[StockExtendResult]", self._send(arguments, options))

    def return_(
        self,
        *,
        sku: str,
        first: int,
        count: int,
        **options: Unpack[CallOptions],
    ) -> Outcome[StockReturnResult]:
        """Takes sold units back by their serials and puts as many on sale."""
        arguments = StockReturnArguments(sku=sku, first=first, count=count)
        return cast("Outcome[StockReturnResult]", self._send(arguments, options))

    def close(
        self,
        *,
        sku: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[StockCloseResult]:
        """Ends sales; open reservations expire or are confirmed."""
        arguments = StockCloseArguments(sku=sku)
        return cast("Outcome[StockCloseResult]", self._send(arguments, options))

    def audit(
        self,
        *,
        sku: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[StockAuditResult]:
        """Recounts receipts against counters, a bounded piece at each call, while sales go on."""
        arguments = StockAuditArguments(sku=sku)
        return cast("Outcome[StockAuditResult]", self._send(arguments, options))

    def reservation(
        self,
        *,
        sku: str,
        reservation: str,
        **options: Unpack[CallOptions],
    ) -> Answer[StockReservationResult]:
        """Shows a reservation."""
        arguments = StockReservationArguments(sku=sku, reservation=reservation)
        return cast("Answer[StockReservationResult]", self._send(arguments, options))

    def list(
        self,
        *,
        prefix: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Answer[StockListResult]:
        """Lists stock items by name, a page at a time: sku, total, available, reserved, sold, status."""
        arguments = StockListArguments(prefix=prefix, cursor=cursor, limit=limit)
        return cast("Answer[StockListResult]", self._send(arguments, options))


class PacketCommands:
    """The PACKET commands."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def create(
        self,
        *,
        campaign: str,
        asset: str,
        amounts: Sequence[int] | None = None,
        ends_at: int | None = None,
        plan: Plan | None = None,
        starts_at: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Outcome[PacketCreateResult]:
        """Cuts red packets by a plan or from a list of amounts, and opens them for claims."""
        arguments = PacketCreateArguments(campaign=campaign, asset=asset, amounts=amounts, ends_at=ends_at, plan=plan, starts_at=starts_at)
        return cast("Outcome[PacketCreateResult]", self._send(arguments, options))

    def claim(
        self,
        *,
        campaign: str,
        user: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[PacketClaimResult]:
        """Gives a user the next packet."""
        arguments = PacketClaimArguments(campaign=campaign, user=user)
        return cast("Outcome[PacketClaimResult]", self._send(arguments, options))

    def get(
        self,
        *,
        campaign: str,
        **options: Unpack[CallOptions],
    ) -> Answer[PacketGetResult]:
        """Shows a campaign: what was claimed and what is left, but never the next amounts."""
        arguments = PacketGetArguments(campaign=campaign)
        return cast("Answer[PacketGetResult]", self._send(arguments, options))

    def close(
        self,
        *,
        campaign: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[PacketCloseResult]:
        """Ends a campaign, reports what was left and reveals the seed."""
        arguments = PacketCloseArguments(campaign=campaign)
        return cast("Outcome[PacketCloseResult]", self._send(arguments, options))

    def claimed(
        self,
        *,
        campaign: str,
        user: str,
        **options: Unpack[CallOptions],
    ) -> Answer[PacketClaimedResult]:
        """Shows the packet that a user claimed."""
        arguments = PacketClaimedArguments(campaign=campaign, user=user)
        return cast("Answer[PacketClaimedResult]", self._send(arguments, options))

    def claims(
        self,
        *,
        campaign: str,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Answer[PacketClaimsResult]:
        """Lists claimed packets in the order of the claims, a page at a time: user, packet, amount, at."""
        arguments = PacketClaimsArguments(campaign=campaign, cursor=cursor, limit=limit)
        return cast("Answer[PacketClaimsResult]", self._send(arguments, options))

    def list(
        self,
        *,
        prefix: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Answer[PacketListResult]:
        """Lists campaigns by name, a page at a time: campaign, asset, count, total, claimed_count,
        claimed_amount, status."""
        arguments = PacketListArguments(prefix=prefix, cursor=cursor, limit=limit)
        return cast("Answer[PacketListResult]", self._send(arguments, options))


class CouponCommands:
    """The COUPON commands."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def create(
        self,
        *,
        coupon: str,
        limits: Sequence[Limit],
        claim_ttl_ms: int | None = None,
        ends_at: int | None = None,
        starts_at: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Outcome[CouponCreateResult]:
        """Creates a coupon with any number of quantity limits."""
        arguments = CouponCreateArguments(coupon=coupon, limits=limits, claim_ttl_ms=claim_ttl_ms, ends_at=ends_at, starts_at=starts_at)
        return cast("Outcome[CouponCreateResult]", self._send(arguments, options))

    def update(
        self,
        *,
        coupon: str,
        limits: Sequence[Limit],
        **options: Unpack[CallOptions],
    ) -> Outcome[CouponUpdateResult]:
        """Changes limits' maxima or adds limits while the coupon runs."""
        arguments = CouponUpdateArguments(coupon=coupon, limits=limits)
        return cast("Outcome[CouponUpdateResult]", self._send(arguments, options))

    def claim(
        self,
        *,
        coupon: str,
        subject: Mapping[str, str],
        **options: Unpack[CallOptions],
    ) -> Outcome[CouponClaimResult]:
        """Claims a coupon: counts the claim in every limit and returns its serial."""
        arguments = CouponClaimArguments(coupon=coupon, subject=subject)
        return cast("Outcome[CouponClaimResult]", self._send(arguments, options))

    def check(
        self,
        *,
        coupon: str,
        subject: Mapping[str, str],
        **options: Unpack[CallOptions],
    ) -> Answer[CouponCheckResult]:
        """Tells how a claim would be answered, without making it."""
        arguments = CouponCheckArguments(coupon=coupon, subject=subject)
        return cast("Answer[CouponCheckResult]", self._send(arguments, options))

    def redeem(
        self,
        *,
        coupon: str,
        serial: int,
        user: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[CouponRedeemResult]:
        """Redeems a claim, which can be used once."""
        arguments = CouponRedeemArguments(coupon=coupon, serial=serial, user=user)
        return cast("Outcome[CouponRedeemResult]", self._send(arguments, options))

    def revoke(
        self,
        *,
        coupon: str,
        serial: int,
        give_back: bool | None = None,
        **options: Unpack[CallOptions],
    ) -> Outcome[CouponRevokeResult]:
        """Voids an unused claim; with GIVEBACK it no longer counts in windows that still run."""
        arguments = CouponRevokeArguments(coupon=coupon, serial=serial, give_back=give_back)
        return cast("Outcome[CouponRevokeResult]", self._send(arguments, options))

    def claimed(
        self,
        *,
        coupon: str,
        serial: int,
        **options: Unpack[CallOptions],
    ) -> Answer[CouponClaimedResult]:
        """Shows a claim."""
        arguments = CouponClaimedArguments(coupon=coupon, serial=serial)
        return cast("Answer[CouponClaimedResult]", self._send(arguments, options))

    def get(
        self,
        *,
        coupon: str,
        **options: Unpack[CallOptions],
    ) -> Answer[CouponGetResult]:
        """Shows a coupon and its limits."""
        arguments = CouponGetArguments(coupon=coupon)
        return cast("Answer[CouponGetResult]", self._send(arguments, options))

    def pause(
        self,
        *,
        coupon: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[CouponPauseResult]:
        """Stops claims until the coupon is resumed."""
        arguments = CouponPauseArguments(coupon=coupon)
        return cast("Outcome[CouponPauseResult]", self._send(arguments, options))

    def resume(
        self,
        *,
        coupon: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[CouponResumeResult]:
        """Allows claims again."""
        arguments = CouponResumeArguments(coupon=coupon)
        return cast("Outcome[CouponResumeResult]", self._send(arguments, options))

    def list(
        self,
        *,
        prefix: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Answer[CouponListResult]:
        """Lists coupons by name, a page at a time: coupon, status, claimed."""
        arguments = CouponListArguments(prefix=prefix, cursor=cursor, limit=limit)
        return cast("Answer[CouponListResult]", self._send(arguments, options))


class MarketCommands:
    """The MARKET commands."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def create(
        self,
        *,
        market: str,
        lot: int | None = None,
        max_quantity: int | None = None,
        min_quantity: int | None = None,
        tick: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Outcome[MarketCreateResult]:
        """Opens a market with an empty book."""
        arguments = MarketCreateArguments(market=market, lot=lot, max_quantity=max_quantity, min_quantity=min_quantity, tick=tick)
        return cast("Outcome[MarketCreateResult]", self._send(arguments, options))

    def get(
        self,
        *,
        market: str,
        **options: Unpack[CallOptions],
    ) -> Answer[MarketGetResult]:
        """Shows a market: rules, status, best prices, last trade."""
        arguments = MarketGetArguments(market=market)
        return cast("Answer[MarketGetResult]", self._send(arguments, options))

    def halt(
        self,
        *,
        market: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[MarketHaltResult]:
        """Stops trading; cancels and reductions go on."""
        arguments = MarketHaltArguments(market=market)
        return cast("Outcome[MarketHaltResult]", self._send(arguments, options))

    def resume(
        self,
        *,
        market: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[MarketResumeResult]:
        """Allows trading again."""
        arguments = MarketResumeArguments(market=market)
        return cast("Outcome[MarketResumeResult]", self._send(arguments, options))

    def depth(
        self,
        *,
        market: str,
        levels: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Answer[MarketDepthResult]:
        """Shows the book's levels, best first: price, quantity, orders."""
        arguments = MarketDepthArguments(market=market, levels=levels)
        return cast("Answer[MarketDepthResult]", self._send(arguments, options))

    def trades(
        self,
        *,
        market: str,
        count: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Answer[MarketTradesResult]:
        """Lists the last trades, latest first, of the hundred that are kept: trade, price, quantity,
        taker_side, at."""
        arguments = MarketTradesArguments(market=market, count=count)
        return cast("Answer[MarketTradesResult]", self._send(arguments, options))

    def ticker(
        self,
        *,
        market: str,
        **options: Unpack[CallOptions],
    ) -> Answer[MarketTickerResult]:
        """Shows a market's last trade and its best prices with their quantities."""
        arguments = MarketTickerArguments(market=market)
        return cast("Answer[MarketTickerResult]", self._send(arguments, options))

    def list(
        self,
        *,
        prefix: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Answer[MarketListResult]:
        """Lists markets by name, a page at a time: market, status, best_bid, best_ask, orders, trades."""
        arguments = MarketListArguments(prefix=prefix, cursor=cursor, limit=limit)
        return cast("Answer[MarketListResult]", self._send(arguments, options))


class OrderCommands:
    """The ORDER commands."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def list(
        self,
        *,
        market: str,
        owner: str | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> Answer[OrderListResult]:
        """Lists resting orders, a page at a time: an owner's, oldest first, or all, bids before asks, in the
        order in which they trade."""
        arguments = OrderListArguments(market=market, owner=owner, cursor=cursor, limit=limit)
        return cast("Answer[OrderListResult]", self._send(arguments, options))

    def place(
        self,
        *,
        market: str,
        order: str,
        owner: str,
        side: Literal["BUY", "SELL"],
        type: Literal["LIMIT", "MARKET"],
        quantity: int,
        price: int | None = None,
        stp: Literal["NONE", "CANCEL_TAKER", "CANCEL_MAKER", "CANCEL_BOTH", "DECREMENT"] | None = None,
        tif: Literal["GTC", "IOC", "FOK", "POST"] | None = None,
        **options: Unpack[CallOptions],
    ) -> Outcome[OrderPlaceResult]:
        """Places an order, which trades at once as far as it can."""
        arguments = OrderPlaceArguments(market=market, order=order, owner=owner, side=side, type=type, quantity=quantity, price=price, stp=stp, tif=tif)
        return cast("Outcome[OrderPlaceResult]", self._send(arguments, options))

    def cancel(
        self,
        *,
        market: str,
        order: str,
        owner: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[OrderCancelResult]:
        """Takes an order off the book."""
        arguments = OrderCancelArguments(market=market, order=order, owner=owner)
        return cast("Outcome[OrderCancelResult]", self._send(arguments, options))

    def reduce(
        self,
        *,
        market: str,
        order: str,
        owner: str,
        by: int,
        **options: Unpack[CallOptions],
    ) -> Outcome[OrderReduceResult]:
        """Makes an order smaller; it keeps its priority."""
        arguments = OrderReduceArguments(market=market, order=order, owner=owner, by=by)
        return cast("Outcome[OrderReduceResult]", self._send(arguments, options))

    def replace(
        self,
        *,
        market: str,
        order: str,
        owner: str,
        price: int,
        quantity: int,
        **options: Unpack[CallOptions],
    ) -> Outcome[OrderReplaceResult]:
        """Changes an order's price and remaining quantity."""
        arguments = OrderReplaceArguments(market=market, order=order, owner=owner, price=price, quantity=quantity)
        return cast("Outcome[OrderReplaceResult]", self._send(arguments, options))

    def cancelall(
        self,
        *,
        market: str,
        owner: str,
        **options: Unpack[CallOptions],
    ) -> Outcome[OrderCancelallResult]:
        """Takes all of an owner's orders off the book."""
        arguments = OrderCancelallArguments(market=market, owner=owner)
        return cast("Outcome[OrderCancelallResult]", self._send(arguments, options))

    def get(
        self,
        *,
        market: str,
        order: str,
        **options: Unpack[CallOptions],
    ) -> Answer[OrderGetResult]:
        """Shows an order."""
        arguments = OrderGetArguments(market=market, order=order)
        return cast("Answer[OrderGetResult]", self._send(arguments, options))


class OperationCommands:
    """The OPERATION commands."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def get(
        self,
        *,
        operation: str,
        on: str,
        **options: Unpack[CallOptions],
    ) -> Answer[OperationGetResult]:
        """Shows the receipt that is remembered under an operation id."""
        arguments = OperationGetArguments(operation=operation, on=on)
        return cast("Answer[OperationGetResult]", self._send(arguments, options))

    def resolve(
        self,
        *,
        operation: str,
        on: str,
        **options: Unpack[CallOptions],
    ) -> Answer[OperationResolveResult]:
        """Returns the receipt, or marks the id so that no copy that arrives later is applied."""
        arguments = OperationResolveArguments(operation=operation, on=on)
        return cast("Answer[OperationResolveResult]", self._send(arguments, options))
