//! What names mean in commands, codes and events of accounts.

use super::{Term, Unit, figure, word};
use Unit::MinorUnits;

pub(super) const TERMS: &[Term] = &[
    figure(
        "ACCOUNT",
        "available",
        MinorUnits,
        "balance minus holds, not counting the overdraft; may be negative",
        "可用余额 = 余额 − 预扣，不含透支额度，可能为负",
    ),
    figure(
        "ACCOUNT",
        "released",
        MinorUnits,
        "the amount that the hold had and that is available again",
        "取消预扣后恢复可用的金额",
    ),
    figure("ACCOUNT", "requested", MinorUnits, "the amount requested", "请求的金额"),
    figure(
        "ACCOUNT.OPEN",
        "overdraft",
        MinorUnits,
        "overdraft limit: how far below zero the account may go; 0 by default",
        "透支额度，默认 0",
    ),
    word("ACCOUNT", "status", "open, frozen or closed", "open（正常）、frozen（冻结）或 closed（销户）"),
    word(
        "ACCOUNT.HOLDS",
        "count",
        "maximum holds on a page; 1000 by default, 10000 at most",
        "每页最多返回多少条，默认 1000，最多 10000",
    ),
    word(
        "ACCOUNT.HOLDS",
        "after",
        "the name of the last hold on the previous page",
        "上一页最后一个预扣单的名称",
    ),
    figure(
        "ACCOUNT.CAPTURE",
        "amount",
        MinorUnits,
        "the amount to capture; by default all that is left in the hold",
        "实扣金额；不填则扣完预扣单的全部余额",
    ),
    word(
        "ACCOUNT.CAPTURE",
        "to",
        "the receiving account; by default the money leaves the system",
        "收款账户；不填则资金转出到外部",
    ),
    word(
        "ACCOUNT.WORLD",
        "account",
        "ID of the asset's world account, which begins with $world:",
        "该资产的外部账户 ID，以 $world: 开头",
    ),
    figure(
        "ACCOUNT.WORLD",
        "balance",
        MinorUnits,
        "the negated sum of all other balances of the asset in the partition",
        "该分区内同一资产其余账户余额之和的相反数",
    ),
    figure("AMOUNT_EXCEEDS_HOLD", "held", MinorUnits, "the amount left in the hold", "该预扣单的剩余金额"),
    word("ASSET_MISMATCH", "from", "the asset of the paying account", "付款账户的资产"),
    word("ASSET_MISMATCH", "to", "the asset of the receiving account", "收款账户的资产"),
    figure("OVERDRAFT_IN_USE", "overdraft", MinorUnits, "the overdraft requested", "请求设置的透支额度"),
    figure("hold.captured", "amount", MinorUnits, "the amount captured", "实扣金额"),
    word(
        "hold.captured",
        "to",
        "the receiving account; absent if the money left the system",
        "收款账户；资金转出到外部时无值",
    ),
    figure("hold.voided", "amount", MinorUnits, "the amount that became available again", "恢复可用的金额"),
    figure("hold.expired", "amount", MinorUnits, "the amount that became available again", "恢复可用的金额"),
    figure("hold.placed", "amount", MinorUnits, "the amount placed on hold", "预扣金额"),
];
