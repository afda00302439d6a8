//! What names mean in commands, codes and events of coupons.

use super::{Term, Unit, figure, word};
use Unit::{Claims, StampMs};

pub(super) const TERMS: &[Term] = &[
    word("COUPON", "user", "ID of the user who claimed", "领取人的用户 ID"),
    word(
        "COUPON.CREATE",
        "limits",
        "1 to 16 limits, each with a name, a maximum, dimensions and a window; the answer is their number",
        "1 至 16 条限额，每条含名称、上限、维度与窗口；返回值为限额条数",
    ),
    word(
        "COUPON.UPDATE",
        "limits",
        "limits with a new maximum, or limits to add; the answer is the number of limits afterwards",
        "要修改上限的限额，或要新增的限额；返回值为修改后的限额条数",
    ),
    figure(
        "COUPON.CLAIM",
        "deadline",
        StampMs,
        "expiry time of the claim: from then on it cannot be redeemed; absent if it does not expire",
        "过期时刻，到达该时刻即不可核销；无值表示永不过期",
    ),
    figure(
        "COUPON.CLAIMED",
        "deadline",
        StampMs,
        "expiry time of the claim: from then on it cannot be redeemed; absent if it does not expire",
        "过期时刻，到达该时刻即不可核销；无值表示永不过期",
    ),
    figure("COUPON.CLAIMED", "at", StampMs, "when it was claimed", "领取时刻"),
    word(
        "COUPON.CLAIMED",
        "status",
        "open, redeemed, revoked or expired",
        "open（未使用）、redeemed（已核销）、revoked（已作废）或 expired（已过期）",
    ),
    word(
        "COUPON.REDEEM",
        "user",
        "ID of the user who claimed; only this user can redeem",
        "领取人的用户 ID；只有本人可以核销",
    ),
    word(
        "COUPON.REVOKE",
        "given_back",
        "number of limits to which the count was returned",
        "退还了计数的限额条数",
    ),
    word(
        "COUPON",
        "status",
        "open, paused, not_started or ended",
        "open（可领）、paused（已暂停）、not_started（未开始）或 ended（已结束）",
    ),
    figure(
        "LIMIT_REACHED",
        "used",
        Claims,
        "claims counted in the current window",
        "当前窗口内已计的领取次数",
    ),
    figure("LIMIT_REACHED", "max", Claims, "claims that the limit allows", "限额上限"),
    word(
        "coupon.revoked",
        "given_back",
        "names of the limits to which the count was returned",
        "退还了计数的限额名称",
    ),
];
