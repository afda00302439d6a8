//! What names mean in commands, codes and events of stock.

use super::{Term, Unit, figure, word};
use Unit::Pieces;

pub(super) const TERMS: &[Term] = &[
    figure("STOCK", "available", Pieces, "how many units can be had", "可售件数"),
    figure(
        "STOCK",
        "count",
        Pieces,
        "how many units, serial by serial from the first",
        "件数，从首个序列号起连续计",
    ),
    word("STOCK", "first", "the first serial", "首个序列号"),
    figure("STOCK", "quantity", Pieces, "how many units", "件数"),
    word("STOCK", "owner", "the id of who buys", "购买人 ID"),
    word("STOCK", "reason", "why, for those who read the log", "调整原因，记入日志备查"),
    figure("STOCK", "released", Pieces, "how many units went back on sale", "释放回可售的件数"),
    figure("STOCK", "remaining", Pieces, "how many units can still be had", "剩余可售件数"),
    figure("STOCK", "requested", Pieces, "how many units were asked for", "请求的件数"),
    figure("STOCK", "total", Pieces, "available, reserved and sold together", "总件数 = 可售 + 预占 + 已售"),
    word(
        "STOCK.AUDIT",
        "state",
        "RUNNING until the last piece, then CONSISTENT",
        "清点中为 RUNNING，全部清点完且一致为 CONSISTENT",
    ),
    word(
        "STOCK.GET",
        "status",
        "open, not_started, ended or closed",
        "open（在售）、not_started（未开始）、ended（已结束）或 closed（已关闭）",
    ),
    figure("STOCK.GET", "returned", Pieces, "how many units were ever taken back", "累计退货件数"),
    word(
        "STOCK.RESERVATION",
        "status",
        "open, confirmed, released or expired",
        "open（预占中）、confirmed（已确认）、released（已释放）或 expired（已过期）",
    ),
    word(
        "STOCK.RESERVATION",
        "first_serial",
        "the first of the serials given; absent unless it was confirmed",
        "所得序列号中的第一个；未确认时无值",
    ),
    figure(
        "OWNER_LIMIT_REACHED",
        "used",
        Pieces,
        "how many units the owner has, reserved or bought",
        "该用户已占用的件数（预占 + 已购）",
    ),
    figure("OWNER_LIMIT_REACHED", "max", Pieces, "how many units one owner may have", "每人限购件数"),
    word(
        "STOCK_INCONSISTENT",
        "figure",
        "which figure differs: total, sold, serial or returned",
        "不一致的项：total、sold、serial 或 returned",
    ),
    word("STOCK_INCONSISTENT", "counted", "what was counted", "清点得到的数值"),
    word("stock.returned", "owner", "the id of who had bought", "原购买人 ID"),
];
