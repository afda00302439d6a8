//! What names mean in commands, codes and events of stock.

use super::{Term, Unit, figure, word};
use Unit::Pieces;

pub(super) const TERMS: &[Term] = &[
    figure("STOCK", "available", Pieces, "units available", "可售件数"),
    figure(
        "STOCK",
        "count",
        Pieces,
        "number of units, with consecutive serials from the first",
        "件数，从首个序列号起连续计",
    ),
    word("STOCK", "first", "the first serial", "首个序列号"),
    figure("STOCK", "quantity", Pieces, "number of units", "件数"),
    word("STOCK", "owner", "ID of the buyer", "购买人 ID"),
    word("STOCK", "reason", "the reason, which is written to the log", "调整原因，记入日志备查"),
    figure("STOCK", "released", Pieces, "units that are available again", "释放回可售的件数"),
    figure("STOCK", "remaining", Pieces, "units still available", "剩余可售件数"),
    figure("STOCK", "requested", Pieces, "units requested", "请求的件数"),
    figure("STOCK", "total", Pieces, "available + reserved + sold", "总件数 = 可售 + 预占 + 已售"),
    word(
        "STOCK.AUDIT",
        "state",
        "RUNNING until the last chunk, then CONSISTENT",
        "清点中为 RUNNING，全部清点完且一致为 CONSISTENT",
    ),
    word(
        "STOCK.GET",
        "status",
        "open, not_started, ended or closed",
        "open（在售）、not_started（未开始）、ended（已结束）或 closed（已关闭）",
    ),
    figure("STOCK.GET", "returned", Pieces, "total units returned so far", "累计退货件数"),
    word(
        "STOCK.RESERVATION",
        "status",
        "open, confirmed, released or expired",
        "open（预占中）、confirmed（已确认）、released（已释放）或 expired（已过期）",
    ),
    word(
        "STOCK.RESERVATION",
        "first_serial",
        "the first serial sold; absent unless the reservation was confirmed",
        "所得序列号中的第一个；未确认时无值",
    ),
    figure(
        "OWNER_LIMIT_REACHED",
        "used",
        Pieces,
        "units that the owner has reserved or bought",
        "该用户已占用的件数（预占 + 已购）",
    ),
    figure("OWNER_LIMIT_REACHED", "max", Pieces, "maximum units for one owner", "每人限购件数"),
    word(
        "STOCK_INCONSISTENT",
        "figure",
        "the value that differs: total, sold, serial or returned",
        "不一致的项：total、sold、serial 或 returned",
    ),
    word("STOCK_INCONSISTENT", "counted", "the value counted", "清点得到的数值"),
    word("stock.returned", "owner", "ID of the buyer", "原购买人 ID"),
];
