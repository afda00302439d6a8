//! What names mean in commands, codes and events of accounts.

use super::{Term, Unit, figure, word};
use Unit::MinorUnits;

pub(super) const TERMS: &[Term] = &[
    figure(
        "ACCOUNT",
        "available",
        MinorUnits,
        "what can be spent: balance less what is held, the overdraft not counted; may be negative",
        "可用余额 = 余额 − 预扣，不含透支额度，可能为负",
    ),
    figure(
        "ACCOUNT",
        "released",
        MinorUnits,
        "what the hold had and is available again",
        "取消预扣后恢复可用的金额",
    ),
    figure("ACCOUNT", "requested", MinorUnits, "what was asked for", "请求的金额"),
    figure(
        "ACCOUNT.OPEN",
        "overdraft",
        MinorUnits,
        "how far below zero the account may go; 0 if not said",
        "透支额度，默认 0",
    ),
    word("ACCOUNT", "status", "open, frozen or closed", "open（正常）、frozen（冻结）或 closed（销户）"),
    word(
        "ACCOUNT.HOLDS",
        "count",
        "how many holds a page has at most; 1000 if not said",
        "每页最多返回多少条，默认 1000",
    ),
    word(
        "ACCOUNT.HOLDS",
        "after",
        "the name of the last hold of the page before",
        "上一页最后一个预扣单的名称",
    ),
    figure(
        "ACCOUNT.CAPTURE",
        "amount",
        MinorUnits,
        "how much to pay out; all that the hold has if not said",
        "实扣金额；不填则扣完预扣单的全部余额",
    ),
    word(
        "ACCOUNT.CAPTURE",
        "to",
        "the account that is paid; to outside if not said",
        "收款账户；不填则资金转出到外部",
    ),
    word(
        "ACCOUNT.WORLD",
        "account",
        "the id of the asset's world account, which begins with $world:",
        "该资产的外部账户 ID，以 $world: 开头",
    ),
    figure(
        "ACCOUNT.WORLD",
        "balance",
        MinorUnits,
        "the negative of all other balances of the asset in the partition",
        "该分区内同一资产其余账户余额之和的相反数",
    ),
    figure("AMOUNT_EXCEEDS_HOLD", "held", MinorUnits, "what the hold still has", "该预扣单的剩余金额"),
    word("ASSET_MISMATCH", "from", "the asset of the paying account", "付款账户的资产"),
    word("ASSET_MISMATCH", "to", "the asset of the account that would be paid", "收款账户的资产"),
    figure(
        "OVERDRAFT_IN_USE",
        "overdraft",
        MinorUnits,
        "the overdraft that was asked for",
        "请求设置的透支额度",
    ),
    figure("hold.captured", "amount", MinorUnits, "how much was paid out", "实扣金额"),
    word(
        "hold.captured",
        "to",
        "the account that was paid; absent where money left to outside",
        "收款账户；资金转出到外部时无值",
    ),
    figure("hold.voided", "amount", MinorUnits, "what became available again", "恢复可用的金额"),
    figure("hold.expired", "amount", MinorUnits, "what became available again", "恢复可用的金额"),
    figure("hold.placed", "amount", MinorUnits, "what was set aside", "预扣金额"),
];
